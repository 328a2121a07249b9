/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Get by active messages: both sides. A small one is one message there and one
 * back.
 */
#include "ucp/rma/rma.h"

#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

/* ------------------------------------------------------ initiator's side -- */

static void fill_question(ucp_rma_get_t *msg, const ucp_request_t *req)
{
    msg->key     = ucp_le64(req->send.rma.key);
    msg->address = ucp_le64(req->send.rma.address);
    msg->length  = ucp_le64(req->dt.length);
    msg->sender  = ucp_ep_wire_end(req->send.ep);
    msg->request = ucp_le32(req->id);
}

static size_t question_pack(void *dest, void *arg)
{
    fill_question(dest, arg);
    return sizeof(ucp_rma_get_t);
}

ucs_status_t ucp_rma_am_get_progress(ucp_request_t *req)
{
    ucp_ep_h ep   = req->send.ep;
    uct_ep_h am   = ep->am;
    ssize_t status;
    ucp_rma_get_t msg;

    if (sizeof(msg) <= ucp_ep_config_am(ep->config)->max_short) {
        fill_question(&msg, req);
        status = am->ops->am_short(am, UCP_AM_ID_GET,
                                   htole64(req->send.rma.key), &msg.address,
                                   sizeof(msg) - sizeof(msg.key));
    } else {
        status = am->ops->am_bcopy(am, UCP_AM_ID_GET, question_pack, req,
                                   UCX_SEND_FLAG_MORE);
    }
    if (status == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (status < 0) {
        ucp_rma_abort(req, (ucs_status_t)status);
        return UCS_OK;
    }
    ++ep->rma_issued; /* its request may be gone: a flush waits for it */
    req->send.rma.asked = 1;
    return UCS_OK;
}

ucs_status_t ucp_rma_get_reply_handler(void *arg, void *data, size_t length,
                                       unsigned flags)
{
    ucp_worker_h worker            = arg;
    const ucp_rma_get_reply_t *hdr = data;
    ucp_request_t *req             = NULL;
    ucs_status_t status;

    if (length >= sizeof(*hdr)) {
        req = ucp_request_by_id(worker, ucp_le32_get(hdr->request));
    }
    if ((req == NULL) || (req->flags & UCP_REQUEST_FLAG_RECV) ||
        (req->send.progress != ucp_rma_am_get_progress) ||
        !req->send.rma.asked ||
        !ucp_rma_is_secret_of(req->send.ep, hdr->secret)) {
        ucs_debug("dropped the answer to a get of %zu bytes: no such get",
                  length);
        return UCS_OK;
    }

    length -= sizeof(*hdr);
    status  = ucp_rma_wire_status(hdr->status);
    if ((status == UCS_OK) &&
        (length > req->dt.length - req->send.rma.received)) {
        ucs_diag("ep %p: the answer to a get of %zu bytes has more",
                 req->send.ep, req->dt.length);
        status = UCS_ERR_IO_ERROR;
    }
    if (status == UCS_OK) {
        status = ucp_dt_iter_unpack(&req->dt, req->send.rma.received, hdr + 1,
                                    length);
    }
    if (status != UCS_OK) {
        ucp_rma_abort(req, status);
        return UCS_OK;
    }

    req->send.rma.received += length;
    if (req->send.rma.received == req->dt.length) {
        ucp_rma_abort(req, UCS_OK);
    }
    return UCS_OK;
}

/* ---------------------------------------------------------- owner's side -- */

/* A piece of an answer: what is asked, and how it went. */
typedef struct {
    ucp_mem_table_t *mems;
    uint64_t        key;
    uint64_t        address;
    uint64_t        length;
    uint32_t        request;
    uint32_t        secret;   /* of the asker's end */
    ucs_status_t    status;
} piece_t;

/* Bytes that are copied on the way to a short message. */
enum { SHORT_MAX = 256 };

static ucp_rma_get_reply_t reply_header(const piece_t *piece)
{
    return (ucp_rma_get_reply_t){ucp_le32(piece->request),
                                 (int8_t)piece->status,
                                 ucp_rma_secret(piece->secret)};
}

/* Room for data in one message of the answer. */
static size_t room(ucp_ep_h ep)
{
    return ucp_ep_config_am(ep->config)->max_bcopy -
           sizeof(ucp_rma_get_reply_t);
}

/* Copies the memory if that is allowed; returns how many bytes. Nothing is
 * held when it returns: a send may end in a user's callback, which unmaps. */
static size_t piece_copy(piece_t *piece, void *dest)
{
    piece->status = ucp_mem_table_hold(piece->mems, piece->key, piece->address,
                                       piece->length,
                                       UCP_MEM_MAP_PROT_REMOTE_READ);
    if (piece->status != UCS_OK) {
        return 0;
    }
    memcpy(dest, (const void *)(uintptr_t)piece->address, piece->length);
    ucp_mem_table_release(piece->mems);
    return piece->length;
}

static size_t piece_pack(void *dest, void *arg)
{
    ucp_rma_get_reply_t *hdr = dest;
    piece_t *piece           = arg;
    size_t length            = piece_copy(piece, hdr + 1);

    *hdr = reply_header(piece);
    return sizeof(*hdr) + length;
}

/* Sends a piece that fits a message, or why it is refused. */
static ucs_status_t send_piece(ucp_ep_h ep, piece_t *piece, unsigned flags)
{
    uct_ep_h am = ep->am;
    char data[SHORT_MAX];
    ucp_rma_get_reply_t hdr;
    uint64_t header;
    size_t length;
    ssize_t status;

    if ((piece->length <= SHORT_MAX) &&
        (piece->length + sizeof(hdr) <=
         ucp_ep_config_am(ep->config)->max_short)) {
        length = piece_copy(piece, data);
        hdr    = reply_header(piece);
        memcpy(&header, &hdr, sizeof(header));
        status = am->ops->am_short(am, UCP_AM_ID_GET_REPLY, header, data,
                                   (unsigned)length);
    } else {
        status = am->ops->am_bcopy(am, UCP_AM_ID_GET_REPLY, piece_pack, piece,
                                   flags);
    }
    return (status < 0) ? (ucs_status_t)status : UCS_OK;
}

/* Goes on with an answer. The memory may be gone since the last piece. */
static ucs_status_t reply_progress(ucp_request_t *req)
{
    ucp_ep_h ep   = req->send.ep;
    size_t left   = req->dt.length - req->dt.offset;
    piece_t piece = {
        .mems    = &req->worker->context->mems,
        .key     = req->send.rma.key,
        .address = req->send.rma.address + req->dt.offset,
        .length  = (left < room(ep)) ? left : room(ep),
        .request = req->send.rma.remote_id,
        .secret  = req->send.rma.secret
    };
    ucs_status_t status;

    status = send_piece(ep, &piece, (left > piece.length) ?
                                    UCX_SEND_FLAG_MORE : 0);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status == UCS_OK) {
        status = piece.status;
    }

    req->dt.offset += piece.length;
    if ((status == UCS_OK) && (req->dt.offset < req->dt.length)) {
        return UCS_INPROGRESS;
    }
    ucp_request_complete_send(req, status);
    return UCS_OK;
}

static void refuse(ucp_ep_h ep, piece_t *piece, ucs_status_t status)
{
    ucp_rma_get_reply_t hdr;

    piece->status = status;
    hdr           = reply_header(piece);
    if (ucp_ep_send_control(ep, UCP_AM_ID_GET_REPLY, &hdr, sizeof(hdr)) !=
        UCS_OK) {
        ucs_debug("ep %p: the peer is not told of a refused get", ep);
    }
}

/* What does not go out at once is sent when there is room. */
static void reply_later(ucp_ep_h ep, piece_t *piece)
{
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if (req == NULL) {
        refuse(ep, piece, UCS_ERR_NO_MEMORY);
        return;
    }

    ucp_dt_iter_init_contig(&req->dt, NULL, piece->length);
    req->send.ep            = ep;
    req->send.progress      = reply_progress;
    req->send.abort         = ucp_request_complete_send;
    req->send.rma.key       = piece->key;
    req->send.rma.address   = piece->address;
    req->send.rma.remote_id = piece->request;
    req->send.rma.secret    = piece->secret;
    ucp_request_start(req);
}

/* Of several pieces the last may be the one that is not allowed: none is sent
 * then. */
static ucs_status_t check_whole(const piece_t *piece)
{
    ucs_status_t status;

    status = ucp_mem_table_hold(piece->mems, piece->key, piece->address,
                                piece->length, UCP_MEM_MAP_PROT_REMOTE_READ);
    if (status == UCS_OK) {
        ucp_mem_table_release(piece->mems);
    }
    return status;
}

/* Hot path. */
ucs_status_t ucp_rma_get_handler(void *arg, void *data, size_t length,
                                 unsigned flags)
{
    ucp_worker_h worker      = arg;
    const ucp_rma_get_t *msg = data;
    ucs_status_t status;
    piece_t piece;
    ucp_ep_h ep;

    ep = (length == sizeof(*msg)) ? ucp_wireup_reply_ep(worker, &msg->sender) :
                                    NULL;
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("dropped a get of %zu bytes: nobody to answer to", length);
        return UCS_OK;
    }

    piece.mems    = &worker->context->mems;
    piece.key     = ucp_le64_get(msg->key);
    piece.address = ucp_le64_get(msg->address);
    piece.length  = ucp_le64_get(msg->length);
    piece.request = ucp_le32_get(msg->request);
    piece.secret  = ucp_wire_end_secret(&msg->sender);
    piece.status  = UCS_OK;
    if (piece.length > room(ep)) {
        status = check_whole(&piece);
        if (status != UCS_OK) {
            refuse(ep, &piece, status);
            goto out;
        }
        reply_later(ep, &piece);
        return UCS_OK;
    }

    status = (ep->flags & UCP_EP_FLAG_BLOCKED) ? UCS_ERR_NO_RESOURCE :
             send_piece(ep, &piece, 0);
    if (status == UCS_ERR_NO_RESOURCE) {
        reply_later(ep, &piece);
        return UCS_OK;
    }
    status = (status == UCS_OK) ? piece.status : status;
out:
    if (status != UCS_OK) {
        ucs_diag("refused a get by worker %lx: %s",
                 ucp_le64_get(msg->sender.worker_uuid),
                 ucs_status_string(status));
    }
    return UCS_OK;
}
