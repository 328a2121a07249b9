/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages by rendezvous.
 *
 *   RNDV_RTS  | tag 8 | announcement of rndv/rndv.h |
 */
#ifndef UCP_TAG_RNDV_H
#define UCP_TAG_RNDV_H

#include "ucp/rndv/rndv.h"

/** Identifier of the message that announces the data ("ready to send"). */
enum { UCP_AM_ID_RNDV_RTS = 6 };

typedef struct ucp_tag_rts {
    ucp_le64_t tag;
    ucp_rndv_rts_t rndv;
} ucp_tag_rts_t;

_Static_assert(sizeof(ucp_tag_rts_t) == 48, "wire layout");

/** Maximum bytes of an announcement. */
enum { UCP_TAG_MAX_RTS = sizeof(ucp_le64_t) + UCP_RNDV_MAX_RTS };

/** Writes the announcement of the send `req` to `dest`; returns its length. A
 *  uct_pack_callback_t. */
size_t ucp_tag_rts_pack(void *dest, void *req);

/** Returns the message that requests the receiver to drop the announcement of
 *  this send. */
ucp_tag_rts_t ucp_tag_rts_withdrawal(const ucp_request_t *req);

/** Called when a transport has matched a receive with an announcement: starts
 *  the rendezvous. Returns zero, without a change to the receive, if the
 *  message is invalid or a request to drop an earlier announcement. */
int ucp_tag_rts_matched(ucp_request_t *req, const void *data, size_t length);

/** UCT callback for received announcements; `arg` is the worker. */
ucs_status_t ucp_tag_rts_handler(void *arg, void *data, size_t length,
                                 unsigned flags);

#endif
