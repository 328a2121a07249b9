/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process selects the method of exchanges and of streams in both
 * directions, and how the other one follows: see lead.h. */
#include "ucp/learn/lead.h"

#include "ucp/learn/exchange.h"
#include "ucp/learn/follow.h"
#include "ucp/learn/live.h"
#include "ucp/learn/timing.h"
#include "ucp/learn/trial.h"

static int peer_leads(const ucp_ep_h ep)
{
    return ep->peer_uuid < ep->worker->uuid;
}

static ucp_learn_exchange_t *exchange_of(ucp_learn_t *learn)
{
    return ucs_container_of(learn, ucp_learn_exchange_t, learn);
}

unsigned ucp_lead_exchange(const ucp_learn_entry_t *entry, ucp_learn_t *learn,
                           ucp_request_t *req, ucp_learn_now_t *now)
{
    ucp_ep_h ep                    = req->send.ep;
    ucp_learn_exchange_t *exchange = exchange_of(learn);
    const ucp_learn_peer_t peer    = {
           .ep    = ep,
           .uuid  = ep->peer_uuid,
           .leads = peer_leads(ep),
    };
    unsigned before = learn->best;
    unsigned timed  = exchange->timed;
    unsigned led    = learn->is_led;
    ucs_time_t time = timed ? ucp_learn_now(now) : 0;
    unsigned method = ucp_learn_exchange_next(exchange, &peer, req->dt.length,
                                              ucs_time_to_nsec(time));

    if (!timed && exchange->timed) {
        ucp_learn_exchange_begin(exchange,
                                 ucs_time_to_nsec(ucp_learn_now(now)));
    }
    if (!peer.leads) {
        req->lead = (uint16_t)(UCP_LEAD_EXCHANGE + method);
    }
    if (timed || (learn->best != before) || (learn->is_led != led)) {
        ucp_learn_live_update(learn);
    }
    if ((learn->best != before) && !learn->is_led) {
        ucp_trial_show_change(ep, learn, entry->op, UCP_LEARN_EXCHANGE,
                              req->dt.length, before);
    }
    return method;
}

unsigned ucp_lead_quiet(ucp_learn_t *learn, unsigned limit)
{
    return ucp_learn_exchange_quiet(exchange_of(learn), limit);
}

unsigned ucp_lead_repeat(ucp_learn_t *learn, ucp_request_t *req)
{
    ucp_learn_exchange_t *exchange = exchange_of(learn);
    ucp_ep_h ep                    = req->send.ep;

    if (!ucp_learn_exchange_repeat(exchange, ep, peer_leads(ep))) {
        return UCP_LEARN_NONE;
    }
    if (!peer_leads(ep)) {
        req->lead = (uint16_t)(UCP_LEAD_EXCHANGE + exchange->method);
    }
    return exchange->method;
}

void ucp_lead_stop_exchange(ucp_learn_t *learn, ucp_ep_h ep)
{
    if (learn != NULL) {
        ucp_learn_exchange_stop(exchange_of(learn), ep);
    }
}

void ucp_lead_stream(ucp_request_t *req, unsigned method, int is_trial)
{
    if (!peer_leads(req->send.ep)) {
        req->lead = (uint16_t)((is_trial ? UCP_LEAD_TRIAL : UCP_LEAD_STREAM) +
                               method);
    }
}

/* `lead`: ucp_request::lead of the peer, at least UCP_LEAD_STREAM. */
static void follow_in_stream(const ucp_learn_entry_t *entry, const ucp_ep_h ep,
                             ucp_learn_t *learn, unsigned lead)
{
    ucp_learn_stream_t *stream = ucp_learn_stream_of(learn);
    unsigned before            = learn->best;
    unsigned led               = learn->is_led;

    if ((entry->last_ep == NULL) ||
        (entry->last_ep->peer_uuid != ep->peer_uuid)) {
        return;
    }
    if (lead < UCP_LEAD_TRIAL) {
        ucp_learn_stream_announced(stream, lead - UCP_LEAD_STREAM);
    } else {
        ucp_learn_stream_announced_trial(stream, lead - UCP_LEAD_TRIAL,
                                         ucp_timing_in_flight(entry->last_ep));
    }
    if ((learn->best != before) || (learn->is_led != led)) {
        ucp_learn_live_update(learn);
    }
}

void ucp_lead_received(ucp_ep_h ep, size_t length, unsigned lead)
{
    const struct ucp_trials *trials = ucp_worker_learn(ep->worker)->trials;
    const ucp_learn_entry_t *entry;
    ucp_learn_t *learn;
    unsigned class;

    if ((lead == 0) || !peer_leads(ep) || (length < UCP_TRIAL_MIN) ||
        (trials == NULL)) {
        return;
    }
    class = ucp_learn_size_class(length);
    for (entry = trials->entries; entry != NULL; entry = entry->next) {
        if (lead < UCP_LEAD_STREAM) {
            learn = entry->of[UCP_LEARN_EXCHANGE][class];
            if (learn != NULL) {
                ucp_learn_exchange_announced(exchange_of(learn), ep->peer_uuid,
                                             lead - UCP_LEAD_EXCHANGE);
            }
        } else {
            learn = entry->of[UCP_LEARN_BOTH][class];
            if (learn != NULL) {
                follow_in_stream(entry, ep, learn, lead);
            }
        }
    }
}
