/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends large messages by the method that measurements have shown to be the
 * fastest: times transfers of the user (timing.h), and tries methods that the
 * costs did not select (learn.h). Transfers that are alone and transfers that
 * follow others are learnt separately: for the former the duration counts, for
 * the latter the rate, because they delay each other.
 *
 * A worker times one transfer or series at a time. What is learnt belongs to an
 * endpoint configuration, whose endpoints have the same lanes and about the
 * same measured bandwidth (proto/measure.h): endpoints need no memory for it.
 */
#ifndef UCP_TRIAL_H
#define UCP_TRIAL_H

#include "ucp/proto/ep.h"

enum {
    /** Minimum length in bytes. Shorter messages are not timed, and no other
     *  protocol is tried for them */
    UCP_TRIAL_MIN = 16384,
};

/** Selects the protocol of a message of at least UCP_TRIAL_MIN bytes, which the
 *  caller starts next. `proto`: the protocol that the costs select. The
 *  protocol for the data of a rendezvous is stored in the request. The callback
 *  of an active message can distinguish eager messages from rendezvous.
 *  Therefore only the scheme of the rendezvous is selected for active
 *  messages. */
const ucp_proto_t *ucp_trial_select(ucp_request_t *req, ucp_op_t op,
                                    const ucp_proto_t *proto);

/** As ucp_trial_select(), for a message of any length. `attr`: UCP_OP_ATTR_* of
 *  the user's call, which may exclude other protocols. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_trial_message(ucp_request_t *req, ucp_op_t op, size_t length,
                  const ucp_proto_t *proto, uint32_t attr)
{
    const uint32_t fixed = UCP_PROTO_ATTR_SOON | UCP_OP_ATTR_FLAG_MULTI_SEND;

    return (ucs_likely(length < UCP_TRIAL_MIN) || (attr & fixed)) ?
               proto :
               ucp_trial_select(req, op, proto);
}

/** As ucp_trial_select(), for a put or get of contiguous memory that the key
 *  allows both by zero-copy over a lane and by messages. `lanes`: identifies
 *  the lanes of the key. `zcopy`, `messages`: the two protocols. `proto`: the
 *  one that the costs select. */
const ucp_proto_t *ucp_trial_rma(ucp_request_t *req, ucp_op_t op,
                                 const void *lanes, const ucp_proto_t *zcopy,
                                 const ucp_proto_t *messages,
                                 const ucp_proto_t *proto);

/** Prints what is learnt, for UCX_PROTO_INFO=y and ucp_ep_print_info. */
void ucp_trial_print(ucp_ep_h ep, FILE *stream);

#endif
