/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both output formats of a report. A finding may contain text from the plugin,
 * so control characters are replaced before output.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

static const char *const outcome_words[] = {
    [CHECK_PASSED]  = "ok",
    [CHECK_FAILED]  = "FAILED",
    [CHECK_SKIPPED] = "skipped",
};

static check_outcome_t outcome_of(const record_t *record)
{
    return (record->num_findings > 0) ? CHECK_FAILED :
           record->skipped            ? CHECK_SKIPPED :
                                        CHECK_PASSED;
}

/* Replaces by '?' what is not printable UTF-8: the control characters U+0000 to
 * U+001F and U+007F to U+009F and, if the text contains a malformed sequence,
 * all bytes beyond ASCII. */
static void clean_text(char *text)
{
    json_t *well_formed = json_string(text);
    unsigned char *p;

    for (p = (unsigned char *)text; *p != '\0'; ++p) {
        if ((p[0] == 0xc2) && (p[1] >= 0x80) && (p[1] < 0xa0)) {
            *p++ = '?';
            *p   = '?';
        } else if ((*p < 0x20) || (*p == 0x7f) ||
                   ((*p >= 0x80) && (well_formed == NULL))) {
            *p = '?';
        }
    }
    json_decref(well_formed);
}

static json_t *json_text(const char *text)
{
    char clean[CHECK_TEXT_MAX];

    snprintf(clean, sizeof(clean), "%s", text);
    clean_text(clean);
    return json_string(clean);
}

static void print_text(const char *prefix, const char *text)
{
    char clean[CHECK_TEXT_MAX];

    snprintf(clean, sizeof(clean), "%s", text);
    clean_text(clean);
    printf("      %s%s\n", prefix, clean);
}

static json_t *json_rules(const check_t *check)
{
    json_t *rules = json_array();
    unsigned i;

    for (i = 0; check->rules[i] != 0; ++i) {
        json_array_append_new(rules, json_integer(check->rules[i]));
    }
    return rules;
}

static void rules_text(const check_t *check, char *text, size_t size)
{
    size_t used = 0;
    unsigned i;

    text[0] = '\0';
    for (i = 0; (check->rules[i] != 0) && (used < size); ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%d",
                                 (i == 0) ? "" : " ", check->rules[i]);
    }
}

void report_begin(report_t *report, int json, const target_t *target)
{
    memset(report, 0, sizeof(*report));
    report->json = json;
    if (json) {
        report->results = json_array();
    } else if (target->manifest != NULL) {
        printf("%s %s (%s)\n", target->manifest->name,
               target->manifest->version, target->path);
    } else {
        printf("%s\n", target->path);
    }
}

static json_t *json_findings(const record_t *record)
{
    json_t *findings = json_array();
    unsigned i;

    for (i = 0; i < record->num_findings; ++i) {
        json_array_append_new(findings,
                              json_pack("{s:i, s:o}", "rule",
                                        record->findings[i].rule, "text",
                                        json_text(record->findings[i].text)));
    }
    return findings;
}

static void add_json(report_t *report, const check_t *check,
                     const resource_t *resource, const record_t *record)
{
    json_t *object = json_pack("{s:s, s:o, s:s, s:o, s:f}", "check",
                               check->name, "rules", json_rules(check),
                               "outcome", outcome_words[outcome_of(record)],
                               "findings", json_findings(record), "seconds",
                               record->seconds);

    if (resource != NULL) {
        json_object_set_new(object, "transport", json_string(resource->tl));
        json_object_set_new(object, "device", json_text(resource->dev));
    }
    if (record->skipped) {
        json_object_set_new(object, "reason", json_text(record->reason));
    }
    if (record->note[0] != '\0') {
        json_object_set_new(object, "note", json_text(record->note));
    }
    json_array_append_new(report->results, object);
}

static void add_text(const check_t *check, const resource_t *resource,
                     const record_t *record)
{
    char subject[80] = "", rule[24];
    unsigned i;

    if (resource != NULL) {
        snprintf(subject, sizeof(subject), "%s/%s", resource->tl,
                 resource->dev);
        clean_text(subject);
    }

    printf("  %-10s  %-20s %s\n", check->name, subject,
           outcome_words[outcome_of(record)]);
    for (i = 0; i < record->num_findings; ++i) {
        snprintf(rule, sizeof(rule), "rule %d: ", record->findings[i].rule);
        print_text((record->findings[i].rule == CHECK_TIME_LIMIT) ?
                       "time limit: " :
                       rule,
                   record->findings[i].text);
    }
    if (outcome_of(record) == CHECK_SKIPPED) {
        print_text("", record->reason);
    }
    if (record->note[0] != '\0') {
        print_text("note: ", record->note);
    }
    fflush(stdout);
}

void report_add(report_t *report, const check_t *check,
                const resource_t *resource, const record_t *record)
{
    ++report->count[outcome_of(record)];
    if (report->json) {
        add_json(report, check, resource, record);
    } else {
        add_text(check, resource, record);
    }
}

int report_end(report_t *report, const target_t *target)
{
    int conforms = (report->count[CHECK_FAILED] == 0);
    json_t *root;

    if (!report->json) {
        printf("%s: %u passed, %u failed, %u skipped\n",
               conforms ? "conforms" : "does not conform",
               report->count[CHECK_PASSED], report->count[CHECK_FAILED],
               report->count[CHECK_SKIPPED]);
        return (fflush(stdout) == 0) && !ferror(stdout);
    }

    root = json_pack("{s:i, s:s, s:b, s:o}", "format", 1, "manifest",
                     target->path, "conforms", conforms, "checks",
                     report->results);
    if (target->manifest != NULL) {
        json_object_set_new(root, "plugin",
                            json_string(target->manifest->name));
        json_object_set_new(root, "version",
                            json_string(target->manifest->version));
    }
    json_dumpf(root, stdout, JSON_INDENT(2));
    json_decref(root);
    printf("\n");
    return (fflush(stdout) == 0) && !ferror(stdout);
}

void report_list(int json)
{
    json_t *list = json_array();
    const check_t *check;
    char rules[32];

    for (check = checks; check->name != NULL; ++check) {
        if (json) {
            json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:o, s:b}", "check",
                                            check->name, "title", check->title,
                                            "rules", json_rules(check),
                                            "per_device", check->per_resource));
        } else {
            rules_text(check, rules, sizeof(rules));
            printf("%-11s %-58s rules %s\n", check->name, check->title, rules);
        }
    }
    if (json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        printf("\n");
    }
    json_decref(list);
}
