/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the transport rc_verbs. */
#include "rc_am.h"

static ucs_status_t get_device_address(uct_iface_h iface,
                                       uct_device_addr_t *addr)
{
    ib_port_address(&((rc_iface_t *)iface)->port, (ib_wire_device_t *)addr);
    return UCS_OK;
}

static int is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return ib_port_reaches(&((rc_iface_t *)iface)->port, args);
}

/* Fences each endpoint, because only the requests of one connection are
 * ordered. */
static ucs_status_t iface_fence(uct_iface_h uct_iface, unsigned flags)
{
    rc_iface_t *iface = (rc_iface_t *)uct_iface;

    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        if (iface->eps[i] != NULL) {
            (void)rc_ep_fence(&iface->eps[i]->super, flags);
        }
    }
    return UCS_OK;
}

static const ucx_iface_ops_t iface_ops = {
    .size               = sizeof(iface_ops),
    .close              = rc_iface_close,
    .query              = rc_iface_query,
    .get_device_address = get_device_address,
    .is_reachable       = is_reachable,
    .ep_create          = rc_ep_create,
    .progress           = rc_iface_progress,
    .flush              = rc_iface_flush,
    .fence              = iface_fence,
    .event_fd_get       = rc_event_fd_get,
    .event_arm          = rc_event_arm,
};

static const ucx_ep_ops_t ep_ops = {
    .size           = sizeof(ep_ops),
    .am_short       = rc_ep_am_short,
    .am_bcopy       = rc_ep_am_bcopy,
    .am_zcopy       = rc_ep_am_zcopy,
    .am_short_iov   = rc_ep_am_short_iov,
    .put_short      = rc_ep_put_short,
    .put_bcopy      = rc_ep_put_bcopy,
    .put_zcopy      = rc_ep_put_zcopy,
    .get_bcopy      = rc_ep_get_bcopy,
    .get_zcopy      = rc_ep_get_zcopy,
    .flush          = rc_ep_flush,
    .fence          = rc_ep_fence,
    .pending_add    = rc_ep_pending_add,
    .pending_purge  = rc_ep_pending_purge,
    .atomic64_post  = rc_ep_atomic64_post,
    .atomic64_fetch = rc_ep_atomic64_fetch,
    .atomic_cswap64 = rc_ep_atomic_cswap64,
    .destroy        = rc_ep_destroy,
    .check          = rc_ep_check,
    .invalidate     = rc_ep_invalidate,
    .get_address    = rc_ep_get_address,
    .connect_to_ep  = rc_ep_connect_to_ep,
};

const ucx_transport_t ib_rc_transport = {
    .size          = sizeof(ib_rc_transport),
    .name          = "rc_verbs",
    .config        = &ib_rc_config_table,
    .query_devices = ib_md_query_devices,
    .iface_open    = rc_iface_open,
    .iface_ops     = &iface_ops,
    .ep_ops        = &ep_ops,
};
