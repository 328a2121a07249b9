/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verifies that a team's messages were sent over the transport that
 * TEST_CARRIER names. If it is set, the members write their counters to files,
 * which must show bytes on a lane or an interface of that transport.
 */
#ifndef INTEGRATION_CARRIER_H
#define INTEGRATION_CARRIER_H

enum { CARRIER_DIR_MAX = 64 };

struct carrier {
    const char *transport; /* NULL: nothing is verified */
    char dir[CARRIER_DIR_MAX];
};

/* To be called before the members are forked: makes the folder. */
void carrier_prepare(struct carrier *carrier);

/* Removes the folder. Returns `status`. If that is 0 and the transport has
 * transferred no bytes, prints a message and returns 1. */
int carrier_finish(struct carrier *carrier, int status);

#endif
