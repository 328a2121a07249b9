/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport ugni_rdma: put, get and atomics. */
#include "rma.h"

/* Maximum bytes of a zero-copy operation; UCP splits larger transfers. */
#define MAX_ZCOPY (1ul << 30)

size_t ugni_send_size(int kind)
{
    return (kind == UGNI_SMSG) ? sizeof(ugni_msg_t) : sizeof(ugni_rma_t);
}

static ucs_status_t rdma_open(uct_md_h md, const ucx_iface_open_args_t *args,
                              uct_iface_h *iface_p)
{
    ugni_iface_t *iface;
    ucs_status_t status = ugni_iface_open(md, args, UGNI_RDMA, &iface);

    if (status == UCS_OK) {
        iface->confirms = (iface->port->info->tx_attr->msg_order &
                           (FI_ORDER_RAW | FI_ORDER_RMA_RAW)) != 0;
        *iface_p        = &iface->super;
    }
    return status;
}

static ucs_status_t rdma_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    const ugni_iface_t *iface  = (ugni_iface_t *)uct_iface;
    const struct fi_info *info = iface->port->info;
    size_t seg                 = iface->config.seg_size;
    size_t zcopy           = ugni_min(info->ep_attr->max_msg_size, MAX_ZCOPY);
    size_t iov             = ugni_min(info->tx_attr->iov_limit, UGNI_RMA_IOV);
    uct_iface_attr_t *base = &attr->base;

    ugni_iface_attr(iface, attr);
    base->cap.flags |= UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY |
                       UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_BCOPY |
                       UCT_IFACE_FLAG_GET_ZCOPY;
    base->cap.put.max_short       = seg;
    base->cap.put.max_bcopy       = seg;
    base->cap.put.max_zcopy       = zcopy;
    base->cap.put.opt_zcopy_align = 64;
    base->cap.put.align_mtu       = 64;
    base->cap.put.max_iov         = iov;
    base->cap.get.max_bcopy       = seg;
    base->cap.get.max_zcopy       = zcopy;
    base->cap.get.opt_zcopy_align = 64;
    base->cap.get.align_mtu       = 64;
    base->cap.get.max_iov         = iov;
    ugni_atomic_attr(iface, base);
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = ugni_iface_close,
    .query              = rdma_query,
    .estimate           = ugni_iface_estimate,
    .get_device_address = ugni_iface_device_address,
    .get_address        = ugni_iface_address,
    .is_reachable       = ugni_is_reachable,
    .ep_create          = ugni_ep_create,
    .progress           = ugni_iface_progress,
    .flush              = ugni_iface_flush,
    .fence              = ugni_iface_fence,
    .event_fd_get       = ugni_event_fd_get,
    .event_arm          = ugni_event_arm,
};

static const ucx_ep_ops_t ep_ops = {
    .size           = sizeof(ep_ops),
    .put_short      = ugni_ep_put_short,
    .put_bcopy      = ugni_ep_put_bcopy,
    .put_zcopy      = ugni_ep_put_zcopy,
    .get_bcopy      = ugni_ep_get_bcopy,
    .get_zcopy      = ugni_ep_get_zcopy,
    .flush          = ugni_ep_flush,
    .fence          = ugni_ep_fence,
    .pending_add    = ugni_ep_pending_add,
    .pending_purge  = ugni_ep_pending_purge,
    .atomic32_post  = ugni_ep_atomic32_post,
    .atomic64_post  = ugni_ep_atomic64_post,
    .atomic32_fetch = ugni_ep_atomic32_fetch,
    .atomic64_fetch = ugni_ep_atomic64_fetch,
    .atomic_cswap32 = ugni_ep_atomic_cswap32,
    .atomic_cswap64 = ugni_ep_atomic_cswap64,
    .destroy        = ugni_ep_destroy,
    .invalidate     = ugni_ep_invalidate,
};

const ucx_transport_t ugni_rdma_transport = {
    .size          = sizeof(ugni_rdma_transport),
    .name          = "ugni_rdma",
    .config        = &ugni_config_table,
    .query_devices = ugni_query_rdma_devices,
    .iface_open    = rdma_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
