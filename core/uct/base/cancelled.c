/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints after a flush that cancelled their operations (see cancelled.h):
 * their table of operations is replaced. */
#include "uct/base/cancelled.h"

#include "uct/base/answer_ops.h"

UCT_ANSWER_OPS_DEFINE(cancelled, UCS_ERR_CANCELED)
UCT_ANSWER_TAG_OPS_DEFINE(cancelled, UCS_ERR_CANCELED)

static const ucx_ep_ops_t *transport_ops(uct_ep_h ep)
{
    return ep->iface->ep_ops;
}

/* Calls the transport's flush, which waits for outstanding operations: the
 * flush that cancelled the endpoint may not have cancelled all of them. */
static ucs_status_t cancelled_flush(uct_ep_h ep, unsigned flags,
                                    uct_completion_t *comp)
{
    return transport_ops(ep)->flush(ep, flags, comp);
}

static ucs_status_t cancelled_fence(uct_ep_h ep, unsigned flags)
{
    return UCS_ERR_CANCELED;
}

/* Returns UCS_ERR_BUSY, so that the caller repeats the send, which returns
 * UCS_ERR_CANCELED. */
static ucs_status_t cancelled_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                          unsigned flags)
{
    return UCS_ERR_BUSY;
}

static void cancelled_pending_purge(uct_ep_h ep,
                                    uct_pending_purge_callback_t cb, void *arg)
{
    transport_ops(ep)->pending_purge(ep, cb, arg);
}

static void cancelled_destroy(uct_ep_h ep)
{
    transport_ops(ep)->destroy(ep);
}

static ucs_status_t cancelled_check(uct_ep_h ep, unsigned flags,
                                    uct_completion_t *comp)
{
    return UCS_ERR_CANCELED;
}

static ucs_status_t cancelled_invalidate(uct_ep_h ep, unsigned flags)
{
    return transport_ops(ep)->invalidate(ep, flags);
}

static ucs_status_t cancelled_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    return transport_ops(ep)->get_address(ep, addr);
}

static ucs_status_t cancelled_connect_to_ep(uct_ep_h ep,
                                            const uct_device_addr_t *dev_addr,
                                            size_t dev_addr_length,
                                            const uct_ep_addr_t *ep_addr,
                                            size_t ep_addr_length)
{
    return UCS_ERR_CANCELED;
}

static int cancelled_is_connected(uct_ep_h ep,
                                  const uct_device_addr_t *dev_addr,
                                  const uct_iface_addr_t *iface_addr,
                                  const uct_ep_addr_t *ep_addr)
{
    return 0;
}

static ucs_status_t cancelled_query_sockaddrs(uct_ep_h ep,
                                              struct sockaddr_storage *local,
                                              struct sockaddr_storage *remote)
{
    return transport_ops(ep)->query_sockaddrs(ep, local, remote);
}

static ucs_status_t cancelled_cm_connect(uct_ep_h ep,
                                         const uct_ep_connect_params_t *params)
{
    return UCS_ERR_CANCELED;
}

static ucs_status_t cancelled_cm_conn_notify(uct_ep_h ep)
{
    return UCS_ERR_CANCELED;
}

static const ucx_ep_ops_t cancelled_ops = {
    .size = sizeof(cancelled_ops),
    UCT_ANSWER_OPS(cancelled),
    UCT_ANSWER_TAG_OPS(cancelled),
    .flush           = cancelled_flush,
    .fence           = cancelled_fence,
    .pending_add     = cancelled_pending_add,
    .pending_purge   = cancelled_pending_purge,
    .destroy         = cancelled_destroy,
    .check           = cancelled_check,
    .invalidate      = cancelled_invalidate,
    .get_address     = cancelled_get_address,
    .connect_to_ep   = cancelled_connect_to_ep,
    .is_connected    = cancelled_is_connected,
    .query_sockaddrs = cancelled_query_sockaddrs,
    .cm_connect      = cancelled_cm_connect,
    .cm_conn_notify  = cancelled_cm_conn_notify,
    .cm_disconnect   = cancelled_fence,
};

void uct_ep_set_cancelled(uct_ep_h ep)
{
    /* UCP replaces the tables of some endpoints, to count operations or to
     * reject them while the endpoint is being connected. Such a table is kept:
     * UCP sends nothing over an endpoint that it has cancelled. */
    if ((ep->iface != NULL) && (ep->ops == ep->iface->ep_ops)) {
        ep->ops = &cancelled_ops;
    }
}
