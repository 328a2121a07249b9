/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random traffic of every class between two members, for tests that interrupt
 * it. Every operation is tracked until it ends with any status, and received
 * data is verified.
 */
#ifndef INTEGRATION_TRAFFIC_H
#define INTEGRATION_TRAFFIC_H

#include "data.h"
#include "side.h"

enum {
    TRAFFIC_OPS    = 32,         /* Maximum in flight */
    TRAFFIC_LARGE  = 160 * 1024, /* Longest message */
    TRAFFIC_MEMORY = 64 * 1024,  /* Memory for the peer's get and put */
};

#define TRAFFIC_FEATURES \
    (UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64)

struct traffic_op {
    struct side_op op; /* .done: the operation is unused */
    struct traffic *owner;
    bool receives;   /* A receive, which belongs to the worker */
    uint64_t number; /* Of the data; 0: no verification */
    size_t length;
    uint64_t old; /* Result of an atomic operation */
    char *buffer; /* TRAFFIC_LARGE bytes */
};

struct traffic {
    struct side *side;
    struct side_ep *ep;
    struct random random;
    struct traffic_op sends[TRAFFIC_OPS];
    struct traffic_op receives[TRAFFIC_OPS];
    uint64_t tags_sent; /* Number of tagged sends */
    uint64_t tags_received;
    /* The first half is constant, the second is the target of puts */
    char *memory;
    ucp_mem_h memh;
    uint64_t remote; /* The peer's memory */
    ucp_rkey_h rkey;
    bool quiet; /* Post no more receives */
};

/* Creates the memory that the peer accesses, and the buffers. */
void traffic_open(struct traffic *traffic, struct side *side, uint64_t seed);
void traffic_close(struct traffic *traffic);

/* Starts with a new worker and endpoint for the same memory: exchanges
 * addresses and keys with the other member. NULL endpoint: the peer is
 * unreachable. */
void traffic_meet(struct traffic *traffic, struct side *side, struct team *team,
                  int rank);

/* Starts operations and calls progress once. With `send` it starts sends and
 * receives, otherwise only receives. */
void traffic_step(struct traffic *traffic, bool send);

/* Number of operations on the endpoint, and of receives, that have not
 * ended. */
unsigned traffic_open_sends(const struct traffic *traffic);
unsigned traffic_open_receives(const struct traffic *traffic);

/* Progresses until all operations on the endpoint have ended or `seconds` have
 * passed; returns the number of those that have not ended. */
unsigned traffic_finish_sends(struct traffic *traffic, double seconds);

/* Cancels receives without a match; returns the number that is left. */
unsigned traffic_cancel_receives(struct traffic *traffic);

/* Destroys the key. No operation uses it any more, and the worker still
 * exists. */
void traffic_drop_key(struct traffic *traffic);

#endif
