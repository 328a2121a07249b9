/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the checking layer: the rule that a transport breaks, and what the
 * layer reports. */
#ifndef TEST_UCT_FINDINGS_H
#define TEST_UCT_FINDINGS_H

#include "common.h"

/* A defect of the transport, the rule that it breaks, and a part of the text
 * that the layer reports. */
typedef struct planted {
    const char *defect;
    int rule;
    const char *text;
} planted_t;

extern const char *defect;  /* Defect of the test's plugin; "": none */
extern char findings[4096]; /* One line each */

int breaks(const char *name);

/* Enables the layer, and collects its findings. */
void watch_findings(void);

/* Fails unless `findings` contains the planted defect. */
void expect_finding(const planted_t *planted);

#endif
