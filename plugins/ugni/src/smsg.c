/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport ugni_smsg: active messages and tag matching. */
#include "tag.h"

#include <string.h>

/* Returns the maximum bytes of injected messages; 0: do not inject. With
 * ofi_rxd (libfabric 1.17), a message that is sent by fi_send() after 256
 * injected ones never completes. */
static size_t inject_size(const struct fi_info *info)
{
    return (strstr(info->fabric_attr->prov_name, "ofi_rxd") != NULL) ?
               0 :
               ugni_min(info->tx_attr->inject_size, UGNI_MAX_INJECT);
}

static ucs_status_t smsg_open(uct_md_h md, const ucx_iface_open_args_t *args,
                              uct_iface_h *iface_p)
{
    ugni_iface_t *iface;
    ucs_status_t status = ugni_iface_open(md, args, UGNI_SMSG, &iface);

    if (status != UCS_OK) {
        return status;
    }
    iface->max_inject = inject_size(iface->port->info);
    status            = ugni_recv_init(iface);
    if (status == UCS_OK) {
        status = ugni_tag_init(iface, args->params);
    }
    if (status != UCS_OK) {
        ugni_iface_close(&iface->super);
        return status;
    }
    ugni_recv_post(iface);
    *iface_p = &iface->super;
    return UCS_OK;
}

static ucs_status_t smsg_query(uct_iface_h uct_iface, ucx_iface_attr_t *attr)
{
    const ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    uct_iface_attr_t *base    = &attr->base;

    ugni_iface_attr(iface, attr);
    base->cap.flags |= UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY |
                       UCT_IFACE_FLAG_EP_CHECK;
    if (iface->port->has_fd) {
        base->cap.event_flags |= UCT_IFACE_FLAG_EVENT_RECV;
    }
    base->cap.am.max_short = iface->config.seg_size;
    base->cap.am.max_bcopy = iface->config.seg_size;
    base->cap.am.max_iov   = UGNI_MAX_IOV;
    ugni_tag_attr(iface, base);
    return UCS_OK;
}

/* Fences do nothing, because messages are delivered in order. */
static ucs_status_t ordered(uct_iface_h iface, unsigned flags)
{
    return UCS_OK;
}

static ucs_status_t ep_ordered(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = ugni_iface_close,
    .query              = smsg_query,
    .estimate           = ugni_iface_estimate,
    .get_device_address = ugni_iface_device_address,
    .get_address        = ugni_iface_address,
    .is_reachable       = ugni_is_reachable,
    .ep_create          = ugni_ep_create,
    .progress           = ugni_iface_progress,
    .flush              = ugni_iface_flush,
    .fence              = ordered,
    .event_fd_get       = ugni_event_fd_get,
    .event_arm          = ugni_event_arm,
    .tag_recv_zcopy     = ugni_tag_recv_zcopy,
    .tag_recv_cancel    = ugni_tag_recv_cancel,
};

static const ucx_ep_ops_t ep_ops = {
    .size             = sizeof(ep_ops),
    .am_short         = ugni_ep_am_short,
    .am_bcopy         = ugni_ep_am_bcopy,
    .am_short_iov     = ugni_ep_am_short_iov,
    .tag_eager_short  = ugni_ep_tag_eager_short,
    .tag_eager_bcopy  = ugni_ep_tag_eager_bcopy,
    .tag_rndv_zcopy   = ugni_ep_tag_rndv_zcopy,
    .tag_rndv_cancel  = ugni_ep_tag_rndv_cancel,
    .tag_rndv_request = ugni_ep_tag_rndv_request,
    .flush            = ugni_ep_flush,
    .fence            = ep_ordered,
    .pending_add      = ugni_ep_pending_add,
    .pending_purge    = ugni_ep_pending_purge,
    .destroy          = ugni_ep_destroy,
    .check            = ugni_ep_am_check,
    .invalidate       = ugni_ep_invalidate,
};

const ucx_transport_t ugni_smsg_transport = {
    .size          = sizeof(ugni_smsg_transport),
    .name          = "ugni_smsg",
    .config        = &ugni_config_table,
    .query_devices = ugni_query_devices,
    .iface_open    = smsg_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
