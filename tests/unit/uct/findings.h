/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the checking layer: what is broken, and what the layer reports. */
#ifndef TEST_UCT_FINDINGS_H
#define TEST_UCT_FINDINGS_H

#include "common.h"

/* What is broken, the rule, and a part of the text that reports it. */
typedef struct planted {
    const char *defect;
    int rule;
    const char *text;
} planted_t;

extern const char *defect; /* What the plugin of the test breaks; "": nothing */
extern char findings[4096]; /* One line each */

int breaks(const char *name);

/* Enables the layer, and collects its findings. */
void watch_findings(void);

/* Fails unless `findings` contains the planted defect. */
void expect_finding(const planted_t *planted);

#endif
