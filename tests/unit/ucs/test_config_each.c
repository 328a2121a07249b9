/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs_config_each(): every variable is reported with its value. If a table of
 * options cannot be read, the returned status tells so. */
#include "suite.h"

#include <stdint.h>

#include "ucs/config/config.h"

typedef struct {
    unsigned depth;
    char *label;
    int quiet;
} opts_t;

static const ucs_config_field_t fields[] = {
    {"DEPTH", "16", "How deep.", ucs_offsetof(opts_t, depth),
     UCS_CONFIG_TYPE_UINT_RANGE(1, 100), 0},
    {"LABEL", "none", "What it\nis called.", ucs_offsetof(opts_t, label),
     UCS_CONFIG_TYPE_STRING, UCS_CONFIG_FLAG_HIDDEN},
    {"QUIET", "n", NULL, ucs_offsetof(opts_t, quiet), UCS_CONFIG_TYPE_BOOL, 0},
    {NULL},
};

static ucs_config_table_t table = {
    "Listed options", "LST_", fields, sizeof(opts_t), NULL, {NULL, NULL},
};

/* What ucs_config_each() has reported of each of the `fields`. */
static struct {
    unsigned count;
    char value[32];
    char dfl[32];
    char doc[64];
    char type[128];
    unsigned flags;
} seen[3];

static void visit(const ucs_config_item_t *item, void *arg)
{
    const char *prefix = arg;
    unsigned i;

    if (strcmp(item->table, "Listed options") ||
        strncmp(item->name, prefix, strlen(prefix))) {
        return;
    }
    for (i = 0; i < 3; ++i) {
        if (strcmp(item->name + strlen(prefix), fields[i].name) == 0) {
            ++seen[i].count;
            snprintf(seen[i].value, sizeof(seen[i].value), "%s", item->value);
            snprintf(seen[i].dfl, sizeof(seen[i].dfl), "%s", item->dfl_value);
            snprintf(seen[i].doc, sizeof(seen[i].doc), "%s", item->doc);
            snprintf(seen[i].type, sizeof(seen[i].type), "%s", item->type);
            seen[i].flags = item->flags;
        }
    }
}

static void begin(void)
{
    memset(seen, 0, sizeof(seen));
    unsetenv("UCX_LST_DEPTH");
    unsetenv("MINE_UCX_LST_DEPTH");
    ucs_config_table_register(&table);
}

static void end(void)
{
    ucs_config_table_unregister(&table);
}

START_TEST(each_variable_is_told_of_once)
{
    begin();
    setenv("UCX_LST_DEPTH", "7", 1);
    ck_ok(ucs_config_each(NULL, visit, "UCX_LST_"));
    ck_assert_uint_eq(seen[0].count, 1);
    ck_assert_uint_eq(seen[1].count, 1);
    ck_assert_uint_eq(seen[2].count, 1);
    ck_assert_str_eq(seen[0].value, "7");
    ck_assert_str_eq(seen[0].dfl, "16");
    ck_assert_str_eq(seen[0].doc, "How deep.");
    ck_assert_ptr_nonnull(strstr(seen[0].type, "100"));
    ck_assert_uint_eq(seen[0].flags, 0);
    ck_assert_str_eq(seen[1].value, "none");
    ck_assert_str_eq(seen[1].doc, "What it\nis called.");
    end();
}
END_TEST

START_TEST(what_few_people_need_is_marked)
{
    begin();
    ck_ok(ucs_config_each(NULL, visit, "UCX_LST_"));
    ck_assert_uint_eq(seen[1].flags & UCS_CONFIG_FLAG_HIDDEN,
                      UCS_CONFIG_FLAG_HIDDEN);
    /* a field without a help text is hidden */
    ck_assert_uint_eq(seen[2].flags & UCS_CONFIG_FLAG_HIDDEN,
                      UCS_CONFIG_FLAG_HIDDEN);
    ck_assert_str_eq(seen[2].doc, "");
    end();
}
END_TEST

START_TEST(an_application_has_its_own_names)
{
    begin();
    setenv("UCX_LST_DEPTH", "7", 1);
    setenv("MINE_UCX_LST_DEPTH", "8", 1);
    ck_ok(ucs_config_each("MINE", visit, "MINE_UCX_LST_"));
    ck_assert_str_eq(seen[0].value, "8");
    end();
}
END_TEST

START_TEST(a_table_with_a_bad_value_is_left_out)
{
    begin();
    setenv("UCX_LST_DEPTH", "101", 1);
    log_catch();
    ck_assert_int_eq(ucs_config_each(NULL, visit, "UCX_LST_"),
                     UCS_ERR_INVALID_PARAM);
    ck_logged("UCX_LST_DEPTH");
    ck_assert_uint_eq(seen[0].count, 0);
    ck_assert_int_eq(ucs_config_print_all(stderr, NULL, 0),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    end();
}
END_TEST

/* Sanitizers end the program when an allocation is too large, unless they are
 * told to let it fail. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

START_TEST(the_first_failure_is_returned)
{
    /* No memory is large enough for the options of this table. It comes after
     * `table` in the order of titles. */
    static ucs_config_table_t large = {
        "Z", "LSZ_", fields, PTRDIFF_MAX, NULL, {NULL, NULL},
    };

    begin();
    ucs_config_table_register(&large);
    ck_assert_int_eq(ucs_config_each(NULL, visit, "UCX_LST_"),
                     UCS_ERR_NO_MEMORY);
    ck_assert_int_eq(ucs_config_print_all(stderr, NULL, 0), UCS_ERR_NO_MEMORY);
    ck_assert_uint_eq(seen[0].count, 1);

    setenv("UCX_LST_DEPTH", "101", 1);
    log_catch();
    ck_assert_int_eq(ucs_config_each(NULL, visit, "UCX_LST_"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucs_config_print_all(stderr, NULL, 0),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    ucs_config_table_unregister(&large);
    end();
}
END_TEST

SUITE_MAIN("config each", each_variable_is_told_of_once,
           what_few_people_need_is_marked, an_application_has_its_own_names,
           a_table_with_a_bad_value_is_left_out, the_first_failure_is_returned)
