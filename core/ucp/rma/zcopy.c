/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get by zero-copy: registration of the local memory, fragments over
 * one or several lanes, and restarts of gets after the failure of a lane.
 */
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/order/queue.h"
#include "ucp/proto/memhs.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"
#include "uct/base/md.h"

enum { MAX_ZCOPY_IOV = 16 };

/* --------------------------------------------------------------- start -- */

/* Registers the local side of a zero-copy transfer with the lanes' domains, if
 * they need it. */
static int register_for(ucp_request_t *req, const ucp_rails_t *rails,
                        int is_get)
{
    ucp_rma_data_t *data = ucp_send_rma_data(req);
    ucp_memhs_t *memhs   = &data->memhs;

    data->rails = rails;
    if (!(req->send.ep->config->lanes[rails->rail[0].lane].md_flags &
          UCT_MD_FLAG_NEED_MEMH)) {
        ucp_memhs_none(rails, memhs); /* the same holds for the other rails */
        return 1;
    }
    if (!ucp_dt_iter_is_flat(&req->dt) &&
        (data->local == NULL)) {
        return 0;
    }
    if (ucp_memhs_reg(req->send.ep, rails, UCT_MD_FLAG_NEED_MEMH,
                      data->local,
                      ucp_dt_iter_is_flat(&req->dt) ? req->dt.u.contig.buffer :
                                                      NULL,
                      req->dt.length,
                      is_get ? UCT_MD_MEM_ACCESS_LOCAL_WRITE :
                               UCT_MD_MEM_ACCESS_LOCAL_READ,
                      memhs) != ucp_rails_slots(rails)) {
        ucp_memhs_dereg(req->worker, memhs);
        return 0;
    }
    ucp_send_rma(req)->own_memhs = 1;
    return 1;
}

/* Registers the memory for all rails or, if that fails, for the best lane. */
static int prepare_memory(ucp_request_t *req, int is_get)
{
    const ucp_ep_config_t *config  = req->send.ep->config;
    const ucp_rma_protos_t *protos = ucp_rma_protos(req);

    return register_for(req, &protos->rails, is_get) ||
           ((protos->rails.num > 1) &&
            register_for(req, is_get ? &config->single_get[protos->zcopy_lane] :
                                       &config->single_put[protos->zcopy_lane],
                         is_get));
}

/* Memory that cannot be registered is copied. */
static ucs_status_t init(ucp_request_t *req, uint32_t attr, int is_get)
{
    return prepare_memory(req, is_get) ?
           UCS_OK : ucp_proto_init(req, ucp_rma_protos(req)->copy, attr);
}

/* ------------------------------------------------------------- restart -- */

/* Each restart costs the time of the whole transfer. */
enum { MAX_RETRIES = UCP_MAX_LANES };

static void start_again(void *arg)
{
    ucp_request_t *req            = arg;
    ucp_ep_h ep                   = req->send.ep;
    const ucp_ep_config_t *before = ucp_send_rma(req)->config->ep_config;
    ucs_status_t status           = req->send.comp.status;

    req->send.proto = &ucp_proto_get_zcopy;
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

/* The endpoint ends before the restart. */
static void retry_abort(ucp_request_t *req, ucs_status_t status)
{
    uct_worker_oneshot_cancel(req->worker->uct, start_again, req);
    ucp_rma_abort(req, status);
}

/* A get that waits for its restart: it is in no queue. */
static const ucp_proto_t retry_proto = {
    .name  = "get/zcopy",
    .abort = retry_abort,
    .flags = UCP_PROTO_FLAG_GET
};

/* For a failed get of an endpoint that has not failed: starts it again in the
 * next progress, if a lane is known to be lost by then. Zero: not possible, the
 * get fails. */
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
    ucp_stats_retry(req->send.ep);
    req->send.proto = &retry_proto;
    return 1;
}

/* ---------------------------------------------------------- completion -- */

void ucp_rma_zcopy_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    if (ucs_unlikely(comp->status != UCS_OK) &&
        (req->send.proto->flags & UCP_PROTO_FLAG_RESTARTS) &&
        retry(req)) {
        return;
    }
    ucp_rma_abort(req, comp->status);
}

void ucp_rma_zcopy_posted(ucp_request_t *req, ucs_status_t status)
{
    ucp_send_rma(req)->posted = 1;
    uct_completion_update_status(&req->send.comp, status);
    if (--req->send.comp.count == 0) {
        ucp_rma_zcopy_completed(&req->send.comp);
    }
}

void ucp_rma_zcopy_abort(ucp_request_t *req, ucs_status_t status)
{
    ucp_request_ep_del(req);
    if (ucp_send_rma(req)->posted) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        ucp_rma_zcopy_posted(req, status);
    }
}

/* All of its lanes are lost. If fragments are posted or lanes are suspected,
 * the posted fragments end first: after that it is known which lanes are
 * lost. */
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

/* Posts the chunk. *length_p: its bytes, fewer if the data has many
 * segments. */
static UCS_F_ALWAYS_INLINE ucs_status_t
zcopy_post(ucp_request_t *req, const ucp_rails_chunk_t *chunk, int is_get,
           size_t *length_p)
{
    uct_ep_h uct     = ucp_ep_lane(req->send.ep, req->lane);
    uint64_t address = ucp_send_rma(req)->address + req->dt.offset;
    uct_rkey_t key   = ucp_send_rma(req)->rkey->keys[req->lane];
    uct_iov_t iov[MAX_ZCOPY_IOV];
    size_t iovcnt;

    req->send.comp.func = ucp_rma_zcopy_completed;

    iovcnt = ucp_dt_iter_iov(
            &req->dt, chunk->length, iov,
            (chunk->rail->max_iov < MAX_ZCOPY_IOV) ? chunk->rail->max_iov :
                                                     MAX_ZCOPY_IOV,
            ucp_send_rma_data(req)->memhs.memh[chunk->rail->slot], length_p);
    ++req->send.comp.count;
    return is_get ? uct->ops->get_zcopy(uct, iov, iovcnt, address, key,
                                        &req->send.comp) :
                    uct->ops->put_zcopy(uct, iov, iovcnt, address, key,
                                        &req->send.comp);
}

static UCS_F_ALWAYS_INLINE ucs_status_t
progress(ucp_request_t *req, int is_get)
{
    ucp_ep_h ep = req->send.ep;
    ucp_rails_chunk_t chunk;
    ucs_status_t status;
    size_t length;

    if (req->dt.offset == req->dt.length) {
        ucp_rma_zcopy_posted(req, UCS_OK);
        return UCS_OK;
    }

    chunk = ucp_rails_next(ucp_send_rma_data(req)->rails, req->dt.length,
                           req->dt.offset, ucp_failover_avoid(ep));
    if (ucs_unlikely(chunk.rail == NULL)) {
        return all_lost(req);
    }

    req->lane = chunk.rail->lane;
    status    = zcopy_post(req, &chunk, is_get, &length);
    if (status != UCS_INPROGRESS) {
        --req->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if (status != UCS_OK) {
            if (ucp_failover_suspect(ep, req->lane, status)) {
                return UCS_INPROGRESS; /* the transport did not accept it */
            }
            ucp_rma_zcopy_posted(req, status);
            return UCS_OK;
        }
    }

    if (is_get) {
        ucp_rma_uses_lane(ep, req->lane);
    } else {
        ucp_rma_changes_by_lane(ep, req->lane);
    }
    ucp_dt_iter_advance(&req->dt, length);
    return UCS_INPROGRESS;
}

/* ----------------------------------------------------------- protocols -- */

static ucs_status_t put_init(ucp_request_t *req, uint32_t attr)
{
    return init(req, attr, 0);
}

static ucs_status_t put_progress(ucp_request_t *req)
{
    return progress(req, 0);
}

const ucp_proto_t ucp_proto_put_zcopy = {
    .name     = "put/zcopy",
    .ops      = UCS_BIT(UCP_OP_PUT),
    .query    = ucp_rma_query_zcopy,
    .init     = put_init,
    .progress = put_progress,
    .abort    = ucp_rma_zcopy_abort,
    .flags    = UCP_PROTO_FLAG_ZCOPY,
    .counter  = UCP_STATS_PUT_ZCOPY
};

/* A lost lane may restart the get. */
static ucs_status_t get_init(ucp_request_t *req, uint32_t attr)
{
    if ((req->send.ep->config->num_lanes > 1) &&
        !(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(req, req->send.ep);
    }
    return init(req, attr, 1);
}

static ucs_status_t get_progress(ucp_request_t *req)
{
    return progress(req, 1);
}

const ucp_proto_t ucp_proto_get_zcopy = {
    .name     = "get/zcopy",
    .ops      = UCS_BIT(UCP_OP_GET),
    .query    = ucp_rma_query_zcopy,
    .init     = get_init,
    .progress = get_progress,
    .abort    = ucp_rma_zcopy_abort,
    .flags    = UCP_PROTO_FLAG_GET | UCP_PROTO_FLAG_ZCOPY |
                UCP_PROTO_FLAG_RESTARTS,
    .counter  = UCP_STATS_GET_ZCOPY
};
