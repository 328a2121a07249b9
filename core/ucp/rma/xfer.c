/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What put and get have in common: taking a request, choosing the protocol,
 * transfers from place, and the end.
 */
#include "ucp/rma/fence.h"
#include "ucp/rma/rkey.h"

#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "uct/base/md.h"

enum { MAX_ZCOPY_IOV = 16 };

/* ----------------------------------------------------------------- end -- */

void ucp_rma_abort(ucp_request_t *req, ucs_status_t status)
{
    if (req->send.rma.own_memh) {
        uct_md_mem_dereg(
                req->worker->context->mds[req->send.rma.md_index].md,
                req->send.rma.memh);
        req->send.rma.own_memh = 0;
    }
    ucp_dt_iter_finish(&req->dt);
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    ucp_request_complete_send(req, status);
}

/* --------------------------------------------------------------- begin -- */

ucp_request_t *
ucp_rma_request(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr,
                ucp_rkey_h rkey, int is_get, const ucp_request_param_t *param,
                ucs_status_t *status_p)
{
    unsigned right = is_get ? UCP_MEM_MAP_PROT_REMOTE_READ :
                              UCP_MEM_MAP_PROT_REMOTE_WRITE;
    ucp_request_t *req;

    *status_p = UCS_ERR_INVALID_PARAM;
    if (!ucp_rkey_is_for(rkey, ep)) {
        ucs_error("a remote key is used on another endpoint than it was"
                  " unpacked on");
        return NULL;
    }

    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }

    *status_p = ucp_dt_iter_begin(ep->worker, &req->dt, buffer, count, param,
                                  is_get);
    if (*status_p != UCS_OK) {
        goto err;
    }

    if ((req->dt.length > 0) &&
        !ucp_rkey_covers(rkey, remote_addr, req->dt.length)) {
        ucs_diag("refused a %s of %zu bytes at 0x%lx: the key is for %lu bytes"
                 " at 0x%lx", is_get ? "get" : "put", req->dt.length,
                 remote_addr, rkey->length, rkey->address);
        *status_p = UCS_ERR_INVALID_ADDR;
        goto err_finish;
    }
    if (!(rkey->prot & right)) {
        ucs_diag("refused a %s: the memory's owner does not allow it",
                 is_get ? "get" : "put");
        *status_p = UCS_ERR_REJECTED;
        goto err_finish;
    }

    req->send.ep           = ep;
    req->send.rma.address  = remote_addr;
    req->send.rma.rkey     = rkey;
    req->send.rma.key      = rkey->id;
    req->send.rma.memh     = UCT_MEM_HANDLE_NULL;
    req->send.rma.local    = (param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) ?
                             param->memh : NULL;
    req->send.rma.received = 0;
    req->send.rma.asked    = 0;
    req->send.rma.own_memh = 0;
    return req;

err_finish:
    ucp_dt_iter_finish(&req->dt);
err:
    ucp_request_put(req);
    return NULL;
}

/* The local side of a transfer from place: known to the lane's domain, if that
 * is needed. */
static ucs_status_t prepare_memory(ucp_request_t *req, unsigned lane,
                                   unsigned access)
{
    const ucp_lane_config_t *config = &req->send.ep->config->lanes[lane];
    ucs_status_t status;

    if (!(config->md_flags & UCT_MD_FLAG_NEED_MEMH)) {
        return UCS_OK;
    }

    req->send.rma.md_index = config->md_index;
    if (req->send.rma.local != NULL) {
        req->send.rma.memh = ucp_mem_of_domain(req->send.rma.local,
                                               config->md_index);
        if (req->send.rma.memh != UCT_MEM_HANDLE_NULL) {
            return UCS_OK;
        }
    }
    if (!ucp_dt_iter_is_flat(&req->dt)) {
        return UCS_ERR_UNSUPPORTED;
    }

    status = uct_md_mem_reg(
            req->worker->context->mds[config->md_index].md,
            req->dt.u.contig.buffer, req->dt.length, access,
            &req->send.rma.memh);
    req->send.rma.own_memh = (status == UCS_OK);
    return status;
}

static int is_am(const ucp_proto_t *proto)
{
    return (proto == &ucp_proto_put_am) || (proto == &ucp_proto_get_am);
}

/* What else there is when the data cannot be taken from its place. */
static const ucp_proto_t *second_choice(const ucp_request_t *req,
                                        const ucp_rma_way_t *way, int is_get)
{
    const ucp_rma_config_t *config = req->send.rma.rkey->config;

    if (!is_get && (way->bcopy_lane != UCP_NULL_LANE)) {
        return &ucp_proto_put_bcopy;
    }
    if (!config->by_cpu) {
        return NULL;
    }
    return is_get ? &ucp_proto_get_am : &ucp_proto_put_am;
}

/* Can memory that the processor may not touch go from place? */
static int is_in_reach(const ucp_request_t *req, const ucp_rma_way_t *way,
                       int is_get)
{
    const ucp_lane_config_t *lane;

    if ((way->zcopy_lane == UCP_NULL_LANE) || !ucp_dt_iter_is_flat(&req->dt)) {
        return 0;
    }
    lane = &req->send.ep->config->lanes[way->zcopy_lane];
    return ucp_lane_reaches(lane, req->dt.mem_type) &&
           (req->dt.length >= (is_get ? &lane->get : &lane->put)->min_zcopy);
}

/* What the table says; from place, rather than through copies, what only the
 * lane reaches. */
static const ucp_proto_t *
look_up(const ucp_request_t *req, const ucp_rma_way_t *way, int is_get)
{
    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED) &&
        is_in_reach(req, way, is_get)) {
        return is_get ? &ucp_proto_get_zcopy : &ucp_proto_put_zcopy;
    }
    return ucp_proto_find(&way->tables[req->dt.dt_class], req->dt.length);
}

static const ucp_proto_t *choose(ucp_request_t *req, const ucp_rma_way_t *way,
                                 const ucp_request_param_t *param)
{
    int is_get               = (way == &req->send.rma.rkey->config->get);
    const ucp_proto_t *proto = look_up(req, way, is_get);

    if ((proto == &ucp_proto_put_zcopy) &&
        (param->op_attr_mask & (UCP_OP_ATTR_FLAG_FAST_CMPL |
                                UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) &&
        (way->bcopy_lane != UCP_NULL_LANE)) {
        return &ucp_proto_put_bcopy; /* the buffer is to be free soon */
    }
    if (((proto == &ucp_proto_put_zcopy) || (proto == &ucp_proto_get_zcopy)) &&
        (prepare_memory(req, way->zcopy_lane,
                        is_get ? UCT_MD_MEM_ACCESS_LOCAL_WRITE :
                                 UCT_MD_MEM_ACCESS_LOCAL_READ) != UCS_OK)) {
        return second_choice(req, way, is_get);
    }
    return proto;
}

/* True if the transfer ends within one call of its progress, if at all. */
static int is_immediate(const ucp_request_t *req, const ucp_rma_way_t *way,
                        const ucp_proto_t *proto)
{
    const ucp_ep_config_t *config = req->send.ep->config;

    if ((proto == &ucp_proto_put_short) || (proto == &ucp_proto_get_short)) {
        return 1;
    }
    if (req->dt.dt_class == UCP_DT_CLASS_GENERIC) {
        return 0; /* it may pack in as many pieces as it likes */
    }
    if (proto == &ucp_proto_put_bcopy) {
        return req->dt.length <= config->lanes[way->bcopy_lane].put.max_bcopy;
    }
    return (proto == &ucp_proto_put_am) &&
           (req->dt.length <= ucp_ep_config_am(config)->max_bcopy -
                              sizeof(ucp_rma_put_t));
}

/* Before the first message that wants an answer, or whose failure does. */
static ucs_status_t prepare_am(ucp_request_t *req, int is_get)
{
    ucp_ep_h ep         = req->send.ep;
    ucs_status_t status = ucp_wireup_introduce(ep);

    if ((status == UCS_OK) && is_get) {
        status = ucp_request_id_add(req);
        if (status == UCS_OK) {
            ucp_request_ep_add(req, ep);
        }
    }
    return status;
}

static ucs_status_ptr_t give_up(ucp_request_t *req, ucs_status_t status)
{
    req->flags |= UCP_REQUEST_FLAG_RELEASED;
    ucp_rma_abort(req, status);
    return UCS_STATUS_PTR(status);
}

ucs_status_ptr_t
ucp_rma_start(ucp_request_t *req, const ucp_rma_way_t *way,
              const ucp_request_param_t *param)
{
    int is_get = (way == &req->send.rma.rkey->config->get);
    const ucp_proto_t *proto;
    ucs_status_t status;

    if (req->send.ep->flags & UCP_EP_FLAG_FAILED) {
        return give_up(req, req->send.ep->fail_status);
    }
    if (req->dt.length == 0) {
        ucp_rma_abort(req, UCS_OK);
        return ucp_request_send_result(req, param);
    }

    proto = choose(req, way, param);
    if (proto == NULL) {
        return give_up(req, UCS_ERR_UNSUPPORTED);
    }
    if (is_am(proto)) {
        status = prepare_am(req, is_get);
        if (status != UCS_OK) {
            return give_up(req, status);
        }
    }

    req->send.progress    = proto->progress;
    req->send.abort       = proto->abort;
    req->send.comp.count  = 1; /* ours, until everything is posted */
    req->send.comp.status = UCS_OK;
    if (ucs_likely(!(param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL))) {
        ucp_rma_start_behind_fence(req);
        return ucp_request_send_result(req, param);
    }

    if (!is_immediate(req, way, proto) ||
        (req->send.ep->flags & UCP_RMA_EP_FLAGS_SLOW) ||
        (proto->progress(req) != UCS_OK)) {
        return give_up(req, UCS_ERR_NO_RESOURCE);
    }
    return ucp_request_send_result(req, param);
}

/* ---------------------------------------------------------- from place -- */

void ucp_rma_zcopy_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_rma_abort(req, comp->status);
}

void ucp_rma_zcopy_posted(ucp_request_t *req, ucs_status_t status)
{
    req->send.rma.asked = 1;
    uct_completion_update_status(&req->send.comp, status);
    if (--req->send.comp.count == 0) {
        ucp_rma_zcopy_completed(&req->send.comp);
    }
}

void ucp_rma_zcopy_abort(ucp_request_t *req, ucs_status_t status)
{
    if (req->send.rma.asked) {
        uct_completion_update_status(&req->send.comp, status);
    } else {
        ucp_rma_zcopy_posted(req, status);
    }
}

/* Bytes of the next piece: the last one must not be below the minimum. */
static size_t piece_length(const ucp_lane_rma_t *rma, size_t left)
{
    if (left <= rma->max_zcopy) {
        return left;
    }
    return (left - rma->max_zcopy < rma->min_zcopy) ?
           rma->max_zcopy - rma->min_zcopy : rma->max_zcopy;
}

static UCS_F_ALWAYS_INLINE ucs_status_t
zcopy_progress(ucp_request_t *req, const ucp_rma_way_t *way, int is_get)
{
    ucp_ep_h ep   = req->send.ep;
    unsigned lane = way->zcopy_lane;
    const ucp_lane_rma_t *rma = is_get ? &ep->config->lanes[lane].get :
                                         &ep->config->lanes[lane].put;
    uct_ep_h uct              = ucp_ep_lane(ep, lane);
    uint64_t address          = req->send.rma.address + req->dt.offset;
    uct_rkey_t key            = req->send.rma.rkey->keys[lane];
    uct_iov_t iov[MAX_ZCOPY_IOV];
    size_t iovcnt, length;
    ucs_status_t status;

    if (req->dt.offset == req->dt.length) {
        ucp_rma_zcopy_posted(req, UCS_OK);
        return UCS_OK;
    }

    req->lane           = (uint8_t)lane;
    req->send.comp.func = ucp_rma_zcopy_completed;
    iovcnt = ucp_dt_iter_iov(&req->dt,
                             piece_length(rma, req->dt.length - req->dt.offset),
                             iov, (rma->max_iov < MAX_ZCOPY_IOV) ?
                                  rma->max_iov : MAX_ZCOPY_IOV,
                             req->send.rma.memh, &length);
    ++req->send.comp.count;
    status = is_get ? uct->ops->get_zcopy(uct, iov, iovcnt, address, key,
                                          &req->send.comp) :
                      uct->ops->put_zcopy(uct, iov, iovcnt, address, key,
                                          &req->send.comp);
    if (status != UCS_INPROGRESS) {
        --req->send.comp.count;
        if (status == UCS_ERR_NO_RESOURCE) {
            return status;
        }
        if (status != UCS_OK) {
            ucp_rma_zcopy_posted(req, status);
            return UCS_OK;
        }
    }

    ucp_rma_uses_lane(ep, lane);
    ucp_dt_iter_advance(&req->dt, length);
    return UCS_INPROGRESS;
}

ucs_status_t ucp_rma_put_zcopy_progress(ucp_request_t *req)
{
    return zcopy_progress(req, &req->send.rma.rkey->config->put, 0);
}

ucs_status_t ucp_rma_get_zcopy_progress(ucp_request_t *req)
{
    return zcopy_progress(req, &req->send.rma.rkey->config->get, 1);
}
