/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See stub.h. Sends and everything else that would need the peer find no room;
 * what asks after earlier sends is done, since there have been none.
 */
#include "ucp/wireup/stub.h"

#include "uct/base/iface.h"

static ucs_status_t
am_short(uct_ep_h ep, uint8_t id, uint64_t header, const void *payload,
         unsigned length)
{
    return UCS_ERR_NO_RESOURCE;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
am_zcopy(uct_ep_h ep, uint8_t id, const void *header, unsigned header_length,
         const uct_iov_t *iov, size_t iovcnt, unsigned flags,
         uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov, size_t iovcnt)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    return UCS_ERR_NO_RESOURCE;
}

static ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t rma_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb, void *arg,
          size_t length, uint64_t remote_addr, uct_rkey_t rkey,
          uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic32_post(uct_ep_h ep, uct_atomic_op_t op, uint32_t value,
              uint64_t remote_addr, uct_rkey_t rkey)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic64_post(uct_ep_h ep, uct_atomic_op_t op, uint64_t value,
              uint64_t remote_addr, uct_rkey_t rkey)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op, uint32_t value,
               uint32_t *result, uint64_t remote_addr, uct_rkey_t rkey,
               uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op, uint64_t value,
               uint64_t *result, uint64_t remote_addr, uct_rkey_t rkey,
               uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
               uint64_t remote_addr, uct_rkey_t rkey, uint32_t *result,
               uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t
atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
               uint64_t remote_addr, uct_rkey_t rkey, uint64_t *result,
               uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return UCS_OK;
}

static ucs_status_t fence(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}

static ucs_status_t
pending_add(uct_ep_h ep, uct_pending_req_t *req, unsigned flags)
{
    ucx_pending_push(&((ucp_wireup_stub_t *)ep)->waiting, req);
    return UCS_OK;
}

static void
pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb, void *arg)
{
    ucp_wireup_stub_t *stub = (ucp_wireup_stub_t *)ep;
    uct_pending_req_t *req;

    while ((req = ucx_pending_pop(&stub->waiting)) != NULL) {
        cb(req, arg);
    }
}

/* The stub itself belongs to the handshake. */
static void destroy(uct_ep_h ep)
{
    uct_ep_h real = ucp_wireup_stub_take((ucp_wireup_stub_t *)ep);

    if (real != NULL) {
        uct_ep_destroy(real);
    }
}

/* The peer is looked for where the handshake goes. */
static ucs_status_t check(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    ucp_wireup_link_t *link = ((ucp_wireup_stub_t *)ep)->link;
    uint64_t caps;

    if ((link->uct == NULL) || !ucp_wireup_link_is_idle(link)) {
        return UCS_OK; /* what is under way finds out */
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

/* Every operation that UCP calls through a lane. */
static const ucx_ep_ops_t stub_ops = {
    .size           = sizeof(stub_ops),
    .am_short       = am_short,
    .am_bcopy       = am_bcopy,
    .am_zcopy       = am_zcopy,
    .am_short_iov   = am_short_iov,
    .put_short      = put_short,
    .put_bcopy      = put_bcopy,
    .put_zcopy      = rma_zcopy,
    .get_short      = get_short,
    .get_bcopy      = get_bcopy,
    .get_zcopy      = rma_zcopy,
    .flush          = flush,
    .fence          = fence,
    .pending_add    = pending_add,
    .pending_purge  = pending_purge,
    .atomic32_post  = atomic32_post,
    .atomic64_post  = atomic64_post,
    .atomic32_fetch = atomic32_fetch,
    .atomic64_fetch = atomic64_fetch,
    .atomic_cswap32 = atomic_cswap32,
    .atomic_cswap64 = atomic_cswap64,
    .destroy        = destroy,
    .check          = check,
    .invalidate     = invalidate,
    .is_connected   = is_connected
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
