/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous: large data waits at the sender until the receiver has a place
 * for it, and then goes there without stops.
 *
 *   sender                                     receiver
 *     | RTS: who I am, my request, how much       |
 *     |------------------------------------------>| matched with a receive
 *     |      RTR: my request, how much, [where]   |
 *     |<------------------------------------------|
 *     |  with a key: put, then DONE               |
 *     |  without: DATA, DATA, ...                 |
 *     |==========================================>| complete
 *     | complete when all has left                |
 *
 *   RTS   | tag 8 | length 8 | sender's end 16 | request 4 |
 *   RTR   | sender's request 4 | receiver's request 4 | length 8 | address 8 |
 *         | packed remote key, may be empty |
 *   DATA  | receiver's request 4 | offset 8 | payload |
 *   DONE  | receiver's request 4 | status 1 |
 *
 * A receive that is too small asks for 0 bytes, which ends the sender's part. A
 * DONE with an error ends a receive that will not get its data either way.
 */
#ifndef UCP_RNDV_H
#define UCP_RNDV_H

#include "ucp/core/ep.h"

typedef struct {
    ucp_le64_t     tag;
    ucp_le64_t     length;
    ucp_wire_end_t sender;
    ucp_le32_t     request;
} ucp_rndv_rts_t;

typedef struct {
    ucp_le32_t send_request;
    ucp_le32_t recv_request;
    ucp_le64_t length;
    ucp_le64_t address;
} ucp_rndv_rtr_t;

typedef struct {
    ucp_le32_t recv_request;
    ucp_le64_t offset;
} ucp_rndv_data_t;

typedef struct {
    ucp_le32_t recv_request;
    int8_t     status;
} ucp_rndv_done_t;

_Static_assert(sizeof(ucp_rndv_rts_t) == 36, "wire layout");
_Static_assert(sizeof(ucp_rndv_rtr_t) == 24, "wire layout");
_Static_assert(sizeof(ucp_rndv_data_t) == 12, "wire layout");
_Static_assert(sizeof(ucp_rndv_done_t) == 5, "wire layout");

enum { UCP_RNDV_MAX_RKEY = 256 };

/** Answers an announcement whose receive is found: `req` has its datatype and
 *  info; `rts` has been checked. The request is completed sooner or later. */
void ucp_rndv_recv_start(ucp_request_t *req, const void *rts, size_t length);

/** Receive side: UCT callbacks, `arg` is the worker. */
ucs_status_t ucp_rndv_rts_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_rtr_handler(void *arg, void *data, size_t length,
                                  unsigned flags);
ucs_status_t ucp_rndv_data_handler(void *arg, void *data, size_t length,
                                   unsigned flags);
ucs_status_t ucp_rndv_done_handler(void *arg, void *data, size_t length,
                                   unsigned flags);

/** Sending fragments: the request has been asked for its data without a key. */
ucs_status_t ucp_rndv_am_progress(ucp_request_t *req);

/** Putting: the request has been given a key. */
ucs_status_t ucp_rndv_put_progress(ucp_request_t *req);

/** Ends it; puts that the transport holds are waited for. */
void ucp_rndv_put_abort(ucp_request_t *req, ucs_status_t status);

/** Ends a rendezvous send in any state. */
void ucp_rndv_send_end(ucp_request_t *req, ucs_status_t status);

/** Likewise, and tells the receiver, who waits for data. */
void ucp_rndv_send_fail(ucp_request_t *req, ucs_status_t status);

/** Takes the request off its endpoint, which it does not touch any more. */
void ucp_rndv_send_detach(ucp_request_t *req);

/** Ends a rendezvous receive in any state. */
void ucp_rndv_recv_end(ucp_request_t *req, ucs_status_t status);

#endif
