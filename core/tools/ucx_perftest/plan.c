/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads batch files and expands them to tests. */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TESTS = 100000,
    MAX_WORDS = 64,
};

static bool add(struct plan *plan, const struct plan_entry *entry, char *error)
{
    struct plan_entry *grown;

    if (plan->count == MAX_TESTS) {
        snprintf(error, PARAMS_ERROR_MAX, "too many tests: at most %u",
                 MAX_TESTS);
        return false;
    }
    grown = realloc(plan->entries, (plan->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        snprintf(error, PARAMS_ERROR_MAX, "no memory for test %u",
                 plan->count + 1);
        return false;
    }
    plan->entries                = grown;
    plan->entries[plan->count++] = *entry;
    return true;
}

static void name_after(struct names *names, const char *text)
{
    if (names->count < OUTPUT_MAX_NAMES) {
        snprintf(names->text[names->count++], OUTPUT_NAME_MAX, "%s", text);
    }
}

static bool sweep(struct plan *plan, const struct options *options,
                  struct plan_entry *entry, char *error)
{
    struct plan_entry one;
    uint64_t size;
    char name[32];

    if (options->sweep_to == 0) {
        return add(plan, entry, error);
    }
    for (size = options->sweep_from; size <= options->sweep_to; size *= 2) {
        one                   = *entry;
        one.params.sizes[0]   = size;
        one.params.size_count = 1;
        if (one.names.count == 0) {
            name_after(&one.names, one.params.test);
        }
        snprintf(name, sizeof(name), "%" PRIu64, size);
        name_after(&one.names, name);
        if (!add(plan, &one, error)) {
            return false;
        }
    }
    return true;
}

static int split(char *line, char **words)
{
    char *saved, *word;
    int count = 0;

    for (word = strtok_r(line, " \t\r\n", &saved);
         (word != NULL) && (count <= MAX_WORDS);
         word = strtok_r(NULL, " \t\r\n", &saved)) {
        words[count++] = word;
    }
    return count;
}

static bool read_file(struct plan *plan, const struct options *options,
                      unsigned depth, const struct plan_entry *base,
                      char *error);

/* Reads one line of a batch file. The first word names the line in the output,
 * the other words are options (-t selects the test). Empty lines and lines that
 * begin with # are ignored. `depth` is the index of the batch file. */
static bool read_line(struct plan *plan, const struct options *options,
                      unsigned depth, const struct plan_entry *base, char *line,
                      unsigned number, char *error)
{
    struct plan_entry entry = *base;
    char *words[MAX_WORDS + 1], reason[PARAMS_ERROR_MAX];
    int count = split(line, words);

    if ((count == 0) || (words[0][0] == '#')) {
        return true;
    }
    if (count > MAX_WORDS) {
        snprintf(error, PARAMS_ERROR_MAX, "%.100s:%u: more than %d words",
                 options->batches[depth], number, MAX_WORDS);
        return false;
    }
    name_after(&entry.names, words[0]);
    if (!options_apply(&entry.params, count - 1, words + 1, reason)) {
        snprintf(error, PARAMS_ERROR_MAX, "%.80s:%u: %.150s",
                 options->batches[depth], number, reason);
        return false;
    }
    return read_file(plan, options, depth + 1, &entry, error);
}

/* Reads the batch file with the index `depth`. Each line is combined with each
 * line of the next batch file, so the next file is read again for each line. */
static bool read_file(struct plan *plan, const struct options *options,
                      unsigned depth, const struct plan_entry *base,
                      char *error)
{
    struct plan_entry entry = *base;
    unsigned number         = 0;
    char *line              = NULL;
    size_t length           = 0;
    bool good               = true;
    FILE *file;

    if (depth == options->batch_count) {
        return sweep(plan, options, &entry, error);
    }
    file = fopen(options->batches[depth], "r");
    if (file == NULL) {
        snprintf(error, PARAMS_ERROR_MAX,
                 "cannot read the batch file %.100s: "
                 "%s",
                 options->batches[depth], strerror(errno));
        return false;
    }
    while (good && (getline(&line, &length, file) >= 0)) {
        good = read_line(plan, options, depth, base, line, ++number, error);
    }
    if (good && ferror(file)) {
        snprintf(error, PARAMS_ERROR_MAX, "cannot read the batch file %.100s",
                 options->batches[depth]);
        good = false;
    }
    free(line);
    fclose(file);
    return good;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

static bool check(const struct plan *plan, char *error)
{
    char reason[PARAMS_ERROR_MAX];
    unsigned i;

    if (plan->count == 0) {
        snprintf(error, PARAMS_ERROR_MAX, "the batch files name no test");
        return false;
    }
    for (i = 0; i < plan->count; ++i) {
        if (plan->entries[i].params.test[0] == '\0') {
            snprintf(error, PARAMS_ERROR_MAX,
                     "%.60s: which test? Name one "
                     "with -t, there or on the command line",
                     (plan->entries[i].names.count > 0) ?
                         plan->entries[i].names.text[0] :
                         "-t");
            return false;
        }
        /* If the only test cannot run, this is an error in the command line. If
         * there are several tests, session_test() skips those that cannot
         * run. */
        if ((plan->count == 1) &&
            (tests_check(&plan->entries[i].params, reason) == NULL)) {
            snprintf(error, PARAMS_ERROR_MAX, "%s", reason);
            return false;
        }
    }
    return true;
}

bool plan_make(struct plan *plan, struct options *options,
               char error[PARAMS_ERROR_MAX])
{
    struct plan_entry base = {.params = options->params};
    unsigned i;

    memset(plan, 0, sizeof(*plan));
    for (i = 0; i < options->batch_count; ++i) {
        options->output.files[i] = base_name(options->batches[i]);
    }
    options->output.file_count = options->batch_count;
    if ((options->sweep_to > 0) &&
        (options->output.file_count < OUTPUT_MAX_NAMES - 1)) {
        if (options->output.file_count == 0) {
            options->output.files[options->output.file_count++] = "test";
        }
        options->output.files[options->output.file_count++] = "size";
    }
    return read_file(plan, options, 0, &base, error) && check(plan, error);
}

void plan_free(struct plan *plan)
{
    free(plan->entries);
}
