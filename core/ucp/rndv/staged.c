/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by fragments from and to memory that the processor cannot access;
 * a copier (stage/stage.h) copies between that memory and fragments in host
 * memory.
 *
 *   send:     user's memory ==copier==> fragment ==messages==> peer
 *   receive:  message --> fragment ==copier==> user's memory
 *
 * Several fragments of a send are in flight: some are copied while others are
 * sent. Each copied fragment is sent by its own request, which waits for send
 * resources like any other request. The fragment carries its offset in the
 * message, so that fragments may be sent out of order.
 *
 *   fragment of a send:  copying --> its own send --> copying the next data
 *                                                `--> no data, or failed: idle
 *   send:                ends with its last fragment
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/stage/stage.h"
#include "ucs/debug/log.h"

enum { FRAGS_PER_SEND = 4 };

/* ------------------------------------------------------------- sending -- */

/* Completion callback of the whole send: does nothing, because the completion
 * only stores the status and the number of fragments. */
static void counted(uct_completion_t *comp)
{
}

int ucp_rndv_is_staged(const ucp_request_t *req)
{
    return (req->dt.dt_class == UCP_DT_CLASS_STAGED) &&
           ucp_dt_iter_is_flat(&req->dt);
}

static void chunk_copied(ucp_stage_frag_t *frag);

/* Starts the copy of the next fragment. Returns zero if no data is left, or if
 * the send has failed. */
static int next_chunk(ucp_request_t *req, ucp_stage_frag_t *frag)
{
    size_t left = req->dt.length - req->dt.offset;
    size_t max  = ucp_stage_frag_size(req->dt.u.iov.copier);

    if ((left == 0) || (req->send.comp.status != UCS_OK)) {
        return 0;
    }

    frag->req    = req;
    frag->offset = req->dt.offset;
    frag->length = (left < max) ? left : max;
    frag->place  = req->dt.place;
    frag->memory = (char *)req->dt.u.iov.memory + req->dt.offset;
    ucp_dt_iter_advance(&req->dt, frag->length);
    ucp_stage_frag_start(frag, 0, chunk_copied);
    return 1;
}

static void end(ucp_request_t *req)
{
    ucs_status_t status = req->send.comp.status;
    uint32_t recv_id    = ucp_send_rndv(req)->remote_id;
    int detached        = ucp_send_rndv(req)->detached;
    ucp_ep_h ep         = req->send.ep;

    ucp_rndv_send_end(req, status); /* may free the request */
    if ((status != UCS_OK) && !detached) {
        ucp_rndv_send_failure(ep, recv_id, status);
    }
}

/* Called when a fragment of the send is free: starts the copy of the next data
 * into it, or, if no data is left, ends the send after its last fragment. */
static void go_on(ucp_request_t *req, ucp_stage_frag_t *frag,
                  ucs_status_t status)
{
    uct_completion_update_status(&req->send.comp, status);
    if (next_chunk(req, frag)) {
        return;
    }

    ucp_stage_frag_put(frag);
    if (--req->send.comp.count == 0) {
        end(req);
    }
}

static void chunk_sent(void *request, ucs_status_t status, void *user_data)
{
    ucp_stage_frag_t *frag = user_data;

    go_on(frag->req, frag, status);
}

static void chunk_copied(ucp_stage_frag_t *frag)
{
    ucp_request_t *req  = frag->req;
    ucs_status_t status = frag->status;
    ucp_request_t *chunk;

    if ((status != UCS_OK) || (req->send.comp.status != UCS_OK)) {
        go_on(req, frag, status);
        return;
    }

    chunk = ucp_request_get_internal(req->worker);
    if (chunk == NULL) {
        go_on(req, frag, UCS_ERR_NO_MEMORY);
        return;
    }

    ucp_dt_iter_init_contig(&chunk->dt, frag->data, frag->length);
    chunk->flags |= UCP_REQUEST_FLAG_CALLBACK;
    chunk->user_data                = frag;
    chunk->send.cb                  = chunk_sent;
    chunk->send.ep                  = req->send.ep;
    chunk->send.proto               = &ucp_proto_rndv_am;
    chunk->send.comp.func           = NULL;
    /* one count for the request itself, dropped when all is posted */
    chunk->send.comp.count          = 1;
    chunk->send.comp.status         = UCS_OK;
    ucp_send_rndv(chunk)->address   = frag->offset;
    ucp_send_rndv(chunk)->rails     = NULL;
    ucp_send_rndv(chunk)->num_keys  = 0;
    ucp_send_rndv(chunk)->retrying  = 0;
    ucp_send_rndv(chunk)->remote_id = ucp_send_rndv(req)->remote_id;
    ucp_send_rndv(chunk)->posted    = 0;
    ucp_send_rndv(chunk)->detached  = 0;
    ucp_memhs_init(&ucp_send_rndv(chunk)->memhs);
    ucp_request_start(chunk);
}

static ucs_status_t staged_progress(ucp_request_t *req)
{
    ucp_stage_frag_t *frag;
    int i;

    for (i = 0; i < FRAGS_PER_SEND; ++i) {
        frag = ucp_stage_frag_get(req->dt.u.iov.copier);
        if (frag == NULL) {
            break;
        }
        if (!next_chunk(req, frag)) {
            ucp_stage_frag_put(frag);
            break;
        }
    }
    if (i == 0) {
        /* No fragment is available: send by ucp_proto_rndv_am, which copies the
         * data when it packs each message. */
        req->send.proto = &ucp_proto_rndv_am;
        return UCS_INPROGRESS;
    }

    req->send.comp.func        = counted;
    req->send.comp.count       = i;
    ucp_send_rndv(req)->posted = 1;
    return UCS_OK;
}

const ucp_proto_t ucp_proto_rndv_staged = {
    .name     = "rndv/am",
    .progress = staged_progress,
    .abort    = ucp_rndv_data_abort,
    .flags    = UCP_PROTO_FLAG_BEGUN,
};

/* ----------------------------------------------------------- receiving -- */

static void note(ucp_request_t *req, ucs_status_t status)
{
    if ((status != UCS_OK) && (req->status == UCS_INPROGRESS)) {
        req->status = status; /* The receive completes with this error, but not
                               * before all data has arrived */
    }
}

static void end_if_complete(ucp_request_t *req)
{
    if ((ucp_recv_rndv(req)->remaining == 0) &&
        (ucp_recv_rndv(req)->copying == 0)) {
        ucp_rndv_recv_end(req, (req->status == UCS_INPROGRESS) ? UCS_OK :
                                                                 req->status);
    }
}

static void chunk_placed(ucp_stage_frag_t *frag)
{
    ucp_request_t *req  = frag->req;
    ucs_status_t status = frag->status;

    ucp_stage_frag_put(frag);
    if (req == NULL) {
        return; /* The receive has completed in the meantime, for example by a
                 * failure of its endpoint */
    }

    --ucp_recv_rndv(req)->copying;
    note(req, status);
    end_if_complete(req);
}

/* Stores received data in a fragment and starts its copy to the user's memory.
 * Returns zero if no fragment is available, or if the user's memory is not one
 * block. */
static int copy_later(ucp_request_t *req, uint64_t offset, const void *data,
                      size_t length)
{
    ucp_copier_t *copier = req->dt.u.iov.copier;
    ucp_stage_frag_t *frag;

    if (!ucp_dt_iter_is_flat(&req->dt) ||
        (length > ucp_stage_frag_size(copier))) {
        return 0;
    }
    frag = ucp_stage_frag_get(copier);
    if (frag == NULL) {
        return 0;
    }

    ucx_copy(frag->data, data, length);
    frag->req    = req;
    frag->offset = offset;
    frag->length = length;
    frag->place  = req->dt.place;
    frag->memory = (char *)req->dt.u.iov.memory + offset;
    ++ucp_recv_rndv(req)->copying;
    ucp_stage_frag_start(frag, 1, chunk_placed);
    return 1;
}

void ucp_rndv_staged_arrived(ucp_request_t *req, uint64_t offset,
                             const void *data, size_t length)
{
    ucp_recv_rndv(req)->remaining -= length;
    if ((length == 0) || !copy_later(req, offset, data, length)) {
        note(req, ucp_dt_iter_unpack(&req->dt, offset, data, length));
    }
    end_if_complete(req);
}
