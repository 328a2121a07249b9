/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivery of received messages, for tag/rndv.c (announcements of rendezvous)
 * and tag/offload_recv.c (messages that a transport matches). */
#ifndef UCP_TAG_RECV_H
#define UCP_TAG_RECV_H

#include "ucp/base/worker.h"
#include "ucp/tag/match.h"

/** Stores an unexpected message, as ucp_tag_unexpected_add(). Uses the worker's
 *  reserve if memory is short. Returns UCS_ERR_NO_MEMORY if the reserve is used
 *  up, too. */
ucs_status_t ucp_tag_keep_early(ucp_worker_h worker, ucp_recv_desc_kind_t kind,
                                ucp_tag_t tag, size_t length, const void *data,
                                size_t size, size_t header_size);

/** Called when a whole eager message has arrived without a header, by tag
 *  offload: matches a receive, or stores a copy of the message. */
void ucp_tag_eager_arrived(ucp_worker_h worker, ucp_tag_t tag, const void *data,
                           size_t length);

/** Completes a receive with a whole eager message. */
void ucp_tag_recv_complete(ucp_request_t *req, ucp_tag_t tag,
                           const void *payload, size_t length);

#endif
