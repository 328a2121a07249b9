/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * of endpoints for access to remote memory: put (except put_bcopy), get and
 * atomics. */
#include "uct/check/internal.h"

static ucs_status_t put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "put_short");

    return uct_check_send_end(&call, ep,
                              ops->put_short(ep, buffer, length, remote_addr,
                                             rkey));
}

static ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "put_zcopy");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(&call, ep, op,
                                 ops->put_zcopy(ep, iov, iovcnt, remote_addr,
                                                rkey,
                                                uct_check_op_comp(op, comp)));
}

static ucs_status_t get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "get_short");

    return uct_check_send_end_done(&call, ep,
                                   ops->get_short(ep, buffer, length,
                                                  remote_addr, rkey));
}

static ucs_status_t get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "get_bcopy");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(&call, ep, op,
                                 ops->get_bcopy(ep, unpack_cb, arg, length,
                                                remote_addr, rkey,
                                                uct_check_op_comp(op, comp)));
}

static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "get_zcopy");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(&call, ep, op,
                                 ops->get_zcopy(ep, iov, iovcnt, remote_addr,
                                                rkey,
                                                uct_check_op_comp(op, comp)));
}

/* --- Atomics -------------------------------------------------------------- */

static ucs_status_t atomic32_post(uct_ep_h ep, uct_atomic_op_t op,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic32_post");

    return uct_check_send_end_done(&call, ep,
                                   ops->atomic32_post(ep, op, value,
                                                      remote_addr, rkey));
}

static ucs_status_t atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic64_post");

    return uct_check_send_end_done(&call, ep,
                                   ops->atomic64_post(ep, op, value,
                                                      remote_addr, rkey));
}

static ucs_status_t atomic32_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic32_fetch");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(
        &call, ep, op,
        ops->atomic32_fetch(ep, opcode, value, result, remote_addr, rkey,
                            uct_check_op_comp(op, comp)));
}

static ucs_status_t atomic64_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic64_fetch");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(
        &call, ep, op,
        ops->atomic64_fetch(ep, opcode, value, result, remote_addr, rkey,
                            uct_check_op_comp(op, comp)));
}

static ucs_status_t atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint32_t *result, uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic_cswap32");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(
        &call, ep, op,
        ops->atomic_cswap32(ep, compare, swap, remote_addr, rkey, result,
                            uct_check_op_comp(op, comp)));
}

static ucs_status_t atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint64_t *result, uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "atomic_cswap64");
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_DATA, comp);

    return uct_check_send_end_op(
        &call, ep, op,
        ops->atomic_cswap64(ep, compare, swap, remote_addr, rkey, result,
                            uct_check_op_comp(op, comp)));
}

void uct_check_rma_slots(ucx_ep_ops_t *ops)
{
    ops->put_short      = put_short;
    ops->put_zcopy      = put_zcopy;
    ops->get_short      = get_short;
    ops->get_bcopy      = get_bcopy;
    ops->get_zcopy      = get_zcopy;
    ops->atomic32_post  = atomic32_post;
    ops->atomic64_post  = atomic64_post;
    ops->atomic32_fetch = atomic32_fetch;
    ops->atomic64_fetch = atomic64_fetch;
    ops->atomic_cswap32 = atomic_cswap32;
    ops->atomic_cswap64 = atomic_cswap64;
}
