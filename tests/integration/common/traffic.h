/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random messages, puts, gets, atomics and flushes between two members, for
 * tests that interrupt them. Each operation is tracked until it ends with any
 * status. The data of messages and gets is verified.
 */
#ifndef INTEGRATION_TRAFFIC_H
#define INTEGRATION_TRAFFIC_H

#include "data.h"
#include "side.h"

enum {
    TRAFFIC_OPS    = 32,         /* Most sends in flight; likewise receives */
    TRAFFIC_LARGE  = 160 * 1024, /* Most bytes of a message */
    /* Bytes of memory for the peer's get and put */
    TRAFFIC_MEMORY = 64 * 1024,
};

#define TRAFFIC_FEATURES \
    (UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64)

struct traffic_op {
    struct side_op op; /* .done: this entry is free */
    struct traffic *owner;
    bool receives; /* An entry of traffic.receives */
    /* Number of the contents, as in data_fill(); 0: no verification */
    uint64_t number;
    size_t length;
    uint64_t old; /* Previous value, fetched by an atomic operation */
    char *buffer; /* TRAFFIC_LARGE bytes */
};

struct traffic {
    struct side *side;
    struct side_ep *ep;
    struct random random;
    struct traffic_op sends[TRAFFIC_OPS];
    struct traffic_op receives[TRAFFIC_OPS];
    uint64_t tags_sent; /* Number of tagged sends since traffic_meet() */
    uint64_t tags_received;
    /* Of TRAFFIC_MEMORY bytes. The first half is constant, for the peer's gets.
     * The second half is the target of the peer's puts and atomics. */
    char *memory;
    ucp_mem_h memh;
    uint64_t remote; /* Address of the peer's `memory` */
    ucp_rkey_h rkey;
    bool quiet; /* Post no more receives and drop rendezvous active messages */
};

/* Allocates the memory that the peer accesses and the operations' buffers. */
void traffic_open(struct traffic *traffic, struct side *side, uint64_t seed);
void traffic_close(struct traffic *traffic);

/* Starts with a new worker of the same context: exchanges addresses and keys
 * with the other member. traffic->ep is NULL if the peer is unreachable. */
void traffic_meet(struct traffic *traffic, struct side *side, struct team *team,
                  int rank);

/* Calls progress once. Before that, unless `quiet` is set, it posts a tagged
 * receive if fewer than half of the receives are in use. With `send` it starts
 * up to four operations on the endpoint. */
void traffic_step(struct traffic *traffic, bool send);

/* Return the number of operations on the endpoint, and of receives, that have
 * not ended. */
unsigned traffic_open_sends(const struct traffic *traffic);
unsigned traffic_open_receives(const struct traffic *traffic);

/* Progresses until all operations on the endpoint have ended or
 * test_seconds(seconds) have passed. Returns the number of those that have not
 * ended. */
unsigned traffic_finish_sends(struct traffic *traffic, double seconds);

/* Posts no more receives and cancels those in flight. Returns the number of
 * receives that still have not ended, because their messages are arriving. */
unsigned traffic_cancel_receives(struct traffic *traffic);

/* Destroys the remote key, if there is one. Call it before the worker is
 * destroyed. */
void traffic_drop_key(struct traffic *traffic);

#endif
