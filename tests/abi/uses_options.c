/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the headers for options and profiles, as programs that include only
 * these headers do, and checks the results. run_uses.py compiles this file as C
 * and as C++, and runs it.
 */
#include "expect.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ucs/config/parser.h>
#include <ucs/profile/profile_defs.h>
#include <ucs/profile/profile_on.h>

/* ---- ucs/config/parser.h ---- */

typedef struct {
    unsigned depth;
    char *title;
} inner_opts_t;

typedef struct {
    ucs_log_component_config_t log;
    int number;
    unsigned count;
    unsigned long total, limit;
    double ratio, delay, speed;
    int flag, attempt, automatic, power;
    unsigned color, mask;
    size_t size;
    char *path;
    ucs_config_names_array_t names;
    ucs_config_allow_list_t list;
    UCS_CONFIG_ARRAY_FIELD(unsigned, values) colors;
    inner_opts_t inner, plain;
    char letter;
} my_opts_t;

static const char *color_names[] = {"red", "green", "blue", NULL};

/* An option type that the program defines. */
static int letter_read(const char *buf, void *dest, const void *arg)
{
    (void)arg;
    *(char *)dest = buf[0];
    return (buf[0] != '\0') && (buf[1] == '\0');
}

static int letter_write(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    return snprintf(buf, max, "%c", *(const char *)src);
}

static ucs_status_t letter_clone(const void *src, void *dest, const void *arg)
{
    (void)arg;
    *(char *)dest = *(const char *)src;
    return UCS_OK;
}

UCS_CONFIG_DEFINE_ARRAY(colors, sizeof(unsigned),
                        UCS_CONFIG_TYPE_ENUM(color_names));

#define NO_FIELD \
    { \
        NULL, NULL, NULL, 0, \
        { \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL \
        } \
    }

static ucs_config_field_t inner_table[] = {
    {"DEPTH", "8", "How deep it is.", offsetof(inner_opts_t, depth),
     UCS_CONFIG_TYPE_UINT},
    {"TITLE", "none", NULL, offsetof(inner_opts_t, title),
     UCS_CONFIG_TYPE_STRING},
    NO_FIELD,
};

#define FIELD(_name, _dfl, _member, _type) \
    { \
        _name, _dfl, "Help of " _name ".", offsetof(my_opts_t, _member), _type \
    }

static ucs_config_field_t my_table[] = {
    FIELD("", "DEPTH=9", plain, UCS_CONFIG_TYPE_TABLE(inner_table)),
    FIELD("IN_", "", inner, UCS_CONFIG_TYPE_TABLE(inner_table)),
    FIELD("LOG_LEVEL", "warn", log, UCS_CONFIG_TYPE_LOG_COMP),
    FIELD("NUMBER", "-7", number, UCS_CONFIG_TYPE_INT),
    FIELD("COUNT", "7", count, UCS_CONFIG_TYPE_UINT),
    FIELD("TOTAL", "70", total, UCS_CONFIG_TYPE_ULONG),
    FIELD("LIMIT", "inf", limit, UCS_CONFIG_TYPE_ULUNITS),
    FIELD("RATIO", "0.5", ratio, UCS_CONFIG_TYPE_DOUBLE),
    FIELD("DELAY", "5ms", delay, UCS_CONFIG_TYPE_TIME),
    FIELD("SPEED", "1KBs", speed, UCS_CONFIG_TYPE_BW),
    FIELD("FLAG", "y", flag, UCS_CONFIG_TYPE_BOOL),
    FIELD("TRY", "try", attempt, UCS_CONFIG_TYPE_TERNARY),
    FIELD("AUTO", "auto", automatic, UCS_CONFIG_TYPE_TERNARY_AUTO),
    FIELD("POWER", "on", power, UCS_CONFIG_TYPE_ON_OFF_AUTO),
    FIELD("COLOR", "green", color, UCS_CONFIG_TYPE_ENUM(color_names)),
    FIELD("MASK", "red,blue", mask, UCS_CONFIG_TYPE_BITMAP(color_names)),
    FIELD("SIZE", "4k", size, UCS_CONFIG_TYPE_MEMUNITS),
    FIELD("PATH", "/tmp", path, UCS_CONFIG_TYPE_STRING),
    FIELD("NAMES", "a,b", names, UCS_CONFIG_TYPE_STRING_ARRAY),
    FIELD("LIST", "^x,y", list, UCS_CONFIG_TYPE_ALLOW_LIST),
    FIELD("COLORS", "blue, red", colors, UCS_CONFIG_TYPE_ARRAY(colors)),
    {"LETTER",
     "q",
     NULL,
     offsetof(my_opts_t, letter),
     {letter_read, letter_write, letter_clone, ucs_config_release_nop,
      ucs_config_help_generic, ucs_config_doc_nop, "one letter"}},
    NO_FIELD,
};

static UCS_LIST_HEAD(my_tables);
UCS_CONFIG_REGISTER_TABLE(my_table, "My", "MY_", my_opts_t, &my_tables)

static void check_defaults(const my_opts_t *opts)
{
    EXPECT((opts->plain.depth == 9) && (opts->inner.depth == 8));
    EXPECT(strcmp(opts->plain.title, "none") == 0);
    EXPECT(opts->log.log_level == UCS_LOG_LEVEL_WARN);
    EXPECT((opts->number == -7) && (opts->count == 7) && (opts->total == 70));
    EXPECT((opts->limit == UCS_ULUNITS_INF) && (opts->ratio == 0.5));
    EXPECT((opts->delay == 0.005) && (opts->speed == 1024));
    EXPECT((opts->flag == 1) && (opts->attempt == UCS_TRY));
    EXPECT((opts->automatic == UCS_AUTO) && (opts->power == UCS_CONFIG_ON));
    EXPECT((opts->color == 1) && (opts->mask == 5) && (opts->size == 4096));
    EXPECT(strcmp(opts->path, "/tmp") == 0);
    EXPECT((opts->names.count == 2) &&
           (strcmp(opts->names.names[1], "b") == 0));
    EXPECT((opts->list.mode == UCS_CONFIG_ALLOW_LIST_NEGATE) &&
           (opts->list.array.count == 2) &&
           (strcmp(opts->list.array.names[0], "x") == 0));
    EXPECT((opts->colors.count == 2) && (opts->colors.values[0] == 2) &&
           (opts->colors.values[1] == 0));
    EXPECT(opts->letter == 'q');
}

/* Returns the options as text; the caller frees it. */
static char *printed(const my_opts_t *opts, int flags, const char *filter)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    ucs_config_parser_print_opts(stream, "My title", opts, my_table, "MY_",
                                 "APP_", (ucs_config_print_flags_t)flags,
                                 filter);
    fclose(stream);
    return text;
}

static void check_printing(const my_opts_t *opts)
{
    char *text = printed(opts, UCS_CONFIG_PRINT_CONFIG, NULL);

    EXPECT(strstr(text, "APP_MY_DEPTH=9\nAPP_MY_IN_DEPTH=8\n") == text);
    EXPECT(strstr(text, "\nAPP_MY_MASK=red,blue\nAPP_MY_SIZE=4K\n") != NULL);
    EXPECT(strstr(text, "\nAPP_MY_NAMES=a,b\nAPP_MY_LIST=^x,y\n"
                        "APP_MY_COLORS=blue,red\n") != NULL);
    EXPECT(strstr(text, "\nAPP_MY_AUTO=auto\nAPP_MY_POWER=on\n") != NULL);
    EXPECT((strstr(text, "TITLE") == NULL) && (strstr(text, "LETTER") == NULL));
    free(text);

    text = printed(opts,
                   UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER |
                       UCS_CONFIG_PRINT_DOC | UCS_CONFIG_PRINT_HIDDEN,
                   "COLOR");
    EXPECT(strstr(text, "# My title\n") != NULL);
    EXPECT(strstr(text, "# Help of COLORS.\n") != NULL);
    EXPECT(strstr(text, "# Value:   one of: red, green, blue\n") != NULL);
    EXPECT(strstr(text, "separated by commas, of: one of: red") != NULL);
    EXPECT(strstr(text, "NUMBER") == NULL);
    free(text);

    text = printed(opts,
                   UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HIDDEN |
                       UCS_CONFIG_PRINT_COMMENT_DEFAULT,
                   "LETTER");
    EXPECT(strcmp(text, "# APP_MY_LETTER=q\n") == 0);
    free(text);
}

static void check_setting(my_opts_t *opts)
{
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COUNT", "12") ==
           UCS_OK);
    EXPECT(ucs_config_parser_set_value(opts, my_table, "MY_", "MY_NAMES",
                                       "c,d,e") == UCS_OK);
    EXPECT(ucs_config_parser_set_value(opts, my_table, "MY_", "IN_TITLE",
                                       "new") == UCS_OK);
    EXPECT((opts->count == 12) && (opts->names.count == 3) &&
           (strcmp(opts->inner.title, "new") == 0));
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "MY_COUNT", "1") ==
           UCS_ERR_NO_ELEM);
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COUNT", "many") ==
           UCS_ERR_INVALID_PARAM);
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COLORS",
                                       "red,pink") == UCS_ERR_INVALID_PARAM);
    EXPECT((opts->count == 12) && (opts->colors.count == 2));
}

/* A long value is printed completely, and stays if a new one is invalid. */
static void check_long_value(my_opts_t *opts)
{
    const unsigned count = 1000;
    char value[3 * 1000 + 1000], *text;
    unsigned i;

    value[0] = '\0';
    for (i = 0; i < count; ++i) {
        strcat(value, (i == 0) ? "red" : ",red");
    }
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COLORS", value) ==
           UCS_OK);
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COLORS",
                                       "red,pink") == UCS_ERR_INVALID_PARAM);
    EXPECT(opts->colors.count == count);
    text = printed(opts, UCS_CONFIG_PRINT_CONFIG, "COLORS");
    EXPECT((strncmp(text, "APP_MY_COLORS=", 14) == 0) &&
           (strncmp(text + 14, value, strlen(value)) == 0));
    free(text);
}

static void check_variables(ucs_config_global_list_entry_t *entry)
{
    my_opts_t opts;

    /* A variable with the table's prefix MY_ takes precedence over one without;
     * among those, one with APP_ over one without */
    setenv("APP_UCC_MY_COUNT", "1", 1);
    setenv("UCC_MY_COUNT", "2", 1);
    setenv("UCC_MY_NUMBER", "3", 1);
    setenv("APP_UCC_NUMBER", "4", 1);
    setenv("UCC_IN_DEPTH", "5", 1);
    setenv("UCC_PATH", "/new", 1);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "APP_UCC_", 0) == UCS_OK);
    EXPECT((opts.count == 1) && (opts.number == 3) && (opts.inner.depth == 5));
    EXPECT(strcmp(opts.path, "/new") == 0);
    ucs_config_parser_release_opts(&opts, my_table);

    setenv("UCC_MY_COLOR", "pink", 1);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "UCC_", 0) ==
           UCS_ERR_INVALID_PARAM);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "UCC_", 1) == UCS_OK);
    EXPECT((opts.color == 1) && (opts.count == 2));
    ucs_config_parser_release_opts(&opts, my_table);
    unsetenv("UCC_MY_COLOR");
}

/* Calls functions that no field of this program's tables calls. */
static void check_functions(const my_opts_t *opts)
{
    ucs_config_names_array_t names;
    inner_opts_t inner;
    unsigned mask = 99;
    char text[128];

    EXPECT(ucs_config_sscanf_bitmap("green", &mask, color_names) &&
           (mask == 2));
    EXPECT(!ucs_config_sscanf_bitmap("green,pink", &mask, color_names));
    EXPECT(!ucs_config_sscanf_bool("perhaps", &mask, NULL));
    EXPECT(!ucs_config_sscanf_allow_list("a,^b", text, NULL));
    EXPECT(ucs_config_sscanf_table("TITLE=x;DEPTH=3", &inner, inner_table));
    EXPECT((inner.depth == 3) && (strcmp(inner.title, "x") == 0));
    EXPECT(ucs_config_sprintf_table(text, sizeof(text), &inner, inner_table) ==
           15);
    EXPECT(strcmp(text, "DEPTH=3;TITLE=x") == 0);
    ucs_config_release_table(&inner, inner_table);
    EXPECT(!ucs_config_sscanf_table("TITLE", &inner, inner_table));
    EXPECT(!ucs_config_sscanf_table("WIDTH=1", &inner, inner_table));
    EXPECT(ucs_config_sprintf_array(text, 3, &opts->names,
                                    &ucs_config_array_string) == 1);
    EXPECT(strcmp(text, "a") == 0);
    EXPECT(ucs_config_clone_array(&opts->names, &names,
                                  &ucs_config_array_string) == UCS_OK);
    EXPECT((names.count == 2) && (names.names[0] != opts->names.names[0]) &&
           (strcmp(names.names[0], "a") == 0));
    ucs_config_release_array(&names, &ucs_config_array_string);
    EXPECT((names.count == 0) && (names.names == NULL));
    ucs_config_help_bitmap(text, sizeof(text), color_names);
    EXPECT(strstr(text, "red, green, blue") != NULL);
    ucs_config_help_allow_list(text, sizeof(text), NULL);
    EXPECT(strstr(text, "^") != NULL);
    ucs_config_help_table(text, sizeof(text), inner_table);
    EXPECT(strstr(text, "NAME=VALUE") != NULL);
    EXPECT(strcmp(ucs_log_level_names[UCS_LOG_LEVEL_TRACE_POLL], "poll") == 0);
    EXPECT(ucs_log_level_names[UCS_LOG_LEVEL_LAST] == NULL);
}

static void use_parser(void)
{
    ucs_config_global_list_entry_t *entry =
        ucs_list_head(&my_tables, ucs_config_global_list_entry_t, list);
    my_opts_t opts, copy;

    EXPECT(entry == UCS_CONFIG_GET_TABLE(my_table));
    EXPECT((strcmp(entry->prefix, "MY_") == 0) &&
           (entry->size == sizeof(my_opts_t)));
    memset(&opts, 0xff, sizeof(opts));
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "APP_", 0) == UCS_OK);
    check_defaults(&opts);
    check_printing(&opts);
    check_functions(&opts);
    memset(&copy, 0xff, sizeof(copy));
    EXPECT(ucs_config_parser_clone_opts(&opts, &copy, my_table) == UCS_OK);
    check_setting(&opts);
    check_long_value(&opts);
    check_defaults(&copy);
    ucs_config_parser_release_opts(&opts, my_table);
    ucs_config_parser_release_opts(&copy, my_table);
    check_variables(entry);
}

/* ---- ucs/profile/profile_defs.h, profile_on.h ---- */

static ucs_profile_context_t *profile;

_UCS_PROFILE_CTX_FUNC(profile, int, profiled_sum, (a, b), int a, int b)
{
    return a + b;
}

_UCS_PROFILE_CTX_FUNC_VOID(profile, profiled_wait, (microseconds),
                           unsigned microseconds)
{
    usleep(microseconds);
}

static void profile_places(int rounds)
{
    static ucs_profile_loc_id_t unknown = -1;
    int i;

    if (profile != NULL) {
        ucs_profile_record(profile, UCS_PROFILE_TYPE_SAMPLE, "unknown id", 0, 0,
                           __FILE__, __LINE__, __func__, &unknown);
    }

    for (i = 0; i < rounds; ++i) {
        UCS_PROFILE_CTX_SAMPLE(profile, "passed");
        EXPECT(profiled_sum(i, 1) == i + 1);
        EXPECT(UCS_PROFILE_CTX_NAMED_CALL(profile, "call", abs, -i) == i);
        UCS_PROFILE_CTX_RECORD(profile, UCS_PROFILE_TYPE_REQUEST_NEW, "req", 7,
                               (uintptr_t)i);
    }

    UCS_PROFILE_CTX_NAMED_CALL_VOID(profile, "outer", profiled_wait, 2000);
}

/* Finds the location `name` in the text of a profile; returns its count, and in
 * *total_p its time. */
static unsigned long profile_count(const char *text, const char *type,
                                   const char *name, unsigned long *total_p)
{
    char line_type[32], place[512], function[64], line_name[64];
    unsigned long count;
    int id;

    for (; text != NULL; text = strchr(text, '\n')) {
        text += (*text == '\n');
        if ((sscanf(text, "location %d %31s %lu %lu %511s %63s %63s", &id,
                    line_type, &count, total_p, place, function,
                    line_name) == 7) &&
            !strcmp(line_type, type) && !strcmp(line_name, name)) {
            return count;
        }
    }

    *total_p = 0;
    return 0;
}

static int profile_records(const char *text)
{
    int count = 0;

    while ((text = strstr(text, "\nrecord ")) != NULL) {
        ++count;
        ++text;
    }

    return count;
}

/* Records a profile of several rounds and reads the file into `text`. */
static void profile_run(unsigned mode, size_t max_size, int rounds, char *text,
                        size_t max)
{
    char path[] = "/tmp/uses_profile_XXXXXX";
    int fd      = mkstemp(path);
    size_t length;
    FILE *stream;

    EXPECT(fd >= 0);
    EXPECT(ucs_profile_init(mode, path, max_size, &profile) == UCS_OK);
    profile_places(rounds);
    ucs_profile_cleanup(profile);
    profile      = NULL;
    stream       = fdopen(fd, "r");
    length       = fread(text, 1, max - 1, stream);
    text[length] = '\0';
    fclose(stream);
    unlink(path);
}

static void use_profile(void)
{
    static char text[65536];
    unsigned long total, outer;

    profile_places(1); /* profiling is not enabled: no effect */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_ACCUM), 0, 10, text, sizeof(text));
    EXPECT(profile_count(text, "sample", "passed", &total) == 10);
    EXPECT(strstr(text, " unknown id\n") != NULL);
    EXPECT(profile_count(text, "scope-end", "profiled_sum", &total) == 10);
    EXPECT(profile_count(text, "scope-end", "call", &total) == 10);
    EXPECT(profile_count(text, "request-new", "req", &total) == 10);
    EXPECT(profile_count(text, "scope-end", "profiled_wait", &total) == 1);
    EXPECT(profile_count(text, "scope-end", "outer", &outer) == 1);
    EXPECT((total >= 2000000) && (outer >= total));
    EXPECT(strstr(text, "uses_options.c:") != NULL);
    EXPECT(profile_records(text) == 0);

    /* profile_places() writes a record, 6 in each round, and 4 at the end */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_LOG), 1 << 16, 3, text, sizeof(text));
    EXPECT(profile_records(text) == 23);
    EXPECT(strstr(text, "\nlost 0\n") != NULL);
    EXPECT(strstr(text, " 7 2\n") != NULL); /* the last request has these
                                             * parameters */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_LOG), 200, 3, text, sizeof(text));
    EXPECT((profile_records(text) > 0) && (profile_records(text) < 23));
    EXPECT(strstr(text, "\nlost 0\n") == NULL);

    profile_run(0, 0, 1, text, sizeof(text));
    EXPECT(text[0] == '\0');
    EXPECT(ucs_profile_init(UCS_BIT(UCS_PROFILE_MODE_LAST), "x", 0, &profile) ==
           UCS_ERR_INVALID_PARAM);
    EXPECT((strcmp(ucs_profile_mode_names[UCS_PROFILE_MODE_LOG], "log") == 0) &&
           (ucs_profile_mode_names[UCS_PROFILE_MODE_LAST] == NULL));
}

int main(void)
{
    use_parser();
    use_profile();
    return faults != 0;
}
