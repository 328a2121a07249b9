/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing an endpoint.
 *
 *   force:  all operations end with CANCELED, the peer is notified if that is
 *           possible at once, progress frees the endpoint
 *   flush:  AWAITING  waits until the peer has sent all replies that it still
 *                     has to send, and all fragments of messages that have
 *                     begun. Puts by messages have no reply: an internal flush
 *                     waits for their acknowledgement
 *           FLUSHING  flushes the lanes, sends the message FAREWELL, and
 *                     flushes the lanes again. An endpoint to its own worker
 *                     sends the FAREWELL first and waits until it, and so all
 *                     messages before it, have arrived. An endpoint by socket
 *                     address waits until the peer has received the FAREWELL
 *                     (cm/cm.h)
 *           freed     after the user's request has completed
 *
 * The failure of the endpoint before the FAREWELL ends the close with the
 * status of the failure. Later it does not: the peer frees the endpoint that
 * received the FAREWELL at once, and may do so before the sender's device has
 * received the acknowledgement.
 *
 * If a connection breaks, it may be that only one of the two workers detects
 * this, while both continue to run. The worker that detects it notifies the
 * endpoints of the other worker, over another endpoint to that worker if there
 * is one:
 *
 *   FAREWELL  | the endpoint that is closed 16 |            (introduce.h)
 *   LOST      | the endpoint that gets no more replies 16 |
 *
 * These messages name an endpoint by its ucp_wire_end_t, of 16 bytes: the UUID
 * of the worker and the id of the endpoint.
 */
#include "ucp/base/class.h"
#include "ucp/base/ids.h"
#include "ucp/cm/cm.h"
#include "ucp/core/ep_life.h"
#include "ucp/order/flush.h"
#include "ucp/proto/ep.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

ucp_ep_h ucp_request_live_ep(const ucp_request_t *req)
{
    ucp_ep_h ep;

    ucs_list_for_each(ep, &req->worker->eps, link) {
        if (ep == req->send.ep) {
            return ep;
        }
    }
    return NULL;
}

void ucp_ep_send_farewell(ucp_ep_h ep)
{
    ucp_wire_end_t end = ucp_ep_wire_end(ep);
    ucp_wireup_link_t *early;

    if (!(ep->flags & UCP_EP_FLAG_INTRODUCED)) {
        return;
    }

    ep->flags &= ~UCP_EP_FLAG_INTRODUCED;
    early = ucp_wireup_early_link(ep);
    if (early != NULL) {
        ucp_wireup_link_send(early, UCP_AM_ID_FAREWELL, &end, sizeof(end));
        return;
    }
    ucp_ep_send_urgent(ep, UCP_AM_ID_FAREWELL, &end, sizeof(end));
}

void ucp_ep_send_lost(ucp_ep_h ep)
{
    ucp_wire_end_t end = {ucp_le64(ep->peer_uuid), ucp_le64(ep->peer_ep_id)};

    if (ep->flags & UCP_EP_FLAG_INTERNAL) {
        ucp_ep_send_urgent(ep, UCP_AM_ID_LOST, &end, sizeof(end));
    }
}

ucs_status_t ucp_ep_lost_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_wire_end_t end;
    uint64_t id;
    ucp_ep_h ep;

    if (length != sizeof(end)) {
        ucs_diag("dropped a notification of a lost peer of %zu bytes: wrong "
                 "size",
                 length);
        return UCS_OK;
    }

    ucp_wire_take(&end, data, sizeof(end));
    id = ucp_le64_get(end.ep_id);
    ep = ucp_id_get(worker->ep_ids, id & UINT32_MAX);
    if ((ep != NULL) && (ep->secret == ucp_wire_end_secret(&end)) &&
        (ucp_le64_get(end.worker_uuid) == worker->uuid)) {
        ucp_ep_fail(ep, UCS_ERR_CONNECTION_RESET);
    }
    return UCS_OK;
}

void ucp_ep_discard(ucp_ep_h ep)
{
    ucp_request_t *req = ep->close_req;
    int flushing       = (ep->flags & UCP_EP_FLAG_CLOSING) && (req == NULL);

    ucp_classes_ep_close(ep, 1);
    ucp_ep_send_farewell(ep);
    if (ep->flags & UCP_EP_FLAG_LOOPBACK) {
        /* Remove the endpoint from worker->reply_eps: the handlers of messages
         * that still arrive must not use it for replies. */
        ucp_wireup_forget(ep);
    }
    ep->close_req = NULL;
    ep->flags |= UCP_EP_FLAG_CLOSING;
    if (!flushing) {
        /* If `flushing`, the flush of an earlier ucp_ep_close_nbx is in flight,
         * and sets this flag when it completes. */
        ep->flags |= UCP_EP_FLAG_FLUSHED;
    }
    ucp_ep_shut(ep, UCS_ERR_CANCELED);
    if (req != NULL) {
        ucp_request_complete_send(req, UCS_ERR_CANCELED);
    }
}

/* True if the peer still has to send replies or the rest of a message to this
 * endpoint. Also true while messages of an endpoint to its own worker have not
 * arrived, because their handlers use the endpoint. */
static int is_owed(ucp_ep_h ep)
{
    return !ucs_list_is_empty(&ep->awaited) || ucp_classes_ep_is_owed(ep) ||
           (ep->leaving && !(ep->flags & UCP_EP_FLAG_FAILED));
}

static void start_flush(ucp_ep_h ep, ucp_request_t *req)
{
    ep->close_req = NULL;
    if ((ep->flags & UCP_EP_FLAG_LOOPBACK) && (ucp_ep_conn(ep) == NULL)) {
        /* Other endpoints send their FAREWELL after the flush, in the function
         * ep_leave of their class (base/class.h). */
        ucp_wireup_farewell(ep);
    }
    if (is_owed(ep)) {
        ep->close_req = req;
        return;
    }
    ucp_flush_start(req, ep, UCP_FLUSH_CLOSE);
}

void ucp_ep_close_continue(ucp_ep_h ep)
{
    ucp_request_t *req = ep->close_req;

    if (req == NULL) {
        if (ep->flags & UCP_EP_FLAG_FLUSHED) {
            /* The only requests that remain are flushes by ucp_worker_flush_nbx
             * that were queued after the flush of this close. They have nothing
             * left to flush, so they complete with UCS_OK. */
            ucp_ep_abort_requests(ep, UCS_OK);
            ucp_ep_destroy_now(ep);
        }
        return;
    }

    if (!is_owed(ep)) {
        start_flush(ep, req);
    }
}

/* Starts a close with a flush. `req` completes when the close is complete. */
static void close_gently(ucp_ep_h ep, ucp_request_t *req)
{
    ep->flags |= UCP_EP_FLAG_CLOSING;
    ucp_classes_ep_close(ep, 0);
    if (ucp_flush_emulated(ep) != UCS_OK) {
        ucs_warn("ep %p: closed without waiting for its puts: out of memory",
                 ep);
    }
    if (!is_owed(ep)) {
        start_flush(ep, req);
    } else {
        ep->close_req = req;
    }
}

/* For UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL. If no operation of the user is under
 * way, closes the endpoint for the user; a FAREWELL may be sent after the
 * return, because the user need not wait for it. Otherwise returns
 * UCS_ERR_NO_RESOURCE (UCS_ERR_NO_MEMORY if out of memory), and the endpoint
 * stays open. An endpoint by socket address always stays open, because its
 * close waits for the peer. */
static ucs_status_t close_at_once(ucp_ep_h ep)
{
    ucp_request_t *req;
    ucs_status_t status;

    if ((ucp_ep_conn(ep) != NULL) || is_owed(ep)) {
        return UCS_ERR_NO_RESOURCE;
    }
    status = ucp_flush_try(ep);
    if ((status == UCS_ERR_NO_RESOURCE) || (status == UCS_ERR_NO_MEMORY)) {
        return status;
    }

    req = ucp_request_get_internal(ep->worker);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_request_is_flush(req, 1);
    close_gently(ep, req);
    return UCS_OK;
}

ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = NULL;
    ucp_request_t *req;
    int force;

    ucp_worker_enter(worker);
    force = (param->op_attr_mask & UCP_OP_ATTR_FIELD_FLAGS) &&
            (param->flags & UCP_EP_CLOSE_FLAG_FORCE);
    if (force && (param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        ret = UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
        goto out;
    }

    if (force) {
        ucp_ep_discard(ep);
        goto out;
    }
    if ((param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) &&
        !(ep->flags & UCP_EP_FLAG_FAILED) && !ucp_cm_may_drop(ep)) {
        ret = ucp_flush_tried(worker, close_at_once(ep), param);
        goto out;
    }

    req = ucp_request_get(worker, param);
    if (req == NULL) {
        ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
        goto out;
    }

    ucp_request_is_flush(req, 1);
    if ((ep->flags & UCP_EP_FLAG_FAILED) || ucp_cm_may_drop(ep)) {
        /* There is nothing to flush: the connection is not established, or the
         * endpoint has failed and its operations have ended with the error. */
        ucp_ep_discard(ep);
        ucp_request_complete_send(req, UCS_OK);
    } else {
        close_gently(ep, req);
    }
    ret = ucp_request_send_result(req, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
