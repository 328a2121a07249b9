/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failure and the end of an endpoint: marks it as failed, destroys its
 * lanes, completes its requests, calls the user's error handler from progress,
 * and frees it.
 */
#include "ucp/proto/ep.h"

#include "ucp/base/class.h"
#include "ucp/base/ids.h"
#include "ucp/core/ep_life.h"
#include "ucp/order/fence.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/keepalive.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* Called for the `pending` members of the lanes when they are removed from a
 * transport's pending queue. Nothing to do: the requests that they stand for
 * are in ep->waiting, and ucp_ep_abort_requests() completes them. */
static void purged(uct_pending_req_t *self, void *arg)
{
}

/* Destroys the lanes of a failed or closed endpoint. */
static void release_lanes(ucp_ep_h ep)
{
    uct_ep_h ucts[UCP_MAX_LANES];
    unsigned i;

    ep->flags &= ~UCP_EP_FLAG_PENDING;
    for (i = 0; i < ep->config->num_lanes; ++i) {
        ucts[i] = ucp_ep_lane(ep, i);
        if (i == UCP_AM_LANE) {
            ep->am = NULL;
        } else {
            ep->more[i - 1].uct = NULL;
        }
    }
    for (i = 0; i < ep->config->num_lanes; ++i) {
        if (ucts[i] != NULL) {
            uct_ep_pending_purge(ucts[i], purged, NULL);
            uct_ep_destroy(ucts[i]);
        }
    }
    ucp_wireup_release(ep);
}

static void cancel_lanes(ucp_ep_h ep)
{
    unsigned i;

    for (i = 0; (i < ep->config->num_lanes) && (ep->am != NULL); ++i) {
        uct_ep_flush(ucp_ep_lane(ep, i), UCT_FLUSH_FLAG_CANCEL, NULL);
    }
}

void ucp_ep_abort_requests(ucp_ep_h ep, ucs_status_t status)
{
    ucs_status_t arriving = status;
    ucs_queue_elem_t *elem;
    ucp_request_t *req;

    if ((ep->flags & UCP_EP_FLAG_LOOPBACK) && (status == UCS_ERR_CANCELED)) {
        /* The user has closed an endpoint to its own worker, but has not
         * cancelled the receives that wait for its messages: these do not end
         * with UCS_ERR_CANCELED. */
        arriving = UCS_ERR_CONNECTION_RESET;
    }
    if (ep->flags & UCP_EP_FLAG_FENCING) {
        ucp_fence_done(ep->fence);
    }
    while ((elem = ucs_queue_pull(&ep->waiting)) != NULL) {
        req = ucs_container_of(elem, ucp_request_t, send.queue);
        req->send.proto->abort(req, status);
    }
    while (!ucs_list_is_empty(&ep->awaited)) {
        req = ucs_list_head(&ep->awaited, ucp_request_t, ep_link);
        if (req->flags & UCP_REQUEST_FLAG_RECV) {
            req->recv.abort(req, arriving);
        } else {
            req->send.proto->abort(req, status);
        }
    }
    ucp_classes_ep_abort(ep, arriving);
}

/* True if all puts, gets and atomics of the user are complete
 * (ucp_ep::settled). Called while the lanes still exist. */
static int is_settled(ucp_ep_h ep)
{
    unsigned i;

    if ((ep->rma_issued != ep->rma_done) || (ep->am == NULL) ||
        !ucs_queue_is_empty(&ep->waiting) ||
        (ep->flags & UCP_EP_FLAG_FENCING) || (ep->lost_status != UCS_OK)) {
        return 0;
    }
    for (i = 0; i < ep->config->num_lanes; ++i) {
        if ((ep->remote_lanes & UCS_BIT(i)) &&
            (uct_ep_flush(ucp_ep_lane(ep, i), UCT_FLUSH_FLAG_REMOTE, NULL) !=
             UCS_OK)) {
            return 0;
        }
    }
    return 1;
}

static void mark_failed(ucp_ep_h ep, ucs_status_t status)
{
    ep->settled = is_settled(ep);
    ep->flags |= UCP_EP_FLAG_FAILED;
    ep->fail_status = status;
}

static void end_failed(ucp_ep_h ep)
{
    cancel_lanes(ep);
    release_lanes(ep);
    ucp_ep_abort_requests(ep, ep->fail_status);
    ucp_classes_ep_fail(ep, ep->fail_status);
}

void ucp_ep_shut(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        mark_failed(ep, status);
        end_failed(ep);
    }
    ucp_ep_schedule(ep);
}

void ucp_ep_fail(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("ep %p to worker %lx failed: %s", ep, ep->peer_uuid,
                 ucs_status_string(status));
        /* Set the flag first: the sends below may fail and call ucp_ep_fail()
         * again, which then has no effect. */
        mark_failed(ep, status);
        ucp_stats_ep_failed(ep);
        ucp_ep_send_farewell(ep);
        ucp_ep_send_lost(ep);
        end_failed(ep);
        ucp_ep_schedule(ep);
    }
}

/* Handles an endpoint that ucp_ep_schedule() was called for. May free the
 * endpoint: ucp_worker_progress() calls this function when no function on the
 * stack uses the endpoint. */
static void scheduled(ucp_ep_h ep)
{
    ep->flags &= ~UCP_EP_FLAG_SCHEDULED;
    ucp_failover_suspects(ep);
    if (ucs_unlikely(ep->pending_failure != UCS_OK)) {
        /* No effect if the endpoint has failed already. */
        ucp_ep_fail(ep, ep->pending_failure);
    }
    if (ep->flags & UCP_EP_FLAG_SCHEDULED) {
        /* One of the calls above has scheduled the endpoint again, and the next
         * progress calls the error handler. Without this return the handler
         * would be called twice. */
        return;
    }
    if (ep->flags & UCP_EP_FLAG_CLOSING) {
        ucp_ep_close_continue(ep);
    } else if (ep->flags & UCP_EP_FLAG_INTERNAL) {
        if ((ep->flags & UCP_EP_FLAG_FAILED) &&
            !(ep->flags & UCP_EP_FLAG_EXPOSED)) {
            ucp_ep_destroy_now(ep);
        }
    } else if ((ep->flags & UCP_EP_FLAG_FAILED) && (ep->extra != NULL) &&
               (ep->extra->err_cb != NULL) &&
               (ep->flags & UCP_EP_FLAG_ERR_MODE)) {
        ep->extra->err_cb(ep->user_data, ep, ep->fail_status);
    }
}

/* Called by ucp_worker_progress(). Endpoints that are scheduled during this
 * call are handled by the next progress. */
static void run_scheduled(void *arg)
{
    ucp_worker_h worker = arg;
    ucp_ep_h ep;

    /* worker->scheduled has the latest endpoint first: reverse the order */
    while ((ep = worker->scheduled) != NULL) {
        worker->scheduled     = ep->scheduled_next;
        ep->scheduled_next    = worker->scheduled_now;
        worker->scheduled_now = ep;
    }
    while ((ep = worker->scheduled_now) != NULL) {
        worker->scheduled_now = ep->scheduled_next;
        scheduled(ep);
    }
}

/* Removes the endpoint from a list of scheduled endpoints. Returns whether it
 * was in the list. */
static int remove_scheduled(ucp_ep_h *list, ucp_ep_h ep)
{
    for (; *list != NULL; list = &(*list)->scheduled_next) {
        if (*list == ep) {
            *list = ep->scheduled_next;
            return 1;
        }
    }
    return 0;
}

static void unschedule(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;

    if (!remove_scheduled(&worker->scheduled_now, ep)) {
        remove_scheduled(&worker->scheduled, ep);
        if (worker->scheduled == NULL) {
            uct_worker_oneshot_cancel(worker->uct, run_scheduled, worker);
        }
    }
}

void ucp_ep_schedule(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;

    if (ep->flags & UCP_EP_FLAG_SCHEDULED) {
        return;
    }

    ep->flags |= UCP_EP_FLAG_SCHEDULED;
    if (worker->scheduled == NULL) {
        uct_worker_oneshot_post(worker->uct, &worker->schedule, run_scheduled,
                                worker);
    }
    ep->scheduled_next = worker->scheduled;
    worker->scheduled  = ep;
}

void ucp_ep_fail_later(ucp_ep_h ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
        ep->pending_failure = status;
        ucp_ep_schedule(ep);
    }
}

void ucp_ep_destroy_now(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;

    if (ep->peer_ep_id != 0) {
        ucp_wireup_forget(ep);
    }
    ucp_classes_ep_detach(ep);
    if (ep->flags & UCP_EP_FLAG_SCHEDULED) {
        unschedule(ep);
    }
    release_lanes(ep);
    ucp_wireup_free(ep);
    ucp_stats_ep_end(ep);
    ucp_keepalive_forget(ep);
    ucp_classes_ep_free(ep);
    ucp_id_del(worker->ep_ids, ep->id);
    ucs_list_del(&ep->link);
    if (ep->extra != NULL) {
        free(ep->extra->name);
        free(ep->extra);
    }
    free(ep);
}
