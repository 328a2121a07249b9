/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages by the method that proves to be the fastest: times transfers
 * of the user, and tries the methods that the costs did not select (learn.h).
 *
 *   request --begin--> timed by the clock --end--> result for the method
 *
 * A transfer ends when the peer has the data. If the lane itself puts or gets
 * the data, the request completes at that time, and so does a get by messages.
 * Other requests complete earlier: for these, a PROBE is sent behind the data,
 * in order with it. Its answer contains the time at the peer. If the peer has
 * another clock, the time at which the answer arrives is used.
 *
 *   PROBE  | worker and endpoint of the prober 16 | number 4 | flags 1 |
 *          | time of the answer 8 |
 *
 * Only a message that begins while no earlier one is under way is timed, and
 * the result is used only for such messages. Messages that are under way at the
 * same time delay each other; the estimated costs describe their throughput.
 *
 * A worker has one trial at a time. What is learnt belongs to an endpoint
 * configuration, whose endpoints have the same lanes and the same measured
 * distance (proto/measure.h): endpoints need no memory for it.
 */
#ifndef UCP_TRIAL_H
#define UCP_TRIAL_H

#include "ucp/proto/ep.h"

enum {
    /** Minimum length in bytes. Shorter messages are not timed, and no other
     *  protocol is tried for them */
    UCP_TRIAL_MIN = 16384,
};

typedef struct {
    ucp_wire_end_t end;
    ucp_le32_t number;
    uint8_t flags;   /**< UCP_PROBE_* */
    ucp_le64_t time; /**< Answer: nanoseconds of the peer's clock */
} ucp_probe_t;

enum {
    UCP_PROBE_ANSWER = UCS_BIT(0), /**< The answer, for the endpoint in `end` */
};

_Static_assert(sizeof(ucp_probe_t) == 29, "wire layout");

/** Selects the protocol of a message of at least UCP_TRIAL_MIN bytes, which the
 *  caller starts next. `proto`: the protocol that the costs select. The
 *  protocol for the data of a rendezvous is stored in the request. The callback
 *  of an active message can tell eager messages from others, so that for active
 *  messages only the scheme of the rendezvous is selected. */
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
 *  the lanes of the key. */
const ucp_proto_t *ucp_trial_rma(ucp_request_t *req, ucp_op_t op,
                                 const void *lanes, const ucp_proto_t *zcopy,
                                 const ucp_proto_t *messages,
                                 const ucp_proto_t *proto);

/** Prints what is learnt, for UCX_PROTO_INFO=y and ucp_ep_print_info. */
void ucp_trial_print(ucp_ep_h ep, FILE *stream);

#endif
