/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes that exchange messages of memory of all kinds: the base of the
 * programs memory_*.
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
    /* Number of the next message; the same on both sides */
    uint64_t message;
};

/* Opens the side with its endpoint and `size` bytes of each kind of memory. Both
 * processes call it, and talk_close(). */
void talk_open(struct talk *talk, struct team *team, uint64_t features,
               size_t size);
void talk_close(struct talk *talk);
/* As talk_close() if the peer is lost. */
void talk_drop(struct talk *talk);

void talk_agree(struct talk *talk);

/* Completes a request. Sleeps when there are no events: an outstanding copy must
 * prevent the sleep. The worker has UCP_FEATURE_WAKEUP. */
ucs_status_t talk_finish(struct talk *talk, ucs_status_ptr_t request);

/* Calls `run` for each pair of kinds of memory: of the driver, of the peer. */
void talk_pairs(struct talk *talk, const char *name,
                void (*run)(struct talk *talk, int from, int to));

#endif
