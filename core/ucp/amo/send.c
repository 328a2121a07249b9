/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_atomic_op_nbx, and the protocol that uses a transport's atomics. am.c
 * has the other protocol, by active messages.
 */
#include "ucp/amo/amo.h"

#include "ucp/dt/dt.h"
#include "ucp/order/start.h"
#include "ucp/rma/symmetric.h"
#include "ucp/stage/stage.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

_Static_assert(((int)UCP_ATOMIC_OP_ADD == UCP_AMO_WIRE_ADD) &&
                   ((int)UCP_ATOMIC_OP_SWAP == UCP_AMO_WIRE_SWAP) &&
                   ((int)UCP_ATOMIC_OP_CSWAP == UCP_AMO_WIRE_CSWAP) &&
                   ((int)UCP_ATOMIC_OP_AND == UCP_AMO_WIRE_AND) &&
                   ((int)UCP_ATOMIC_OP_OR == UCP_AMO_WIRE_OR) &&
                   ((int)UCP_ATOMIC_OP_XOR == UCP_AMO_WIRE_XOR),
               "the user's numbers travel as they are");

/* The UCT operation of each UCP operation. */
static const uct_atomic_op_t lane_ops[] = {
    [UCP_ATOMIC_OP_ADD]   = UCT_ATOMIC_OP_ADD,
    [UCP_ATOMIC_OP_SWAP]  = UCT_ATOMIC_OP_SWAP,
    [UCP_ATOMIC_OP_CSWAP] = UCT_ATOMIC_OP_CSWAP,
    [UCP_ATOMIC_OP_AND]   = UCT_ATOMIC_OP_AND,
    [UCP_ATOMIC_OP_OR]    = UCT_ATOMIC_OP_OR,
    [UCP_ATOMIC_OP_XOR]   = UCT_ATOMIC_OP_XOR,
};

static ucs_status_t post32(ucp_request_t *req, uct_ep_h uct, uct_rkey_t key)
{
    return uct->ops->atomic32_post(uct, lane_ops[ucp_send_amo(req)->op],
                                   (uint32_t)ucp_send_amo(req)->operand,
                                   ucp_send_rma(req)->address, key);
}

static ucs_status_t post64(ucp_request_t *req, uct_ep_h uct, uct_rkey_t key)
{
    return uct->ops->atomic64_post(uct, lane_ops[ucp_send_amo(req)->op],
                                   ucp_send_amo(req)->operand,
                                   ucp_send_rma(req)->address, key);
}

static ucs_status_t fetch32(ucp_request_t *req, uct_ep_h uct, uct_rkey_t key)
{
    ucp_amo_data_t *amo = ucp_send_amo(req);
    uint32_t *result    = amo->result;
    uint32_t operand    = (uint32_t)amo->operand;

    if (amo->op == UCP_ATOMIC_OP_CSWAP) {
        return uct->ops->atomic_cswap32(uct, operand, *result,
                                        ucp_send_rma(req)->address, key, result,
                                        &req->send.comp);
    }
    return uct->ops->atomic32_fetch(uct, lane_ops[amo->op], operand, result,
                                    ucp_send_rma(req)->address, key,
                                    &req->send.comp);
}

static ucs_status_t fetch64(ucp_request_t *req, uct_ep_h uct, uct_rkey_t key)
{
    ucp_amo_data_t *amo = ucp_send_amo(req);
    uint64_t *result    = amo->result;
    uint64_t operand    = amo->operand;

    if (amo->op == UCP_ATOMIC_OP_CSWAP) {
        return uct->ops->atomic_cswap64(uct, operand, *result,
                                        ucp_send_rma(req)->address, key, result,
                                        &req->send.comp);
    }
    return uct->ops->atomic64_fetch(uct, lane_ops[amo->op], operand, result,
                                    ucp_send_rma(req)->address, key,
                                    &req->send.comp);
}

void ucp_amo_end(ucp_request_t *req, ucs_status_t status)
{
    if (ucs_unlikely(req->dt.dt_class == UCP_DT_CLASS_STAGED) &&
        (status == UCS_OK) && (ucp_send_amo(req)->result != NULL)) {
        status = ucp_dt_iter_unpack(&req->dt, 0, &ucp_send_amo(req)->staged,
                                    ucp_send_amo(req)->size);
    }
    ucp_rma_abort(req, status);
}

static void fetch_completed(uct_completion_t *comp)
{
    ucp_request_t *req = ucs_container_of(comp, ucp_request_t, send.comp);

    ucp_amo_end(req, comp->status);
}

static ucs_status_t select_proto(ucp_request_t *req,
                                 const ucp_proto_t **proto_p);

/* The lane has failed before the operation started: selects a protocol again,
 * which uses another lane or messages. */
static ucs_status_t reroute(ucp_request_t *req)
{
    const ucp_proto_t *proto;
    ucs_status_t status = select_proto(req, &proto);

    /* Only protocols over lanes set this member; messages use UCP_AM_LANE */
    req->lane = UCP_AM_LANE;
    if (status == UCS_OK) {
        status = ucp_proto_init(req, proto, 0);
    }
    if (status != UCS_OK) {
        ucp_amo_end(req, status);
        return UCS_OK;
    }
    return UCS_INPROGRESS;
}

static ucs_status_t lane_progress(ucp_request_t *req)
{
    const ucp_rkey_t *rkey = ucp_send_rma(req)->rkey;
    ucp_ep_h ep            = req->send.ep;
    unsigned lane          = ucp_send_rma(req)->config->amo_lane;
    uct_ep_h uct           = ucp_ep_lane(ep, lane);
    uct_rkey_t key         = rkey->keys[lane];
    int is32               = (ucp_send_amo(req)->size == sizeof(uint32_t));
    ucs_status_t status;

    if (ucs_unlikely(ep->config->lost & UCS_BIT(lane))) {
        return reroute(req);
    }

    req->lane           = (uint8_t)lane;
    req->send.comp.func = fetch_completed;
    if (ucp_send_amo(req)->result == NULL) {
        status = is32 ? post32(req, uct, key) : post64(req, uct, key);
        /* The operation is complete for the user as soon as it is posted. A
         * flush waits until the transport has completed it. */
        status = (status == UCS_INPROGRESS) ? UCS_OK : status;
    } else {
        status = is32 ? fetch32(req, uct, key) : fetch64(req, uct, key);
    }
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }

    ucp_rma_changes_by_lane(ep, lane);
    if (status != UCS_INPROGRESS) {
        ucp_amo_end(req, status);
    }
    return UCS_OK;
}

int ucp_amo_lane_can(const ucp_proto_query_t *query)
{
    const ucp_lane_config_t *lane;
    uint64_t ops;

    if (query->key->amo_lane == UCP_NULL_LANE) {
        return 0;
    }
    lane = &query->config->lanes[query->key->amo_lane];
    if (query->atomic_size == sizeof(uint32_t)) {
        ops = query->fetch ? lane->amo.fetch32 : lane->amo.post32;
    } else {
        ops = query->fetch ? lane->amo.fetch64 : lane->amo.post64;
    }
    return (ops >> lane_ops[query->atomic_op]) & 1;
}

static unsigned lane_query(const ucp_proto_query_t *query,
                           ucp_proto_range_t *range)
{
    return ucp_amo_lane_can(query);
}

/* An operation with a result may be incomplete after the call of the progress
 * function, because the result arrives later. */
int ucp_amo_is_immediate(const ucp_request_t *req)
{
    return ucp_send_amo(req)->result == NULL;
}

const ucp_proto_t ucp_proto_amo_lane = {
    .name         = "atomic",
    .ops          = UCS_BIT(UCP_OP_ATOMIC),
    .query        = lane_query,
    .is_immediate = ucp_amo_is_immediate,
    .progress     = lane_progress,
    .abort        = ucp_rma_abort,
    .flags        = UCP_PROTO_FLAG_WHOLE,
};

static ucs_status_t check(ucp_ep_h ep, ucp_atomic_op_t op, size_t count,
                          uint64_t address, const ucp_rkey_t *rkey,
                          const ucp_request_param_t *param)
{
    const unsigned rights = UCP_MEM_MAP_PROT_REMOTE_READ |
                            UCP_MEM_MAP_PROT_REMOTE_WRITE;
    size_t size;

    if (((unsigned)op >= UCP_ATOMIC_OP_LAST) || (count != 1) ||
        !(param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) ||
        !ucp_rkey_is_for(rkey, ep)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((param->datatype != ucp_dt_make_contig(sizeof(uint32_t))) &&
        (param->datatype != ucp_dt_make_contig(sizeof(uint64_t)))) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (((op == UCP_ATOMIC_OP_SWAP) || (op == UCP_ATOMIC_OP_CSWAP)) &&
        !(param->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER)) {
        return UCS_ERR_INVALID_PARAM;
    }

    size = ucp_dt_contig_length(param->datatype, 1);
    if ((address % size) != 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (!ucp_rkey_covers(rkey, address, size)) {
        return UCS_ERR_INVALID_ADDR;
    }
    return ((rkey->prot & rights) == rights) ? UCS_OK : UCS_ERR_REJECTED;
}

/* Reads the operand, and sets the address of the result. If the processor
 * cannot access the memory of the result, that address is in the request, and
 * ucp_amo_end() copies the result. */
static ucs_status_t take_operands(ucp_request_t *req, ucp_worker_h worker,
                                  const void *buffer, unsigned size,
                                  const ucp_request_param_t *param)
{
    ucp_amo_data_t *amo          = ucp_send_amo(req);
    ucp_request_param_t unhinted = {0};
    void *result = (param->op_attr_mask & UCP_OP_ATTR_FIELD_REPLY_BUFFER) ?
                       param->reply_buffer :
                       NULL;
    ucs_status_t status = UCS_OK;

    if (ucs_unlikely(param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMH) &&
        (param->memh != NULL) && (param->memh->flags & UCP_MEM_FLAG_IMPORTED)) {
        /* The user's memory handle is for the buffer of the result if there is
         * one, otherwise for the operand. */
        status = ucp_mem_find_buffer(param->memh, worker->context,
                                     (result != NULL) ? &result :
                                                        (void **)&buffer,
                                     size);
        if (status != UCS_OK) {
            return status;
        }
    }

    ucp_dt_iter_init_contig(&req->dt, (void *)buffer, size);
    if (ucs_likely(!(worker->flags & UCP_WORKER_FLAG_STAGE) &&
                   !(param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE))) {
        amo->operand = ucp_amo_load(buffer, size);
        amo->result  = result;
        return UCS_OK;
    }

    amo->staged = 0;
    status      = ucp_stage_adopt(worker, &req->dt, param);
    if ((status == UCS_OK) &&
        (ucp_dt_iter_pack(&req->dt, &amo->staged, size) != size)) {
        status = UCS_ERR_IO_ERROR;
    }
    amo->operand = ucp_amo_load(&amo->staged, size);
    amo->result  = result;
    if ((status != UCS_OK) || (result == NULL)) {
        return status;
    }

    /* The memory type in `param` is that of the operand: detect that of the
     * result. */
    ucp_dt_iter_init_contig(&req->dt, result, size);
    status = ucp_stage_adopt(worker, &req->dt, &unhinted);
    if ((status == UCS_OK) && (req->dt.dt_class == UCP_DT_CLASS_STAGED)) {
        amo->result = &amo->staged;
        if ((amo->op == UCP_ATOMIC_OP_CSWAP) &&
            (ucp_dt_iter_pack(&req->dt, &amo->staged, size) != size)) {
            status = UCS_ERR_IO_ERROR;
        }
    }
    return status;
}

static ucs_status_t select_proto(ucp_request_t *req,
                                 const ucp_proto_t **proto_p)
{
    const ucp_amo_data_t *amo      = ucp_send_amo(req);
    const ucp_rma_config_t *config = ucp_rkey_config(ucp_send_rma(req)->rkey,
                                                     req->send.ep);

    if (config == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_send_rma(req)->config = config;
    *proto_p                  = config->atomics[amo->op][amo->result != NULL]
                              [amo->size == sizeof(uint64_t)];
    return UCS_OK;
}

static ucs_status_ptr_t start(ucp_ep_h ep, ucp_atomic_op_t op,
                              const void *buffer, uint64_t address,
                              ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    unsigned size = (unsigned)ucp_dt_contig_length(param->datatype, 1);
    const ucp_proto_t *proto;
    ucs_status_t status;
    ucp_request_t *req;

    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return UCS_STATUS_PTR(ep->fail_status);
    }
    req = ucp_request_get(ep->worker, param);
    if (req == NULL) {
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    }

    req->send.ep                 = ep;
    req->send.comp.count         = 1;
    req->send.comp.status        = UCS_OK;
    ucp_send_rma(req)->address   = address;
    ucp_send_rma(req)->rkey      = rkey;
    ucp_send_rma(req)->key       = rkey->id;
    ucp_send_rma(req)->posted    = 0;
    ucp_send_rma(req)->own_memhs = 0;
    ucp_send_amo(req)->op        = (uint8_t)op;
    ucp_send_amo(req)->size      = (uint8_t)size;

    status = take_operands(req, ep->worker, buffer, size, param);
    if (status == UCS_OK) {
        status = select_proto(req, &proto);
    }
    if (status == UCS_OK) {
        status = ucp_proto_start(req, proto, param->op_attr_mask);
    }
    if (status == UCS_OK) {
        return ucp_request_send_result(req, param);
    }
    ucp_request_id_del(req);
    ucp_request_ep_del(req);
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

/* The key is shared by several peers (rma/symmetric.h): repeats the call with
 * the key of this endpoint's peer. The repeated call takes the worker's lock
 * again, which is recursive. */
static UCS_F_NOINLINE ucs_status_ptr_t op_shared(
    ucp_ep_h ep, ucp_atomic_op_t opcode, const void *buffer, size_t count,
    uint64_t remote_addr, ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    ucp_rkey_h own = ucp_rkey_of_peer(rkey, ep);

    return (own == NULL) ? UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM) :
                           ucp_atomic_op_nbx(ep, opcode, buffer, count,
                                             remote_addr, own, param);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode,
                                   const void *buffer, size_t count,
                                   uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t *param)
{
    ucp_worker_h worker = ep->worker;
    ucs_status_ptr_t ret;
    ucs_status_t status;

    ucp_worker_enter(worker);
    status = check(ep, opcode, count, remote_addr, rkey, param);
    if (status == UCS_OK) {
        ret = start(ep, opcode, buffer, remote_addr, rkey, param);
    } else if (ucp_rkey_is_shared(rkey)) {
        /* A shared key belongs to no endpoint, so check() fails for it. It is
         * recognized only here, so that other keys need no additional test. */
        ret = op_shared(ep, opcode, buffer, count, remote_addr, rkey, param);
    } else {
        ucs_diag("rejected an atomic operation at 0x%lx: %s", remote_addr,
                 ucs_status_string(status));
        ret = UCS_STATUS_PTR(status);
    }
    ucp_worker_leave(worker);
    return ret;
}
