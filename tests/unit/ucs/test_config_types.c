/* SPDX-License-Identifier: BSD-3-Clause */
/* Each type of option accepts its valid texts, rejects invalid ones, and prints
 * a value as a text that it accepts again. */
#include "suite.h"

#include <dlfcn.h>
#include <limits.h>
#include <locale.h>
#include <math.h>

#include "ucs/config/config.h"
#include "ucs/time/time.h"

static const char *const fruits[] = {"apple", "pear", "plum", NULL};

typedef union {
    int i;
    unsigned u;
    unsigned long ul;
    double d;
    size_t size;
    ucs_time_t time;
    uint64_t bits;
    char *string;
    ucs_config_names_array_t array;
    ucs_config_allow_list_t allow;
} value_t;

static char why[UCS_CONFIG_WHY_MAX];
static value_t value;

static ucs_status_t parse(const ucs_config_type_t *type, const void *arg,
                          const char *text)
{
    why[0] = '\0';
    memset(&value, 0, sizeof(value));
    return type->parse(text, &value, arg, why);
}

static int locale_fails; /* nonzero: newlocale() returns 0 */

/* Replaces the function of the C library for the library under test. */
__attribute__((visibility("default"))) locale_t
newlocale(int mask, const char *name, locale_t base)
{
    static locale_t (*next)(int, const char *, locale_t);

    if (locale_fails) {
        return (locale_t)0;
    }
    if (next == NULL) {
        next = (locale_t(*)(int, const char *, locale_t))dlsym(RTLD_NEXT,
                                                               "newlocale");
    }
    return next(mask, name, base);
}

/* Parses `text`, expects that the value is printed as `printed`, and that this
 * text is accepted again. */
static void takes(const ucs_config_type_t *type, const void *arg,
                  const char *text, const char *printed)
{
    char buf[256];

    ck_assert_msg(parse(type, arg, text) == UCS_OK, "'%s'", text);
    type->print(buf, sizeof(buf), &value, arg);
    ck_assert_str_eq(buf, printed);
    if (type->release != NULL) {
        type->release(&value, arg);
    }
    ck_assert_msg(parse(type, arg, buf) == UCS_OK, "'%s' again", buf);
    if (type->release != NULL) {
        type->release(&value, arg);
    }
}

static void refuses(const ucs_config_type_t *type, const void *arg,
                    const char *text)
{
    char buf[512] = "";

    ck_assert_msg(parse(type, arg, text) == UCS_ERR_INVALID_PARAM, "'%s'",
                  text);
    type->describe(buf, sizeof(buf), arg);
    ck_assert_uint_gt(strlen(buf), 0);
}

START_TEST(whole_numbers)
{
    const ucs_config_range_t range = {2, 9};

    takes(&ucs_config_type_int, NULL, "-5", "-5");
    takes(&ucs_config_type_int, NULL, "0x10", "16");
    takes(&ucs_config_type_int, NULL, "010", "10");
    refuses(&ucs_config_type_int, NULL, "5x");
    refuses(&ucs_config_type_int, NULL, "");
    refuses(&ucs_config_type_int, NULL, "3000000000");
    takes(&ucs_config_type_uint, NULL, "4294967295", "4294967295");
    refuses(&ucs_config_type_uint, NULL, "-1");
    refuses(&ucs_config_type_uint, NULL, "4294967296");
    takes(&ucs_config_type_uint, &range, "9", "9");
    refuses(&ucs_config_type_uint, &range, "10");
    ck_assert_ptr_nonnull(strstr(why, "large"));
    takes(&ucs_config_type_ulong, NULL, "18446744073709551615",
          "18446744073709551615");
    refuses(&ucs_config_type_ulong, NULL, "18446744073709551616");
    refuses(&ucs_config_type_ulong, NULL, "-1");
    takes(&ucs_config_type_ulunits, NULL, "auto", "auto");
    takes(&ucs_config_type_ulunits, NULL, "inf", "inf");
    takes(&ucs_config_type_ulunits, NULL, "12", "12");
}
END_TEST

/* Must run before a test that creates the locale, which is kept. */
START_TEST(fractions_need_no_locale)
{
    locale_fails = 1;
    takes(UCS_CONFIG_TYPE_DOUBLE, "1.5", "1.5");
    locale_fails = 0;
}
END_TEST

START_TEST(fractions_do_not_depend_on_the_locale)
{
    /* In this locale, if the host has it, strtod() of the C library expects a
     * decimal comma. */
    setlocale(LC_NUMERIC, "de_DE.UTF-8");
    takes(&ucs_config_type_double, NULL, "1.5", "1.5");
    takes(&ucs_config_type_double, NULL, "-2e3", "-2000");
    refuses(&ucs_config_type_double, NULL, "1,5");
    refuses(&ucs_config_type_double, NULL, "nan");
    refuses(&ucs_config_type_double, NULL, "0x10");
    refuses(&ucs_config_type_double, NULL, "1e999");
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(words)
{
    takes(&ucs_config_type_bool, NULL, "Yes", "y");
    takes(&ucs_config_type_bool, NULL, "0", "n");
    refuses(&ucs_config_type_bool, NULL, "try");
    takes(&ucs_config_type_ternary, NULL, "try", "try");
    refuses(&ucs_config_type_ternary, NULL, "auto");
    takes(&ucs_config_type_ternary_auto, NULL, "auto", "auto");
    takes(&ucs_config_type_on_off_auto, NULL, "on", "on");
    ck_ok(parse(&ucs_config_type_on_off_auto, NULL, "auto"));
    ck_assert_int_eq(value.i, UCS_CONFIG_AUTO);
    takes(&ucs_config_type_enum, fruits, "PEAR", "pear");
    refuses(&ucs_config_type_enum, fruits, "paer");
    ck_assert_ptr_nonnull(strstr(why, "'pear'"));
    refuses(&ucs_config_type_enum, fruits, "zzzzz");
    ck_assert_str_eq(why, "");
    takes(&ucs_config_type_bitmap, fruits, "plum, apple", "apple,plum");
    takes(&ucs_config_type_bitmap, fruits, "", "");
    refuses(&ucs_config_type_bitmap, fruits, "apple,plim");
    ck_assert_ptr_nonnull(strstr(why, "'plum'"));
}
END_TEST

START_TEST(sizes)
{
    const ucs_config_range_t range = {0, 1024};

    takes(&ucs_config_type_memunits, NULL, "4k", "4K");
    takes(&ucs_config_type_memunits, NULL, "4096b", "4K");
    takes(&ucs_config_type_memunits, NULL, "1.5MB", "1536K");
    takes(&ucs_config_type_memunits, NULL, "0", "0");
    takes(&ucs_config_type_memunits, NULL, "1000", "1000");
    takes(&ucs_config_type_memunits, NULL, "INF", "inf");
    takes(&ucs_config_type_memunits, NULL, "auto", "auto");
    takes(&ucs_config_type_memunits, &range, "auto", "auto");
    refuses(&ucs_config_type_memunits, &range, "2k");
    refuses(&ucs_config_type_memunits, NULL, "-1");
    refuses(&ucs_config_type_memunits, NULL, "k");
    refuses(&ucs_config_type_memunits, NULL, "4kk");
    refuses(&ucs_config_type_memunits, NULL, "4x");
    refuses(&ucs_config_type_memunits, NULL, "99999999999t");
    refuses(&ucs_config_type_memunits, NULL, "18446744073709551615");
    ck_ok(parse(&ucs_config_type_memunits, NULL, "9007199254740993"));
    /* a number that a double cannot represent */
    ck_assert_uint_eq(value.size, 9007199254740993ul);
}
END_TEST

START_TEST(times_and_bandwidths)
{
    takes(&ucs_config_type_time, NULL, "10us", "10us");
    takes(&ucs_config_type_time, NULL, "0.005", "5ms");
    takes(&ucs_config_type_time, NULL, "2m", "120s");
    takes(&ucs_config_type_time, NULL, "inf", "inf");
    takes(&ucs_config_type_time, NULL, "auto", "auto");
    takes(&ucs_config_type_time, NULL, "0", "0s");
    refuses(&ucs_config_type_time, NULL, "-1s");
    refuses(&ucs_config_type_time, NULL, "5 s");
    refuses(&ucs_config_type_time, NULL, "5parsec");
    takes(&ucs_config_type_time_units, NULL, "20s", "20s");
    ck_ok(parse(&ucs_config_type_time_units, NULL, "3ms"));
    ck_assert_uint_eq(value.time, ucs_time_from_msec(3));
    takes(&ucs_config_type_time_units, NULL, "inf", "inf");
    ck_ok(parse(&ucs_config_type_time_units, NULL, "inf"));
    ck_assert_uint_eq(value.time, UCS_TIME_INFINITY);

    takes(&ucs_config_type_bw, NULL, "8Gbps", "1GBs");
    takes(&ucs_config_type_bw, NULL, "100MB/s", "100MBs");
    takes(&ucs_config_type_bw, NULL, "auto", "auto");
    refuses(&ucs_config_type_bw, NULL, "10G");
    refuses(&ucs_config_type_bw, NULL, "10GBx");
}
END_TEST

START_TEST(strings_and_lists)
{
    takes(&ucs_config_type_string, NULL, "any = text", "any = text");
    takes(&ucs_config_type_string, NULL, "", "");
    takes(&ucs_config_type_string_array, NULL, " a, b ,,c ", "a,b,c");
    takes(&ucs_config_type_string_array, NULL, "", "");
    takes(&ucs_config_type_allow_list, NULL, "all", "all");
    takes(&ucs_config_type_allow_list, NULL, "^tcp,ib", "^tcp,ib");
    refuses(&ucs_config_type_allow_list, NULL, "all,tcp");
    refuses(&ucs_config_type_allow_list, NULL, "^all");

    ck_ok(parse(&ucs_config_type_allow_list, NULL, "^tcp,ib"));
    ck_assert(!ucs_config_allow_list_allows(&value.allow, "tcp"));
    ck_assert(ucs_config_allow_list_allows(&value.allow, "shm"));
    ucs_config_type_allow_list.release(&value, NULL);
    ck_ok(parse(&ucs_config_type_allow_list, NULL, "tcp"));
    ck_assert(ucs_config_allow_list_allows(&value.allow, "tcp"));
    ck_assert(!ucs_config_allow_list_allows(&value.allow, "shm"));
    ucs_config_type_allow_list.release(&value, NULL);
}
END_TEST

SUITE_MAIN("config types", whole_numbers, fractions_need_no_locale,
           fractions_do_not_depend_on_the_locale, words, sizes,
           times_and_bandwidths, strings_and_lists)
