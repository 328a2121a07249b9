/* SPDX-License-Identifier: BSD-3-Clause */
/* Reactions of an interface to the failure of its port, its device or a queue
 * pair. */
#include "rc.h"

static rc_iface_t *iface_of(ib_watch_t *watch)
{
    return ib_container_of(watch, rc_iface_t, watch);
}

/* Fails all endpoints. This may call completions of the user, which may create
 * and destroy endpoints. No endpoint is freed before a later progress, so the
 * loop can continue. */
static void fail_all(rc_iface_t *iface, ucs_status_t status)
{
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        if (iface->eps[i] != NULL) {
            rc_ep_fail(iface->eps[i], status, 1);
        }
    }
}

static void port_lost(ib_watch_t *watch)
{
    fail_all(iface_of(watch), UCS_ERR_ENDPOINT_TIMEOUT);
}

/* Fails all endpoints, and ends all outstanding requests: also those of
 * endpoints that have failed before or that the user has destroyed, because the
 * lost device will report no completions. */
static void device_lost(ib_watch_t *watch)
{
    rc_iface_t *iface = iface_of(watch);
    rc_ep_t *ep;

    fail_all(iface, UCS_ERR_NO_DEVICE);
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ep = iface->eps[i];
        if (ep == NULL) {
            continue;
        }
        ep->state &= (uint16_t)~RC_EP_DRAIN;
        if (ep->done_sn != ep->sn) {
            rc_ep_abandon(ep);
        }
        if (ep->state & RC_EP_ZOMBIE) {
            rc_ep_finish(ep);
        }
    }
}

static int is_in_error(struct ibv_qp *qp)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    return (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0) &&
           ((attr.qp_state == IBV_QPS_ERR) || (attr.qp_state == IBV_QPS_SQE));
}

/* Fails the endpoints whose queue pair is in the error state and that have no
 * outstanding request: no completion would show their failure. If requests are
 * outstanding, their completions fail the endpoint with the exact reason. */
static void qp_failed(ib_watch_t *watch)
{
    rc_iface_t *iface = iface_of(watch);
    rc_ep_t *ep;

    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ep = iface->eps[i];
        if ((ep != NULL) && (ep->done_sn == ep->sn) &&
            ((ep->state & (RC_EP_CONNECTED | RC_EP_FAILED)) ==
             RC_EP_CONNECTED) &&
            is_in_error(ep->qp)) {
            rc_ep_fail(ep, UCS_ERR_IO_ERROR, 1);
        }
    }
}

static const ib_watch_ops_t watch_ops = {
    .port_lost   = port_lost,
    .device_lost = device_lost,
    .qp_failed   = qp_failed,
};

/* Starts to monitor the device. The port may be down for as long as the device
 * retransmits a packet before it gives up. */
ucs_status_t rc_watch_start(rc_iface_t *iface)
{
    double patience = iface->config.timeout * (iface->config.retry_count + 1);

    return ib_watch_start(&iface->watch, &watch_ops, iface->md,
                          iface->super.worker, iface->port.number, patience);
}
