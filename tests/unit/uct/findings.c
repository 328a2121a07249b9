/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the findings of the checking layer (reports of broken rules), which
 * are log messages. */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "uct/base/checking.h"

const char *defect = "";
char findings[4096];

int breaks(const char *name)
{
    return strcmp(defect, name) == 0;
}

static int on_log(void *arg, const char *file, unsigned line,
                  const char *function, ucs_log_level_t level,
                  const char *message)
{
    const char *found = strstr(message, "breaks rule ");

    if (found != NULL) {
        strncat(findings, found + strlen("breaks "),
                sizeof(findings) - strlen(findings) - 2);
        strcat(findings, "\n");
    }
    return found != NULL; /* nonzero: the message is not logged */
}

void watch_findings(void)
{
    setenv("UCX_PLUGIN_CHECK", "y", 1);
    /* the checking layer is linked into the test instead of loaded */
    uct_checks_set(&ucx_check_layer);
    ucs_log_hook_set(on_log, NULL);
}

void expect_finding(const planted_t *planted)
{
    char rule[16];

    snprintf(rule, sizeof(rule), "rule %d of", planted->rule);
    ck_assert_msg((strstr(findings, rule) != NULL) &&
                      (strstr(findings, planted->text) != NULL),
                  "%s: no \"%s\" under %s in: %s", planted->defect,
                  planted->text, rule, findings);
}
