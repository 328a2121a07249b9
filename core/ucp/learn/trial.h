/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends large messages by the method that measurements have shown to be the
 * fastest: times transfers of the user (timing.h), and tries methods that the
 * costs did not select (learn.h). What is learnt for transfers that are alone
 * is separate from what is learnt for transfers that follow others: for a
 * transfer that is alone the duration counts. Transfers that follow each other
 * delay each other, so their rate counts. Streams in both directions
 * and exchanges are kinds of their own (load.h).
 *
 * A worker times one transfer or one epoch (timing.h) at a time. What is
 * learnt belongs to a configuration of endpoints, which have the same lanes and
 * about the same measured bandwidth (proto/measure.h). So endpoints need no
 * memory for it.
 */
#ifndef UCP_TRIAL_H
#define UCP_TRIAL_H

#include "ucp/learn/entry.h"

enum {
    /** Minimum length in bytes. Shorter messages are not timed, and their
     *  protocols are selected by cost */
    UCP_TRIAL_MIN = 16384,
};

/** Selects the protocol of a message of at least UCP_TRIAL_MIN bytes, which the
 *  caller starts next. `proto`: the protocol that the costs select. If the
 *  result is a rendezvous by a learnt method, req->data_flags is set to the
 *  UCP_PROTO_FLAG_* of the protocol that moves its data.
 *
 *  For an active message the caller calls this only if `proto` is a rendezvous,
 *  and only the protocol that moves the data is selected: the receiver's
 *  handler can distinguish eager messages, so they are not tried. */
const ucp_proto_t *ucp_trial_select(ucp_request_t *req, ucp_op_t op,
                                    const ucp_proto_t *proto);

/** As ucp_trial_select(), for a message of any length. `attr`: UCP_OP_ATTR_* of
 *  the user's call, some of which exclude other protocols than `proto`. */
static UCS_F_ALWAYS_INLINE const ucp_proto_t *
ucp_trial_message(ucp_request_t *req, ucp_op_t op, size_t length,
                  const ucp_proto_t *proto, uint32_t attr)
{
    const uint32_t fixed = UCP_PROTO_ATTR_SOON | UCP_OP_ATTR_FLAG_MULTI_SEND;

    return (ucs_likely(length < UCP_TRIAL_MIN) || (attr & fixed)) ?
               proto :
               ucp_trial_select(req, op, proto);
}

/** As ucp_trial_select(), for a put or get of contiguous memory whose remote
 *  key allows two protocols: `zcopy`, over a lane, and `messages`. `lanes`: see
 *  ucp_learn_entry_t (entry.h). `proto`: the protocol that the costs select. */
const ucp_proto_t *ucp_trial_rma(ucp_request_t *req, ucp_op_t op,
                                 const void *lanes, const ucp_proto_t *zcopy,
                                 const ucp_proto_t *messages,
                                 const ucp_proto_t *proto);

/** Shows in the log, and with UCX_PROTO_INFO=y, that another method than
 *  `before` is selected now. `length`: bytes of the transfers that were
 *  timed. */
void ucp_trial_show_change(ucp_ep_h ep, const ucp_learn_t *learn, ucp_op_t op,
                           ucp_learn_load_t load, size_t length,
                           unsigned before);

/** Prints what is learnt for the configuration of this endpoint, for
 *  UCX_PROTO_INFO=y and ucp_ep_print_info. */
void ucp_trial_print(ucp_ep_h ep, FILE *stream);

#endif
