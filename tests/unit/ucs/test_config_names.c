/* SPDX-License-Identifier: BSD-3-Clause */
/* Misspelt variables are found, once, and the right name is offered. */
#include "suite.h"

#include "ucs/config/config.h"

typedef struct {
    int value;
} opts_t;

static const ucs_config_field_t fields[] = {
        {"RNDV_THRESH", "1", "A.", ucs_offsetof(opts_t, value),
         UCS_CONFIG_TYPE_INT, 0},
        {"TLS", "1", "B.", ucs_offsetof(opts_t, value), UCS_CONFIG_TYPE_INT, 0},
        {NULL}};

UCS_CONFIG_DEFINE_TABLE(names_table, "Names", "", fields, opts_t)

static ucs_config_table_t plugin_table = {"Plugin", "PLG_", fields,
                                          sizeof(opts_t), NULL, {NULL, NULL}};

static unsigned check(const char *app, const char *const *prefixes,
                      const char *const *names)
{
    unsigned count;

    log_catch();
    count = ucs_config_warn_unknown(app, prefixes, names);
    log_release();
    return count;
}

START_TEST(distance_counts_slips)
{
    ck_assert_uint_eq(ucs_config_edit_distance("TLS", "TLS", 3), 0);
    ck_assert_uint_eq(ucs_config_edit_distance("TSL", "TLS", 3), 1);
    ck_assert_uint_eq(ucs_config_edit_distance("tls", "TLSS", 3), 1);
    ck_assert_uint_eq(ucs_config_edit_distance("kitten", "sitting", 5), 3);
    ck_assert_uint_eq(ucs_config_edit_distance("abc", "xyz", 1), 2);
    ck_assert_uint_eq(ucs_config_edit_distance("", "ab", 5), 2);
}
END_TEST

START_TEST(a_misspelt_name_is_told_once)
{
    setenv("UCX_RNDV_TRESH", "1", 1);
    setenv("UCX_TLS", "1", 1);
    ck_assert_uint_eq(check(NULL, NULL, NULL), 1);
    ck_logged("UCX_RNDV_TRESH (did you mean UCX_RNDV_THRESH?)");
    ck_logged("UCX_WARN_UNUSED_ENV_VARS=n");
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    ck_assert_str_eq(log_text, "");
    unsetenv("UCX_RNDV_TRESH");
    unsetenv("UCX_TLS");
}
END_TEST

START_TEST(the_warning_can_be_silenced)
{
    setenv("UCX_COMPLETELY_WRONG", "1", 1);
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    unsetenv("UCX_WARN_UNUSED_ENV_VARS");
    ck_assert_uint_eq(check(NULL, NULL, NULL), 1);
    ck_assert_ptr_null(strstr(log_text, "did you mean"));
    unsetenv("UCX_COMPLETELY_WRONG");
}
END_TEST

START_TEST(plugins_bring_and_take_names)
{
    static const char *const prefixes[] = {"FAR_", NULL};
    static const char *const names[] = {"SPECIAL", NULL};

    setenv("UCX_PLG_TLS", "1", 1);
    setenv("UCX_FAR_ANYTHING", "1", 1);
    setenv("UCX_SPECIAL", "1", 1);
    ucs_config_table_register(&plugin_table);
    ucs_config_table_register(&plugin_table);
    ck_assert_uint_eq(check(NULL, prefixes, names), 0);
    ucs_config_table_unregister(&plugin_table);
    ucs_config_table_unregister(&plugin_table);
    ck_assert_uint_eq(check(NULL, prefixes, names), 1);
    ck_logged("UCX_PLG_TLS");
    unsetenv("UCX_PLG_TLS");
    unsetenv("UCX_FAR_ANYTHING");
    unsetenv("UCX_SPECIAL");
}
END_TEST

START_TEST(names_of_an_application_are_checked_too)
{
    setenv("MYAPP_UCX_TLD", "1", 1);
    setenv("OTHER_UCX_TLD", "1", 1);
    ck_assert_uint_eq(check("MYAPP", NULL, NULL), 1);
    ck_logged("MYAPP_UCX_TLD (did you mean MYAPP_UCX_TLS?)");
    unsetenv("MYAPP_UCX_TLD");
    unsetenv("OTHER_UCX_TLD");
}
END_TEST

START_TEST(all_tables_are_printed)
{
    size_t size;
    char *text;
    FILE *stream = open_memstream(&text, &size);

    ucs_config_print_all(stream, NULL,
                         (ucs_config_print_flags_t)(UCS_CONFIG_PRINT_CONFIG |
                                                    UCS_CONFIG_PRINT_HEADER));
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "# UCX services\n"));
    ck_assert_ptr_nonnull(strstr(text, "UCX_LOG_LEVEL=warn\n"));
    ck_assert_ptr_nonnull(strstr(text, "UCX_RNDV_THRESH=1\n"));
    free(text);
}
END_TEST

SUITE_MAIN("config names", distance_counts_slips, a_misspelt_name_is_told_once,
           the_warning_can_be_silenced, plugins_bring_and_take_names,
           names_of_an_application_are_checked_too, all_tables_are_printed)
