/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Get by active messages, the owner's side: checks the access, and replies
 * with the data in one message or in fragments, also from memory that the
 * processor cannot access.
 */
#include "ucp/rma/ack.h"
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/mem/table.h"
#include "ucp/order/queue.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/measure.h"
#include "ucp/stage/stage.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

#include <ucx/copy.h>

/* One message of a reply: the part of the requested memory that it contains,
 * and its status. In ucp_rma_get_handler() the part is all of that memory. */
typedef struct {
    ucp_worker_h worker;
    ucp_mem_table_t *mems;
    uint64_t key;     /* Id of the memory handle */
    uint64_t address; /* Start of the part */
    uint64_t length;  /* Bytes of the part */
    uint32_t request; /* Id of the requester's request */
    uint32_t secret;  /* Of the requester's endpoint (ucp_ep::secret) */
    ucs_status_t status;
    int staged; /* The processor cannot access the memory */
    /* Only for a reply in fragments from memory that the processor cannot
     * access: bytes from `address` to the end of the requested memory, the
     * pipeline of copies (stage/stage.h), and the memory that the copies read
     * (mem/table.h) */
    uint64_t left;
    ucp_stage_pipe_t **pipe_p;
    ucp_mem_loan_t loan;
} chunk_t;

/* Replies of at most this many bytes are copied to the stack and sent by
 * am_short, if the transport supports the size. */
enum { SHORT_MAX = 256 };

static ucp_rma_get_reply_t reply_header(const chunk_t *chunk)
{
    return (ucp_rma_get_reply_t){ucp_le32(chunk->request),
                                 (int8_t)chunk->status,
                                 ucp_rma_secret(chunk->secret)};
}

/* Returns the maximum bytes of data in one message of the reply by buffered
 * copy. */
static size_t max_data(ucp_ep_h ep)
{
    return ucp_ep_config_am(ep->config)->max_bcopy -
           sizeof(ucp_rma_get_reply_t);
}

/* Copies the part to `dest` if the access is allowed; returns the number of
 * bytes, or 0 and sets chunk->status. On return the memory is not locked
 * against unmapping any more, because a send may call a user's callback that
 * unmaps it. */
static size_t chunk_copy(chunk_t *chunk, void *dest)
{
    chunk->status = ucp_mem_table_hold(chunk->mems, chunk->key, chunk->address,
                                       chunk->length,
                                       UCP_MEM_MAP_PROT_REMOTE_READ);
    if (ucs_unlikely(chunk->status == UCS_ERR_UNSUPPORTED)) {
        chunk->status = ucp_stage_access(chunk->worker, chunk->key,
                                         chunk->address, chunk->length,
                                         UCP_MEM_MAP_PROT_REMOTE_READ, dest, 0);
        return (chunk->status == UCS_OK) ? chunk->length : 0;
    }
    if (chunk->status != UCS_OK) {
        return 0;
    }
    ucx_copy(dest, (const void *)(uintptr_t)chunk->address, chunk->length);
    ucp_mem_table_release(chunk->mems);
    return chunk->length;
}

static size_t chunk_pack(void *dest, void *arg)
{
    ucp_rma_get_reply_t *hdr = dest;
    chunk_t *chunk           = arg;
    size_t length            = chunk_copy(chunk, hdr + 1);

    *hdr = reply_header(chunk);
    return sizeof(*hdr) + length;
}

/* Sends one message of a reply: the data of `chunk`, or the error if the
 * access is not allowed. */
static ucs_status_t send_chunk(ucp_ep_h ep, chunk_t *chunk, unsigned flags)
{
    uct_ep_h am = ep->am;
    char data[SHORT_MAX];
    ucp_rma_get_reply_t hdr;
    uint64_t header;
    size_t length;
    ssize_t status;

    if ((chunk->length <= SHORT_MAX) &&
        (chunk->length + sizeof(hdr) <=
         ucp_ep_config_am(ep->config)->max_short)) {
        length = chunk_copy(chunk, data);
        hdr    = reply_header(chunk);
        memcpy(&header, &hdr, sizeof(header));
        status = am->ops->am_short(am, UCP_AM_ID_GET_REPLY, header, data,
                                   (unsigned)length);
    } else {
        status = am->ops->am_bcopy(am, UCP_AM_ID_GET_REPLY, chunk_pack, chunk,
                                   flags);
    }
    return (status < 0) ? (ucs_status_t)status : UCS_OK;
}

size_t ucp_rma_reply_fragment(const ucp_ep_config_t *config, size_t length)
{
    const size_t header = sizeof(ucp_rma_get_reply_t);
    size_t copied       = ucp_ep_config_am(config)->max_bcopy - header;
    size_t fragment;

    if ((length <= copied) ||
        !ucp_fragment_is_zcopy(config, UCP_DT_CLASS_CONTIG, header)) {
        return 0;
    }
    /* Unlike a copy, zero-copy may read the memory after its owner has unmapped
     * it. Use it only if its fragments are much larger. */
    fragment = ucp_fragment_size(config, UCP_DT_CLASS_CONTIG, header);
    return (fragment >= 2 * copied) ? fragment : 0;
}

static void reject(ucp_ep_h ep, chunk_t *chunk, ucs_status_t status)
{
    ucp_rma_get_reply_t hdr;

    chunk->status = status;
    hdr           = reply_header(chunk);
    if (ucp_ep_send_control(ep, UCP_AM_ID_GET_REPLY, &hdr, sizeof(hdr)) !=
        UCS_OK) {
        ucs_debug("ep %p: cannot notify the peer of a rejected get", ep);
    }
}

/* Called when the transport has released the memory. The endpoint may be freed
 * already. */
static void reply_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    if (ucp_send_rma_data(req)->lent != NULL) {
        ucp_mem_put(ucp_send_rma_data(req)->lent);
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_complete_send(req, comp->status);
}

/* Sends a fragment zero-copy. A reference to the memory handle (`lent`) is kept
 * until the transport has released the memory. */
static ucs_status_t zcopy_chunk(ucp_request_t *req, chunk_t *chunk)
{
    uct_ep_h am   = req->send.ep->am;
    uct_iov_t iov = {
        .buffer = (void *)(uintptr_t)chunk->address,
        .length = chunk->length,
        .memh   = UCT_MEM_HANDLE_NULL,
        .count  = 1,
    };
    ucp_rma_get_reply_t hdr;
    ucp_mem_loan_t loan;
    ucs_status_t status;

    chunk->status = ucp_mem_table_lend(chunk->mems, chunk->key, chunk->address,
                                       chunk->length,
                                       UCP_MEM_MAP_PROT_REMOTE_READ, &loan);
    if (chunk->status != UCS_OK) {
        reject(req->send.ep, chunk, chunk->status);
        return UCS_OK;
    }

    hdr = reply_header(chunk);
    ++req->send.comp.count;
    status = am->ops->am_zcopy(am, UCP_AM_ID_GET_REPLY, &hdr, sizeof(hdr), &iov,
                               1, 0, &req->send.comp);
    ucp_mem_table_end_loan(&loan);
    if (status != UCS_INPROGRESS) {
        --req->send.comp.count;
    } else if (ucp_send_rma_data(req)->lent == NULL) {
        ucp_send_rma_data(req)->lent = loan.memh;
        return UCS_OK;
    } else {
        status = UCS_OK;
    }
    ucp_mem_put(loan.memh);
    return status;
}

/* --------- replies from memory that the processor cannot access -- */

/* Called if a callback of the user, during the send of a fragment, unmaps
 * memory (ucp_mem_loan_t::settle): waits until no copy reads the memory. */
static void settle(ucp_mem_loan_t *loan)
{
    ucp_stage_pipe_settle(*ucs_container_of(loan, chunk_t, loan)->pipe_p);
}

static size_t staged_pack(void *dest, void *arg)
{
    ucp_rma_get_reply_t *hdr = dest;
    chunk_t *chunk           = arg;
    ucs_memory_type_t type;
    ucp_copier_t *copier;

    chunk->status = ucp_mem_table_hold_any(chunk->mems, chunk->key,
                                           chunk->address, chunk->left,
                                           UCP_MEM_MAP_PROT_REMOTE_READ, &type);
    if (chunk->status == UCS_OK) {
        copier = ucp_stage_copier(chunk->worker->stage, type);
        chunk->status =
            (copier == NULL) ?
                UCS_ERR_UNSUPPORTED :
                ucp_stage_pipe_read(copier, 0, chunk->pipe_p,
                                    (void *)(uintptr_t)chunk->address,
                                    chunk->left, hdr + 1, chunk->length);
        ucp_mem_table_release(chunk->mems);
    }
    *hdr = reply_header(chunk);
    return sizeof(*hdr) + ((chunk->status == UCS_OK) ? chunk->length : 0);
}

/* Sends a fragment of memory that the processor cannot access. While it is
 * sent, a copier (stage/copier.h) copies the next fragments to host memory.
 * Waits until these copies have ended, because the memory may be unmapped after
 * return; later calls send the copied data. */
static ucs_status_t staged_chunk(ucp_request_t *req, chunk_t *chunk)
{
    uct_ep_h am = req->send.ep->am;
    ssize_t packed;

    chunk->left   = req->dt.length - req->dt.offset;
    chunk->pipe_p = &req->dt.u.iov.pipe;
    chunk->status = ucp_mem_table_lend_any(chunk->mems, chunk->key,
                                           chunk->address, chunk->left,
                                           UCP_MEM_MAP_PROT_REMOTE_READ, settle,
                                           &chunk->loan);
    if (chunk->status != UCS_OK) {
        reject(req->send.ep, chunk, chunk->status);
        return UCS_OK;
    }

    packed = am->ops->am_bcopy(am, UCP_AM_ID_GET_REPLY, staged_pack, chunk,
                               (chunk->left > chunk->length) ?
                                   UCX_SEND_FLAG_MORE :
                                   0);
    ucp_stage_pipe_settle(*chunk->pipe_p);
    ucp_mem_table_end_loan(&chunk->loan);
    ucp_mem_put(chunk->loan.memh);
    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

/* Sends the next fragment of a reply. Checks the access for each fragment,
 * because the memory may have been unmapped since the previous one. */
static ucs_status_t reply_progress(ucp_request_t *req)
{
    ucp_rma_op_t *op = ucp_send_rma(req);
    ucp_ep_h ep      = req->send.ep;
    size_t left      = req->dt.length - req->dt.offset;
    int staged       = (req->dt.dt_class == UCP_DT_CLASS_STAGED);
    size_t fragment  = staged ?
                           0 :
                           ucp_rma_reply_fragment(ep->config, req->dt.length);
    size_t max       = (fragment > 0) ? fragment : max_data(ep);
    chunk_t chunk    = {
           .worker  = req->worker,
           .mems    = &req->worker->context->mems,
           .key     = op->key,
           .address = op->address + req->dt.offset,
           .length  = (left < max) ? left : max,
           .request = op->remote_id,
           .secret  = op->secret,
    };
    ucs_status_t status;

    status = (fragment > 0) ?
                 zcopy_chunk(req, &chunk) :
             staged ?
                 staged_chunk(req, &chunk) :
                 send_chunk(ep, &chunk,
                            (left > chunk.length) ? UCX_SEND_FLAG_MORE : 0);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_OK) {
        status = chunk.status;
    }

    req->dt.offset += chunk.length;
    if ((status == UCS_OK) && (req->dt.offset < req->dt.length)) {
        return UCS_INPROGRESS;
    }
    ucp_request_posted(req, status);
    return UCS_OK;
}

static const ucp_proto_t reply_proto = {
    .name     = "get reply",
    .progress = reply_progress,
    .abort    = ucp_request_posted,
};

/* Creates a request for a reply of several fragments, or for one that waits for
 * send resources. */
static void reply_later(ucp_ep_h ep, chunk_t *chunk)
{
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if (req == NULL) {
        reject(ep, chunk, UCS_ERR_NO_MEMORY);
        return;
    }

    ucp_dt_iter_init_contig(&req->dt, NULL, chunk->length);
    if (chunk->staged) {
        ucp_dt_iter_stage(&req->dt, NULL);
    }
    req->send.ep                 = ep;
    req->send.proto              = &reply_proto;
    req->send.comp.func          = reply_completed;
    /* One count for the reply itself, dropped when all is posted */
    req->send.comp.count         = 1;
    req->send.comp.status        = UCS_OK;
    ucp_send_rma(req)->key       = chunk->key;
    ucp_send_rma(req)->address   = chunk->address;
    ucp_send_rma(req)->remote_id = chunk->request;
    ucp_send_rma(req)->secret    = chunk->secret;
    ucp_send_rma_data(req)->lent = NULL;
    ucp_request_start(req);
}

/* Checks the access to all of the requested memory before a reply of several
 * fragments: if access to a part of it is not allowed, no data is sent. */
static ucs_status_t check_whole(chunk_t *chunk)
{
    ucs_status_t status;

    status = ucp_mem_table_hold(chunk->mems, chunk->key, chunk->address,
                                chunk->length, UCP_MEM_MAP_PROT_REMOTE_READ);
    if (status == UCS_OK) {
        ucp_mem_table_release(chunk->mems);
    } else if (status == UCS_ERR_UNSUPPORTED) {
        status = ucp_stage_access(chunk->worker, chunk->key, chunk->address,
                                  chunk->length, UCP_MEM_MAP_PROT_REMOTE_READ,
                                  NULL, 0);
        chunk->staged = 1;
    }
    return status;
}

/* UCT callback for received GET messages. Hot path. */
ucs_status_t ucp_rma_get_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker      = arg;
    const ucp_rma_get_t *msg = data;
    ucs_status_t status;
    chunk_t chunk;
    ucp_ep_h ep;

    ep = (length == sizeof(*msg)) ? ucp_wireup_reply_ep(worker, &msg->sender) :
                                    NULL;
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("dropped a get of %zu bytes: no endpoint to reply to", length);
        return UCS_OK;
    }

    ucp_rma_ack_by_reply(ep);
    chunk.worker  = worker;
    chunk.mems    = &worker->context->mems;
    chunk.staged  = 0;
    chunk.key     = ucp_le64_get(msg->key);
    chunk.address = ucp_le64_get(msg->address);
    chunk.length  = ucp_le64_get(msg->length);
    chunk.request = ucp_le32_get(msg->request);
    chunk.secret  = ucp_wire_end_secret(&msg->sender);
    chunk.status  = UCS_OK;
    ucp_measure_if_due(ep, (size_t)chunk.length);
    if (chunk.length > max_data(ep)) {
        status = check_whole(&chunk);
        if (status != UCS_OK) {
            reject(ep, &chunk, status);
            goto out;
        }
        reply_later(ep, &chunk);
        return UCS_OK;
    }

    status = (ep->flags & UCP_EP_FLAG_BLOCKED) ? UCS_ERR_NO_RESOURCE :
                                                 send_chunk(ep, &chunk, 0);
    if (status == UCS_ERR_NO_RESOURCE) {
        reply_later(ep, &chunk);
        return UCS_OK;
    }
    status = (status == UCS_OK) ? chunk.status : status;
out:
    if (status != UCS_OK) {
        ucs_diag("rejected a get by worker %lx: %s",
                 ucp_le64_get(msg->sender.worker_uuid),
                 ucs_status_string(status));
    }
    return UCS_OK;
}
