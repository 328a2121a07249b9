/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated atomic operations, implemented by ucp_atomic_op_nbx.
 */
#include "ucp/compat/wait.h"

static const ucp_atomic_op_t post_ops[] = {
    [UCP_ATOMIC_POST_OP_ADD] = UCP_ATOMIC_OP_ADD,
    [UCP_ATOMIC_POST_OP_AND] = UCP_ATOMIC_OP_AND,
    [UCP_ATOMIC_POST_OP_OR]  = UCP_ATOMIC_OP_OR,
    [UCP_ATOMIC_POST_OP_XOR] = UCP_ATOMIC_OP_XOR,
};

static const ucp_atomic_op_t fetch_ops[] = {
    [UCP_ATOMIC_FETCH_OP_FADD]  = UCP_ATOMIC_OP_ADD,
    [UCP_ATOMIC_FETCH_OP_SWAP]  = UCP_ATOMIC_OP_SWAP,
    [UCP_ATOMIC_FETCH_OP_CSWAP] = UCP_ATOMIC_OP_CSWAP,
    [UCP_ATOMIC_FETCH_OP_FAND]  = UCP_ATOMIC_OP_AND,
    [UCP_ATOMIC_FETCH_OP_FOR]   = UCP_ATOMIC_OP_OR,
    [UCP_ATOMIC_FETCH_OP_FXOR]  = UCP_ATOMIC_OP_XOR,
};

/* Starts an operation with `value` as an operand of `size` bytes; `result`
 * may be NULL. The operand is copied before the call returns, so it may be
 * on the stack. */
static ucs_status_ptr_t operate(ucp_ep_h ep, ucp_atomic_op_t op, uint64_t value,
                                void *result, size_t size, uint64_t remote_addr,
                                ucp_rkey_h rkey, ucp_send_callback_t cb)
{
    ucp_request_param_t param = ucp_compat_callback(cb);
    uint32_t small            = (uint32_t)value;

    if ((size != sizeof(small)) && (size != sizeof(value))) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(size);
    if (result != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = result;
    }
    return ucp_atomic_op_nbx(ep, op,
                             (size == sizeof(small)) ? (void *)&small :
                                                       (void *)&value,
                             1, remote_addr, rkey, &param);
}

ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode,
                             uint64_t value, size_t op_size,
                             uint64_t remote_addr, ucp_rkey_h rkey)
{
    if ((unsigned)opcode >= UCP_ATOMIC_POST_OP_LAST) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_compat_forget(operate(ep, post_ops[opcode], value, NULL, op_size,
                                     remote_addr, rkey, NULL));
}

ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode,
                                     uint64_t value, void *result,
                                     size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey, ucp_send_callback_t cb)
{
    if (((unsigned)opcode >= UCP_ATOMIC_FETCH_OP_LAST) || (result == NULL)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    return operate(ep, fetch_ops[opcode], value, result, op_size, remote_addr,
                   rkey, cb);
}

/* Starts an operation and waits for the previous value. */
static ucs_status_t fetch(ucp_ep_h ep, ucp_atomic_op_t op, uint64_t value,
                          void *result, size_t size, uint64_t remote_addr,
                          ucp_rkey_h rkey)
{
    if (result == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_compat_wait(ep->worker, operate(ep, op, value, result, size,
                                               remote_addr, rkey, NULL));
}

/* An add without a result. Waits until the request is complete. The peer's
 * memory may change later; ucp_ep_flush waits for that. */
static ucs_status_t post(ucp_ep_h ep, uint64_t value, size_t size,
                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    return ucp_compat_wait(ep->worker,
                           operate(ep, UCP_ATOMIC_OP_ADD, value, NULL, size,
                                   remote_addr, rkey, NULL));
}

ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey)
{
    return post(ep, add, sizeof(add), remote_addr, rkey);
}

ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey)
{
    return post(ep, add, sizeof(add), remote_addr, rkey);
}

ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result)
{
    return fetch(ep, UCP_ATOMIC_OP_ADD, add, result, sizeof(add), remote_addr,
                 rkey);
}

ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result)
{
    return fetch(ep, UCP_ATOMIC_OP_ADD, add, result, sizeof(add), remote_addr,
                 rkey);
}

ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result)
{
    return fetch(ep, UCP_ATOMIC_OP_SWAP, swap, result, sizeof(swap),
                 remote_addr, rkey);
}

ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result)
{
    return fetch(ep, UCP_ATOMIC_OP_SWAP, swap, result, sizeof(swap),
                 remote_addr, rkey);
}

ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint32_t *result)
{
    if (result == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    *result = swap;
    return fetch(ep, UCP_ATOMIC_OP_CSWAP, compare, result, sizeof(swap),
                 remote_addr, rkey);
}

ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint64_t *result)
{
    if (result == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    *result = swap;
    return fetch(ep, UCP_ATOMIC_OP_CSWAP, compare, result, sizeof(swap),
                 remote_addr, rkey);
}
