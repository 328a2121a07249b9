/* SPDX-License-Identifier: BSD-3-Clause */
/* Unknown variables in the environment or in settings of the application are
 * reported once, with a similar name that exists. Also options with two names,
 * and the printed list of all tables. */
#include "suite.h"

#include "ucs/config/config.h"

typedef struct {
    int value;
} opts_t;

static const ucs_config_field_t fields[] = {
    {"RNDV_THRESH", "1", "A.", ucs_offsetof(opts_t, value), UCS_CONFIG_TYPE_INT,
     0},
    {"TLS", "1", "B.", ucs_offsetof(opts_t, value), UCS_CONFIG_TYPE_INT, 0},
    {NULL},
};

UCS_CONFIG_DEFINE_TABLE(names_table, "Names", "", fields, opts_t)

static ucs_config_table_t plugin_table = {
    "Plugin", "PLG_", fields, sizeof(opts_t), NULL, {NULL, NULL},
};

typedef struct {
    opts_t inner;
    int value;
} renamed_opts_t;

static const ucs_config_field_t renamed_inner[] = {
    {"NEW", "1", "A.", ucs_offsetof(opts_t, value), UCS_CONFIG_TYPE_INT, 0,
     "OLD"},
    {NULL},
};
static const ucs_config_field_t renamed_fields[] = {
    {"IN_", NULL, NULL, ucs_offsetof(renamed_opts_t, inner),
     UCS_CONFIG_TYPE_TABLE(renamed_inner), 0},
    {"NEW_NAME", "1", "A.", ucs_offsetof(renamed_opts_t, value),
     UCS_CONFIG_TYPE_INT, 0, "FORMER_NAME"},
    {NULL},
};

UCS_CONFIG_DEFINE_TABLE(renamed_table, "Renamed", "REN_", renamed_fields,
                        renamed_opts_t)

static unsigned check(const char *app, const char *const *prefixes,
                      const char *const *names)
{
    const ucs_config_source_t source = {.app_prefix = app};
    unsigned count;

    log_catch();
    count = ucs_config_warn_unknown(&source, prefixes, names);
    log_release();
    return count;
}

START_TEST(edit_distance_counts_typing_errors)
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
    static const char *const names[]    = {"SPECIAL", NULL};

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

START_TEST(a_plugin_that_is_here_has_told_all_its_names)
{
    static const char *const prefixes[] = {"PLG_", "FAR_", NULL};

    setenv("UCX_PLG_TLZ", "1", 1);
    ck_assert_uint_eq(check(NULL, prefixes, NULL), 0);
    ucs_config_table_register(&plugin_table);
    ck_assert_uint_eq(check(NULL, prefixes, NULL), 1);
    ucs_config_table_unregister(&plugin_table);
    ck_logged("UCX_PLG_TLZ (did you mean UCX_PLG_TLS?)");
    unsetenv("UCX_PLG_TLZ");
}
END_TEST

START_TEST(an_option_may_have_two_names)
{
    renamed_opts_t opts;
    char text[16];

    setenv("UCX_REN_FORMER_NAME", "2", 1);
    setenv("UCX_REN_IN_OLD", "3", 1);
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    ck_ok(ucs_config_read(&renamed_table, NULL, &opts));
    ck_assert_int_eq(opts.value, 2);
    ck_assert_int_eq(opts.inner.value, 3);
    setenv("UCX_REN_NEW_NAME", "4", 1); /* the new name has priority */
    ck_ok(ucs_config_read(&renamed_table, NULL, &opts));
    ck_assert_int_eq(opts.value, 4);
    ck_ok(ucs_config_set(&renamed_table, &opts, "FORMER_NAME", "5"));
    ck_ok(ucs_config_set(&renamed_table, &opts, "UCX_REN_IN_OLD", "6"));
    ck_ok(
        ucs_config_get(&renamed_table, &opts, "NEW_NAME", text, sizeof(text)));
    ck_assert_str_eq(text, "5");
    ck_assert_int_eq(opts.inner.value, 6);
    unsetenv("UCX_REN_FORMER_NAME");
    unsetenv("UCX_REN_IN_OLD");
    unsetenv("UCX_REN_NEW_NAME");

    setenv("UCX_REN_FORMER_NAMES", "2", 1);
    ck_assert_uint_eq(check(NULL, NULL, NULL), 1);
    ck_logged("did you mean UCX_REN_FORMER_NAME?");
    unsetenv("UCX_REN_FORMER_NAMES");
}
END_TEST

START_TEST(names_of_others_are_no_mistake)
{
    ucs_log_level_t level = ucs_log_level_get();

    setenv("UCX_TM_MAX_BB_SIZE", "1k", 1);
    setenv("UCX_RNDV_PERF_DIFF", "1", 1);
    ucs_log_level_set(UCS_LOG_LEVEL_INFO);
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    ck_logged("info UCX_TM_MAX_BB_SIZE has no effect here: ");
    ck_logged("info UCX_RNDV_PERF_DIFF has no effect here: ");
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    ck_assert_str_eq(log_text, ""); /* each name is reported only once */
    ucs_log_level_set(level);
    unsetenv("UCX_TM_MAX_BB_SIZE");
    unsetenv("UCX_RNDV_PERF_DIFF");
}
END_TEST

/* If a plugin with the prefix "RC_" exists, variables with this prefix are
 * checked: each must be an option in one of the tables, or in the library's
 * list of variables that have no effect. */
START_TEST(names_of_a_plugin_that_is_there_are_not_excused)
{
    static const char *const prefixes[] = {"RC_", NULL};
    static ucs_config_table_t table     = {
            "Connections", "RC_", fields, sizeof(opts_t), NULL, {NULL, NULL},
    };

    setenv("UCX_RC_TSL", "1", 1);
    /* no table of options has the prefix RC_ yet, which foreign.txt lists */
    ck_assert_uint_eq(check(NULL, NULL, NULL), 0);
    ucs_config_table_register(&table);
    /* another unknown name, because each name is reported only once */
    setenv("UCX_RC_TSLL", "1", 1);
    setenv("UCX_RC_VERBS_FENCE", "auto", 1);
    setenv("UCX_RC_MLX5_TIMEOUT", "1s", 1);
    ck_assert_uint_eq(check(NULL, prefixes, NULL), 1);
    ck_logged("UCX_RC_TSLL (did you mean UCX_RC_TLS?)");
    ucs_config_table_unregister(&table);
    unsetenv("UCX_RC_TSL");
    unsetenv("UCX_RC_TSLL");
    unsetenv("UCX_RC_VERBS_FENCE");
    unsetenv("UCX_RC_MLX5_TIMEOUT");
}
END_TEST

START_TEST(words_of_others_are_known)
{
    ck_assert_ptr_nonnull(ucs_config_foreign_transport("rc_mlx5"));
    ck_assert_ptr_null(ucs_config_foreign_transport("rc_mlx"));
    ck_assert_ptr_null(ucs_config_foreign_transport(""));
}
END_TEST

START_TEST(settings_of_the_application_are_checked_too)
{
    ucs_config_overrides_t overrides;
    ucs_config_source_t source = {.overrides = &overrides};

    ucs_config_overrides_init(&overrides);
    ck_ok(ucs_config_overrides_set(&overrides, "TLS", "1"));
    ck_ok(ucs_config_overrides_set(&overrides, "UCX_TSL", "1"));
    log_catch();
    ck_assert_uint_eq(ucs_config_warn_unknown(&source, NULL, NULL), 1);
    log_release();
    ck_logged("UCX_TSL in the application's settings (did you mean UCX_TLS?)");
    ucs_config_overrides_cleanup(&overrides);
}
END_TEST

START_TEST(short_words_allow_few_typing_errors)
{
    ck_assert_uint_eq(ucs_config_slips(""), 1);
    ck_assert_uint_eq(ucs_config_slips("TLS"), 1);
    ck_assert_uint_eq(ucs_config_slips("POSIX"), 2);
    ck_assert_uint_eq(ucs_config_slips("A_VERY_LONG_NAME_OF_SOMETHING"), 4);
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

SUITE_MAIN("config names", edit_distance_counts_typing_errors,
           a_misspelt_name_is_told_once, the_warning_can_be_silenced,
           plugins_bring_and_take_names,
           names_of_an_application_are_checked_too,
           a_plugin_that_is_here_has_told_all_its_names,
           an_option_may_have_two_names, names_of_others_are_no_mistake,
           words_of_others_are_known,
           names_of_a_plugin_that_is_there_are_not_excused,
           settings_of_the_application_are_checked_too,
           short_words_allow_few_typing_errors, all_tables_are_printed)
