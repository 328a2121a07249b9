/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verifies that a team (team.h) has transferred data over the transport that
 * the environment variable TEST_CARRIER names. If the variable is set, every
 * member writes its counters to a file when it exits; a killed member writes
 * none. The counters of lanes and interfaces of that transport must show bytes.
 */
#ifndef INTEGRATION_CARRIER_H
#define INTEGRATION_CARRIER_H

enum { CARRIER_DIR_MAX = 64 };

struct carrier {
    /* Value of TEST_CARRIER; NULL: nothing is verified */
    const char *transport;
    char dir[CARRIER_DIR_MAX];
};

/* Call before the members are forked. If TEST_CARRIER is set, creates the
 * folder for the counter files and makes the members write to it
 * (UCX_STATS_DEST). */
void carrier_prepare(struct carrier *carrier);

/* Removes the folder and its files. Returns `status`, except if `status` is 0
 * and the transport has transferred no bytes: then it prints a message and
 * returns 1. */
int carrier_finish(struct carrier *carrier, int status);

#endif
