/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint continues after the failure of one of its lanes (failover.h).
 * The transport's endpoint is replaced by one that rejects every data transfer
 * (lost_lane), so that the callers need no check.
 */
#include "ucp/wireup/failover.h"

#include "ucp/order/flush.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/keepalive.h"
#include "ucs/debug/log.h"
#include "uct/base/answer_ops.h"

/* --------------------------------------------------------- a lost lane -- */

#define LOST UCS_ERR_CONNECTION_RESET

UCT_ANSWER_OPS_DEFINE(lost, LOST)

/* Succeeds: the failure of the lane has completed all sends over it, and later
 * ones are rejected. */
static ucs_status_t lost_flush(uct_ep_h ep, unsigned flags,
                               uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t lost_fence(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}

/* Called after a send over this lane found no send resources. UCS_ERR_BUSY
 * makes the caller repeat the send, which this lane now rejects with an error;
 * the caller then uses another lane. */
static ucs_status_t lost_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                     unsigned flags)
{
    return UCS_ERR_BUSY;
}

static void lost_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                               void *arg)
{
}

/* Frees nothing: the endpoint is static. */
static void lost_destroy(uct_ep_h ep)
{
}

static ucs_status_t lost_check(uct_ep_h ep, unsigned flags,
                               uct_completion_t *comp)
{
    return UCS_OK;
}

/* Must contain every operation that UCP calls on a lane, because UCP calls
 * them without a test for NULL. */
static const ucx_ep_ops_t lost_ops = {
    .size = sizeof(lost_ops),
    UCT_ANSWER_OPS(lost),
    .flush         = lost_flush,
    .fence         = lost_fence,
    .pending_add   = lost_pending_add,
    .pending_purge = lost_pending_purge,
    .destroy       = lost_destroy,
    .check         = lost_check,
};

/* The replacement of lost lanes of all endpoints: it has no state and is never
 * written. */
static struct uct_ep lost_lane = {.ops = &lost_ops};

/* ------------------------------------------------------------- failing -- */

/* Callback of uct_ep_pending_purge(): the UCP endpoint's pending request was in
 * the queue of this lane. The transport will not call this request any more:
 * the caller of the purge resumes the endpoint's queue. */
static void note_waiting(uct_pending_req_t *self, void *arg)
{
    int *waited = arg;

    *waited = 1;
}

/* Replaces the lane by lost_lane and destroys its transport's endpoint.
 * `config`: the configuration without this lane. User callbacks may run; the
 * UCP endpoint itself exists until the next progress. */
static void lose(ucp_ep_h ep, unsigned lane, const ucp_ep_config_t *config,
                 ucs_status_t status)
{
    uct_ep_h uct = ep->more[lane - 1].uct;
    int waited   = 0;

    ucs_diag("ep %p to worker %lx: lane %u failed (%s); the endpoint continues "
             "without it",
             ep, ep->peer_uuid, lane, ucs_status_string(status));
    ep->more[lane - 1].uct = &lost_lane;
    ep->config             = config;
    ep->suspects &= (ucp_lane_map_t)~UCS_BIT(lane);
    if (ep->remote_dirty & UCS_BIT(lane)) {
        /* The next flush reports the error for puts and atomics that were
         * complete for the user and may be lost */
        ep->lost_status = (int8_t)status;
    }
    ucp_flush_forget(ep, (ucp_lane_map_t)UCS_BIT(lane));

    uct_ep_pending_purge(uct, note_waiting, &waited);
    uct_ep_flush(uct, UCT_FLUSH_FLAG_CANCEL, NULL);
    uct_ep_destroy(uct);
    ucp_stats_lane_lost(ep, lane, status);
    if (waited && !(ep->flags & (UCP_EP_FLAG_FAILED | UCP_EP_FLAG_DRAINING))) {
        ucp_ep_resume(ep);
    }
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        /* The cause may be the loss of the peer, which would otherwise be
         * detected late */
        ucp_keepalive_check(ep);
    }
}

/* Makes the endpoint continue without the lane. Returns zero if that is not
 * possible: it is lane 0, memory is short, or the endpoint has failed. */
static int lose_lane(ucp_ep_h ep, unsigned lane, ucs_status_t status)
{
    const ucp_ep_config_t *config;

    if ((lane == UCP_AM_LANE) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        return 0;
    }
    config = ucp_ep_config_without(ep->worker, ep->config, lane);
    if (config == NULL) {
        return 0;
    }
    lose(ep, lane, config, status);
    return 1;
}

int ucp_failover(ucp_ep_h ep, uct_ep_h uct, ucs_status_t status)
{
    unsigned lane;

    for (lane = 0; lane < ep->config->num_lanes; ++lane) {
        if (ucp_ep_lane(ep, lane) == uct) {
            return lose_lane(ep, lane, status);
        }
    }
    return 0;
}

int ucp_failover_suspect(ucp_ep_h ep, unsigned lane, ucs_status_t status)
{
    if ((lane == UCP_AM_LANE) || (status == UCS_ERR_NO_MEMORY) ||
        (ep->flags & UCP_EP_FLAG_FAILED)) {
        return 0;
    }
    if (!(ep->config->lost & UCS_BIT(lane))) {
        ep->suspects |= (ucp_lane_map_t)UCS_BIT(lane);
        ucp_ep_schedule(ep);
    }
    return 1;
}

void ucp_failover_suspects(ucp_ep_h ep)
{
    while ((ep->suspects != 0) && !(ep->flags & UCP_EP_FLAG_FAILED)) {
        unsigned lane = (unsigned)__builtin_ctz(ep->suspects);

        ep->suspects &= (ucp_lane_map_t)~UCS_BIT(lane);
        if (!(ep->config->lost & UCS_BIT(lane)) && !lose_lane(ep, lane, LOST)) {
            ucp_ep_fail(ep, LOST);
        }
    }
}
