/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics by libfabric. */
#include "rma.h"

#include <string.h>

/* Indexed by uct_atomic_op_t */
static const enum fi_op fi_ops[] = {
    [UCT_ATOMIC_OP_ADD]   = FI_SUM,
    [UCT_ATOMIC_OP_AND]   = FI_BAND,
    [UCT_ATOMIC_OP_OR]    = FI_BOR,
    [UCT_ATOMIC_OP_XOR]   = FI_BXOR,
    [UCT_ATOMIC_OP_SWAP]  = FI_ATOMIC_WRITE,
    [UCT_ATOMIC_OP_CSWAP] = FI_CSWAP,
};

/* --- Attributes ----------------------------------------------------------- */

/* Returns whether the provider has this atomic without a result. */
static int has_post(const ugni_iface_t *iface, enum fi_datatype type,
                    uct_atomic_op_t op)
{
    size_t count = 0;

    return (op < UCT_ATOMIC_OP_SWAP) &&
           (fi_atomicvalid(iface->port->ep, type, fi_ops[op], &count) == 0) &&
           (count > 0);
}

/* Returns whether the provider has this atomic with a result. */
static int has_fetch(const ugni_iface_t *iface, enum fi_datatype type,
                     uct_atomic_op_t op)
{
    size_t count = 0;
    int rc;

    rc = (op == UCT_ATOMIC_OP_CSWAP) ?
             fi_compare_atomicvalid(iface->port->ep, type, fi_ops[op], &count) :
             fi_fetch_atomicvalid(iface->port->ep, type, fi_ops[op], &count);
    return (rc == 0) && (count > 0);
}

static void add_ops(const ugni_iface_t *iface, enum fi_datatype type,
                    uint64_t *posts, uint64_t *fetches)
{
    for (int op = UCT_ATOMIC_OP_ADD; op < UCT_ATOMIC_OP_LAST; ++op) {
        if (has_post(iface, type, (uct_atomic_op_t)op)) {
            *posts |= UCS_BIT(op);
        }
        if (has_fetch(iface, type, (uct_atomic_op_t)op)) {
            *fetches |= UCS_BIT(op);
        }
    }
}

void ugni_atomic_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr)
{
    if (!(iface->port->info->caps & FI_ATOMIC)) {
        return;
    }
    add_ops(iface, FI_UINT32, &attr->cap.atomic32.op_flags,
            &attr->cap.atomic32.fop_flags);
    add_ops(iface, FI_UINT64, &attr->cap.atomic64.op_flags,
            &attr->cap.atomic64.fop_flags);
    if (attr->cap.atomic32.fop_flags | attr->cap.atomic64.fop_flags) {
        attr->cap.flags |= UCT_IFACE_FLAG_ATOMIC_DEVICE;
    }
}

/* --- Posting -------------------------------------------------------------- */

/* Parameters that libfabric reads while it posts an atomic on one word */
typedef struct atomic_message {
    struct fi_msg_atomic msg;
    struct fi_ioc operand, compare, old;
    struct fi_rma_ioc remote;
} atomic_message_t;

static void make_message(const ugni_ep_t *ep, ugni_rma_t *rma,
                         atomic_message_t *message)
{
    *message = (atomic_message_t){
        .msg =
            {
                .msg_iov       = &message->operand,
                .desc          = &rma->super.desc,
                .iov_count     = 1,
                .addr          = ep->peer->fi_addr,
                .rma_iov       = &message->remote,
                .rma_iov_count = 1,
                .datatype      = rma->type,
                .op            = rma->op,
                .context       = &rma->super.op.context,
            },
        .operand = {.addr = &rma->operand, .count = 1},
        .compare = {.addr = &rma->compare, .count = 1},
        .old     = {.addr = &rma->old, .count = 1},
        .remote =
            {
                .addr  = rma->remote.addr,
                .count = 1,
                .key   = rma->remote.key,
            },
    };
}

static ssize_t post_fetch(ugni_ep_t *ep, ugni_send_t *send)
{
    atomic_message_t message;

    make_message(ep, (ugni_rma_t *)send, &message);
    return fi_fetch_atomicmsg(ugni_iface_of(ep)->port->ep, &message.msg,
                              &message.old, &send->desc, 1, FI_COMPLETION);
}

/* Posts an atomic whose result the user does not need. With the provider shm
 * (libfabric 1.17), atomics without a result that are posted with
 * FI_DELIVERY_COMPLETE make fi_cq_read() crash. Therefore an atomic with a
 * result is posted instead; the arrival of the result also shows that the
 * atomic is complete. */
static ssize_t post_atomic(ugni_ep_t *ep, ugni_send_t *send)
{
    const ugni_port_t *port = ugni_iface_of(ep)->port;
    atomic_message_t message;

    if (port->fetches_atomics) {
        return post_fetch(ep, send);
    }
    make_message(ep, (ugni_rma_t *)send, &message);
    return fi_atomicmsg(port->ep, &message.msg,
                        FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static ssize_t post_cswap(ugni_ep_t *ep, ugni_send_t *send)
{
    atomic_message_t message;

    make_message(ep, (ugni_rma_t *)send, &message);
    return fi_compare_atomicmsg(ugni_iface_of(ep)->port->ep, &message.msg,
                                &message.compare, &send->desc, 1, &message.old,
                                &send->desc, 1, FI_COMPLETION);
}

static void fetch_done(ugni_send_t *send, ucs_status_t status)
{
    ugni_rma_t *rma = (ugni_rma_t *)send;

    if (status == UCS_OK) {
        memcpy(rma->result, &rma->old, rma->length);
    }
    ucx_complete(rma->comp, status);
}

static size_t size_of(enum fi_datatype type)
{
    return (type == FI_UINT32) ? sizeof(uint32_t) : sizeof(uint64_t);
}

static void set_word(uint64_t *word, enum fi_datatype type, uint64_t value)
{
    const uint32_t half = (uint32_t)value;

    if (type == FI_UINT32) {
        memcpy(word, &half, sizeof(half));
    } else {
        *word = value;
    }
}

static ucs_status_t new_atomic(ugni_ep_t *ep, enum fi_datatype type,
                               uct_atomic_op_t op, uint64_t operand,
                               uint64_t remote_addr, uct_rkey_t rkey,
                               ugni_rma_t **rma_p)
{
    ucs_status_t status;
    ugni_rma_t *rma;

    if (remote_addr % size_of(type) != 0) {
        return UCS_ERR_INVALID_ADDR;
    }
    status = ugni_rma_new(ep, remote_addr, rkey, &rma);
    if (status == UCS_OK) {
        rma->type   = type;
        rma->op     = fi_ops[op];
        rma->length = size_of(type);
        set_word(&rma->operand, type, operand);
        *rma_p = rma;
    }
    return status;
}

static ucs_status_t post(ugni_ep_t *ep, enum fi_datatype type,
                         uct_atomic_op_t op, uint64_t value,
                         uint64_t remote_addr, uct_rkey_t rkey)
{
    ucs_status_t status;
    ugni_rma_t *rma;

    if (!has_post(ugni_iface_of(ep), type, op)) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = new_atomic(ep, type, op, value, remote_addr, rkey, &rma);
    if (status == UCS_OK) {
        rma->super.post = post_atomic;
        ugni_send_start(&rma->super);
    }
    return status;
}

static ucs_status_t fetch(ugni_ep_t *ep, enum fi_datatype type,
                          uct_atomic_op_t op, uint64_t value, uint64_t compare,
                          void *result, uint64_t remote_addr, uct_rkey_t rkey,
                          uct_completion_t *comp)
{
    ucs_status_t status;
    ugni_rma_t *rma;

    if ((op >= UCT_ATOMIC_OP_LAST) || !has_fetch(ugni_iface_of(ep), type, op)) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = new_atomic(ep, type, op, value, remote_addr, rkey, &rma);
    if (status != UCS_OK) {
        return status;
    }
    set_word(&rma->compare, type, compare);
    rma->result     = result;
    rma->comp       = comp;
    rma->super.done = fetch_done;
    rma->super.post = (op == UCT_ATOMIC_OP_CSWAP) ? post_cswap : post_fetch;
    ugni_send_start(&rma->super);
    return UCS_INPROGRESS;
}

ucs_status_t ugni_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t op,
                                   uint32_t value, uint64_t remote_addr,
                                   uct_rkey_t rkey)
{
    return post((ugni_ep_t *)ep, FI_UINT32, op, value, remote_addr, rkey);
}

ucs_status_t ugni_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                   uint64_t value, uint64_t remote_addr,
                                   uct_rkey_t rkey)
{
    return post((ugni_ep_t *)ep, FI_UINT64, op, value, remote_addr, rkey);
}

ucs_status_t ugni_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                    uint32_t value, uint32_t *result,
                                    uint64_t remote_addr, uct_rkey_t rkey,
                                    uct_completion_t *comp)
{
    return fetch((ugni_ep_t *)ep, FI_UINT32, op, value, 0, result, remote_addr,
                 rkey, comp);
}

ucs_status_t ugni_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                    uint64_t value, uint64_t *result,
                                    uint64_t remote_addr, uct_rkey_t rkey,
                                    uct_completion_t *comp)
{
    return fetch((ugni_ep_t *)ep, FI_UINT64, op, value, 0, result, remote_addr,
                 rkey, comp);
}

ucs_status_t ugni_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare,
                                    uint32_t swap, uint64_t remote_addr,
                                    uct_rkey_t rkey, uint32_t *result,
                                    uct_completion_t *comp)
{
    return fetch((ugni_ep_t *)ep, FI_UINT32, UCT_ATOMIC_OP_CSWAP, swap, compare,
                 result, remote_addr, rkey, comp);
}

ucs_status_t ugni_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare,
                                    uint64_t swap, uint64_t remote_addr,
                                    uct_rkey_t rkey, uint64_t *result,
                                    uct_completion_t *comp)
{
    return fetch((ugni_ep_t *)ep, FI_UINT64, UCT_ATOMIC_OP_CSWAP, swap, compare,
                 result, remote_addr, rkey, comp);
}
