/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life of two processes with each other, in steps: from ucp_init() through
 * every class of operation to ucp_cleanup(). Any call may return an error. After
 * the first error both sides go to the end, close everything by force and check
 * that every request has ended.
 *
 * It allocates nothing by itself.
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
    size_t length;       /* received */
    bool receives;
    bool done;
    ucs_status_t status;
};

/* What one side tells the other between two steps, by a socket of the test's. */
struct note {
    ucs_status_t status;
    uint32_t length;
    char bytes[PLAY_NOTE];
};

struct play {
    struct team *team;
    int other;                    /* rank; one's own in a team of one */
    const char *step;
    ucs_status_t status;          /* the first error; UCS_OK: none */
    bool agreed;                  /* neither side had met one when they met */
    bool noted;                   /* the other's next note is here */
    struct note note;             /* the other's last one */

    ucp_context_h context;
    ucp_worker_h worker;
    ucp_listener_h listener;
    ucp_conn_request_h asked;
    ucp_ep_h ep, client;
    ucs_status_t failure;         /* of an endpoint, by its error handler */
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    char *memory;                 /* of memh */
    uint64_t remote;

    unsigned got[PLAY_AMS];           /* active messages by id */
    void *kept;
    struct op ops[PLAY_OPS];
    unsigned num_ops;
    char out[PLAY_LARGE];
    char in[PLAY_LARGE];
};

/* Plays it once from the beginning to the end; returns the first error that
 * this side met. Fails the test if anything hangs. */
ucs_status_t play_run(struct play *play, struct team *team);

#endif
