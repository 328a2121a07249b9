/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_ep_flush_nbx, ucp_worker_flush_nbx, and the flushes of a close and of a
 * fence. A flush completes when the transports have completed all earlier sends
 * and gets, and the data of all earlier puts and atomics is in the peer's
 * memory.
 */
#include "ucp/order/flush.h"

#include "ucp/base/class.h"
#include "ucp/base/ids.h"
#include "ucp/order/fence.h"

static void child_done(ucp_request_t *parent, ucs_status_t status)
{
    if ((status != UCS_OK) && (parent->status == UCS_INPROGRESS)) {
        parent->status = status;
    }
    if (--ucp_send_flush(parent)->children == 0) {
        ucp_request_complete_send(parent, (parent->status == UCS_INPROGRESS) ?
                                              UCS_OK :
                                              parent->status);
    }
}

/* Called when a flush is complete; has an effect if it has waited until data is
 * in the peer's memory (remote_ep_id), and the endpoint still exists. If this
 * was the last such flush, the lanes that were not used since it started have
 * nothing in flight, and are removed from remote_lanes. A close then need not
 * flush them again, for which the peer would have to call progress. */
static void flush_replied(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep = ucp_id_get(req->worker->ep_ids,
                             ucp_send_flush(req)->remote_ep_id);

    if (ep == NULL) {
        return;
    }
    ucp_send_flush(req)->remote_ep_id = 0;
    if (status != UCS_OK) {
        ep->remote_fresh = ep->remote_lanes;
    }
    if (--ep->remote_flushes == 0) {
        ucp_flush_forget(ep, (ucp_lane_map_t)~ep->remote_fresh);
    }
}

/* Ends a flush of ucp_flush_try() that has continued in the background. The
 * user may then try another flush, which returns the error of this flush. */
static void trial_ended(const ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep = ucp_id_get(req->worker->ep_ids, ucp_send_flush(req)->tried);

    if (ep != NULL) {
        ep->flags &= (uint16_t)~UCP_EP_FLAG_TRIAL;
        if ((status != UCS_OK) && !(ep->flags & UCP_EP_FLAG_FAILED)) {
            ep->lost_status = (int8_t)status;
        }
    }
}

static void flush_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep           = req->send.ep;
    ucp_request_t *parent = ucp_send_flush(req)->parent;
    int is_internal       = ucp_send_flush(req)->internal;

    flush_replied(req, status);
    if (status == UCS_OK) {
        /* The transport has sent the endpoint's deferred sends before the flush
         * completed. Complete them first, because they were issued before the
         * flush. */
        ucp_worker_complete_deferred_of(req->worker, ep);
    }
    ucp_request_ep_del(req);
    if (ucp_send_flush(req)->tried != 0) {
        trial_ended(req, status);
    }
    if ((ucp_send_flush(req)->closing == UCP_FLUSH_CLOSE) &&
        (status == UCS_OK) && ucp_classes_ep_leave(ep, req)) {
        /* A last message to the peer follows. The class that sends it completes
         * `req`, or passes it to ucp_flush_start() again */
        return;
    }
    if (ucp_send_flush(req)->closing) {
        if ((ucp_send_flush(req)->closing == UCP_FLUSH_LEAVE) &&
            (status != UCS_ERR_CANCELED)) {
            status = UCS_OK;
        }
        /* The endpoint is freed by the next progress and not here, because a
         * caller on the stack may still use it. */
        ep->flags |= UCP_EP_FLAG_FLUSHED;
        ucp_ep_schedule(ep);
    }
    if (req->flags & UCP_REQUEST_FLAG_FENCE) {
        ucp_fence_done(req);
    }
    ucp_request_complete_send(req, status);
    if (parent != NULL) {
        /* An endpoint that the library has created fails when its peer closes;
         * this is not an error of the user's flush. */
        child_done(parent, is_internal ? UCS_OK : status);
    }
}

static void flush_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    flush_end(req, comp->status);
}

/* If earlier puts or atomics have failed, or may have been lost with a lane,
 * makes the user's flush return their error. Only one flush returns it. */
static void tell_lost(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;

    if (ucs_unlikely(ep->lost_status != UCS_OK) &&
        !ucp_send_flush(req)->closing &&
        !(req->flags & UCP_REQUEST_FLAG_FENCE)) {
        uct_completion_update_status(&req->send.comp, ep->lost_status);
        ep->lost_status = UCS_OK;
    }
}

void ucp_flush_acked(ucp_request_t *req)
{
    ucp_request_ep_del(req);
    tell_lost(req);
    ucp_request_posted(req, UCS_OK);
}

/* Aborts a flush that waits for send resources, for acknowledgements of the
 * peer, or for both. The flush still completes only after the flushes of lanes
 * that the transport processes. */
static void flush_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep             = req->send.ep;
    int waits_for_resources = (req->lane < ep->config->num_lanes);

    if (ep->settled &&
        !(ep->flags & (UCP_EP_FLAG_ERR_MODE | UCP_EP_FLAG_CLOSING))) {
        /* The peer has closed its endpoint, and the user does not handle
         * failures. All that the flush covers is complete, so this is not an
         * error. */
        status = UCS_OK;
    }
    ucp_request_ep_del(req);
    if (ucp_send_flush(req)->unacked) {
        ucp_rma_ack_wait_end(req);
        uct_completion_update_status(&req->send.comp, status);
        if (--req->send.comp.count == 0) {
            flush_completed(&req->send.comp);
            return;
        }
    }
    if (waits_for_resources) {
        ucp_request_posted(req, status);
    }
}

/* Flushes a lane at the transport. If the user has accessed the peer's memory
 * over this lane, the flush waits until the data is in that memory. */
static ucs_status_t flush_uct(ucp_ep_h ep, unsigned lane,
                              uct_completion_t *comp)
{
    unsigned flags = (ep->remote_lanes & UCS_BIT(lane)) ?
                         UCT_FLUSH_FLAG_REMOTE :
                         UCT_FLUSH_FLAG_LOCAL;
    uct_ep_h uct   = ucp_ep_lane(ep, lane);

    return uct->ops->flush(uct, flags, comp);
}

static ucs_status_t flush_lane(ucp_request_t *req, unsigned lane)
{
    ucp_ep_h ep         = req->send.ep;
    int is_remote       = (ep->remote_lanes & UCS_BIT(lane)) != 0;
    ucs_status_t status = flush_uct(ep, lane, &req->send.comp);

    if (is_remote) {
        if (status == UCS_OK) {
            ucp_flush_forget(ep, (ucp_lane_map_t)UCS_BIT(lane));
        } else if (status == UCS_INPROGRESS) {
            ep->remote_fresh &= (ucp_lane_map_t)~UCS_BIT(lane);
            ep->remote_flushes += (ucp_send_flush(req)->remote_ep_id == 0);
            ucp_send_flush(req)->remote_ep_id = ep->id;
        }
        return status;
    }
    /* A transport without flush has sent the data when the call of a send
     * returns. */
    return (status == UCS_ERR_UNSUPPORTED) ? UCS_OK : status;
}

/* Flushes lane req->lane and all lanes with higher indices. If a lane has no
 * send resources, the request waits for them, and then continues with this
 * lane. */
static ucs_status_t flush_progress(ucp_request_t *req)
{
    ucp_ep_h ep = req->send.ep;
    ucs_status_t status;

    if ((req->lane == UCP_AM_LANE) && !ucp_send_flush(req)->closing) {
        ucp_rma_ack_wait(req);
    }

    while (req->lane < ep->config->num_lanes) {
        ++req->send.comp.count;
        status = flush_lane(req, req->lane);
        if (status != UCS_INPROGRESS) {
            --req->send.comp.count;
            if (status == UCS_ERR_NO_RESOURCE) {
                return status;
            }
            uct_completion_update_status(&req->send.comp, status);
        }
        ++req->lane;
    }
    if (!ucp_send_flush(req)->unacked) {
        tell_lost(req); /* Otherwise ucp_flush_acked() calls it */
    }
    ucp_request_posted(req, UCS_OK);
    return UCS_OK;
}

static const ucp_proto_t flush_proto = {
    .name     = "flush",
    .progress = flush_progress,
    .abort    = flush_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_BEGUN,
};

/* Initializes a flush of an endpoint. `parent`: the flush of the whole worker
 * that it is a part of, or NULL. */
static void flush_init(ucp_request_t *req, ucp_ep_h ep, int closing,
                       ucp_request_t *parent)
{
    ucp_flush_t *flush = ucp_send_flush(req);

    req->lane             = 0;
    req->send.ep          = ep;
    req->send.proto       = &flush_proto;
    req->send.comp.func   = flush_completed;
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;
    flush->closing        = closing;
    flush->internal       = (ep->flags & UCP_EP_FLAG_INTERNAL) != 0;
    flush->parent         = parent;
    flush->remote_ep_id   = 0;
    flush->tried          = 0;
    flush->unacked        = 0;
}

void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing)
{
    flush_init(req, ep, closing, NULL);
    ucp_start_behind_fence(req);
}

ucs_status_t ucp_flush_emulated(ucp_ep_h ep)
{
    ucp_request_t *req;

    if ((ep->rma_issued == ep->rma_done) && ucs_queue_is_empty(&ep->waiting) &&
        !(ep->flags & UCP_EP_FLAG_FENCING)) {
        return UCS_OK;
    }

    req = ucp_request_get_internal(ep->worker);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    flush_init(req, ep, 0, NULL);
    ucp_request_ep_add(req, ep);
    ucp_start_behind_fence(req);
    return UCS_OK;
}

void ucp_flush_begins(ucp_request_t *req)
{
    if (req->flags & UCP_REQUEST_FLAG_FENCE) {
        req->send.ep->fence = req;
        req->send.ep->flags |= UCP_EP_FLAG_FENCING;
    }
}

ucs_status_t ucp_flush_as_fence(ucp_ep_h ep)
{
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    flush_init(req, ep, 0, NULL);
    req->flags |= UCP_REQUEST_FLAG_FENCE;
    ucs_queue_head_init(&ucp_send_flush(req)->held);
    if (ep->flags & UCP_EP_FLAG_FENCING) {
        ucp_fence_hold(ep, req);
    } else {
        ucp_flush_begins(req);
        ucp_request_start(req);
    }
    return UCS_OK;
}

/* Flushes all lanes without a request; returns 0 if that is not possible. Hot
 * path of programs that flush after each put. Not over a network, where a flush
 * usually cannot complete at once, and the transport would start it twice. */
static int flush_at_once(ucp_ep_h ep)
{
    const ucp_ep_config_t *config = ep->config;
    unsigned lane;

    if (ep->connecting || (ep->flags & UCP_EP_FLAGS_SLOW) ||
        !ucs_queue_is_empty(&ep->waiting) || (ep->rma_issued != ep->rma_done) ||
        (ep->lost_status != UCS_OK)) {
        return 0;
    }
    for (lane = 0; lane < config->num_lanes; ++lane) {
        if (config->lanes[lane].is_network ||
            (flush_uct(ep, lane, NULL) != UCS_OK)) {
            return 0;
        }
    }
    ucp_flush_forget(ep, ep->remote_lanes);
    ucp_worker_complete_deferred_of(ep->worker, ep);
    return 1;
}

/* Tries to flush an endpoint at once. If this is not possible, the flush
 * continues in the background, so that a later attempt has less to do. An
 * endpoint has at most one such flush. */
ucs_status_t ucp_flush_try(ucp_ep_h ep)
{
    static const ucp_request_param_t none = {0};
    ucp_request_t *req;
    ucs_status_t status;

    if (ep->flags & UCP_EP_FLAG_TRIAL) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (flush_at_once(ep)) {
        return UCS_OK;
    }
    req = ucp_request_get(ep->worker, &none);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucp_request_is_flush(req, 0);
    ucp_flush_start(req, ep, 0);
    if (req->completed) {
        status = req->status;
        ucp_request_put(req);
        return status;
    }

    req->flags |= UCP_REQUEST_FLAG_RELEASED | UCP_REQUEST_FLAG_INTERNAL;
    ucp_send_flush(req)->tried = ep->id;
    ep->flags |= UCP_EP_FLAG_TRIAL;
    if (req->send.comp.status != UCS_OK) {
        /* Keep the error: the next flush returns it */
        ep->lost_status       = (int8_t)req->send.comp.status;
        req->send.comp.status = UCS_OK;
    }
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t try_worker(ucp_worker_h worker)
{
    ucs_status_t result = UCS_OK;
    ucs_status_t status;
    ucp_ep_h ep, next;

    ucs_list_for_each_safe(ep, next, &worker->eps, link) {
        if (!(ep->flags & UCP_EP_FLAG_FAILED)) {
            status = ucp_flush_try(ep);
            if ((result == UCS_OK) || (result == UCS_ERR_NO_RESOURCE)) {
                result = (status == UCS_OK) ? result : status;
            }
        }
    }
    return result;
}

ucs_status_ptr_t ucp_flush_tried(ucp_worker_h worker, ucs_status_t status,
                                 const ucp_request_param_t *param)
{
    ucp_request_t *req;

    if ((status != UCS_OK) ||
        !(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        return UCS_STATUS_PTR(status);
    }

    req = ucp_request_get(worker, param);
    if (req == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }
    ucp_request_is_flush(req, 0);
    ucp_request_complete_send(req, UCS_OK);
    return ucp_request_send_result(req, param);
}

static int is_forced(const ucp_request_param_t *param)
{
    return !!(param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    ucp_request_t *req;

    ucp_worker_enter(worker);
    if (is_forced(param)) {
        ret = ucp_flush_tried(worker, ucp_flush_try(ep), param);
        goto out;
    }
    if (!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) &&
        flush_at_once(ep)) {
        ret = NULL;
        goto out;
    }

    req = ucp_request_get(worker, param);
    if (req != NULL) {
        ucp_request_is_flush(req, 0);
        ucp_flush_start(req, ep, 0);
        ret = ucp_request_send_result(req, param);
    }
out:
    ucp_worker_leave(worker);
    return ret;
}

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                      const ucp_request_param_t *param)
{
    ucs_status_ptr_t ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    ucp_request_t *req, *child;
    ucp_ep_h ep, next;

    ucp_worker_enter(worker);
    if (is_forced(param)) {
        ret = ucp_flush_tried(worker, try_worker(worker), param);
        goto out;
    }

    req = ucp_request_get(worker, param);
    if (req == NULL) {
        goto out;
    }

    ucp_request_is_flush(req, 0);
    ucp_send_flush(req)->parent   = NULL;
    /* One count for this flush itself, so that it does not complete before the
     * flushes of all endpoints have started. */
    ucp_send_flush(req)->children = 1;
    ucp_send_flush(req)->closing  = 0;
    ucs_list_for_each_safe(ep, next, &worker->eps, link) {
        if ((ep->flags & UCP_EP_FLAG_FAILED) || flush_at_once(ep)) {
            continue;
        }
        child = ucp_request_get_internal(worker);
        if (child == NULL) {
            req->status = UCS_ERR_NO_MEMORY;
            break;
        }
        ++ucp_send_flush(req)->children;
        flush_init(child, ep, 0, req);
        ucp_start_behind_fence(child);
    }
    child_done(req, UCS_OK);
    ret = ucp_request_send_result(req, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
