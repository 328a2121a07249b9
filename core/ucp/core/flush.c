/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush: everything that was sent before has reached the peer's side.
 */
#include "ucp/core/flush.h"

static void child_done(ucp_request_t *parent, ucs_status_t status)
{
    if ((status != UCS_OK) && (parent->status == UCS_INPROGRESS)) {
        parent->status = status;
    }
    if (--parent->send.flush.children == 0) {
        ucp_request_complete_send(parent, (parent->status == UCS_INPROGRESS) ?
                                          UCS_OK : parent->status);
    }
}

static void flush_end(ucp_request_t *req, ucs_status_t status)
{
    ucp_ep_h ep           = req->send.ep;
    ucp_request_t *parent = req->send.flush.parent;

    if (status == UCS_OK) {
        /* the earlier sends have left, and are told so before the flush */
        ucp_worker_complete_deferred_of(req->worker, ep);
    }
    if (req->send.flush.closing) {
        /* freed from progress: a caller below may still hold it */
        ep->flags |= UCP_EP_FLAG_FLUSHED;
        ucp_ep_schedule(ep);
    }
    ucp_request_complete_send(req, status);
    if (parent != NULL) {
        child_done(parent, status);
    }
}

static void flush_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    flush_end(req, comp->status);
}

static ucs_status_t flush_progress(ucp_request_t *req)
{
    uct_ep_h am = req->send.ep->am;
    ucs_status_t status;

    req->send.comp.func   = flush_completed;
    req->send.comp.count  = 1;
    req->send.comp.status = UCS_OK;

    status = am->ops->flush(am, UCT_FLUSH_FLAG_LOCAL, &req->send.comp);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status != UCS_INPROGRESS) {
        flush_end(req, status);
    }
    return UCS_OK;
}

void ucp_flush_start(ucp_request_t *req, ucp_ep_h ep, int closing)
{
    req->send.ep            = ep;
    req->send.progress      = flush_progress;
    req->send.abort         = flush_end;
    req->send.flush.closing = closing;
    req->send.flush.parent  = NULL;
    ucp_request_start(req);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    ucp_request_t *req;

    ucp_worker_enter(worker);
    req = ucp_request_get(worker, param);
    if (req != NULL) {
        req->dt.length = 0;
        ucp_flush_start(req, ep, 0);
        ret = ucp_request_send_result(req, param);
    }
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
    req = ucp_request_get(worker, param);
    if (req == NULL) {
        goto out;
    }

    req->dt.length           = 0;
    req->send.flush.parent   = NULL;
    req->send.flush.children = 1; /* ours, until all have started */
    req->send.flush.closing  = 0;
    ucs_list_for_each_safe(ep, next, &worker->eps, link) {
        if (ep->flags & UCP_EP_FLAG_FAILED) {
            continue;
        }
        child = ucp_request_get_internal(worker);
        if (child == NULL) {
            req->status = UCS_ERR_NO_MEMORY;
            break;
        }
        ++req->send.flush.children;
        child->send.ep            = ep;
        child->send.progress      = flush_progress;
        child->send.abort         = flush_end;
        child->send.flush.closing = 0;
        child->send.flush.parent  = req;
        ucp_request_start(child);
    }
    child_done(req, UCS_OK);
    ret = ucp_request_send_result(req, param);
out:
    ucp_worker_leave(worker);
    return ret;
}
