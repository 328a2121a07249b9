/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proof that a team's messages went over the transport that the test names. If
 * TEST_CARRIER is set, the members write their counters to files, which must show
 * bytes on a lane or an interface of that transport.
 */
#ifndef INTEGRATION_CARRIER_H
#define INTEGRATION_CARRIER_H

enum { CARRIER_DIR_MAX = 64 };

struct carrier {
    const char *transport; /* NULL: nothing has to be proved */
    char dir[CARRIER_DIR_MAX];
};

/* To be called before the members are forked: makes the folder. */
void carrier_prepare(struct carrier *carrier);

/* Removes the folder. Returns `status`, or 1 with a message if that is 0 and
 * the transport has carried nothing. */
int carrier_finish(struct carrier *carrier, int status);

#endif
