/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages by rendezvous.
 *
 *   RNDV_RTS  | tag 8 | announcement of rndv/rndv.h |
 */
#ifndef UCP_TAG_RNDV_H
#define UCP_TAG_RNDV_H

#include "ucp/rndv/rndv.h"

typedef struct ucp_tag_rts {
    ucp_le64_t     tag;
    ucp_rndv_rts_t rndv;
} ucp_tag_rts_t;

_Static_assert(sizeof(ucp_tag_rts_t) == 48, "wire layout");

/** Requests the receiver of an announced tagged send to drop the announcement.
 *  The send completes with UCS_ERR_CANCELED if it was not matched, otherwise as
 *  usual. No effect on other sends. */
void ucp_tag_rndv_withdraw(ucp_request_t *req);

/** Receiver: a UCT callback, `arg` is the worker. */
ucs_status_t ucp_tag_rts_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
