/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get and atomics by the device. */
#include "rc_am.h"
#include "rc_send.h"

ucs_status_t rc_ep_put_short(uct_ep_h uct_ep, const void *buffer,
                             unsigned length, uint64_t remote_addr,
                             uct_rkey_t rkey)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    sge.addr   = (uintptr_t)buffer;
    sge.length = length;
    rc_wr_inline(&wr, IBV_WR_RDMA_WRITE, &sge, 1);
    rc_wr_remote(&wr, remote_addr, rkey);
    return rc_post(iface, ep, &wr, 0);
}

ssize_t rc_ep_put_bcopy(uct_ep_h uct_ep, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    rc_desc_t *desc;
    size_t length;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    desc = rc_desc_get(iface);
    if (ib_unlikely(desc == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    length     = pack_cb(desc->data, arg);
    sge.addr   = (uintptr_t)desc->data;
    sge.length = (uint32_t)length;
    sge.lkey   = desc->lkey;
    rc_wr_init(&wr, IBV_WR_RDMA_WRITE, &sge, 1);
    rc_wr_remote(&wr, remote_addr, rkey);
    status = rc_post(iface, ep, &wr, 0);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->descs, desc);
        return status;
    }
    desc->super.done = rc_desc_done;
    rc_op_add(ep, &desc->super);
    return (ssize_t)length;
}

/* Posts an RDMA read or write with the user's registered memory. */
static ucs_status_t rma_zcopy(rc_ep_t *ep, enum ibv_wr_opcode opcode,
                              const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_sge sge[RC_MAX_IOV];
    struct ibv_send_wr wr;
    rc_user_op_t *op;
    int num;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    num = rc_sge_of_iov(sge, iov, iovcnt);
    if (ib_unlikely(num <= 0)) {
        return (num == 0) ? UCS_OK : UCS_ERR_INVALID_PARAM;
    }
    op = ucx_mpool_get(iface->host, iface->user_ops);
    if (ib_unlikely(op == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    rc_wr_init(&wr, opcode, sge, num);
    rc_wr_remote(&wr, remote_addr, rkey);
    status = rc_post(iface, ep, &wr, 1);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->user_ops, op);
        return status;
    }
    op->comp       = comp;
    op->super.done = rc_user_done;
    rc_op_add(ep, &op->super);
    return UCS_INPROGRESS;
}

ucs_status_t rc_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return rma_zcopy((rc_ep_t *)ep, IBV_WR_RDMA_WRITE, iov, iovcnt, remote_addr,
                     rkey, comp);
}

ucs_status_t rc_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    return rma_zcopy((rc_ep_t *)ep, IBV_WR_RDMA_READ, iov, iovcnt, remote_addr,
                     rkey, comp);
}

/* Called on completion: unpacks the data. */
static void get_bcopy_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status)
{
    rc_desc_t *desc        = (rc_desc_t *)op;
    uct_completion_t *comp = desc->comp;

    if (status == UCS_OK) {
        desc->unpack(desc->arg, desc->data, desc->length);
    }
    ucx_mpool_put(rc_iface_of(ep)->descs, op);
    ucx_complete(comp, status);
}

ucs_status_t rc_ep_get_bcopy(uct_ep_h uct_ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    rc_desc_t *desc;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    desc = rc_desc_get(iface);
    if (ib_unlikely(desc == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    sge.addr   = (uintptr_t)desc->data;
    sge.length = (uint32_t)length;
    sge.lkey   = desc->lkey;
    rc_wr_init(&wr, IBV_WR_RDMA_READ, &sge, 1);
    rc_wr_remote(&wr, remote_addr, rkey);
    status = rc_post(iface, ep, &wr, 1);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->descs, desc);
        return status;
    }
    desc->unpack     = unpack_cb;
    desc->arg        = arg;
    desc->length     = (uint32_t)length;
    desc->comp       = comp;
    desc->super.done = get_bcopy_done;
    rc_op_add(ep, &desc->super);
    return UCS_INPROGRESS;
}

/* Called on completion: stores the old value, unless `result` is NULL. */
static void atomic_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status)
{
    rc_desc_t *desc        = (rc_desc_t *)op;
    uct_completion_t *comp = desc->comp;

    if ((status == UCS_OK) && (desc->result != NULL)) {
        memcpy(desc->result, desc->data, sizeof(uint64_t));
    }
    ucx_mpool_put(rc_iface_of(ep)->descs, op);
    ucx_complete(comp, status);
}

/* Posts an atomic. The device always returns the old value, also if `result` is
 * NULL. */
static ucs_status_t atomic64(rc_ep_t *ep, enum ibv_wr_opcode opcode,
                             uint64_t compare_add, uint64_t swap,
                             uint64_t *result, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp)
{
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    rc_desc_t *desc;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    desc = rc_desc_get(iface);
    if (ib_unlikely(desc == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    sge.addr   = (uintptr_t)desc->data;
    sge.length = sizeof(uint64_t);
    sge.lkey   = desc->lkey;
    rc_wr_init(&wr, opcode, &sge, 1);
    wr.wr.atomic.remote_addr = remote_addr;
    wr.wr.atomic.rkey        = (uint32_t)rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap        = swap;
    status                   = rc_post(iface, ep, &wr, result != NULL);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->descs, desc);
        return status;
    }
    desc->result     = result;
    desc->comp       = comp;
    desc->super.done = atomic_done;
    rc_op_add(ep, &desc->super);
    return UCS_INPROGRESS;
}

ucs_status_t rc_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                 uint64_t value, uint64_t remote_addr,
                                 uct_rkey_t rkey)
{
    ucs_status_t status;

    if (op != UCT_ATOMIC_OP_ADD) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = atomic64((rc_ep_t *)ep, IBV_WR_ATOMIC_FETCH_AND_ADD, value, 0,
                      NULL, remote_addr, rkey, NULL);
    return (status == UCS_INPROGRESS) ? UCS_OK : status;
}

ucs_status_t rc_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                  uint64_t value, uint64_t *result,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uct_completion_t *comp)
{
    if (op != UCT_ATOMIC_OP_ADD) {
        return UCS_ERR_UNSUPPORTED;
    }
    return atomic64((rc_ep_t *)ep, IBV_WR_ATOMIC_FETCH_AND_ADD, value, 0,
                    result, remote_addr, rkey, comp);
}

ucs_status_t rc_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uint64_t *result, uct_completion_t *comp)
{
    return atomic64((rc_ep_t *)ep, IBV_WR_ATOMIC_CMP_AND_SWP, compare, swap,
                    result, remote_addr, rkey, comp);
}
