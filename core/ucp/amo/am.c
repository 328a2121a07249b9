/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics by active messages: the initiator sends the operands; the handler at
 * the owner of the memory executes the operation by its processor and, if there
 * is a result, replies with the old value.
 */
#include "ucp/amo/amo.h"

#include <pthread.h>

#include "ucp/mem/table.h"
#include "ucp/order/queue.h"
#include "ucp/rma/ack.h"
#include "ucp/stage/stage.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"

static size_t request_pack(void *dest, void *arg)
{
    const ucp_request_t *req = arg;
    ucp_amo_t *msg           = dest;

    msg->key     = ucp_le64(ucp_send_rma(req)->key);
    msg->address = ucp_le64(ucp_send_rma(req)->address);
    msg->operand = ucp_le64(ucp_send_amo(req)->operand);
    msg->swap    = ucp_le64(
           (ucp_send_amo(req)->op == UCP_ATOMIC_OP_CSWAP) ?
               ucp_amo_load(ucp_send_amo(req)->result, ucp_send_amo(req)->size) :
               0);
    msg->sender  = ucp_ep_wire_end(req->send.ep);
    msg->request = ucp_le32(req->id);
    msg->op      = ucp_send_amo(req)->op;
    msg->size    = ucp_send_amo(req)->size;
    return sizeof(*msg);
}

_Static_assert(sizeof(ucp_amo_t) <= UCP_RMA_MAX_REQUEST, "it is sent");

static ucs_status_t am_progress(ucp_request_t *req)
{
    ucp_ep_h ep    = req->send.ep;
    ssize_t status = ucp_rma_send_request(req, UCP_AM_ID_ATOMIC, request_pack,
                                          sizeof(ucp_amo_t), 0);

    if (status == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    ep->rma_issued += (status >= 0);
    if ((status < 0) || (req->id == 0)) {
        ucp_rma_abort(req, (status < 0) ? (ucs_status_t)status : UCS_OK);
        return UCS_OK;
    }
    ucp_send_rma(req)->number = ep->rma_issued;
    ucp_send_rma(req)->posted = 1;
    return UCS_OK;
}

/* This protocol supports only operations that the key's atomic lane
 * (ucp_rma_config::amo_lane) does not support, and costs are not compared:
 * atomics of a device and atomics of the owner's processor may not be atomic
 * with each other. So the same operation on a key uses only one protocol,
 * unless the lane fails. Different operations on a key may use different
 * protocols (see amo.h). */
static unsigned am_query(const ucp_proto_query_t *query,
                         ucp_proto_range_t *range)
{
    return query->key->by_cpu && !ucp_amo_lane_can(query);
}

static ucs_status_t am_init(ucp_request_t *req, uint32_t attr)
{
    return (ucp_send_amo(req)->result != NULL) ?
               ucp_wireup_expect_reply(req) :
               ucp_wireup_introduce(req->send.ep);
}

const ucp_proto_t ucp_proto_amo_am = {
    .name         = "atomic/am",
    .ops          = UCS_BIT(UCP_OP_ATOMIC),
    .query        = am_query,
    .init         = am_init,
    .is_immediate = ucp_amo_is_immediate,
    .progress     = am_progress,
    .abort        = ucp_rma_abort,
    .flags        = UCP_PROTO_FLAG_WHOLE | UCP_PROTO_FLAG_MESSAGES,
    .reply        = UCP_AM_ID_ATOMIC_REPLY,
};

ucs_status_t ucp_amo_reply_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    ucp_worker_h worker        = arg;
    const ucp_amo_reply_t *msg = data;
    ucp_request_t *req         = NULL;
    ucs_status_t status;
    uint32_t number;
    ucp_ep_h ep;

    if (length == sizeof(*msg)) {
        req = ucp_proto_replied(worker, msg->request, UCP_AM_ID_ATOMIC_REPLY);
    }
    if ((req == NULL) || !ucp_send_rma(req)->posted ||
        !ucp_rma_is_secret_of(req->send.ep, msg->secret)) {
        ucs_debug("dropped the reply to an atomic operation: no such"
                  " operation");
        return UCS_OK;
    }

    status = ucp_rma_wire_status(msg->status);
    if (status == UCS_OK) {
        ucp_amo_store(ucp_send_amo(req)->result, ucp_send_amo(req)->size,
                      ucp_le64_get(msg->old));
    }
    ep     = req->send.ep;
    number = ucp_send_rma(req)->number;
    ucp_amo_end(req, status);
    ucp_rma_acked(ep, number);
    return UCS_OK;
}

/* ---------------------------------------------------------- owner's side -- */

/* Executes an operation on memory that the processor cannot access: copies the
 * value to host memory, and the new value back. This is atomic only with other
 * operations of this function. All contexts of the process use one mutex,
 * because several contexts may have mapped the same memory. */
static ucs_status_t carry_out_staged(ucp_worker_h worker, const ucp_amo_t *msg,
                                     uint64_t *old_p)
{
    static pthread_mutex_t staged = PTHREAD_MUTEX_INITIALIZER;
    const unsigned rights         = UCP_MEM_MAP_PROT_REMOTE_READ |
                            UCP_MEM_MAP_PROT_REMOTE_WRITE;
    uint64_t key     = ucp_le64_get(msg->key);
    uint64_t address = ucp_le64_get(msg->address);
    uint64_t word    = 0;
    ucs_status_t status;

    pthread_mutex_lock(&staged);
    status = ucp_stage_access(worker, key, address, msg->size, rights, &word,
                              0);
    if (status == UCS_OK) {
        *old_p = ucp_amo_by_cpu(msg->op, msg->size, &word,
                                ucp_le64_get(msg->operand),
                                ucp_le64_get(msg->swap));
        status = ucp_stage_access(worker, key, address, msg->size, rights,
                                  &word, 1);
    }
    pthread_mutex_unlock(&staged);
    return status;
}

static ucs_status_t carry_out(ucp_worker_h worker, const ucp_amo_t *msg,
                              uint64_t *old_p)
{
    ucp_mem_table_t *mems = &worker->context->mems;
    uint64_t address      = ucp_le64_get(msg->address);
    ucs_status_t status;

    if (((msg->size != sizeof(uint32_t)) && (msg->size != sizeof(uint64_t))) ||
        (msg->op > UCP_AMO_WIRE_XOR)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((address % msg->size) != 0) {
        return UCS_ERR_INVALID_ADDR;
    }

    status = ucp_mem_table_hold(mems, ucp_le64_get(msg->key), address,
                                msg->size,
                                UCP_MEM_MAP_PROT_REMOTE_READ |
                                    UCP_MEM_MAP_PROT_REMOTE_WRITE);
    if (status == UCS_OK) {
        *old_p = ucp_amo_by_cpu(msg->op, msg->size, (void *)(uintptr_t)address,
                                ucp_le64_get(msg->operand),
                                ucp_le64_get(msg->swap));
        ucp_mem_table_release(mems);
    }
    return (status == UCS_ERR_UNSUPPORTED) ?
               carry_out_staged(worker, msg, old_p) :
               status;
}

static void send_reply(ucp_ep_h ep, const ucp_amo_reply_t *reply)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    uint64_t header;

    if (!(ep->flags & UCP_EP_FLAGS_SLOW) &&
        (ucp_ep_config_am(ep->config)->max_short >= sizeof(*reply))) {
        memcpy(&header, reply, sizeof(header));
        status = ep->am->ops->am_short(ep->am, UCP_AM_ID_ATOMIC_REPLY, header,
                                       &reply->old, sizeof(reply->old));
    }
    if (status == UCS_ERR_NO_RESOURCE) {
        status = ucp_ep_send_control(ep, UCP_AM_ID_ATOMIC_REPLY, reply,
                                     sizeof(*reply));
    }
    if (UCS_STATUS_IS_ERR(status)) {
        ucs_diag("ep %p: cannot reply to an atomic operation: %s", ep,
                 ucs_status_string(status));
    }
}

ucs_status_t ucp_amo_handler(void *arg, void *data, size_t length,
                             unsigned flags)
{
    ucp_worker_h worker   = arg;
    ucp_amo_reply_t reply = {.status = 0};
    uint64_t old          = 0;
    ucp_amo_t taken, *msg = &taken;
    ucs_status_t status;
    ucp_ep_h ep;

    if (length != sizeof(*msg)) {
        ucs_diag("dropped an atomic operation of %zu bytes: wrong size",
                 length);
        return UCS_OK;
    }

    ucp_wire_take(msg, data, sizeof(*msg));
    if (ucp_le32_get(msg->request) == 0) {
        status = carry_out(worker, msg, &old);
        if (status == UCS_OK) {
            ucp_rma_ack_count(worker, &msg->sender);
        } else {
            ucp_rma_ack_failure(worker, &msg->sender, "atomic operation",
                                status);
        }
        return UCS_OK;
    }

    ep = ucp_wireup_reply_ep(worker, &msg->sender);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_diag("dropped an atomic operation: no endpoint to reply to");
        return UCS_OK;
    }

    ucp_rma_ack_by_reply(ep);
    status        = carry_out(worker, msg, &old);
    reply.request = msg->request;
    reply.status  = (int8_t)status;
    reply.secret  = ucp_rma_secret(ucp_wire_end_secret(&msg->sender));
    reply.old     = ucp_le64(old);
    send_reply(ep, &reply);
    return UCS_OK;
}
