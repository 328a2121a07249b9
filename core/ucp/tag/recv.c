/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side of tagged messages: handlers for arriving messages,
 * ucp_tag_recv_nbx, ucp_tag_probe_nb and ucp_tag_msg_recv_nbx.
 */
#include "ucp/tag/recv.h"

#include "ucp/dt/dt.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/multi.h"
#include "ucp/tag/offload.h"
#include "ucp/tag/rndv.h"
#include "ucp/tag/staged.h"
#include "ucs/debug/log.h"

/* Unpacks a whole message into the user's buffer; returns the receive's
 * status. */
static UCS_F_ALWAYS_INLINE ucs_status_t deliver(ucp_dt_iter_t *dt,
                                                const void *payload,
                                                size_t length)
{
    ucs_status_t status;

    if (ucs_likely(length <= dt->length)) {
        status = ucp_dt_iter_unpack_small(dt, payload, length);
    } else {
        status = UCS_ERR_MESSAGE_TRUNCATED;
    }
    ucp_dt_iter_finish(dt);
    return status;
}

/* Unpacks a whole message and completes the receive: at once, or after a
 * background copy to memory that the processor cannot access. */
static UCS_F_ALWAYS_INLINE void complete(ucp_request_t *req,
                                         const void *payload, size_t length)
{
    ucp_stage_frag_t *frag;

    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED)) {
        frag = ucp_tag_staged_frag(&req->dt, length);
        if (frag != NULL) {
            ucp_tag_staged_start(req, frag, payload, length);
            return;
        }
    }
    ucp_request_complete_recv(req, deliver(&req->dt, payload, length));
}

static UCS_F_ALWAYS_INLINE void set_info(ucp_tag_recv_info_t *info,
                                         ucp_tag_t tag, size_t length)
{
    info->sender_tag = tag;
    info->length     = length;
}

/* -------------------------------------------------------------- arrival -- */

ucs_status_t ucp_tag_keep_early(ucp_worker_h worker, ucp_recv_desc_kind_t kind,
                                ucp_tag_t tag, size_t length, const void *data,
                                size_t size, size_t header_size)
{
    do {
        if (ucs_likely(ucp_tag_unexpected_add(ucp_worker_tag(worker), kind, tag,
                                              length, data, size,
                                              header_size) != NULL)) {
            return UCS_OK;
        }
    } while (ucp_reserve_spend(worker));
    return UCS_ERR_NO_MEMORY;
}

/* Matches a whole eager message, and delivers or stores it. `data`: a header of
 * `header` bytes and `length` bytes of payload. */
static UCS_F_ALWAYS_INLINE void take_message(ucp_worker_h worker, ucp_tag_t tag,
                                             const void *data, size_t header,
                                             size_t length)
{
    ucp_request_t *req = ucp_tag_expected_match(ucp_worker_tag(worker), tag);

    worker->received += length;
    if (ucs_likely(req != NULL)) {
        set_info(&req->recv.info, tag, length);
        complete(req, (const char *)data + header, length);
        return;
    }
    if (ucs_unlikely(ucp_tag_keep_early(worker, UCP_RECV_DESC_EAGER, tag,
                                        length, data, length + header,
                                        header) != UCS_OK)) {
        ucp_worker_lost(worker, "a tagged message", length);
    }
}

/* UCT callback for received EAGER messages, which are complete in one message.
 * Hot path. */
ucs_status_t ucp_tag_eager_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    const ucp_eager_hdr_t *hdr = data;

    if (ucs_unlikely(length < sizeof(*hdr))) {
        ucs_diag("dropped a tagged message of %zu bytes: too short", length);
        return UCS_OK;
    }
    take_message(arg, ucp_le64_get(hdr->tag), data, sizeof(*hdr),
                 length - sizeof(*hdr));
    return UCS_OK;
}

void ucp_tag_eager_arrived(ucp_worker_h worker, ucp_tag_t tag, const void *data,
                           size_t length)
{
    take_message(worker, tag, data, 0, length);
}

void ucp_tag_recv_complete(ucp_request_t *req, ucp_tag_t tag,
                           const void *payload, size_t length)
{
    set_info(&req->recv.info, tag, length);
    complete(req, payload, length);
}

ucs_status_t ucp_tag_eager_sync_handler(void *arg, void *data, size_t length,
                                        unsigned flags)
{
    ucp_worker_h worker             = arg;
    const ucp_eager_sync_hdr_t *hdr = data;
    ucp_request_t *req;
    ucp_tag_t tag;

    if (length < sizeof(*hdr)) {
        ucs_diag("dropped a tagged message of %zu bytes: too short", length);
        return UCS_OK;
    }

    tag = ucp_le64_get(hdr->tag);
    length -= sizeof(*hdr);
    req = ucp_tag_expected_match(ucp_worker_tag(worker), tag);
    if (req != NULL) {
        ucp_tag_eager_sync_ack(worker, &hdr->sender, hdr->request);
        set_info(&req->recv.info, tag, length);
        complete(req, hdr + 1, length);
    } else if (ucp_tag_keep_early(worker, UCP_RECV_DESC_EAGER_SYNC, tag, length,
                                  data, length + sizeof(*hdr),
                                  sizeof(*hdr)) != UCS_OK) {
        ucp_worker_lost(worker, "a tagged message", length);
    }
    return UCS_OK;
}

/* -------------------------------------------------------------- posting -- */

/* True if no more data of the message arrives: it is not an announcement, and
 * if it arrives in fragments or is fetched (fetch.h), all of its data has
 * arrived or the transfer has failed. */
static int is_here(const ucp_recv_desc_t *desc)
{
    return (desc->kind == UCP_RECV_DESC_MULTI) ?
               ucp_tag_multi_of(desc)->ended :
               (desc->kind != UCP_RECV_DESC_RNDV);
}

static ucs_status_t take_multi(ucp_worker_h worker, ucp_recv_desc_t *desc,
                               ucp_dt_iter_t *dt)
{
    ucp_tag_multi_t *multi = ucp_tag_multi_of(desc);

    if (multi->status != UCS_OK) {
        ucp_dt_iter_finish(dt);
        return multi->status; /* the sender failed after the probe */
    }
    if (ucp_le32_get(multi->request) != 0) {
        ucp_tag_eager_sync_ack(worker, &multi->sender, multi->request);
    }
    return deliver(dt, multi->bytes, desc->length);
}

/* Returns the data of an unexpected message that was one message of the
 * transport; if its send is synchronous, acknowledges it. */
static const char *open_eager(ucp_worker_h worker, const ucp_recv_desc_t *desc)
{
    const char *bytes = (const char *)(desc + 1);
    const ucp_eager_sync_hdr_t *sync;

    if (desc->kind == UCP_RECV_DESC_EAGER_SYNC) {
        sync = (const ucp_eager_sync_hdr_t *)bytes;
        ucp_tag_eager_sync_ack(worker, &sync->sender, sync->request);
    }
    return bytes + desc->header_size;
}

/* Unpacks an unexpected message for which is_here() is true; returns the
 * receive's status. */
static ucs_status_t take_eager(ucp_worker_h worker, ucp_recv_desc_t *desc,
                               ucp_dt_iter_t *dt)
{
    if (desc->kind == UCP_RECV_DESC_MULTI) {
        return take_multi(worker, desc, dt);
    }
    return deliver(dt, open_eager(worker, desc), desc->length);
}

/* Completes a receive before the user's call returns. */
static ucs_status_ptr_t immediate(ucp_request_t *req, ucs_status_t status,
                                  const ucp_request_param_t *param)
{
    req->status    = status;
    req->completed = 1;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        param->cb.recv(ucp_request_user(req), status, &req->recv.info,
                       req->user_data);
    }
    return ucp_request_user(req);
}

static ucp_request_t *recv_request(ucp_worker_h worker,
                                   const ucp_request_param_t *param)
{
    ucp_request_t *req = ucp_request_get(worker, param);

    if (req != NULL) {
        req->flags |= UCP_REQUEST_FLAG_RECV;
    }
    return req;
}

static void want_callback(ucp_request_t *req, const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->flags |= UCP_REQUEST_FLAG_CALLBACK;
        req->recv.cb = param->cb.recv;
    }
}

/* For a receive with the program's own request that has completed in the call.
 * Some programs check the request instead of the return value of the call, so
 * this function stores the status in the request as well. */
static void complete_users(ucp_worker_h worker, const ucp_recv_desc_t *desc,
                           ucs_status_t status,
                           const ucp_request_param_t *param)
{
    ucp_request_t *req = recv_request(worker, param);

    set_info(&req->recv.info, desc->tag, desc->length);
    req->status    = status;
    req->completed = UCP_REQUEST_DONE;
}

/* Removes the message from the queue, unless ucp_tag_probe_nb() has done so.
 * Called before anything that may call the user's callbacks. */
static void claim(ucp_worker_h worker, ucp_recv_desc_t *desc)
{
    if (desc->is_queued) {
        ucp_tag_unexpected_remove(ucp_worker_tag(worker), desc);
    }
}

/* Starts a background copy of an unexpected message to memory that the
 * processor cannot access. Returns the request, or NULL if no copy was started
 * and the caller must receive the message in another way. */
static ucp_request_t *recv_early_later(ucp_worker_h worker,
                                       ucp_recv_desc_t *desc,
                                       const ucp_dt_iter_t *dt,
                                       const ucp_request_param_t *param)
{
    ucp_stage_frag_t *frag;
    ucp_request_t *req;

    if ((dt->dt_class != UCP_DT_CLASS_STAGED) ||
        (desc->kind == UCP_RECV_DESC_MULTI) ||
        (desc->kind == UCP_RECV_DESC_RNDV) ||
        (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) {
        return NULL;
    }
    frag = ucp_tag_staged_frag(dt, desc->length);
    if (frag == NULL) {
        return NULL;
    }
    req = recv_request(worker, param);
    if (req == NULL) {
        ucp_stage_frag_put(frag);
        return NULL;
    }
    claim(worker, desc);
    req->dt = *dt;
    set_info(&req->recv.info, desc->tag, desc->length);
    want_callback(req, param);
    ucp_tag_staged_start(req, frag, open_eager(worker, desc), desc->length);
    return req;
}

/* Receives an unexpected message, removes it from the queue, and frees it. If
 * there is no memory for a request, the message stays as it is. */
static ucs_status_ptr_t recv_early(ucp_worker_h worker, ucp_recv_desc_t *desc,
                                   ucp_dt_iter_t *dt,
                                   const ucp_request_param_t *param)
{
    int here = is_here(desc);
    ucs_status_ptr_t ret;
    ucp_request_t *req;
    ucs_status_t status;

    req = recv_early_later(worker, desc, dt, param);
    if (ucs_unlikely(req != NULL)) {
        ret = ucp_request_user(req);
        goto out;
    }
    if (here && !(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        claim(worker, desc);
        if (param->op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) {
            set_info(param->recv_info.tag_info, desc->tag, desc->length);
        }
        status = take_eager(worker, desc, dt);
        if (param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) {
            complete_users(worker, desc, status, param);
        }
        ucp_tag_unexpected_free(desc);
        return UCS_STATUS_PTR(status);
    }

    req = recv_request(worker, param);
    if (req == NULL) {
        ucp_dt_iter_finish(dt);
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }

    claim(worker, desc);
    req->dt = *dt;
    set_info(&req->recv.info, desc->tag, desc->length);
    if (here) {
        status = take_eager(worker, desc, &req->dt);
        ret    = immediate(req, status, param);
        goto out;
    }

    want_callback(req, param);
    if (desc->kind == UCP_RECV_DESC_RNDV) {
        ucp_rndv_recv_start(req, &((ucp_tag_rts_t *)(desc + 1))->rndv,
                            ucp_request_complete_recv);
    } else {
        ucp_tag_multi_match(desc, req);
    }
    ret = ucp_request_user(req);
out:
    ucp_tag_unexpected_free(desc);
    return ret;
}

static int cannot_be_immediate(const ucp_recv_desc_t *desc,
                               const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) &&
           !is_here(desc);
}

static UCS_F_ALWAYS_INLINE ucs_status_t
init_dt(ucp_worker_h worker, ucp_dt_iter_t *dt, void *buffer, size_t count,
        const ucp_request_param_t *param)
{
    if (ucs_likely(!(param->op_attr_mask & UCP_DT_PARAM_FIELDS)) &&
        ucp_dt_is_known_host(worker, buffer)) {
        ucp_dt_iter_init_contig(dt, buffer, count);
        return UCS_OK;
    }
    return ucp_dt_iter_begin(worker, dt, buffer, count, param, 1);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag,
                                  ucp_tag_t tag_mask,
                                  const ucp_request_param_t *param)
{
    ucp_recv_desc_t *desc;
    ucs_status_ptr_t ret;
    ucp_dt_iter_t early_dt;
    ucp_request_t *req;
    ucs_status_t status;

    ucp_worker_enter(worker);
    if (ucp_worker_tag(worker)->unexpected.count > 0) {
        desc = ucp_tag_unexpected_find(ucp_worker_tag(worker), tag, tag_mask);
        if (desc != NULL) {
            if (cannot_be_immediate(desc, param)) {
                ret = UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
                goto out;
            }
            status = init_dt(worker, &early_dt, buffer, count, param);
            if (status != UCS_OK) {
                ret = UCS_STATUS_PTR(status);
                goto out;
            }
            ret = recv_early(worker, desc, &early_dt, param);
            goto out;
        }
    }

    if (ucs_unlikely(param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) {
        ret = UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
        goto out;
    }

    req = recv_request(worker, param);
    if (ucs_unlikely(req == NULL)) {
        ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
        goto out;
    }

    status = init_dt(worker, &req->dt, buffer, count, param);
    if (ucs_unlikely(status != UCS_OK)) {
        ucp_request_put(req);
        ret = UCS_STATUS_PTR(status);
        goto out;
    }

    ucp_recv_tag(req)->tag      = tag;
    ucp_recv_tag(req)->tag_mask = tag_mask;
    want_callback(req, param);
    if (ucs_unlikely(ucp_worker_tag(worker)->offload != NULL)) {
        ucp_tag_offload_post(ucp_worker_tag(worker), req);
    }
    ucp_tag_expected_add(ucp_worker_tag(worker), req);
    ret = ucp_request_user(req);
out:
    ucp_worker_leave(worker);
    return ret;
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                   ucp_tag_t tag_mask, int remove,
                                   ucp_tag_recv_info_t *info)
{
    ucp_recv_desc_t *desc;

    ucp_worker_enter(worker);
    desc = ucp_tag_unexpected_find(ucp_worker_tag(worker), tag, tag_mask);
    if (desc != NULL) {
        set_info(info, desc->tag, desc->length);
        if (remove) {
            ucp_tag_unexpected_remove(ucp_worker_tag(worker), desc);
        }
    }
    ucp_worker_leave(worker);
    return desc;
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                      size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t *param)
{
    ucs_status_ptr_t ret;
    ucp_dt_iter_t dt;
    ucs_status_t status;

    ucp_worker_enter(worker);
    status = cannot_be_immediate(message, param) ?
                 UCS_ERR_NO_RESOURCE :
                 init_dt(worker, &dt, buffer, count, param);
    ret    = (status == UCS_OK) ? recv_early(worker, message, &dt, param) :
                                  UCS_STATUS_PTR(status);
    ucp_worker_leave(worker);
    return ret;
}
