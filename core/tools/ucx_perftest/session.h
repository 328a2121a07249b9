/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol between the two sides of a test. */
#ifndef PERFTEST_SESSION_H
#define PERFTEST_SESSION_H

#include "report.h"

enum session_end {
    SESSION_GOOD,
    SESSION_REFUSED, /* this test is not possible; other tests may be */
    SESSION_WRONG,   /* received contents were wrong */
    SESSION_BROKEN,  /* the test was aborted, and cannot be cleaned up */
};

/* Runs one test. `channel` is NULL in loopback. Prints messages. */
enum session_end session_test(struct channel *channel, struct output *output,
                              const struct params *params,
                              const struct names *names);

/* Called by the client after the last test. */
void session_end(struct channel *channel);

/* Serves tests until the client ends the session. `visible`: prints the tests
 * and the errors. */
enum session_end session_serve(struct channel *channel, bool visible);

#endif
