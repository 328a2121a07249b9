/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by fragments in active messages: for any datatype, over any
 * transport.
 */
#include "ucp/rndv/rndv.h"

#include "ucs/debug/log.h"

/* Bytes of data that one fragment carries. */
static size_t room(const ucp_request_t *req)
{
    return req->send.ep->config->max_bcopy - sizeof(ucp_rndv_data_t);
}

static size_t data_pack(void *dest, void *arg)
{
    ucp_request_t *req   = arg;
    ucp_rndv_data_t *hdr = dest;

    hdr->recv_request = ucp_le32(req->send.tag.remote_id);
    hdr->offset       = ucp_le64(req->dt.offset);
    return sizeof(*hdr) + ucp_dt_iter_pack(&req->dt, hdr + 1,
                                             room(req));
}

ucs_status_t ucp_rndv_am_progress(ucp_request_t *req)
{
    uct_ep_h am   = req->send.ep->am;
    size_t before = req->dt.offset;
    ssize_t packed;

    packed = am->ops->am_bcopy(am, UCP_AM_ID_RNDV_DATA, data_pack, req,
                               (req->dt.length - before > room(req)) ?
                               UCX_SEND_FLAG_MORE : 0);
    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (packed < 0) {
        ucp_rndv_send_fail(req, (ucs_status_t)packed);
        return UCS_OK;
    }
    if (req->dt.offset < req->dt.length) {
        if (req->dt.offset != before) {
            return UCS_INPROGRESS;
        }
        /* a generic datatype that packs nothing would keep us here forever */
        ucs_error("a generic datatype packed no bytes at offset %zu of %zu",
                  req->dt.offset, req->dt.length);
        ucp_rndv_send_fail(req, UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    ucp_rndv_send_end(req, UCS_OK);
    return UCS_OK;
}

ucs_status_t ucp_rndv_data_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    ucp_worker_h worker        = arg;
    const ucp_rndv_data_t *hdr = data;
    ucp_request_t *req         = NULL;
    ucs_status_t status;
    uint64_t offset;

    if (length >= sizeof(*hdr)) {
        req = ucp_request_by_id(worker, ucp_le32_get(hdr->recv_request));
    }
    if ((req == NULL) || !(req->flags & UCP_REQUEST_FLAG_RECV)) {
        ucs_debug("dropped a fragment of %zu bytes: no such receive", length);
        return UCS_OK;
    }

    length -= sizeof(*hdr);
    offset  = ucp_le64_get(hdr->offset);
    if ((length > req->recv.remaining) || (offset > req->recv.info.length) ||
        (length > req->recv.info.length - offset)) {
        ucs_diag("a fragment of %zu bytes at %lu is beyond its message of %zu",
                 length, offset, req->recv.info.length);
        ucp_rndv_recv_end(req, UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    status = ucp_dt_iter_unpack(&req->dt, offset, hdr + 1, length);
    if ((status != UCS_OK) && (req->status == UCS_INPROGRESS)) {
        req->status = status; /* the rest is received and dropped */
    }
    req->recv.remaining -= length;
    if (req->recv.remaining == 0) {
        ucp_rndv_recv_end(req, (req->status == UCS_INPROGRESS) ? UCS_OK :
                                                                 req->status);
    }
    return UCS_OK;
}
