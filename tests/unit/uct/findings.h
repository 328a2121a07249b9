/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the checking layer (UCX_PLUGIN_CHECK), which reports plugins
 * that break rules: the defect that the test's plugin has, and what the layer
 * has reported. */
#ifndef TEST_UCT_FINDINGS_H
#define TEST_UCT_FINDINGS_H

#include "common.h"

/* A defect of the plugin, the number of the rule in sdk/ABI.md that it breaks,
 * and a part of the text that the layer must report. */
typedef struct planted {
    const char *defect;
    int rule;
    const char *text;
} planted_t;

extern const char *defect; /* The defect that the plugin has now; "": none */
/* What the layer has reported, one broken rule (finding) a line */
extern char findings[4096];

/* Whether `defect` is `name` */
int breaks(const char *name);

/* Enables the checking layer, and collects its findings in `findings`. */
void watch_findings(void);

/* Fails the test unless `findings` contains the rule and the text of
 * `planted`. */
void expect_finding(const planted_t *planted);

#endif
