/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test run of two processes, in steps: from ucp_init() through every class of
 * UCP's operations to ucp_cleanup(). A "side" is one of the two processes. Any
 * call of UCP may return an error, because an allocation may fail (scarce.h).
 * After the first error both sides skip the other steps, close everything by
 * force and check that every request has ended.
 *
 * This code itself allocates no memory, so that only allocations of UCP are
 * counted and fail.
 */
#ifndef SHORTAGE_PLAY_H
#define SHORTAGE_PLAY_H

#include "common/check.h"
#include "common/team.h"

#include <ucp/api/ucp.h>

enum {
    PLAY_OPS   = 80,     /* Maximum operations of a run */
    PLAY_AMS   = 5,      /* Number of ids of active messages */
    PLAY_LARGE = 150000, /* Bytes of a large message, which is a rendezvous */
    PLAY_NOTE  = 2048    /* Maximum bytes in a note */
};

struct play;

/* An operation that returns a request. */
struct op {
    struct play *play;
    const char *what;    /* Description for messages of the test */
    void *request;       /* Request in progress; NULL: none */
    size_t length;       /* Received bytes; set when a receive ends */
    bool receives;       /* A receive: it is cancelled at the end of the run */
    bool done;           /* The operation has ended */
    ucs_status_t status; /* Result, if `done` is set */
};

/* A message that each side sends to the other over a socket of the test,
 * between two parts of a run. */
struct note {
    ucs_status_t status;   /* The sender's first error; UCS_OK: none */
    uint32_t length;       /* Valid bytes in `bytes` */
    char bytes[PLAY_NOTE]; /* Data for the other side, for example an address */
};

/* The state of a run on one side. */
struct play {
    /* The processes of the run: two, or one that sends messages to itself */
    struct team *team;
    /* Rank of the other side; in a team of one, that of this process */
    int other;
    const char *step;    /* Name of the current step, for messages */
    ucs_status_t status; /* First error of this side; UCS_OK: none */
    /* Neither side had an error when they last exchanged notes */
    bool agreed;
    /* The other side's note for the next exchange has arrived in `note` */
    bool noted;
    struct note note; /* The other side's last note */

    ucp_context_h context;
    ucp_worker_h worker;
    ucp_listener_h listener;
    ucp_conn_request_h asked; /* Connection request that has arrived and is not
                               * yet accepted; NULL: none */
    /* Endpoints by worker address and by socket address; NULL: none */
    ucp_ep_h ep, client;
    ucs_status_t failure; /* Last status with which UCP has called the error
                               * handler of an endpoint; UCS_OK: none */
    ucp_mem_h memh;
    ucp_rkey_h rkey; /* Of the other side's memory */
    char *memory;    /* Memory of `memh` */
    uint64_t remote; /* Address of the other side's memory */

    unsigned got[PLAY_AMS];  /* Number of received active messages by id */
    void *kept;              /* Data of an active message that is not yet
                             * released; NULL: none */
    struct op ops[PLAY_OPS]; /* All operations of the run so far */
    unsigned num_ops;
    char out[PLAY_LARGE]; /* Buffer for sends */
    char in[PLAY_LARGE];  /* Buffer for receives */
};

/* Runs all steps once. Returns the first error of this side, or UCS_OK. Fails
 * the test if a wait takes longer than its limit. */
ucs_status_t play_run(struct play *play, struct team *team);

#endif
