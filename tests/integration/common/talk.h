/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes that exchange messages between memory of all kinds (memory.h):
 * the base of the programs memory_*.
 */
#ifndef INTEGRATION_TALK_H
#define INTEGRATION_TALK_H

#include "memory.h"

enum { DRIVER, PEER };

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    struct memory memory[MEMORY_MAX_KINDS];
    /* Number of the last message, for data_fill(); the same in both
     * processes */
    uint64_t message;
};

/* Opens the side with its endpoint, and `size` bytes of each kind of memory.
 * Both processes call it, and talk_close(). */
void talk_open(struct talk *talk, struct team *team, uint64_t features,
               size_t size);
void talk_close(struct talk *talk);
/* Like talk_close() without waiting for the peer, for use when the peer is
 * lost. */
void talk_drop(struct talk *talk);

void talk_agree(struct talk *talk);

/* Waits until a request has ended, frees it and returns its status. It
 * sleeps (UCP_FEATURE_WAKEUP) when there are no events. While a copy is
 * outstanding, ucp_worker_wait() must not sleep, because only progress
 * completes the copy. */
ucs_status_t talk_finish(struct talk *talk, ucs_status_ptr_t request);

/* Calls `run` for each pair of kinds: `from` is the driver's memory, `to` the
 * peer's. Both processes call it. */
void talk_pairs(struct talk *talk, const char *name,
                void (*run)(struct talk *talk, int from, int to));

#endif
