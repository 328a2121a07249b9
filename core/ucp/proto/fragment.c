/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends one fragment of data that exceeds a message of the transport, by
 * am_bcopy or am_zcopy (fragment.h).
 */
#include "ucp/proto/fragment.h"

#include "ucp/dt/dt.h"
#include "ucp/proto/ep.h"
#include "ucp/proto/lane.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

/* Limits, so that products fit 64 bits. Messages of this length, or with this
 * many bytes in the time of a fragment, have fragments of the maximum size. */
enum { MAX_UNIT = 1 << 22 };
static const size_t MAX_LENGTH = (size_t)1 << 40;

/* Returns the number of bytes that are copied in the time that a fragment
 * costs, 0 if fragments have the maximum size. The least time of a message is
 * that with fragments of sqrt(length * unit) bytes. */
static size_t fragment_unit(const ucp_ep_config_t *config)
{
    const ucp_lane_am_t *am = ucp_ep_config_am(config);

    if ((config->rndv_frag_size > 0) || am->many || (am->stream <= 0)) {
        return 0;
    }
    return (size_t)ucs_min(am->stream * ucp_lane_am_fragment(am),
                           (double)MAX_UNIT);
}

static size_t best(size_t unit, size_t limit, size_t length)
{
    size_t size = UCP_FRAGMENT_MIN;

    if (unit == 0) {
        return limit;
    }
    while ((size < limit) &&
           (4 * size * size <= unit * ucs_min(length, MAX_LENGTH))) {
        size *= 2;
    }
    return ucs_min(size, limit);
}

size_t ucp_fragment_best(const ucp_ep_config_t *config, size_t limit,
                         size_t length)
{
    return best(fragment_unit(config), limit, length);
}

size_t ucp_fragment_last(const ucp_ep_config_t *config, size_t limit,
                         size_t length)
{
    size_t unit = fragment_unit(config);
    size_t size = best(unit, limit, length);
    size_t last;

    if (size == limit) {
        return SIZE_MAX;
    }
    last = (4 * size * size - 1) / unit;
    return (last < MAX_LENGTH) ? last : SIZE_MAX;
}

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
