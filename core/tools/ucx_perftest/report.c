/* SPDX-License-Identifier: BSD-3-Clause */
/* The table for users, in the layout of OpenUCX's ucx_perftest, and the same
 * values separated by commas (-v). */
#include "report.h"

#include <ucp/api/ucp.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MIB 1048576.0

static const char RULE[] =
    "+--------------+--------------+------------------------------+-----------"
    "----------+-----------------------+\n";
static const char RULE_COLUMNS[] =
    "+--------------+--------------+----------+---------+---------+----------"
    "+----------+-----------+-----------+\n";

enum {
    WIDTH = sizeof(RULE) - 2,
};

const char *report_label(const struct perf_test *test)
{
    return ((test->kind == TEST_PING_PONG) || (test->kind == TEST_REQUEST)) ?
               "latency" :
               "overhead";
}

double report_us(const struct result *result, double ticks)
{
    return clock_seconds(ticks) * 1e6 / result->messages;
}

void report_name(const struct perf_test *test, const struct names *names,
                 char *text, size_t length)
{
    size_t used = 0;
    unsigned i;

    if (names->count == 0) {
        snprintf(text, length, "%s", test->name);
    }
    for (i = 0; (i < names->count) && (used < length); ++i) {
        used += snprintf(text + used, length - used, "%s%s",
                         (i == 0) ? "" : "/", names->text[i]);
    }
}

static FILE *open_file(const char *path)
{
    FILE *file = (strcmp(path, "-") == 0) ? stdout : fopen(path, "w");

    if (file == NULL) {
        fprintf(stderr, "ucx_perftest: cannot write %s: %s\n", path,
                strerror(errno));
    }
    return file;
}

/* Opens the output files. Called before the measurement, so that a file that
 * cannot be written is reported before the test has run. */
bool report_open(struct output *output)
{
    FILE *file;

    if (output->csv_path != NULL) {
        output->csv = open_file(output->csv_path);
        if (output->csv == NULL) {
            return false;
        }
        report_csv_head(output->csv);
    }
    if (output->json_path != NULL) {
        output->results = json_array();
        file            = open_file(output->json_path);
        if ((file == NULL) || (output->results == NULL)) {
            return false;
        }
        if (file != stdout) {
            fclose(file);
        }
    }
    return true;
}

static bool write_json(struct output *output)
{
    json_t *root = json_pack("{s:s, s:i, s:s, s:O}", "program", "ucx_perftest",
                             "version", 1, "library", ucp_get_version_string(),
                             "results", output->results);
    FILE *file   = open_file(output->json_path);
    bool good    = (root != NULL) && (file != NULL);

    good = good && (json_dumpf(root, file, JSON_INDENT(2)) == 0) &&
           (fputc('\n', file) != EOF) && (fflush(file) == 0);
    if ((file != NULL) && (file != stdout)) {
        good = (fclose(file) == 0) && good;
    }
    json_decref(root);
    return good;
}

bool report_close(struct output *output)
{
    bool good = true;

    if (output->csv != NULL) {
        good = (fflush(output->csv) == 0) && !ferror(output->csv);
        if (output->csv != stdout) {
            good = (fclose(output->csv) == 0) && good;
        }
        output->csv = NULL;
    }
    if (output->results != NULL) {
        good = write_json(output) && good;
        json_decref(output->results);
        output->results = NULL;
    }
    if (!good) {
        fprintf(stderr, "ucx_perftest: the results could not be written: %s\n",
                strerror(errno));
    }
    return good;
}

static void box_line(const char *name, const char *text)
{
    printf("| %-13s %-*s |\n", name, WIDTH - 18, text);
}

static void box_rule(void)
{
    int i;

    putchar('+');
    for (i = 0; i < WIDTH - 2; ++i) {
        putchar('-');
    }
    puts("+");
}

static void layout_text(const struct perf_run *run, char *text, size_t length)
{
    const struct params *params = &run->params;

    if (run->test->api == &perf_uct) {
        snprintf(text, length, "%s", params_layout_name(params));
    } else if (params->flags & (PARAMS_IOV_SEND | PARAMS_IOV_RECV)) {
        snprintf(text, length, "%s, %s",
                 (params->flags & PARAMS_IOV_SEND) ? "iov" : "contig",
                 (params->flags & PARAMS_IOV_RECV) ? "iov" : "contig");
    } else {
        snprintf(text, length, "(automatic)");
    }
}

void report_test(const struct perf_run *run)
{
    const struct params *params = &run->params;
    char text[80];

    box_rule();
    box_line("API:", run->test->api->layer);
    box_line("Test:", run->test->description);
    layout_text(run, text, sizeof(text));
    box_line("Data layout:", text);
    box_line("Send memory:", params_memory_name(params->send_memory));
    box_line("Recv memory:", params_memory_name(params->recv_memory));
    snprintf(text, sizeof(text), "%" PRIu64, params_size(params));
    box_line("Message size:", text);
    snprintf(text, sizeof(text), "%u", run->outstanding);
    box_line("Window size:", text);
    if (params->threads > 1) {
        snprintf(text, sizeof(text), "%u", params->threads);
        box_line("Threads:", text);
    }
    if (params->flags & PARAMS_CHECK) {
        box_line("Contents:", "checked: the figures include it");
    }
    box_rule();
    fflush(stdout);
}

static void table_head(const struct output *output, const char *label)
{
    char title[48];

    snprintf(title, sizeof(title), "%s (usec)", label);
    fputs(RULE, stdout);
    printf("|              |              |%*s%-*s|   bandwidth (MB/s)  "
           "|  message rate (msg/s) |\n",
           (int)(30 - strlen(title)) / 2, "",
           30 - (int)(30 - strlen(title)) / 2, title);
    fputs(RULE_COLUMNS, stdout);
    printf("|%s| # iterations | %4.1f%%ile | average | overall |  average |  "
           "overall |  average  |  overall  |\n",
           output->final_only ? "     Test     " : "    Stage     ",
           output->rank);
    fputs(RULE_COLUMNS, stdout);
}

/* Prints the head of the table before each test; later heads contain only what
 * has changed. */
void report_head(struct output *output, const struct perf_test *test,
                 const struct names *names)
{
    const char *label = report_label(test);
    char name[WIDTH];
    unsigned i;

    if (!output->table) {
        return;
    }
    if (output->values) {
        for (i = 0; (i < output->file_count) && (output->label == NULL); ++i) {
            printf("%s,", output->files[i]);
        }
        if (output->label == NULL) {
            printf("iterations,%.1f_percentile_lat,avg_lat,overall_lat,avg_bw,"
                   "overall_bw,avg_mr,overall_mr\n",
                   output->rank);
        }
        output->label = label;
        return;
    }
    if ((output->label == NULL) || (strcmp(output->label, label) != 0)) {
        table_head(output, label);
        output->label = label;
    }
    if (!output->final_only && (names->count > 0)) {
        report_name(test, names, name, sizeof(name));
        printf("+%s", name);
        for (i = strlen(name) + 1; i < WIDTH - 1; ++i) {
            putchar((RULE_COLUMNS[i] == '+') ? '+' : '-');
        }
        puts("+");
    }
}

/* Inserts a separator between thousands. */
static void group_digits(const char *digits, char *text)
{
    size_t whole = strcspn(digits, "."), i;

    for (i = 0; digits[i] != '\0'; ++i) {
        if ((i > 0) && (i < whole) && ((whole - i) % 3 == 0)) {
            *text++ = ',';
        }
        *text++ = digits[i];
    }
    *text = '\0';
}

static void cell(const struct output *output, int width, int decimals,
                 double value)
{
    char digits[64], grouped[96];

    snprintf(digits, sizeof(digits), "%.*f", decimals, value);
    group_digits(digits, grouped);
    printf("%*s", width, output->numeric ? grouped : digits);
}

static void row(const struct output *output, const char *stage,
                const struct figures *figures, uint64_t size)
{
    if (output->values) {
        printf("%s%.0f,%.3f,%.3f,%.3f,%.2f,%.2f,%.0f,%.0f", stage,
               (double)figures->iterations, figures->percentile,
               figures->average_time, figures->overall_time,
               figures->average_rate * size / MIB,
               figures->overall_rate * size / MIB, figures->average_rate,
               figures->overall_rate);
        return;
    }
    printf("%-14s", stage);
    cell(output, 14, 0, figures->iterations);
    cell(output, 11, 3, figures->percentile);
    cell(output, 10, 3, figures->average_time);
    cell(output, 10, 3, figures->overall_time);
    cell(output, 12, 2, figures->average_rate * size / MIB);
    cell(output, 11, 2, figures->overall_rate * size / MIB);
    cell(output, 12, 0, figures->average_rate);
    cell(output, 12, 0, figures->overall_rate);
}

void report_progress(const struct output *output, const struct perf_run *run,
                     const struct perf_thread *thread)
{
    unsigned messages = tests_messages(run->test, &run->params);
    struct figures figures;
    char stage[32];

    if (!output->table || output->final_only) {
        return;
    }
    meter_figures(&thread->meter, output->rank, messages, &figures);
    snprintf(stage, sizeof(stage), "[thread %u]", thread->index);
    row(output, stage, &figures, params_size(&run->params));
    putchar('\n');
    fflush(stdout);
}

static void table_result(const struct output *output,
                         const struct result *result)
{
    char stage[WIDTH] = "", name[WIDTH];
    unsigned i;

    if (output->values) {
        for (i = 0; i < result->names->count; ++i) {
            printf("%s,", result->names->text[i]);
        }
    } else if (!output->final_only) {
        snprintf(stage, sizeof(stage), "Final:");
    } else if (result->names->count > 0) {
        report_name(result->test, result->names, name, sizeof(name));
        snprintf(stage, sizeof(stage), "%14s", name);
    }
    row(output, stage, &result->figures, params_size(result->params));
    if (output->extra) {
        printf("%s%s", output->values ? "," : "  ", result->transports);
    }
    putchar('\n');
    if (output->histogram && !output->values) {
        report_histogram(result);
    }
    fflush(stdout);
}

void report_result(struct output *output, const struct result *result)
{
    json_t *object;

    if (output->table) {
        table_result(output, result);
    }
    if (output->csv != NULL) {
        report_csv(output->csv, result);
    }
    if (output->results != NULL) {
        object = report_json(result, output->histogram);
        if ((object == NULL) ||
            (json_array_append_new(output->results, object) != 0)) {
            fprintf(stderr, "ucx_perftest: no memory for the result of %s\n",
                    result->test->name);
        }
    }
    if (result->wrong > 0) {
        fprintf(stderr,
                "ucx_perftest: %s: %" PRIu64 " messages were not what "
                "was sent\n",
                result->test->name, result->wrong);
    }
}
