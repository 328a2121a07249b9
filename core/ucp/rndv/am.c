/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous by fragments in active messages (DATA, see rndv.h): for any
 * datatype and any transport.
 */
#include "ucp/rndv/rndv.h"

#include "ucp/dt/dt.h"
#include "ucs/debug/log.h"

static void fill_header(const ucp_request_t *req, ucp_rndv_data_t *hdr)
{
    hdr->recv_request = ucp_le32(ucp_send_rndv(req)->remote_id);
    hdr->offset       = ucp_le64(ucp_send_rndv(req)->address + req->dt.offset);
}

/* Fragments have the maximum size if other requests of the endpoint wait: the
 * receiver then copies data of one message while the sender copies another. */
static size_t fragment_size(const ucp_request_t *req)
{
    ucp_ep_h ep  = req->send.ep;
    size_t limit = ucp_rndv_am_fragment(ep->config, req->dt.dt_class);

    return ucs_queue_is_empty(&ep->waiting) ?
               ucp_fragment_best(ep->config, limit, req->dt.length) :
               limit;
}

static size_t data_pack(void *dest, void *arg)
{
    ucp_request_t *req   = arg;
    ucp_rndv_data_t *hdr = dest;

    fill_header(req, hdr);
    return sizeof(*hdr) +
           ucp_dt_iter_pack(&req->dt, hdr + 1, fragment_size(req));
}

static void all_sent(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_rndv_send_end(req, comp->status);
}

/* Stops the transfer and sends the error to the receiver, which waits for
 * data. */
static void fail(ucp_request_t *req, ucs_status_t status)
{
    uint32_t recv_request = ucp_send_rndv(req)->remote_id;
    ucp_ep_h ep           = req->send.ep;

    ucp_rndv_send_posted(req, status); /* may free the request */
    ucp_rndv_send_failure(ep, recv_request, status);
}

static ucs_status_t zcopy_fragment(ucp_request_t *req, size_t fragment)
{
    ucp_rndv_data_t hdr;

    fill_header(req, &hdr);
    return ucp_fragment_zcopy(req, UCP_AM_ID_RNDV_DATA, &hdr, sizeof(hdr),
                              fragment);
}

static ucs_status_t am_progress(ucp_request_t *req)
{
    const ucp_ep_config_t *config = req->send.ep->config;
    size_t fragment               = fragment_size(req);
    size_t before                 = req->dt.offset;
    ucs_status_t status;

    req->send.comp.func = all_sent;
    status              = ucp_rndv_am_is_zcopy(config, req->dt.dt_class) ?
                              zcopy_fragment(req, fragment) :
                              ucp_fragment_copy(req, UCP_AM_ID_RNDV_DATA, data_pack,
                                                fragment);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    status = ucp_fragment_check(req, before, status);
    if (status != UCS_OK) {
        fail(req, status);
        return UCS_OK;
    }
    if (req->dt.offset < req->dt.length) {
        return UCS_INPROGRESS;
    }
    ucp_rndv_send_posted(req, UCS_OK);
    return UCS_OK;
}

const ucp_proto_t ucp_proto_rndv_am = {
    .name     = "rndv/am",
    .ops      = UCS_BIT(UCP_OP_RNDV),
    .query    = ucp_rndv_query_am,
    .progress = am_progress,
    .abort    = ucp_rndv_data_abort,
    .flags    = UCP_PROTO_FLAG_MESSAGES | UCP_PROTO_FLAG_BEGUN,
};

/* -------------------------------------------------------------- receiver -- */

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
    offset = ucp_le64_get(hdr->offset);
    if ((length > ucp_recv_rndv(req)->remaining) ||
        (offset > req->recv.info.length) ||
        (length > req->recv.info.length - offset)) {
        ucs_diag("a fragment of %zu bytes at %lu is beyond its message of %zu",
                 length, offset, req->recv.info.length);
        ucp_rndv_recv_end(req, UCS_ERR_IO_ERROR);
        return UCS_OK;
    }

    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED)) {
        ucp_rndv_staged_arrived(req, offset, hdr + 1, length);
        return UCS_OK;
    }

    status = ucp_dt_iter_unpack(&req->dt, offset, hdr + 1, length);
    if ((status != UCS_OK) && (req->status == UCS_INPROGRESS)) {
        req->status = status; /* The receive completes with this error, but not
                               * before all data has arrived */
    }
    ucp_recv_rndv(req)->remaining -= length;
    if (ucp_recv_rndv(req)->remaining == 0) {
        ucp_rndv_recv_end(req, (req->status == UCS_INPROGRESS) ? UCS_OK :
                                                                 req->status);
    }
    return UCS_OK;
}
