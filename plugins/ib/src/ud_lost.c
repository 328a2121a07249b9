/* SPDX-License-Identifier: BSD-3-Clause */
/* Reactions of an interface to the failure of its port, its device or its queue
 * pair. */
#include "ud_am.h"

static ud_iface_t *iface_of(ib_watch_t *watch)
{
    return ib_container_of(watch, ud_iface_t, watch);
}

static void fail_all(ud_iface_t *iface, ucs_status_t status)
{
    for (uint32_t i = 0; i < iface->num_slots; ++i) {
        if (iface->slots[i].ep != NULL) {
            ud_ep_fail(iface->slots[i].ep, status, 1);
        }
    }
}

static void port_lost(ib_watch_t *watch)
{
    UCX_EXCLUDE_SERVICE(&iface_of(watch)->guard);

    fail_all(iface_of(watch), UCS_ERR_ENDPOINT_TIMEOUT);
}

/* A lost device uses no buffers any more and reports no completions, so all
 * packets are released here. */
static void device_lost(ib_watch_t *watch)
{
    ud_iface_t *iface = iface_of(watch);

    UCX_EXCLUDE_SERVICE(&iface->guard);

    iface->is_down = 1;
    fail_all(iface, UCS_ERR_NO_DEVICE);
    iface->num_signaled = 0;
    iface->unsignaled   = 0;
    ud_desc_end_leaving(iface, 1);
}

static void qp_failed(ib_watch_t *watch)
{
    ud_iface_t *iface = iface_of(watch);
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    if ((ibv_query_qp(iface->qp, &attr, IBV_QP_STATE, &init) == 0) &&
        ((attr.qp_state == IBV_QPS_ERR) || (attr.qp_state == IBV_QPS_SQE))) {
        ud_qp_failed(iface);
    }
}

static const ib_watch_ops_t watch_ops = {
    .port_lost   = port_lost,
    .device_lost = device_lost,
    .qp_failed   = qp_failed,
};

/* Starts to monitor the device. The port may be down for UCX_UD_TIMEOUT, the
 * time for which a peer may send no acknowledgement. */
ucs_status_t ud_watch_start(ud_iface_t *iface)
{
    return ib_watch_start(&iface->watch, &watch_ops, iface->md,
                          iface->super.worker, iface->port.number,
                          iface->config.timeout);
}
