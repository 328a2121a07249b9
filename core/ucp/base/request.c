/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests (ucp_request_t): allocation from the worker's pool, ids for peers,
 * completion with the user's callback, release, and the public functions on
 * them.
 */
#include "ucp/base/request.h"

#include "ucp/base/ep.h"
#include "ucp/base/ids.h"
#include "ucp/base/life.h"
#include "ucp/base/worker.h"
#include "ucs/debug/log.h"

static void pool_obj_init(ucs_mpool_t *mp, void *obj, void *chunk)
{
    ucp_context_h context = *(ucp_context_h *)ucs_mpool_priv(mp);

    if (context->request_init != NULL) {
        context->request_init(ucp_request_user(obj));
    }
}

static void pool_obj_cleanup(ucs_mpool_t *mp, void *obj)
{
    ucp_context_h context = *(ucp_context_h *)ucs_mpool_priv(mp);

    if (context->request_cleanup != NULL) {
        context->request_cleanup(ucp_request_user(obj));
    }
}

ucs_status_t ucp_request_pool_init(ucp_worker_h worker)
{
    static const ucs_mpool_ops_t ops = {
        .obj_init    = pool_obj_init,
        .obj_cleanup = pool_obj_cleanup,
    };
    ucp_context_h context = worker->context;
    ucs_mpool_params_t params;
    ucs_status_t status;

    ucs_mpool_params_reset(&params);
    params.priv_size       = sizeof(context);
    params.elem_size       = sizeof(ucp_request_t) + context->request_size;
    params.alignment       = 64;
    params.elems_per_chunk = 32;
    params.ops             = &ops;
    params.name            = "ucp_requests";

    status = ucs_mpool_init(&params, &worker->requests);
    if (status == UCS_OK) {
        *(ucp_context_h *)ucs_mpool_priv(&worker->requests) = context;
    }
    return status;
}

void ucp_request_pool_cleanup(ucp_worker_h worker)
{
    ucs_mpool_cleanup(&worker->requests,
                      !(worker->flags & UCP_WORKER_FLAG_NO_LEAKS));
}

ucp_request_t *ucp_request_get(ucp_worker_h worker,
                               const ucp_request_param_t *param)
{
    ucp_request_t *req;

    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) {
        req        = ucp_request_of(param->request);
        req->flags = UCP_REQUEST_FLAG_EXTERNAL;
    } else {
        req = ucs_mpool_get_inline(&worker->requests);
        if (ucs_unlikely(req == NULL)) {
            return NULL;
        }
        req->flags = 0;
    }

    req->status     = UCS_INPROGRESS;
    req->completed  = 0;
    req->lane       = UCP_AM_LANE;
    req->id         = 0;
    req->worker     = worker;
    /* NULL until the operation sets it, because ucp_request_query reads it */
    req->send.proto = NULL;
    req->user_data  = (param->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA) ?
                          param->user_data :
                          NULL;
    return req;
}

ucp_request_t *ucp_request_get_internal(ucp_worker_h worker)
{
    static const ucp_request_param_t none = {0};
    ucp_request_t *req                    = ucp_request_get(worker, &none);

    if (ucs_unlikely(req == NULL) && ucp_reserve_spend(worker)) {
        req = ucp_request_get(worker, &none);
    }
    if (req != NULL) {
        req->flags = UCP_REQUEST_FLAG_RELEASED | UCP_REQUEST_FLAG_INTERNAL;
    }
    return req;
}

void ucp_request_put(ucp_request_t *req)
{
    if (!(req->flags & UCP_REQUEST_FLAG_EXTERNAL)) {
        ucs_mpool_put_inline(req);
    }
}

ucs_status_t ucp_request_id_add(ucp_request_t *req)
{
    return ucp_id_add(req->worker->request_ids, req, &req->id);
}

void ucp_request_id_del(ucp_request_t *req)
{
    if (req->id != 0) {
        ucp_id_del(req->worker->request_ids, req->id);
        req->id = 0;
    }
}

ucp_request_t *ucp_request_by_id(ucp_worker_h worker, uint64_t id)
{
    return ucp_id_get(worker->request_ids, id);
}

/* Makes the request complete for ucp_request_check_status, which the callback
 * may call. ucp_request_free in the callback only sets
 * UCP_REQUEST_FLAG_RELEASED, and finish() frees the request after the
 * callback. */
static UCS_F_ALWAYS_INLINE void begin_callback(ucp_request_t *req)
{
    req->flags &= ~UCP_REQUEST_FLAG_CALLBACK;
    __atomic_store_n(&req->completed, UCP_REQUEST_CALLING, __ATOMIC_RELEASE);
}

static void finish(ucp_request_t *req)
{
    if (req->flags & UCP_REQUEST_FLAG_RELEASED) {
        ucp_request_put(req);
    } else {
        __atomic_store_n(&req->completed, UCP_REQUEST_DONE, __ATOMIC_RELEASE);
    }
}

/* The user may reuse or free an external request in the callback, so it is not
 * accessed after the callback. */
static UCS_F_NOINLINE void external_send(ucp_request_t *req)
{
    ucp_send_nbx_callback_t cb = req->send.cb;
    void *user_data            = req->user_data;
    ucs_status_t status        = req->status;

    finish(req);
    cb(ucp_request_user(req), status, user_data);
}

static UCS_F_NOINLINE void external_recv(ucp_request_t *req)
{
    ucp_tag_recv_nbx_callback_t cb = req->recv.cb;
    ucp_tag_recv_info_t info       = req->recv.info;
    void *user_data                = req->user_data;
    ucs_status_t status            = req->status;

    finish(req);
    cb(ucp_request_user(req), status, &info, user_data);
}

static UCS_F_NOINLINE void external_recv_length(ucp_request_t *req)
{
    ucp_am_recv_data_nbx_callback_t cb = req->recv.length_cb;
    size_t length                      = req->recv.info.length;
    void *user_data                    = req->user_data;
    ucs_status_t status                = req->status;

    finish(req);
    cb(ucp_request_user(req), status, length, user_data);
}

void ucp_request_posted(ucp_request_t *req, ucs_status_t status)
{
    uct_completion_update_status(&req->send.comp, status);
    if (--req->send.comp.count == 0) {
        req->send.comp.func(&req->send.comp);
    }
}

void ucp_request_complete_send(ucp_request_t *req, ucs_status_t status)
{
    req->status = status;
    if (ucs_unlikely(req->flags & UCP_REQUEST_FLAG_TIMED)) {
        ucp_request_timed(req, status);
    }
    if (req->flags & UCP_REQUEST_FLAG_CALLBACK) {
        begin_callback(req);
        if (ucs_unlikely(req->flags & UCP_REQUEST_FLAG_EXTERNAL)) {
            external_send(req);
            return;
        }
        req->send.cb(ucp_request_user(req), status, req->user_data);
    }
    finish(req);
}

void ucp_request_complete_recv(ucp_request_t *req, ucs_status_t status)
{
    req->status = status;
    if (req->flags & UCP_REQUEST_FLAG_CALLBACK) {
        begin_callback(req);
        if (ucs_unlikely(req->flags & UCP_REQUEST_FLAG_EXTERNAL)) {
            external_recv(req);
            return;
        }
        req->recv.cb(ucp_request_user(req), status, &req->recv.info,
                     req->user_data);
    }
    finish(req);
}

void ucp_request_complete_recv_length(ucp_request_t *req, ucs_status_t status)
{
    req->status = status;
    if (req->flags & UCP_REQUEST_FLAG_CALLBACK) {
        begin_callback(req);
        if (req->flags & UCP_REQUEST_FLAG_EXTERNAL) {
            external_recv_length(req);
            return;
        }
        req->recv.length_cb(ucp_request_user(req), status,
                            req->recv.info.length, req->user_data);
    }
    finish(req);
}

void ucp_request_ep_add(ucp_request_t *req, ucp_ep_h ep)
{
    req->flags |= UCP_REQUEST_FLAG_ON_EP;
    ucs_list_add_tail(&ep->awaited, &req->ep_link);
}

void ucp_request_ep_del(ucp_request_t *req)
{
    ucp_ep_h ep;

    if (!(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        return;
    }

    ep = (req->flags & UCP_REQUEST_FLAG_RECV) ? req->recv.ep : req->send.ep;
    req->flags &= ~UCP_REQUEST_FLAG_ON_EP;
    ucs_list_del(&req->ep_link);
    ucp_ep_replied(ep);
}

ucs_status_ptr_t ucp_request_send_result(ucp_request_t *req,
                                         const ucp_request_param_t *param)
{
    ucs_status_t status;

    if (!req->completed) {
        if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
            req->flags |= UCP_REQUEST_FLAG_CALLBACK;
            req->send.cb = param->cb.send;
        }
        return ucp_request_user(req);
    }

    status = req->status;
    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) {
        if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
            param->cb.send(ucp_request_user(req), status, req->user_data);
        }
        return ucp_request_user(req);
    }

    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

ucs_status_t ucp_request_check_status(void *request)
{
    ucp_request_t *req = ucp_request_of(request);

    return ucp_request_is_done(req) ? req->status : UCS_INPROGRESS;
}

void ucp_request_release_user(ucp_request_t *req, unsigned without)
{
    ucp_worker_h worker = req->worker;

    ucp_worker_enter(worker);
    if (req->completed == UCP_REQUEST_DONE) {
        ucp_request_put(req);
    } else {
        req->flags |= UCP_REQUEST_FLAG_RELEASED;
        req->flags &= ~without;
    }
    ucp_worker_leave(worker);
}

void ucp_request_free(void *request)
{
    ucp_request_release_user(ucp_request_of(request),
                             UCP_REQUEST_FLAG_CALLBACK);
}

ucs_status_t ucp_tag_recv_request_test(void *request, ucp_tag_recv_info_t *info)
{
    ucp_request_t *req  = ucp_request_of(request);
    ucs_status_t status = ucp_request_check_status(request);

    if ((status != UCS_INPROGRESS) && (req->flags & UCP_REQUEST_FLAG_RECV)) {
        *info = req->recv.info;
    }
    return status;
}
