/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives from streams: the handler for STREAM messages, ucp_stream_recv_nbx
 * with posted receives, and ucp_stream_recv_data_nb, which gives the user the
 * library's buffers.
 *
 * No data is stored while receives are posted. The first posted receive may be
 * partly filled; the others are empty.
 */
#include "ucp/stream/desc.h"

#include "ucp/dt/dt.h"
#include "ucp/proto/ep.h"
#include "ucs/debug/log.h"

/* --------------------------------------------------------- one receive -- */

/* Returns how many of `length` further bytes a receive accepts. Without WAITALL
 * a receive that gets at least one element ends at a whole number of them. */
static UCS_F_ALWAYS_INLINE size_t wanted(const ucp_request_t *req,
                                         size_t length)
{
    size_t got       = req->recv.info.length;
    size_t elem_size = ucp_recv_stream(req)->elem_size;
    size_t whole;

    if (length >= req->dt.length - got) {
        return req->dt.length - got;
    }
    if (ucp_recv_stream(req)->wait_all || (elem_size == 1)) {
        return length;
    }
    whole = (got + length) - (got + length) % elem_size;
    return (whole > got) ? whole - got : length;
}

static UCS_F_ALWAYS_INLINE int is_full(const ucp_request_t *req)
{
    size_t got = req->recv.info.length;

    return (got == req->dt.length) ||
           (!ucp_recv_stream(req)->wait_all && (got > 0) &&
            ((got % ucp_recv_stream(req)->elem_size) == 0));
}

static UCS_F_ALWAYS_INLINE ucs_status_t fill(ucp_request_t *req,
                                             const void *data, size_t length)
{
    size_t got = req->recv.info.length;

    req->recv.info.length = got + length;
    return (got == 0) ? ucp_dt_iter_unpack_small(&req->dt, data, length) :
                        ucp_dt_iter_unpack(&req->dt, got, data, length);
}

/* Fills a receive from stored data, as far as possible. */
static ucs_status_t fill_from_data(ucp_stream_t *stream, ucp_request_t *req)
{
    size_t left = wanted(req, stream->available);
    ucp_stream_desc_t *desc;
    ucs_status_t status;
    size_t chunk;

    while (left > 0) {
        desc   = ucs_list_head(&stream->data, ucp_stream_desc_t, link);
        chunk  = ucp_stream_desc_left(desc);
        chunk  = (chunk < left) ? chunk : left;
        status = fill(req, ucp_stream_desc_rest(desc), chunk);
        ucp_stream_data_taken(stream, chunk);
        if (status != UCS_OK) {
            return status;
        }
        left -= chunk;
    }
    return UCS_OK;
}

static UCS_F_ALWAYS_INLINE void complete(ucp_request_t *req,
                                         ucs_status_t status)
{
    ucs_list_del(&req->ep_link);
    req->flags &= ~UCP_REQUEST_FLAG_STREAM;
    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_recv_length(req, status);
}

/* --------------------------------------------------------------- arrival -- */

/* Unpacks data into posted receives; returns the number of bytes. The callbacks
 * of the receives may post receives or close the endpoint. */
static UCS_F_ALWAYS_INLINE size_t give(ucp_stream_t *stream, const char *data,
                                       size_t length)
{
    size_t taken = 0;
    ucp_request_t *req;
    ucs_status_t status;
    size_t chunk;

    while ((taken < length) && !ucs_list_is_empty(&stream->posted)) {
        req    = ucs_list_head(&stream->posted, ucp_request_t, ep_link);
        chunk  = wanted(req, length - taken);
        status = fill(req, data + taken, chunk);
        taken += chunk;
        if ((status != UCS_OK) || is_full(req)) {
            complete(req, status);
        }
    }
    return taken;
}

/* Ends the stream, because lost bytes cannot be recovered. */
static void fail(ucp_stream_t *stream, size_t length, ucs_status_t status)
{
    ucs_error("lost %zu bytes of a stream: %s; the stream ends here", length,
              ucs_status_string(status));
    ucp_stream_end(stream, status);
}

static UCS_F_NOINLINE ucs_status_t keep(ucp_worker_h worker,
                                        ucp_stream_t *stream, char *data,
                                        size_t length, int whole,
                                        unsigned flags)
{
    ucs_status_t status;

    if (stream->status != UCS_OK) {
        return UCS_OK; /* a callback has ended the stream */
    }

    /* If a part was received, there is no headroom for a descriptor before the
     * rest. */
    status = ucp_stream_data_keep(worker, stream, data, length,
                                  whole ? flags :
                                          (flags & ~UCT_CB_PARAM_FLAG_DESC));
    if (status == UCS_ERR_NO_MEMORY) {
        fail(stream, length, status);
        return UCS_OK;
    }
    if ((stream->ep != NULL) && ucs_list_is_empty(&stream->ready)) {
        ucs_list_add_tail(&ucp_worker_stream(worker)->ready, &stream->ready);
    }
    return status;
}

/* UCT callback for received STREAM messages. Hot path. */
ucs_status_t ucp_stream_handler(void *arg, void *data, size_t length,
                                unsigned flags)
{
    ucp_worker_h worker           = arg;
    const ucp_stream_head_t *head = data;
    char *payload                 = (char *)data + sizeof(*head);
    ucp_stream_t *stream          = NULL;
    size_t taken;

    if (ucs_likely(length > sizeof(*head))) {
        stream = ucs_hash_get(&ucp_worker_stream(worker)->by_key,
                              ucp_le64_get(head->key));
    }
    if (ucs_unlikely(stream == NULL)) {
        ucs_debug("dropped %zu bytes of a stream that is not open", length);
        return UCS_OK;
    }

    length -= sizeof(*head);
    taken = give(stream, payload, length);
    if (ucs_likely(taken == length)) {
        return UCS_OK;
    }
    return keep(worker, stream, payload + taken, length - taken, taken == 0,
                flags);
}

/* ------------------------------------------------------------------- end -- */

/* Removes a receive from the list of posted ones. The data that it has received
 * returns to the stream, for later receives; that of a generic datatype is
 * lost. */
static void withdraw(ucp_stream_t *stream, ucp_request_t *req)
{
    size_t got         = req->recv.info.length;
    ucp_dt_iter_t walk = req->dt;
    ucs_status_t status;

    ucs_list_del_init(&req->ep_link);
    req->recv.info.length = 0;
    if (got == 0) {
        return;
    }
    if (req->dt.dt_class == UCP_DT_CLASS_GENERIC) {
        ucs_diag("a receive of a generic datatype ended early: the %zu bytes"
                 " that it had taken are lost",
                 got);
        return;
    }

    ucp_dt_iter_rewind(&walk);
    status = ucp_stream_data_return(stream, &walk, got);
    if (status != UCS_OK) {
        fail(stream, got, status);
    }
}

void ucp_stream_recv_cancel(ucp_request_t *req)
{
    ucp_stream_t *stream = ucp_recv_stream(req)->stream;
    ucp_request_t *next;
    ucs_status_t status;

    withdraw(stream, req);
    /* The data that was put back may complete later receives, which have
     * waited behind this one. */
    while ((stream->available > 0) && !ucs_list_is_empty(&stream->posted)) {
        next   = ucs_list_head(&stream->posted, ucp_request_t, ep_link);
        status = fill_from_data(stream, next);
        if ((status != UCS_OK) || is_full(next)) {
            complete(next, status);
        }
    }
    complete(req, UCS_ERR_CANCELED);
}

void ucp_stream_end(ucp_stream_t *stream, ucs_status_t status)
{
    ucp_request_t *req;

    if (stream->status == UCS_OK) {
        stream->status = status;
    }
    while (!ucs_list_is_empty(&stream->posted)) {
        req = ucs_list_head(&stream->posted, ucp_request_t, ep_link);
        withdraw(stream, req);
        complete(req, status);
    }
}

/* --------------------------------------------------------------- posting -- */

/* Returns the size of an element in bytes; 1 for datatypes that are not
 * contiguous. */
static size_t elem_size(const ucp_request_param_t *param)
{
    size_t size = 1;

    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) &&
        ucp_dt_is_contig(param->datatype)) {
        size = ucp_dt_contig_length(param->datatype, 1);
    }
    return (size > 0) ? size : 1;
}

/* True if the stored data completes the receive. */
static int can_complete(const ucp_stream_t *stream, const ucp_request_t *req)
{
    if (stream->available >= req->dt.length) {
        return 1;
    }
    return !ucp_recv_stream(req)->wait_all &&
           (stream->available >= ucp_recv_stream(req)->elem_size);
}

static void forget_if_empty(ucp_stream_t *stream)
{
    if (stream->available == 0) {
        ucs_list_del_init(&stream->ready);
    }
}

/* Completes a receive before the user's call returns. */
static ucs_status_ptr_t immediate(ucp_request_t *req, ucs_status_t status,
                                  size_t *length,
                                  const ucp_request_param_t *param)
{
    size_t got = req->recv.info.length;

    ucp_dt_iter_finish(&req->dt);
    if (!(param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL)) {
        ucp_request_put(req);
        *length = got;
        return UCS_STATUS_PTR(status);
    }

    req->status    = status;
    req->completed = 1;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        param->cb.recv_stream(ucp_request_user(req), status, got,
                              req->user_data);
    }
    return ucp_request_user(req);
}

/* Posts a receive whose datatype is set. Returns UCS_OK, or why the receive
 * cannot be posted. */
static ucs_status_t post(ucp_stream_t *stream, ucp_request_t *req,
                         const ucp_request_param_t *param)
{
    ucs_status_t status;

    if (stream->status != UCS_OK) {
        return stream->status;
    }
    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) {
        return UCS_ERR_NO_RESOURCE;
    }

    /* Open the stream even if nothing was sent: the peer sends CLOSE, which
     * completes this receive, only if one of the sides has opened the
     * stream. */
    status = ucp_stream_open(stream);
    if (status == UCS_OK) {
        status = fill_from_data(stream, req);
    }
    if (status != UCS_OK) {
        return status;
    }

    forget_if_empty(stream);
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->flags |= UCP_REQUEST_FLAG_CALLBACK;
        req->recv.length_cb = param->cb.recv_stream;
    }
    req->flags |= UCP_REQUEST_FLAG_STREAM;
    ucs_list_add_tail(&stream->posted, &req->ep_link);
    return UCS_OK;
}

static ucs_status_ptr_t start_recv(ucp_stream_t *stream, void *buffer,
                                   size_t count, size_t *length,
                                   const ucp_request_param_t *param)
{
    ucp_request_t *req;
    ucs_status_t status;

    req = ucp_request_get(stream->ep->worker, param);
    if (req == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }

    req->flags |= UCP_REQUEST_FLAG_RECV;
    status = ucp_dt_iter_begin(stream->ep->worker, &req->dt, buffer, count,
                               param, 1);
    if (status != UCS_OK) {
        goto err;
    }

    req->recv.info.length           = 0;
    ucp_recv_stream(req)->stream    = stream;
    ucp_recv_stream(req)->elem_size = elem_size(param);
    ucp_recv_stream(req)->wait_all  = (param->op_attr_mask &
                                      UCP_OP_ATTR_FIELD_FLAGS) &&
                                     (param->flags &
                                      UCP_STREAM_RECV_FLAG_WAITALL);
    if ((req->dt.length == 0) ||
        (ucs_list_is_empty(&stream->posted) && can_complete(stream, req))) {
        status = fill_from_data(stream, req);
        forget_if_empty(stream);
        return immediate(req, status, length, param);
    }

    status = post(stream, req, param);
    if (status == UCS_OK) {
        return ucp_request_user(req);
    }

    ucp_dt_iter_finish(&req->dt);
err:
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void *buffer, size_t count,
                                     size_t *length,
                                     const ucp_request_param_t *param)
{
    ucp_worker_h worker = ep->worker;
    ucs_status_ptr_t ret;
    ucp_stream_t *stream;
    ucs_status_t status;

    ucp_worker_enter(worker);
    stream = ucp_stream_of(ep, &status);
    ret = (stream != NULL) ? start_recv(stream, buffer, count, length, param) :
                             UCS_STATUS_PTR(status);
    ucp_worker_leave(worker);
    return ret;
}

ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t *length)
{
    ucp_worker_h worker  = ep->worker;
    ucs_status_ptr_t ret = NULL;
    ucp_stream_t *stream;
    ucs_status_t status;

    ucp_worker_enter(worker);
    stream = ucp_stream_of(ep, &status);
    if (stream == NULL) {
        ret = UCS_STATUS_PTR(status);
    } else if (stream->available > 0) {
        ret = ucp_stream_data_hand_out(worker, stream, length);
        forget_if_empty(stream);
    } else {
        ret = UCS_STATUS_PTR(stream->status);
    }
    ucp_worker_leave(worker);
    return ret;
}

void ucp_stream_data_release(ucp_ep_h ep, void *data)
{
    ucp_worker_h worker = ep->worker;

    ucp_worker_enter(worker);
    ucp_stream_data_free(data);
    ucp_worker_leave(worker);
}

ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length_p)
{
    ucp_request_t *req  = ucp_request_of(request);
    ucs_status_t status = ucp_request_check_status(request);

    if (status == UCS_OK) {
        *length_p = req->recv.info.length;
    }
    return status;
}
