/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses options. Parameters of tests are in params.c, options of this side
 * only are here. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_PORT = 13337,
};

/* State of the parser. `options` is NULL for lines of batch files, which can
 * only describe tests. */
struct reader {
    struct options *options;
    struct params *params;
    char *error;
};

static bool fail(struct reader *reader, const char *format, const char *text)
{
    snprintf(reader->error, PARAMS_ERROR_MAX, format, text);
    return false;
}

void options_init(struct options *options)
{
    memset(options, 0, sizeof(*options));
    params_init(&options->params);
    options->port         = DEFAULT_PORT;
    options->output.rank  = 50;
    options->output.table = true;
}

static bool read_cpus(struct reader *reader, const char *value)
{
    struct options *options = reader->options;
    long from, to;
    char *end = (char *)value;

    options->cpu_count = 0;
    for (;; value = end + 1) {
        from = strtol(value, &end, 10);
        to   = from;
        if ((end != value) && (*end == '-')) {
            value = end + 1;
            to    = strtol(value, &end, 10);
        }
        if ((end == value) || (from < 0) || (to < from) || (to > 65535) ||
            ((*end != ',') && (*end != '\0'))) {
            return fail(reader,
                        "-c takes processors, such as 0,2 or 4-7; not "
                        "\"%.60s\"",
                        value);
        }
        for (; from <= to; ++from) {
            if (options->cpu_count == OPTIONS_MAX_CPUS) {
                return fail(reader, "-c: too many processors%s", "");
            }
            options->cpus[options->cpu_count++] = from;
        }
        if (*end == '\0') {
            return true;
        }
    }
}

static bool read_rank(struct reader *reader, const char *value)
{
    double *rank = &reader->options->output.rank;
    char *end;

    *rank = strtod(value, &end);
    if ((end == value) || (*end != '\0') || !(*rank > 0) || (*rank > 100)) {
        return fail(reader,
                    "-R takes a rank over 0 and up to 100; not "
                    "\"%.40s\"",
                    value);
    }
    return true;
}

static bool read_sweep(struct reader *reader, const char *value)
{
    struct options *options = reader->options;
    size_t first            = strcspn(value, ":");
    char from[32];

    snprintf(from, sizeof(from), "%.*s", (int)first, value);
    if ((value[first] != ':') || (first >= sizeof(from)) ||
        !params_number(from, UINT64_C(1) << 36, &options->sweep_from) ||
        !params_number(value + first + 1, UINT64_C(1) << 36,
                       &options->sweep_to) ||
        (options->sweep_from == 0) ||
        (options->sweep_to < options->sweep_from)) {
        return fail(reader,
                    "--sweep takes two sizes, such as 1:4m; not "
                    "\"%.60s\"",
                    value);
    }
    return true;
}

static bool read_port(struct reader *reader, const char *value)
{
    uint64_t port;

    if (!params_number(value, UINT16_MAX, &port)) {
        return fail(reader,
                    "-p takes a port, 1 to 65535, or 0 for any that "
                    "is free; not \"%.40s\"",
                    value);
    }
    reader->options->port = port;
    return true;
}

static bool read_batch(struct reader *reader, const char *value)
{
    struct options *options = reader->options;

    if (options->batch_count == OUTPUT_MAX_NAMES) {
        return fail(reader, "-b: too many batch files%s", "");
    }
    options->batches[options->batch_count++] = value;
    return true;
}

/* Letters and names of the options of this side. */
static const struct {
    const char *key;
    bool value;
} own[] = {
    {"p", true},          {"b", true},        {"c", true},
    {"R", true},          {"csv", true},      {"json", true},
    {"sweep", true},      {"6", false},       {"N", false},
    {"f", false},         {"v", false},       {"h", false},
    {"help", false},      {"version", false}, {"histogram", false},
    {"self-fork", false}, {"forever", false},
};

static bool has_own(const char *key, bool *takes_value)
{
    unsigned i;

    for (i = 0; i < sizeof(own) / sizeof(own[0]); ++i) {
        if (strcmp(own[i].key, key) == 0) {
            *takes_value = own[i].value;
            return true;
        }
    }
    return false;
}

static bool set_own(struct reader *reader, const char *key, const char *value)
{
    struct options *options = reader->options;
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {
        {"6", &options->ipv6},
        {"N", &options->output.numeric},
        {"f", &options->output.final_only},
        {"v", &options->output.values},
        {"h", &options->help},
        {"help", &options->help},
        {"version", &options->version},
        {"self-fork", &options->self_fork},
        {"histogram", &options->output.histogram},
        {"forever", &options->forever},
    };
    unsigned i;

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
        if (strcmp(flags[i].key, key) == 0) {
            *flags[i].flag = true;
            return true;
        }
    }
    if (strcmp(key, "csv") == 0) {
        options->output.csv_path = value;
        return true;
    }
    if (strcmp(key, "json") == 0) {
        options->output.json_path = value;
        return true;
    }
    switch (key[0]) {
    case 'p':
        return read_port(reader, value);
    case 'b':
        return read_batch(reader, value);
    case 'c':
        return read_cpus(reader, value);
    case 'R':
        return read_rank(reader, value);
    default:
        return read_sweep(reader, value);
    }
}

/* Sets an option. -I is both an option of the output and a parameter that both
 * sides must share: it prints the transports that are used, and opens the
 * contexts with wake-up. */
static bool set(struct reader *reader, const char *key, const char *value)
{
    bool takes_value;

    if ((reader->options != NULL) && has_own(key, &takes_value)) {
        return set_own(reader, key, value);
    }
    if ((reader->options != NULL) && (strcmp(key, "I") == 0)) {
        reader->options->output.extra = true;
    }
    return params_set(reader->params, key, value, reader->error);
}

static bool known(struct reader *reader, const char *key, bool *takes_value)
{
    if (params_has(key, takes_value)) {
        return true;
    }
    if (!has_own(key, takes_value)) {
        snprintf(reader->error, PARAMS_ERROR_MAX,
                 "unknown option: %s%.40s (-h "
                 "shows them)",
                 (key[1] == '\0') ? "-" : "--", key);
        return false;
    }
    if (reader->options == NULL) {
        snprintf(reader->error, PARAMS_ERROR_MAX,
                 "%s%s is for the command "
                 "line; a batch file describes tests",
                 (key[1] == '\0') ? "-" : "--", key);
        return false;
    }
    return true;
}

/* Reads --name, --name=value, or --name value. */
static bool read_long(struct reader *reader, int *i, int count, char **words)
{
    char *word = words[*i] + 2, *equals = strchr(word, '='), key[64];
    const char *value = (equals == NULL) ? NULL : equals + 1;
    bool takes_value;

    snprintf(key, sizeof(key), "%.*s",
             (equals == NULL) ? 63 : (int)(equals - word), word);
    if ((strlen(key) < 2) || !known(reader, key, &takes_value)) {
        return (strlen(key) < 2) ?
                   fail(reader, "unknown option: \"%.40s\"", words[*i]) :
                   false;
    }
    if (takes_value && (value == NULL)) {
        if (++*i >= count) {
            return fail(reader, "--%s needs a value", key);
        }
        value = words[*i];
    } else if (!takes_value && (value != NULL)) {
        return fail(reader, "--%s takes no value", key);
    }
    return set(reader, key, value);
}

/* Reads -abc, -s8, or -s 8. */
static bool read_letters(struct reader *reader, int *i, int count, char **words)
{
    const char *letter = words[*i] + 1, *value;
    bool takes_value;
    char key[2] = "";

    for (; *letter != '\0'; ++letter) {
        key[0] = *letter;
        if (!known(reader, key, &takes_value)) {
            return false;
        }
        value = NULL;
        if (takes_value) {
            value = letter + 1;
            if (*value == '\0') {
                if (++*i >= count) {
                    return fail(reader, "-%s needs a value", key);
                }
                value = words[*i];
            }
        }
        if (!set(reader, key, value)) {
            return false;
        }
        if (takes_value) {
            return true;
        }
    }
    return true;
}

static bool read_words(struct reader *reader, int count, char **words)
{
    bool good = true;
    int i;

    for (i = 0; (i < count) && good; ++i) {
        if (strncmp(words[i], "--", 2) == 0) {
            good = read_long(reader, &i, count, words);
        } else if ((words[i][0] == '-') && (words[i][1] != '\0')) {
            good = read_letters(reader, &i, count, words);
        } else if ((reader->options == NULL) ||
                   (reader->options->host != NULL)) {
            return fail(reader, "\"%.60s\" is not an option", words[i]);
        } else {
            reader->options->host = words[i];
        }
    }
    return good;
}

bool options_apply(struct params *params, int count, char **words,
                   char error[PARAMS_ERROR_MAX])
{
    struct reader reader = {.params = params, .error = error};

    return read_words(&reader, count, words);
}

static bool to_stdout(const char *path)
{
    return (path != NULL) && (strcmp(path, "-") == 0);
}

/* Checks for conflicting options. */
static bool check(struct reader *reader)
{
    struct options *options = reader->options;
    bool loopback           = options->params.flags & PARAMS_LOOPBACK;

    if (options->help || options->version) {
        return true;
    }
    if (loopback && ((options->host != NULL) || options->self_fork)) {
        return fail(reader, "-l: a process by itself needs no %s",
                    (options->host != NULL) ? "server's name" : "--self-fork");
    }
    if (options->self_fork && (options->host != NULL)) {
        return fail(reader, "--self-fork starts its own server; remove %.60s",
                    options->host);
    }
    if (options->forever &&
        (loopback || options->self_fork || (options->host != NULL))) {
        return fail(reader, "--forever is for a server%s", "");
    }
    if ((options->sweep_to > 0) && (options->params.size_count > 1)) {
        return fail(reader,
                    "--sweep and a list of sizes (-s) exclude each "
                    "other%s",
                    "");
    }
    if (to_stdout(options->output.csv_path) &&
        to_stdout(options->output.json_path)) {
        return fail(reader,
                    "--csv and --json cannot both go to standard "
                    "output%s",
                    "");
    }
    if (to_stdout(options->output.csv_path) ||
        to_stdout(options->output.json_path)) {
        options->output.table = false;
    }
    return true;
}

bool options_read(struct options *options, int argc, char **argv,
                  char error[PARAMS_ERROR_MAX])
{
    struct reader reader = {
        .options = options,
        .params  = &options->params,
        .error   = error,
    };

    return read_words(&reader, argc - 1, argv + 1) && check(&reader);
}
