/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides wire-up messages that exceed the longest message of a transport into
 * fragments, and reassembles them. Such messages contain worker addresses, and
 * some transports limit a message to a few hundred bytes. Numbers are bytes:
 *
 *   FRAGMENT | sender's end 16 | message id 1 | total 4 | offset 4 | bytes |
 *
 * The fragments of one message arrive in order. An endpoint sends one message
 * at a time; fragments from different endpoints may interleave.
 *
 * A sender's end is a ucp_wire_end_t: the UUID of its worker and the id of its
 * endpoint.
 */
#ifndef UCP_WIREUP_FRAGMENTS_H
#define UCP_WIREUP_FRAGMENTS_H

#include "ucp/proto/ep.h"
#include "ucp/wireup/ids.h"
#include "ucp/wireup/link.h"

/** Header of a fragment. */
typedef struct {
    ucp_wire_end_t sender;
    uint8_t am_id;     /**< UCP_AM_ID_* of the whole message */
    ucp_le32_t total;  /**< Bytes of the whole message */
    ucp_le32_t offset; /**< Of this fragment's data in the message, bytes */
} ucp_wireup_fragment_t;

_Static_assert(sizeof(ucp_wireup_fragment_t) == 25, "wire layout");

/** Maximum bytes of a message: the receiver drops the fragments of a longer
 *  one. */
enum { UCP_WIREUP_MAX_MESSAGE = 2 * 65536 };

/** Sends a wire-up message: as it is if it fits one message of the transport,
 *  otherwise in fragments. `link`: the auxiliary link (link.h); if NULL, the
 *  message goes over lane 0, in order with the other messages of the endpoint.
 *  Returns UCS_ERR_EXCEEDS_LIMIT if `length` is above
 *  UCP_WIREUP_MAX_MESSAGE. */
ucs_status_t ucp_wireup_send(ucp_ep_h ep, ucp_wireup_link_t *link,
                             uint8_t am_id, const void *message, size_t length);

/** UCT callback for received fragments; `arg` is the worker. */
ucs_status_t ucp_wireup_fragment_handler(void *arg, void *data, size_t length,
                                         unsigned flags);

/** ucp_wireup_fragments_forget(): drops the incomplete message from the peer's
 *  endpoint `end`, if there is one. ucp_wireup_fragments_cleanup(): drops all
 *  incomplete messages. */
void ucp_wireup_fragments_forget(ucp_worker_h worker,
                                 const ucp_wire_end_t *end);
void ucp_wireup_fragments_cleanup(ucp_worker_h worker);

#endif
