/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common parts of put and get: selection of the protocol, zero-copy transfers,
 * retries, and completion. request.c creates the requests.
 */
#include "ucp/order/fence.h"
#include "ucp/rma/rkey.h"

#include "ucp/dt/dt.h"
#include "ucp/proto/memhs.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/failover.h"
#include "ucp/wireup/introduce.h"
#include "uct/base/md.h"

enum { MAX_ZCOPY_IOV = 16 };

/* ----------------------------------------------------------------- end -- */

void ucp_rma_abort(ucp_request_t *req, ucs_status_t status)
{
    if (ucp_send_rma(req)->own_memhs) {
        ucp_memhs_dereg(req->worker, &ucp_send_rma_data(req)->memhs);
        ucp_send_rma(req)->own_memhs = 0;
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    ucp_request_complete_send(req, status);
}

/* --------------------------------------------------------------- begin -- */

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
static int prepare_memory(ucp_request_t *req, const ucp_rma_protos_t *protos,
                          int is_get)
{
    const ucp_ep_config_t *config = req->send.ep->config;

    return register_for(req, &protos->rails, is_get) ||
           ((protos->rails.num > 1) &&
            register_for(req, is_get ? &config->single_get[protos->zcopy_lane] :
                                       &config->single_put[protos->zcopy_lane],
                         is_get));
}

static int is_am(const ucp_proto_t *proto)
{
    return (proto == &ucp_proto_put_am) || (proto == &ucp_proto_get_am);
}

/* The protocol if the memory cannot be registered. */
static const ucp_proto_t *fallback_proto(const ucp_request_t *req,
                                         const ucp_rma_protos_t *protos,
                                         int is_get)
{
    const ucp_rma_config_t *config = ucp_send_rma(req)->config;

    if (!is_get && (protos->bcopy_lane != UCP_NULL_LANE)) {
        return &ucp_proto_put_bcopy;
    }
    if (!config->by_cpu) {
        return NULL;
    }
    return is_get ? &ucp_proto_get_am : &ucp_proto_put_am;
}

/* True if memory that the processor cannot access can be sent zero-copy. */
static int is_reachable(const ucp_request_t *req,
                        const ucp_rma_protos_t *protos, int is_get)
{
    const ucp_lane_config_t *lane;

    if ((protos->zcopy_lane == UCP_NULL_LANE) ||
        !ucp_dt_iter_is_flat(&req->dt)) {
        return 0;
    }
    lane = &req->send.ep->config->lanes[protos->zcopy_lane];
    return ucp_lane_reaches(lane, req->dt.mem_type) &&
           (req->dt.length >= (is_get ? &lane->get : &lane->put)->min_zcopy);
}

/* Selects from the table. Memory that only the lane can access is sent
 * zero-copy instead of in copies. */
static const ucp_proto_t *table_proto(const ucp_request_t *req,
                                      const ucp_rma_protos_t *protos,
                                      int is_get)
{
    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED) &&
        is_reachable(req, protos, is_get)) {
        return is_get ? &ucp_proto_get_zcopy : &ucp_proto_put_zcopy;
    }
    return ucp_proto_find(&protos->tables[req->dt.dt_class], req->dt.length);
}

/* `at_once`: the user wants to reuse the buffer soon. NULL: no protocol. */
static const ucp_proto_t *
select_proto(ucp_request_t *req, const ucp_rma_protos_t *protos, int at_once)
{
    int is_get               = (protos == &ucp_send_rma(req)->config->get);
    const ucp_proto_t *proto = table_proto(req, protos, is_get);

    if ((proto == &ucp_proto_put_zcopy) && at_once &&
        (protos->bcopy_lane != UCP_NULL_LANE)) {
        return &ucp_proto_put_bcopy;
    }
    if (((proto == &ucp_proto_put_zcopy) || (proto == &ucp_proto_get_zcopy)) &&
        !prepare_memory(req, protos, is_get)) {
        return fallback_proto(req, protos, is_get);
    }
    return proto;
}

/* True if the transfer completes in one call of its progress function, or not
 * at all. */
static int is_immediate(const ucp_request_t *req,
                        const ucp_rma_protos_t *protos,
                        const ucp_proto_t *proto)
{
    const ucp_ep_config_t *config = req->send.ep->config;

    if ((proto == &ucp_proto_put_short) || (proto == &ucp_proto_get_short)) {
        return 1;
    }
    if (req->dt.dt_class == UCP_DT_CLASS_GENERIC) {
        return 0; /* its pack may return any number of bytes */
    }
    if (proto == &ucp_proto_put_bcopy) {
        return req->dt.length <=
               config->lanes[protos->bcopy_lane].put.max_bcopy;
    }
    return (proto == &ucp_proto_put_am) &&
           (req->dt.length <= ucp_ep_config_am(config)->max_bcopy -
                              sizeof(ucp_rma_put_t));
}

/* Adds the request to the endpoint's list, until the request completes. */
static void keep_on_ep(ucp_request_t *req)
{
    if (!(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(req, req->send.ep);
    }
}

/* Called before the first message that needs a reply or whose failure is
 * reported in an ACK. */
static ucs_status_t prepare_am(ucp_request_t *req, int is_get)
{
    ucp_ep_h ep         = req->send.ep;
    ucs_status_t status = ucp_wireup_introduce(ep);

    if ((status == UCS_OK) && is_get) {
        status = ucp_request_id_add(req);
        if (status == UCS_OK) {
            keep_on_ep(req);
        }
    }
    return status;
}

/* Sets the protocol of the request before its start; NULL: none. */
static ucs_status_t prepare(ucp_request_t *req, const ucp_proto_t *proto)
{
    ucs_status_t status = UCS_OK;

    if (proto == NULL) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (is_am(proto)) {
        status = prepare_am(req, proto == &ucp_proto_get_am);
    } else if ((proto == &ucp_proto_get_zcopy) &&
               (req->send.ep->config->num_lanes > 1)) {
        keep_on_ep(req); /* a lost lane may restart it */
    }
    req->send.proto       = proto;
    req->send.comp.count  = 1; /* dropped when all fragments are posted */
    req->send.comp.status = UCS_OK;
    return status;
}

static ucs_status_ptr_t fail_op(ucp_request_t *req, ucs_status_t status)
{
    req->flags |= UCP_REQUEST_FLAG_RELEASED;
    ucp_rma_abort(req, status);
    return UCS_STATUS_PTR(status);
}

ucs_status_ptr_t
ucp_rma_start(ucp_request_t *req, const ucp_rma_protos_t *protos,
              const ucp_request_param_t *param)
{
    const uint32_t at_once = UCP_OP_ATTR_FLAG_FAST_CMPL |
                             UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    const ucp_proto_t *proto;
    ucs_status_t status;

    if (req->send.ep->flags & UCP_EP_FLAG_FAILED) {
        return fail_op(req, req->send.ep->fail_status);
    }
    if (req->dt.length == 0) {
        ucp_rma_abort(req, UCS_OK);
        return ucp_request_send_result(req, param);
    }

    proto  = select_proto(req, protos, !!(param->op_attr_mask & at_once));
    status = prepare(req, proto);
    if (status != UCS_OK) {
        return fail_op(req, status);
    }
    if (proto->counter != 0) {
        ucp_stats_sent(req->send.ep, proto->counter, req->dt.length);
    }
    if (ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL))) {
        ucp_rma_start_behind_fence(req);
        return ucp_request_send_result(req, param);
    }

    if (!is_immediate(req, protos, proto) ||
        (req->send.ep->flags & UCP_EP_FLAGS_SLOW) ||
        (ucp_rma_fence_check(req) != UCS_OK) ||
        (proto->progress(req) != UCS_OK)) {
        return fail_op(req, UCS_ERR_NO_RESOURCE);
    }
    return ucp_request_send_result(req, param);
}

/* ------------------------------------------------------------- failover -- */

/* Each restart costs the time of the whole transfer. */
enum { MAX_RETRIES = UCP_MAX_LANES };

/* Selects again among the lanes that are left. */
static ucs_status_t select_again(ucp_request_t *req)
{
    ucp_rma_op_t *op               = ucp_send_rma(req);
    const ucp_rma_config_t *before = op->config;
    int is_get                     = !!(req->send.proto->flags &
                                        UCP_PROTO_FLAG_GET);

    op->config = ucp_rkey_config(op->rkey,
                                                req->send.ep);
    if (op->config == NULL) {
        op->config = before;
        return UCS_ERR_NO_MEMORY;
    }
    if (op->own_memhs) {
        ucp_memhs_dereg(req->worker, &ucp_send_rma_data(req)->memhs);
        op->own_memhs = 0;
    }
    op->posted = 0;
    return prepare(req, select_proto(req,
                                     is_get ? &op->config->get :
                                              &op->config->put,
                                     0));
}

ucs_status_t ucp_rma_reroute(ucp_request_t *req)
{
    ucs_status_t status = (req->dt.offset > 0) ? UCS_ERR_CONNECTION_RESET :
                                                 select_again(req);

    if (status != UCS_OK) {
        ucp_rma_abort(req, status);
        return UCS_OK;
    }
    return UCS_INPROGRESS;
}

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
        status = select_again(req);
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

/* ----------------------------------------------------------- zero-copy -- */

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
zcopy_progress(ucp_request_t *req, int is_get)
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

ucs_status_t ucp_rma_put_zcopy_progress(ucp_request_t *req)
{
    return zcopy_progress(req, 0);
}

ucs_status_t ucp_rma_get_zcopy_progress(ucp_request_t *req)
{
    return zcopy_progress(req, 1);
}
