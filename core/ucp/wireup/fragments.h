/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragmentation of wire-up messages: they contain worker addresses, and a
 * message of some transports has at most a few hundred bytes.
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

typedef struct {
    ucp_wire_end_t sender;
    uint8_t am_id;
    ucp_le32_t total;
    ucp_le32_t offset;
} ucp_wireup_fragment_t;

_Static_assert(sizeof(ucp_wireup_fragment_t) == 25, "wire layout");

/** Maximum length of an address and the header before it. */
enum { UCP_WIREUP_MAX_MESSAGE = 2 * 65536 };

/** Sends a wire-up message of any length: over the auxiliary link (link.h) or,
 *  if `link` is NULL, over lane 0 in order with the other messages of the
 *  endpoint. */
ucs_status_t ucp_wireup_send(ucp_ep_h ep, ucp_wireup_link_t *link,
                             uint8_t am_id, const void *message, size_t length);

/** UCT callback for received fragments; `arg` is the worker. */
ucs_status_t ucp_wireup_fragment_handler(void *arg, void *data, size_t length,
                                         unsigned flags);

/** Drops incomplete messages, of the endpoint `end` or of all endpoints. */
void ucp_wireup_fragments_forget(ucp_worker_h worker,
                                 const ucp_wire_end_t *end);
void ucp_wireup_fragments_cleanup(ucp_worker_h worker);

#endif
