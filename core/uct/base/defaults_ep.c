/* SPDX-License-Identifier: BSD-3-Clause */
/* Default functions for slots of endpoints that a plugin does not fill: most
 * return UCS_ERR_UNSUPPORTED. */
#include "uct/base/answer_ops.h"
#include "uct/base/defaults.h"

UCT_ANSWER_OPS_DEFINE(no, UCS_ERR_UNSUPPORTED)
UCT_ANSWER_TAG_OPS_DEFINE(no, UCS_ERR_UNSUPPORTED)

static ucs_status_t no_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_flags_op(uct_ep_h ep, unsigned flags)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                   unsigned flags)
{
    return UCS_ERR_UNSUPPORTED;
}

static void no_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                             void *arg)
{
    /* without pending_add, no request is ever queued */
}

static void no_destroy(uct_ep_h ep)
{
    /* the slot is required: a transport without it is rejected when it is
     * loaded */
}

static ucs_status_t no_check(uct_ep_h ep, unsigned flags,
                             uct_completion_t *comp)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_get_address(uct_ep_h ep, uct_ep_addr_t *addr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_connect_to_ep(uct_ep_h ep,
                                     const uct_device_addr_t *dev_addr,
                                     size_t dev_addr_length,
                                     const uct_ep_addr_t *ep_addr,
                                     size_t ep_addr_length)
{
    return UCS_ERR_UNSUPPORTED;
}

static int no_is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr,
                           const uct_ep_addr_t *ep_addr)
{
    return 0;
}

static ucs_status_t no_query_sockaddrs(uct_ep_h ep,
                                       struct sockaddr_storage *local,
                                       struct sockaddr_storage *remote)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_cm_connect(uct_ep_h ep,
                                  const uct_ep_connect_params_t *params)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_cm_conn_notify(uct_ep_h ep)
{
    return UCS_ERR_UNSUPPORTED;
}

const ucx_ep_ops_t uct_default_ep_ops = {
    .size = sizeof(uct_default_ep_ops),
    UCT_ANSWER_OPS(no),
    .flush         = no_flush,
    .fence         = no_flags_op,
    .pending_add   = no_pending_add,
    .pending_purge = no_pending_purge,
    UCT_ANSWER_TAG_OPS(no),
    .destroy         = no_destroy,
    .check           = no_check,
    .invalidate      = no_flags_op,
    .get_address     = no_get_address,
    .connect_to_ep   = no_connect_to_ep,
    .is_connected    = no_is_connected,
    .query_sockaddrs = no_query_sockaddrs,
    .cm_connect      = no_cm_connect,
    .cm_conn_notify  = no_cm_conn_notify,
    .cm_disconnect   = no_flags_op,
};
