/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of two processes that send large messages to each other, in
 * exchanges or in streams in both directions: both must use the same method. If
 * one of them gets the data and the other one puts it, one processor makes all
 * copies. So the process with the lower UUID leads: it searches, and its
 * messages contain their method (ucp_request::lead). The peer uses that one for
 * its next transfers, in trials for a few. Otherwise a peer that sends eager
 * messages, which complete at once, might send hundreds before it makes progress
 * and receives the announcement of the next method.
 */
#ifndef UCP_LEARN_LEAD_H
#define UCP_LEARN_LEAD_H

#include "ucp/learn/load.h"

/** Values of ucp_request::lead: one of these, by the kind of the transfer, plus
 *  its method (UCP_LEARN_* of entry.h). */
enum {
    UCP_LEAD_EXCHANGE = 1,
    UCP_LEAD_STREAM   = UCP_LEAD_EXCHANGE + UCP_LEARN_METHODS,
    /** In a stream, by a method that is only tried */
    UCP_LEAD_TRIAL    = UCP_LEAD_STREAM + UCP_LEARN_METHODS,
};

/** Returns the method of a transfer in an exchange, and sets req->lead if this
 *  process leads. `learn`: the state of the search. `now`: the current time. */
unsigned ucp_lead_exchange(const ucp_learn_entry_t *entry, ucp_learn_t *learn,
                           ucp_request_t *req, ucp_learn_now_t *now);

/** Returns for how many of the next transfers, at most `limit`,
 *  ucp_lead_repeat() may be called. */
unsigned ucp_lead_quiet(ucp_learn_t *learn, unsigned limit);

/** As ucp_lead_exchange(), for a transfer like the last one, which is not timed.
 *  Returns UCP_LEARN_NONE if ucp_lead_exchange() must be called. */
unsigned ucp_lead_repeat(ucp_learn_t *learn, ucp_request_t *req);

/** Called for a transfer that does not belong to an exchange, and for an
 *  endpoint that is freed: ends the timing of exchanges with the peer. `learn`:
 *  of exchanges; may be NULL. */
void ucp_lead_stop_exchange(ucp_learn_t *learn, ucp_ep_h ep);

/** Sets req->lead of a transfer in a stream in both directions by `method`, if
 *  this process leads. `is_trial`: the method is only tried. */
void ucp_lead_stream(ucp_request_t *req, unsigned method, int is_trial);

/** Called for each tagged message that arrives by rendezvous or in fragments.
 *  If its sender leads, its method is used for the next transfers. `ep`: of the
 *  sender. `length`: bytes of the message. `lead`: ucp_request::lead of the
 *  sender; any value, because a peer has sent it. */
void ucp_lead_received(ucp_ep_h ep, size_t length, unsigned lead);

#endif
