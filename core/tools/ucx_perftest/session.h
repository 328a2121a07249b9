/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two sides say to each other around tests. */
#ifndef PERFTEST_SESSION_H
#define PERFTEST_SESSION_H

#include "report.h"

enum session_end {
    SESSION_GOOD,
    SESSION_REFUSED, /* this test is not possible; others may be */
    SESSION_WRONG,   /* contents were not what was sent */
    SESSION_BROKEN   /* the test cannot go on, and nothing can be tidied up */
};

/* Runs one test. `channel` is NULL in loopback. Messages are printed. */
enum session_end session_test(struct channel *channel, struct output *output,
                              const struct params *params,
                              const struct names *names);

/* No more tests. */
void session_end(struct channel *channel);

/* Serves until the client ends. `visible`: prints what runs. */
enum session_end session_serve(struct channel *channel, bool visible);

#endif
