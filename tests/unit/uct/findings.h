/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the checking layer: what is broken, and what the layer reports. */
#ifndef TEST_UCT_FINDINGS_H
#define TEST_UCT_FINDINGS_H

#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

/* What is broken, the rule, and a part of the text that reports it. */
typedef struct planted {
    const char *defect;
    int rule;
    const char *text;
} planted_t;

static const char *defect = "";
static char findings[4096]; /* one line each */

static inline int breaks(const char *name)
{
    return strcmp(defect, name) == 0;
}

static inline int on_log(void *arg, const char *file, unsigned line,
                         const char *function, ucs_log_level_t level,
                         const char *message)
{
    const char *found = strstr(message, "breaks rule ");

    if (found != NULL) {
        strncat(findings, found + strlen("breaks "),
                sizeof(findings) - strlen(findings) - 2);
        strcat(findings, "\n");
    }
    return found != NULL; /* not written as well */
}

/* Enables the layer. */
static inline void watch_findings(void)
{
    setenv("UCX_PLUGIN_CHECK", "y", 1);
    ucs_log_hook_set(on_log, NULL);
}

static inline void expect_finding(const planted_t *planted)
{
    char rule[16];

    snprintf(rule, sizeof(rule), "rule %d of", planted->rule);
    ck_assert_msg((strstr(findings, rule) != NULL) &&
                      (strstr(findings, planted->text) != NULL),
                  "%s: no \"%s\" under %s in: %s", planted->defect,
                  planted->text, rule, findings);
}

#endif
