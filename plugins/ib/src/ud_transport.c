/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the transport ud_verbs. */
#include "ud_am.h"

#include <stdio.h>
#include <string.h>

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr)
{
    *(ib_wire_device_t *)addr = ((ud_iface_t *)iface)->device;
    return UCS_OK;
}

static ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    memcpy(addr, &((ud_iface_t *)iface)->address, sizeof(ud_wire_iface_t));
    return UCS_OK;
}

/* Returns whether the peer is reachable. A datagram is one packet, so both
 * ports must have the same maximum packet size. */
static int is_reachable(uct_iface_h uct_iface, const ucx_reachable_args_t *args)
{
    const ud_iface_t *iface = (ud_iface_t *)uct_iface;
    int nearness            = ib_port_reaches(&iface->port, args);

    if ((nearness > 0) && (((const ib_wire_device_t *)args->dev_addr)->mtu !=
                           iface->device.mtu)) {
        if ((args->reason != NULL) && (args->reason_size > 0)) {
            snprintf(args->reason, args->reason_size,
                     "the ports' packet sizes differ (MTU, UCX_IB_PATH_MTU)");
        }
        return 0;
    }
    return nearness;
}

static ucs_status_t iface_fence(uct_iface_h iface, unsigned flags)
{
    return UCS_OK; /* Active messages only, which an endpoint delivers in
                    * order */
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = ud_iface_close,
    .query              = ud_iface_query,
    .get_device_address = get_device_address,
    .get_address        = get_address,
    .is_reachable       = is_reachable,
    .ep_create          = ud_ep_create,
    .progress           = ud_iface_progress,
    .flush              = ud_iface_flush,
    .fence              = iface_fence,
    .event_fd_get       = ud_event_fd_get,
    .event_arm          = ud_event_arm,
};

static const ucx_ep_ops_t ep_ops = {
    .size          = sizeof(ep_ops),
    .am_short      = ud_ep_am_short,
    .am_bcopy      = ud_ep_am_bcopy,
    .am_zcopy      = ud_ep_am_zcopy,
    .am_short_iov  = ud_ep_am_short_iov,
    .flush         = ud_ep_flush,
    .fence         = ud_ep_fence,
    .pending_add   = ud_ep_pending_add,
    .pending_purge = ud_ep_pending_purge,
    .destroy       = ud_ep_destroy,
    .check         = ud_ep_check,
    .invalidate    = ud_ep_invalidate,
};

const ucx_transport_t ib_ud_transport = {
    .size          = sizeof(ib_ud_transport),
    .name          = "ud_verbs",
    .config        = &ib_ud_config_table,
    .query_devices = ib_md_query_ud_devices,
    .iface_open    = ud_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
