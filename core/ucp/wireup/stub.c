/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint that takes the place of a lane until it is connected (stub.h).
 * Sends, put, get, atomics and the operations of tag matching return
 * UCS_ERR_NO_RESOURCE, so that the UCP endpoint queues them. Flush and fence
 * succeed, because nothing has been sent.
 */
#include "ucp/wireup/stub.h"

#include "ucp/wireup/ids.h"
#include "uct/base/answer_ops.h"

UCT_ANSWER_OPS_DEFINE(no_resources, UCS_ERR_NO_RESOURCE)

static ucs_status_t flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t fence(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags)
{
    ucx_pending_push(&((ucp_wireup_stub_t *)ep)->waiting, req);
    return UCS_OK;
}

static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    ucp_wireup_stub_t *stub = (ucp_wireup_stub_t *)ep;
    uct_pending_req_t *req;

    while ((req = ucx_pending_pop(&stub->waiting)) != NULL) {
        cb(req, arg);
    }
}

/* Destroys only the transport's endpoint: the stub itself is part of the
 * handshake's state. */
static void destroy(uct_ep_h ep)
{
    uct_ep_h real = ucp_wireup_stub_take((ucp_wireup_stub_t *)ep);

    /* Call the table directly: uct_ep_destroy() of the stub has already
     * decreased the interface's number of endpoints */
    if (real != NULL) {
        real->ops->destroy(real);
    }
}

/* Checks the peer over the link that carries the handshake. */
static ucs_status_t check(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    ucp_wireup_link_t *link = ((ucp_wireup_stub_t *)ep)->link;
    uint64_t caps;

    if ((link->uct == NULL) || !ucp_wireup_link_is_idle(link)) {
        return UCS_OK; /* Without a link there is nothing to check; queued
                        * messages of the link will detect a lost peer */
    }
    caps = uct_iface_attr(link->uct->iface)->base.cap.flags;
    return (caps & UCT_IFACE_FLAG_EP_CHECK) ?
               uct_ep_check(link->uct, flags, comp) :
               ucp_wireup_link_send(link, UCP_AM_ID_KEEPALIVE, "", 1);
}

static ucs_status_t invalidate(uct_ep_h ep, unsigned flags)
{
    return uct_ep_invalidate(((ucp_wireup_stub_t *)ep)->real, flags);
}

static int is_connected(uct_ep_h ep, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr)
{
    return 0;
}

/* Must contain every operation that UCP calls on a lane, because UCP calls
 * them without a test for NULL. */
static const ucx_ep_ops_t stub_ops = {
    .size = sizeof(stub_ops),
    UCT_ANSWER_OPS(no_resources),
    .flush         = flush,
    .fence         = fence,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = destroy,
    .check         = check,
    .invalidate    = invalidate,
    .is_connected  = is_connected,
};

void ucp_wireup_stub_init(ucp_wireup_stub_t *stub, uct_ep_h real,
                          ucp_wireup_link_t *link)
{
    stub->super.ops   = &stub_ops;
    stub->super.iface = real->iface;
    stub->real        = real;
    stub->link        = link;
    ucx_pending_init(&stub->waiting);
}

uct_ep_h ucp_wireup_stub_take(ucp_wireup_stub_t *stub)
{
    uct_ep_h real = stub->real;

    stub->real = NULL;
    return real;
}
