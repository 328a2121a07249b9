/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of options for numbers without a unit and for signals, and functions on
 * numbers and texts for the other types. */
#include "ucs/config/internal.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Returns the locale "C". The application's locale may use a decimal comma;
 * variables always use a point. Returns 0 if the locale cannot be created: then
 * the caller uses the application's locale. */
static locale_t c_locale(void)
{
    static locale_t locale; /* atomic */
    locale_t made, none = (locale_t)0;

    made = __atomic_load_n(&locale, __ATOMIC_ACQUIRE);
    if (made == none) {
        made = newlocale(LC_ALL_MASK, "C", none);
        if ((made != none) &&
            !__atomic_compare_exchange_n(&locale, &none, made, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            freelocale(made);
            made = none;
        }
    }

    return made;
}

const char *config_parse_double(const char *text, double *value_p)
{
    locale_t locale = c_locale();
    char *end;

    /* rejects "nan", "inf" and hexadecimal numbers, which strtod accepts */
    if (strspn(text, "+-.0123456789") == 0) {
        return NULL;
    }

    if (!strncasecmp(text + strspn(text, "+-"), "0x", 2)) {
        return NULL;
    }

    *value_p = (locale == (locale_t)0) ? strtod(text, &end) :
                                         strtod_l(text, &end, locale);
    return (end == text) || !isfinite(*value_p) ? NULL : end;
}

void config_print_double(char *buf, size_t max, double value)
{
    locale_t old = uselocale(c_locale()); /* 0 does not change the locale */

    snprintf(buf, max, "%.15g", value);
    uselocale(old);
}

ucs_status_t config_check_range(const void *arg, double value, char *why)
{
    const ucs_config_range_t *range = arg;

    if ((range == NULL) || ((value >= range->min) && (value <= range->max))) {
        return UCS_OK;
    }

    snprintf(why, UCS_CONFIG_WHY_MAX, "it is too %s",
             (value < range->min) ? "small" : "large");
    return UCS_ERR_INVALID_PARAM;
}

void config_describe_range(char *buf, size_t max, const void *arg)
{
    const ucs_config_range_t *range = arg;

    if (range == NULL) {
        *buf = '\0';
    } else {
        snprintf(buf, max, " from %.15g to %.15g", range->min, range->max);
    }
}

char *config_strndup_trim(const char *text, size_t length)
{
    while ((length > 0) && (strchr(" \t\r\n", text[0]) != NULL)) {
        ++text;
        --length;
    }

    while ((length > 0) && (strchr(" \t\r\n", text[length - 1]) != NULL)) {
        --length;
    }

    return strndup(text, length);
}

/* Parses an integer in base 10, or 16 after "0x". Leading zeros do not mean
 * octal. */
static ucs_status_t parse_long(const char *text, long min, long max,
                               long *value_p)
{
    const char *digits = text + ((*text == '-') || (*text == '+'));
    char *end;

    if ((*digits < '0') || (*digits > '9')) {
        return UCS_ERR_INVALID_PARAM;
    }

    errno    = 0;
    *value_p = strtol(text, &end, !strncasecmp(digits, "0x", 2) ? 16 : 10);
    if (*end != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }

    return ((errno != 0) || (*value_p < min) || (*value_p > max)) ?
               UCS_ERR_OUT_OF_RANGE :
               UCS_OK;
}

static ucs_status_t parse_ulong(const char *text, unsigned long *value_p)
{
    char *end;

    if ((*text < '0') || (*text > '9')) {
        return UCS_ERR_INVALID_PARAM;
    }

    errno    = 0;
    *value_p = strtoul(text, &end, !strncasecmp(text, "0x", 2) ? 16 : 10);
    if (*end != '\0') {
        return UCS_ERR_INVALID_PARAM;
    }

    return (errno != 0) ? UCS_ERR_OUT_OF_RANGE : UCS_OK;
}

static ucs_status_t number_failed(ucs_status_t status, char *why)
{
    if (status == UCS_ERR_OUT_OF_RANGE) {
        snprintf(why, UCS_CONFIG_WHY_MAX, "it is out of range");
    }

    return UCS_ERR_INVALID_PARAM;
}

static ucs_status_t int_parse(const char *text, void *dest, const void *arg,
                              char *why)
{
    ucs_status_t status;
    long value;

    status = parse_long(text, INT_MIN, INT_MAX, &value);
    if (status != UCS_OK) {
        return number_failed(status, why);
    }

    *(int *)dest = (int)value;
    return config_check_range(arg, (double)value, why);
}

static void int_print(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "%d", *(const int *)src);
}

static void int_describe(char *buf, size_t max, const void *arg)
{
    char range[64];

    config_describe_range(range, sizeof(range), arg);
    snprintf(buf, max, "a whole number%s", range);
}

static ucs_status_t uint_parse(const char *text, void *dest, const void *arg,
                               char *why)
{
    ucs_status_t status;
    long value;

    status = parse_long(text, 0, UINT_MAX, &value);
    if (status != UCS_OK) {
        return number_failed(status, why);
    }

    *(unsigned *)dest = (unsigned)value;
    return config_check_range(arg, (double)value, why);
}

static void uint_print(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "%u", *(const unsigned *)src);
}

static void uint_describe(char *buf, size_t max, const void *arg)
{
    char range[64];

    config_describe_range(range, sizeof(range), arg);
    snprintf(buf, max, "a whole number%s",
             (range[0] != '\0') ? range : ", not negative");
}

static ucs_status_t ulong_parse(const char *text, void *dest, const void *arg,
                                char *why)
{
    ucs_status_t status;
    unsigned long value;

    status = parse_ulong(text, &value);
    if (status != UCS_OK) {
        return number_failed(status, why);
    }

    *(unsigned long *)dest = value;
    return config_check_range(arg, (double)value, why);
}

static void ulong_print(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    snprintf(buf, max, "%lu", *(const unsigned long *)src);
}

static ucs_status_t ulunits_parse(const char *text, void *dest, const void *arg,
                                  char *why)
{
    if (!strcasecmp(text, "auto")) {
        *(unsigned long *)dest = UCS_ULUNITS_AUTO;
        return UCS_OK;
    } else if (!strcasecmp(text, "inf") || !strcasecmp(text, "infinity")) {
        *(unsigned long *)dest = UCS_ULUNITS_INF;
        return UCS_OK;
    }

    return ulong_parse(text, dest, arg, why);
}

static void ulunits_print(char *buf, size_t max, const void *src,
                          const void *arg)
{
    unsigned long value = *(const unsigned long *)src;

    if (value == UCS_ULUNITS_AUTO) {
        snprintf(buf, max, "auto");
    } else if (value == UCS_ULUNITS_INF) {
        snprintf(buf, max, "inf");
    } else {
        ulong_print(buf, max, src, arg);
    }
}

static void ulunits_describe(char *buf, size_t max, const void *arg)
{
    char number[128];

    uint_describe(number, sizeof(number), arg);
    snprintf(buf, max, "%s, \"inf\" or \"auto\"", number);
}

static ucs_status_t double_parse(const char *text, void *dest, const void *arg,
                                 char *why)
{
    const char *end = config_parse_double(text, dest);

    if ((end == NULL) || (*end != '\0')) {
        return UCS_ERR_INVALID_PARAM;
    }

    return config_check_range(arg, *(double *)dest, why);
}

static void double_print(char *buf, size_t max, const void *src,
                         const void *arg)
{
    (void)arg;
    config_print_double(buf, max, *(const double *)src);
}

static void double_describe(char *buf, size_t max, const void *arg)
{
    char range[64];

    config_describe_range(range, sizeof(range), arg);
    snprintf(buf, max, "a number%s", range);
}

/* ---- signals: a number, or a name with or without SIG ---- */

static ucs_status_t signo_parse(const char *text, void *dest, const void *arg,
                                char *why)
{
    const char *name = text;
    int signo;

    if ((*text >= '0') && (*text <= '9')) {
        return uint_parse(text, dest, arg, why);
    }

    name += strncasecmp(name, "SIG", 3) ? 0 : 3;
    for (signo = 1; signo < NSIG; ++signo) {
        if ((sigabbrev_np(signo) != NULL) &&
            !strcasecmp(sigabbrev_np(signo), name)) {
            *(unsigned *)dest = (unsigned)signo;
            return UCS_OK;
        }
    }

    return UCS_ERR_INVALID_PARAM;
}

static void signo_describe(char *buf, size_t max, const void *arg)
{
    char number[128];

    uint_describe(number, sizeof(number), arg);
    snprintf(buf, max, "%s, or the name of a signal such as SIGALRM", number);
}

const ucs_config_type_t ucs_config_type_int = {
    sizeof(int), int_parse, int_print, int_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_uint = {
    sizeof(unsigned), uint_parse, uint_print, uint_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_ulong = {
    sizeof(unsigned long), ulong_parse, ulong_print, uint_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_ulunits = {
    sizeof(unsigned long), ulunits_parse, ulunits_print,
    ulunits_describe,      NULL,          NULL,
};
const ucs_config_type_t ucs_config_type_double = {
    sizeof(double), double_parse, double_print, double_describe, NULL, NULL,
};
const ucs_config_type_t ucs_config_type_signo = {
    sizeof(unsigned), signo_parse, uint_print, signo_describe, NULL, NULL,
};
