/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test run of two processes, in steps: from ucp_init() through every class of
 * operation to ucp_cleanup(). Any call may return an error. After the first
 * error both sides skip the other steps, close everything by force and check
 * that every request has ended.
 *
 * The code itself allocates no memory.
 */
#ifndef SHORTAGE_PLAY_H
#define SHORTAGE_PLAY_H

#include "common/check.h"
#include "common/team.h"

#include <ucp/api/ucp.h>

enum { PLAY_OPS = 80, PLAY_AMS = 5, PLAY_LARGE = 150000, PLAY_NOTE = 2048 };

struct play;

/* An operation that returns a request. */
struct op {
    struct play *play;
    const char *what;
    void *request;
    size_t length; /* Of a receive */
    bool receives;
    bool done;
    ucs_status_t status;
};

/* A message between the two sides after each step, over a socket of the
 * test. */
struct note {
    ucs_status_t status;
    uint32_t length;
    char bytes[PLAY_NOTE];
};

struct play {
    struct team *team;
    /* Rank of the peer; the own rank in a team of one */
    int other;
    const char *step;
    ucs_status_t status; /* The first error; UCS_OK: none */
    /* Neither side had an error at the last exchange */
    bool agreed;
    bool noted;       /* The peer's next note has arrived */
    struct note note; /* The peer's last note */

    ucp_context_h context;
    ucp_worker_h worker;
    ucp_listener_h listener;
    ucp_conn_request_h asked;
    ucp_ep_h ep, client;
    ucs_status_t failure; /* Of an endpoint, from its error handler */
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    char *memory; /* Memory of memh */
    uint64_t remote;

    unsigned got[PLAY_AMS]; /* Number of active messages by id */
    void *kept;
    struct op ops[PLAY_OPS];
    unsigned num_ops;
    char out[PLAY_LARGE];
    char in[PLAY_LARGE];
};

/* Runs all steps once; returns the first error of this side. Fails the test if
 * a wait exceeds its limit. */
ucs_status_t play_run(struct play *play, struct team *team);

#endif
