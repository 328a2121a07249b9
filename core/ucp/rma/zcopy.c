/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get by zero-copy: registration of the local memory, fragments over
 * one or several lanes, and restarts of gets after the failure of a lane.
 */
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/proto/zcopy.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"

/* --------------------------------------------------------------- start -- */

/* Registers the local side of a transfer over these lanes. Returns zero if that
 * is not possible. */
static int register_for(ucp_request_t *req, const ucp_rails_t *rails)
{
    ucp_send_rma_data(req)->rails = rails;
    ucp_send_rma(req)->own_memhs  = (uint8_t)
        ucp_zcopy_register(req->send.ep, rails, &req->dt, req->dt.length,
                           &ucp_send_rma_data(req)->memhs);
    return ucp_send_rma(req)->own_memhs;
}

/* Registers the memory for all rails or, if that fails, for the best lane.
 * Memory that cannot be registered is copied. */
static ucs_status_t init(ucp_request_t *req, uint32_t attr)
{
    const ucp_ep_config_t *config  = req->send.ep->config;
    const ucp_rma_protos_t *protos = ucp_rma_protos(req);

    if (register_for(req, &protos->rails) ||
        ((protos->rails.num > 1) &&
         register_for(req, protos->rails.is_get ?
                               &config->single_get[protos->zcopy_lane] :
                               &config->single_put[protos->zcopy_lane]))) {
        return UCS_OK;
    }
    return ucp_proto_init(req, protos->copy, attr);
}

/* ------------------------------------------------------------- restart -- */

/* How often a transfer may restart after the failure of a lane: each restart
 * repeats the whole transfer. */
enum { MAX_RETRIES = UCP_MAX_LANES };

static void start_again(void *arg)
{
    ucp_request_t *req            = arg;
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *before = ucp_send_rma(req)->config->ep_config;
    ucs_status_t status           = req->send.comp.status;

    ucp_send_rma(req)->retrying = 0;
    if (((ep->config != before) && (ep->config->multi != before)) ||
        (ucp_send_rma(req)->retries == 1)) {
        if (req->dt.dt_class != UCP_DT_CLASS_GENERIC) {
            ucp_dt_iter_rewind(&req->dt);
        }
        status = ucp_rma_select_again(req);
    }
    if (status != UCS_OK) {
        ucp_rma_abort(req, status);
    } else {
        ucp_request_start(req);
    }
}

/* Restarts a failed get in the next progress. Later restarts than the first one
 * take place only if the endpoint's configuration has changed by then, for
 * example because a lane has failed; otherwise the get fails. Until the restart
 * the request is in no queue. Returns zero if a restart is not possible. */
static int retry(ucp_request_t *req)
{
    /* A failed or closed endpoint has removed the request from its list. */
    if (!(req->flags & UCP_REQUEST_FLAG_ON_EP) ||
        (req->send.ep->flags & UCP_EP_FLAG_FAILED) ||
        (ucp_send_rma(req)->retries == MAX_RETRIES) ||
        (uct_worker_oneshot_add(req->worker->uct, start_again, req) !=
         UCS_OK)) {
        return 0;
    }
    ++ucp_send_rma(req)->retries;
    ucp_send_rma(req)->retrying = 1;
    ucp_stats_retry(req->send.ep);
    return 1;
}

/* ---------------------------------------------------------- completion -- */

void ucp_rma_zcopy_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    if (ucs_unlikely(comp->status != UCS_OK) &&
        (req->send.proto->flags & UCP_PROTO_FLAG_RESTARTS) && retry(req)) {
        return;
    }
    ucp_rma_abort(req, comp->status);
}

void ucp_rma_zcopy_posted(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_rma(req)->posted = 1;
    ucp_request_posted(req, status);
}

void ucp_rma_zcopy_abort(ucp_request_t *req, ucs_status_t status)
{
    if (ucs_unlikely(ucp_send_rma(req)->retrying)) {
        uct_worker_oneshot_cancel(req->worker->uct, start_again, req);
        ucp_rma_abort(req, status);
        return;
    }
    ucp_request_ep_del(req);
    if (ucp_send_rma(req)->posted) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        ucp_rma_zcopy_posted(req, status);
    }
}

/* Called when no lane can carry the rest of the request. If nothing is posted
 * and these lanes have definitely failed, selects another protocol. Otherwise
 * the request ends with an error when the posted fragments are complete; a get
 * may then restart. */
static ucs_status_t all_lost(ucp_request_t *req)
{
    if ((req->dt.offset == 0) && (req->send.comp.count == 1) &&
        (req->send.ep->suspects == 0)) {
        return ucp_rma_reroute(req);
    }
    ucp_rma_zcopy_posted(req, UCS_ERR_CONNECTION_RESET);
    return UCS_OK;
}

/* ------------------------------------------------------------- progress -- */

static ucs_status_t progress(ucp_request_t *req)
{
    const ucp_rails_t *rails = ucp_send_rma_data(req)->rails;
    ucp_ep_h ep              = req->send.ep;
    ucp_rails_chunk_t chunk;
    ucs_status_t status;

    if (req->dt.offset == req->dt.length) {
        ucp_rma_zcopy_posted(req, UCS_OK);
        return UCS_OK;
    }

    chunk = ucp_rails_next(rails, req->dt.length, req->dt.offset,
                           ucp_failover_avoid(ep));
    if (ucs_unlikely(chunk.rail == NULL)) {
        return all_lost(req);
    }

    status = ucp_zcopy_post(req, rails, &chunk,
                            ucp_send_rma(req)->address + req->dt.offset,
                            ucp_send_rma(req)->rkey->keys[chunk.rail->lane],
                            &ucp_send_rma_data(req)->memhs);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    if (status != UCS_OK) {
        if (ucp_failover_suspect(ep, req->lane, status)) {
            return UCS_INPROGRESS; /* the lane did not accept the chunk: try
                                    * another lane */
        }
        ucp_rma_zcopy_posted(req, status);
        return UCS_OK;
    }

    if (rails->is_get) {
        ucp_rma_uses_lane(ep, req->lane);
    } else {
        ucp_rma_changes_by_lane(ep, req->lane);
    }
    return UCS_INPROGRESS;
}

/* ----------------------------------------------------------- protocols -- */

const ucp_proto_t ucp_proto_put_zcopy = {
    .name     = "put/zcopy",
    .ops      = UCS_BIT(UCP_OP_PUT),
    .query    = ucp_rma_query_zcopy,
    .init     = init,
    .progress = progress,
    .abort    = ucp_rma_zcopy_abort,
    .flags    = UCP_PROTO_FLAG_ZCOPY,
    .counter  = UCP_STATS_PUT_ZCOPY,
};

/* If the endpoint has several lanes, adds the request to its list `awaited`,
 * because the get may restart when a lane has failed. */
static ucs_status_t get_init(ucp_request_t *req, uint32_t attr)
{
    if ((req->send.ep->config->num_lanes > 1) &&
        !(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(req, req->send.ep);
    }
    return init(req, attr);
}

const ucp_proto_t ucp_proto_get_zcopy = {
    .name     = "get/zcopy",
    .ops      = UCS_BIT(UCP_OP_GET),
    .query    = ucp_rma_query_zcopy,
    .init     = get_init,
    .progress = progress,
    .abort    = ucp_rma_zcopy_abort,
    .flags    = UCP_PROTO_FLAG_GET | UCP_PROTO_FLAG_ZCOPY |
             UCP_PROTO_FLAG_RESTARTS,
    .counter = UCP_STATS_GET_ZCOPY,
};
