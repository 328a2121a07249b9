/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of options: which source supplies the value of an option, and how
 * structures are read, changed, printed and released. */
#include "suite.h"

#include "ucs/config/config.h"

typedef struct {
    unsigned depth;
    char *label;
} base_opts_t;

typedef struct {
    base_opts_t rx;
    base_opts_t tx;
    int before; /* no option: must be preserved by a clone */
    size_t thresh;
    unsigned color;
    ucs_config_names_array_t devices;
    ucs_config_allow_list_t tls;
} opts_t;

static const char *const colors[] = {"red", "green", NULL};

static const ucs_config_field_t base_fields[] = {
    {"DEPTH", "16", "Depth.", ucs_offsetof(base_opts_t, depth),
     UCS_CONFIG_TYPE_UINT_RANGE(1, 100), 0},
    {"LABEL", "none", "Label.", ucs_offsetof(base_opts_t, label),
     UCS_CONFIG_TYPE_STRING, 0},
    {NULL},
};

static const ucs_config_field_t fields[] = {
    {"RX_", NULL, NULL, ucs_offsetof(opts_t, rx),
     UCS_CONFIG_TYPE_TABLE(base_fields), 0},
    {"TX_", "DEPTH=32;LABEL=out", NULL, ucs_offsetof(opts_t, tx),
     UCS_CONFIG_TYPE_TABLE(base_fields), 0},
    {"THRESH", "4k", "Threshold\nin two lines.", ucs_offsetof(opts_t, thresh),
     UCS_CONFIG_TYPE_MEMUNITS, 0},
    {"COLOR", "red", "Color.", ucs_offsetof(opts_t, color),
     UCS_CONFIG_TYPE_ENUM(colors), UCS_CONFIG_FLAG_HIDDEN},
    {"DEVICES", "a,b", "Devices.", ucs_offsetof(opts_t, devices),
     UCS_CONFIG_TYPE_STRING_ARRAY, 0},
    {"TLS", "all", "Transports.", ucs_offsetof(opts_t, tls),
     UCS_CONFIG_TYPE_ALLOW_LIST, 0},
    {"OLD", "", "use THRESH instead", 0, UCS_CONFIG_TYPE_DEPRECATED,
     UCS_CONFIG_FLAG_DEPRECATED},
    {NULL},
};

static const char *const fallbacks[] = {"NET_", NULL};

static ucs_config_table_t table = {
    "Test options", "TST_", fields, sizeof(opts_t), fallbacks, {NULL, NULL},
};

static opts_t opts;

START_TEST(defaults_come_from_the_table)
{
    ck_ok(ucs_config_read(&table, NULL, &opts));
    ck_assert_uint_eq(opts.rx.depth, 16);
    ck_assert_str_eq(opts.rx.label, "none");
    /* the entry of the sub-table TX sets this default */
    ck_assert_uint_eq(opts.tx.depth, 32);
    ck_assert_str_eq(opts.tx.label, "out");
    ck_assert_uint_eq(opts.thresh, 4096);
    ck_assert_uint_eq(opts.devices.count, 2);
    ck_assert_int_eq(opts.tls.mode, UCS_CONFIG_ALLOW_LIST_ALLOW_ALL);
    ucs_config_release(&table, &opts);
}
END_TEST

START_TEST(the_nearest_source_wins)
{
    ucs_config_source_t source = {.app_prefix = "MYAPP"};
    ucs_config_overrides_t overrides;

    setenv("UCX_NET_THRESH", "1k", 1);
    ck_ok(ucs_config_read(&table, &source, &opts));
    /* from the variable with the fallback prefix of the table */
    ck_assert_uint_eq(opts.thresh, 1024);
    ucs_config_release(&table, &opts);

    setenv("UCX_TST_THRESH", "2k", 1);
    ck_ok(ucs_config_read(&table, &source, &opts));
    ck_assert_uint_eq(opts.thresh, 2048);
    ucs_config_release(&table, &opts);

    setenv("MYAPP_UCX_TST_THRESH", "3k", 1);
    ck_ok(ucs_config_read(&table, &source, &opts));
    ck_assert_uint_eq(opts.thresh, 3072);
    ucs_config_release(&table, &opts);
    ck_ok(ucs_config_read(&table, NULL, &opts));
    /* without an app_prefix, MYAPP's variable is not used */
    ck_assert_uint_eq(opts.thresh, 2048);
    ucs_config_release(&table, &opts);

    ucs_config_overrides_init(&overrides);
    ck_ok(ucs_config_overrides_set(&overrides, "UCX_TST_THRESH", "5k"));
    ck_ok(ucs_config_overrides_set(&overrides, "TST_THRESH", "6k"));
    source.overrides = &overrides;
    ck_ok(ucs_config_read(&table, &source, &opts));
    ck_assert_uint_eq(opts.thresh, 6144);
    ucs_config_release(&table, &opts);
    ucs_config_overrides_cleanup(&overrides);

    ck_ok(ucs_config_read_defaults(&table, &opts));
    ck_assert_uint_eq(opts.thresh, 4096);
    ucs_config_release(&table, &opts);
    unsetenv("UCX_NET_THRESH");
    unsetenv("UCX_TST_THRESH");
    unsetenv("MYAPP_UCX_TST_THRESH");
}
END_TEST

START_TEST(a_bad_value_is_explained)
{
    setenv("UCX_TST_TX_DEPTH", "101", 1);
    log_catch();
    ck_assert_int_eq(ucs_config_read(&table, NULL, &opts),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    unsetenv("UCX_TST_TX_DEPTH");
    ck_logged("'101' is not a valid value for UCX_TST_TX_DEPTH (in the "
              "environment)");
    ck_logged("from 1 to 100");
    ck_logged("too large");

    setenv("UCX_TST_COLOR", "gren", 1);
    log_catch();
    ck_assert_int_eq(ucs_config_read(&table, NULL, &opts),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    unsetenv("UCX_TST_COLOR");
    ck_logged("one of: red, green; did you mean 'green'?");

    setenv("UCX_TST_OLD", "1", 1);
    log_catch();
    ck_ok(ucs_config_read(&table, NULL, &opts));
    log_release();
    unsetenv("UCX_TST_OLD");
    ck_logged("obsolete: use THRESH instead");
    ucs_config_release(&table, &opts);
}
END_TEST

START_TEST(options_are_set_and_got_by_name)
{
    char text[32];

    ck_ok(ucs_config_read(&table, NULL, &opts));
    ck_ok(ucs_config_set(&table, &opts, "RX_LABEL", "in"));
    ck_ok(ucs_config_set(&table, &opts, "TST_DEVICES", "x,y,z"));
    ck_ok(ucs_config_set(&table, &opts, "UCX_TST_TLS", "^tcp"));
    ck_assert_int_eq(ucs_config_set(&table, &opts, "NOTHING", "1"),
                     UCS_ERR_NO_ELEM);
    log_catch();
    ck_assert_int_eq(ucs_config_set(&table, &opts, "RX_DEPTH", "lots"),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    ck_logged("RX_DEPTH (set by the application)");

    ck_ok(ucs_config_get(&table, &opts, "RX_LABEL", text, sizeof(text)));
    ck_assert_str_eq(text, "in");
    ck_ok(ucs_config_get(&table, &opts, "DEVICES", text, sizeof(text)));
    ck_assert_str_eq(text, "x,y,z");
    ck_ok(ucs_config_get(&table, &opts, "DEVICES", text, 6));
    ck_assert_int_eq(ucs_config_get(&table, &opts, "DEVICES", text, 5),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ck_assert_str_eq(text, "x,y,");
    ck_ok(ucs_config_get(&table, &opts, "RX_DEPTH", text, sizeof(text)));
    ck_assert_str_eq(text, "16"); /* setting an invalid value has no effect */
    ucs_config_release(&table, &opts);
}
END_TEST

START_TEST(a_clone_is_independent)
{
    opts_t copy;

    ck_ok(ucs_config_read(&table, NULL, &opts));
    opts.before = 42;
    ck_ok(ucs_config_clone(&table, &copy, &opts));
    ck_ok(ucs_config_set(&table, &opts, "RX_LABEL", "changed"));
    ck_ok(ucs_config_set(&table, &opts, "DEVICES", ""));
    ucs_config_release(&table, &opts);
    ck_assert_int_eq(copy.before, 42);
    ck_assert_str_eq(copy.rx.label, "none");
    ck_assert_str_eq(copy.devices.names[1], "b");
    ucs_config_release(&table, &copy);
}
END_TEST

static char *printed(unsigned flags)
{
    size_t size;
    char *text;
    FILE *stream = open_memstream(&text, &size);

    ucs_config_print(stream, "A title", &table, &opts, NULL,
                     (ucs_config_print_flags_t)flags);
    fclose(stream);
    return text;
}

START_TEST(print_shows_what_is_asked_for)
{
    char *text;

    ck_ok(ucs_config_read(&table, NULL, &opts));
    ck_ok(ucs_config_set(&table, &opts, "THRESH", "8k"));
    text = printed(UCS_CONFIG_PRINT_CONFIG);
    ck_assert_str_eq(text, "UCX_TST_RX_DEPTH=16\nUCX_TST_RX_LABEL=none\n"
                           "UCX_TST_TX_DEPTH=32\nUCX_TST_TX_LABEL=out\n"
                           "UCX_TST_THRESH=8K\nUCX_TST_DEVICES=a,b\n"
                           "UCX_TST_TLS=all\n");
    free(text);
    text = printed(UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER |
                   UCS_CONFIG_PRINT_DOC | UCS_CONFIG_PRINT_HIDDEN |
                   UCS_CONFIG_PRINT_COMMENT_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "# A title\n"));
    ck_assert_ptr_nonnull(strstr(text, "# Threshold\n# in two lines.\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# UCX_TST_TX_DEPTH=32\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nUCX_TST_THRESH=8K\n"));
    ck_assert_ptr_nonnull(strstr(text, "UCX_TST_COLOR=red"));
    free(text);
    ucs_config_release(&table, &opts);
}
END_TEST

SUITE_MAIN("config options", defaults_come_from_the_table,
           the_nearest_source_wins, a_bad_value_is_explained,
           options_are_set_and_got_by_name, a_clone_is_independent,
           print_shows_what_is_asked_for)
