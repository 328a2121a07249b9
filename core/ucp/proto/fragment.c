/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends one fragment of data that exceeds a message of the transport, by
 * am_bcopy or am_zcopy (fragment.h).
 */
#include "ucp/proto/fragment.h"

#include "ucp/dt/dt.h"
#include "ucp/proto/ep.h"
#include "ucs/debug/log.h"

ucs_status_t ucp_fragment_copy(ucp_request_t *req, uint8_t id,
                               uct_pack_callback_t pack, size_t max)
{
    uct_ep_h am = req->send.ep->am;
    size_t left = req->dt.length - req->dt.offset;
    ssize_t packed;

    packed = am->ops->am_bcopy(am, id, pack, req,
                               (left > max) ? UCX_SEND_FLAG_MORE : 0);
    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

ucs_status_t ucp_fragment_post(ucp_request_t *req, uint8_t id,
                               const void *header, size_t header_size,
                               const uct_iov_t *iov, size_t iovcnt,
                               size_t length)
{
    uct_ep_h am = req->send.ep->am;
    ucs_status_t status;

    ++req->send.comp.count;
    status = am->ops->am_zcopy(am, id, header, (unsigned)header_size, iov,
                               iovcnt, 0, &req->send.comp);
    if (status == UCS_INPROGRESS) {
        status = UCS_OK;
    } else {
        --req->send.comp.count;
    }
    if (status == UCS_OK) {
        ucp_dt_iter_advance(&req->dt, length);
    }
    return status;
}

ucs_status_t ucp_fragment_zcopy(ucp_request_t *req, uint8_t id,
                                const void *header, size_t header_size,
                                size_t max)
{
    uct_iov_t iov;
    size_t length;

    ucp_dt_iter_iov(&req->dt, max, &iov, 1, UCT_MEM_HANDLE_NULL, &length);
    return ucp_fragment_post(req, id, header, header_size, &iov, 1, length);
}

ucs_status_t ucp_fragment_check(const ucp_request_t *req, size_t before,
                                ucs_status_t status)
{
    if (ucs_unlikely((status == UCS_OK) && (req->dt.offset == before) &&
                     (before < req->dt.length))) {
        ucs_error("no bytes could be packed at offset %zu of %zu", before,
                  req->dt.length);
        return UCS_ERR_IO_ERROR;
    }
    return status;
}
