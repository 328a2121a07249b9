/* SPDX-License-Identifier: BSD-3-Clause */
/* Random traffic of every class between two members, for tests of what happens
 * when it is cut off: each operation is followed to its end, whatever that is,
 * and what has arrived is verified. */
#ifndef INTEGRATION_TRAFFIC_H
#define INTEGRATION_TRAFFIC_H

#include "data.h"
#include "side.h"

enum {
    TRAFFIC_OPS    = 32,          /* under way at a time, at most */
    TRAFFIC_LARGE  = 160 * 1024,  /* the longest message */
    TRAFFIC_MEMORY = 64 * 1024    /* that the other may get and put */
};

#define TRAFFIC_FEATURES \
    (UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64)

struct traffic_op {
    struct side_op op;      /* .done: free to be used */
    struct traffic *owner;
    bool receives;          /* on the worker, not the endpoint */
    uint64_t number;        /* of the data; 0: nothing to verify */
    size_t length;
    uint64_t old;           /* of an atomic operation */
    char *buffer;           /* TRAFFIC_LARGE bytes */
};

struct traffic {
    struct side *side;
    struct side_ep *ep;
    struct random random;
    struct traffic_op sends[TRAFFIC_OPS];
    struct traffic_op receives[TRAFFIC_OPS];
    uint64_t tags_sent;      /* tagged messages begun */
    uint64_t tags_received;
    char *memory;            /* the first half is constant, the other is put to */
    ucp_mem_h memh;
    uint64_t remote;         /* the other's */
    ucp_rkey_h rkey;
    bool quiet;              /* post no more receives */
};

/* Makes the memory that the other member may use, and the buffers. */
void traffic_open(struct traffic *traffic, struct side *side, uint64_t seed);
void traffic_close(struct traffic *traffic);

/* A new worker and endpoint for the same memory: swaps addresses and keys with
 * the other member and begins anew. NULL endpoint: the other is unreachable. */
void traffic_meet(struct traffic *traffic, struct side *side,
                  struct team *team, int rank);

/* Begins what there is room for, and calls progress once. With `send` also on
 * the endpoint; else it only receives. */
void traffic_step(struct traffic *traffic, bool send);

/* Operations on the endpoint, and receives, that have not ended. */
unsigned traffic_open_sends(const struct traffic *traffic);
unsigned traffic_open_receives(const struct traffic *traffic);

/* Progresses until all operations on the endpoint have ended, at most so long;
 * returns how many have not. */
unsigned traffic_finish_sends(struct traffic *traffic, double seconds);

/* Takes receives back that nothing has matched; returns how many are left. */
unsigned traffic_cancel_receives(struct traffic *traffic);

/* Lets the key go. Nothing uses it any more, and the worker is still there. */
void traffic_drop_key(struct traffic *traffic);

#endif
