/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCP objects of one process of a test: context, worker, endpoints, and
 * calls that wait with a time limit. Uses the public API only.
 */
#ifndef INTEGRATION_SIDE_H
#define INTEGRATION_SIDE_H

#include "check.h"
#include "team.h"

#include <ucp/api/ucp.h>

struct side {
    ucp_context_h context;
    ucp_worker_h worker;
    struct side_ep *eps; /* Endpoints that are not closed yet */
};

struct side_ep {
    struct side *side;
    ucp_ep_h ep;
    /* Status that the error handler received last; UCS_OK: it was not called */
    ucs_status_t failure;
    unsigned failures; /* Number of calls of the error handler */
    struct side_ep *next;
};

/* The result of a request. It must exist until `done` is set, and can be read
 * after the request is freed. */
struct side_op {
    ucs_status_ptr_t request;
    bool done;
    ucs_status_t status;
    ucp_tag_recv_info_t info; /* Of completed receives */
};

void side_open(struct side *side, uint64_t features);
void side_close(struct side *side);

/* Opens another worker of the same context. Close it with
 * side_close_worker(). */
void side_open_worker(struct side *more, const struct side *side);
void side_close_worker(struct side *more);

void side_progress(void *side);

/* Returns the worker's address; the caller frees it with free(). */
void *side_address(struct side *side, size_t *length_p);

/* Creates an endpoint with UCP_ERR_HANDLING_MODE_PEER. */
struct side_ep *side_connect(struct side *side, const void *address);

/* Like side_connect(); NULL if the peer is unreachable, for example because it
 * has ended. */
struct side_ep *side_try_connect(struct side *side, const void *address);

/* Creates an endpoint with `params` and UCP_ERR_HANDLING_MODE_PEER. On failure
 * returns NULL and the reason in *status_p. */
struct side_ep *side_create_ep(struct side *side, const ucp_ep_params_t *params,
                               ucs_status_t *status_p);

/* Exchanges worker addresses with member `rank`, which calls it as well, and
 * connects. */
struct side_ep *side_meet(struct side *side, struct team *team, int rank);

/* Sends this worker's address to member `rank` over the team's channel, or
 * receives that member's address. The caller frees the result with free(). */
void side_put_address(struct side *side, struct team *team, int rank);
void *side_get_address(struct team *team, int rank);

void side_send(struct side_ep *ep, struct side_op *op, const void *buffer,
               size_t length, ucp_tag_t tag);
void side_recv(struct side *side, struct side_op *op, void *buffer,
               size_t length, ucp_tag_t tag, ucp_tag_t mask);

/* Progresses until the operation has ended with any status; fails the test
 * after `seconds`. */
void side_finish(struct side *side, struct side_op *op, double seconds,
                 const char *what);

/* Like side_finish() with a limit of 30 seconds; expects UCS_OK. */
void side_complete(struct side *side, struct side_op *op, const char *what);

/* Sends or receives a message and waits for success. The receive returns the
 * message's length. */
void side_send_wait(struct side_ep *ep, const void *buffer, size_t length,
                    ucp_tag_t tag);
size_t side_recv_wait(struct side *side, void *buffer, size_t length,
                      ucp_tag_t tag, ucp_tag_t mask);

/* Progresses until a matching message has arrived; returns its handle. With
 * `take` the message can then be received only by that handle. */
ucp_tag_message_h side_probe_wait(struct side *side, ucp_tag_t tag,
                                  ucp_tag_t mask, bool take,
                                  ucp_tag_recv_info_t *info);

/* Progresses until a request of any operation has ended, frees it and returns
 * its status. */
ucs_status_t side_wait(struct side *side, ucs_status_ptr_t request,
                       const char *what);

ucs_status_t side_flush(struct side_ep *ep);
ucs_status_t side_flush_worker(struct side *side);

/* Closes the endpoint, waits, and frees `ep`. flags: 0 or
 * UCP_EP_CLOSE_FLAG_FORCE. */
ucs_status_t side_close_ep(struct side_ep *ep, unsigned flags);

/* Frees `ep` after the caller has closed, or has begun to close, its endpoint.
 * The library must not call the error handler after that. */
void side_forget(struct side_ep *ep);

/* Progresses until the error handler of `ep` is called, at most
 * test_seconds(seconds). */
void side_wait_failure(struct side_ep *ep, double seconds);

/* Progresses until this process has at most `most` open descriptors. The
 * library closes some of them with a delay. */
void side_wait_fds(struct side *side, unsigned most);

/* Progresses for `seconds`, without test_seconds(). */
void side_linger(struct side *side, double seconds);

#endif
