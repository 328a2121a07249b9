/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of hardware tag matching (uct_ep_tag_eager_short and so
 * on), which call the slots of the transport. */
#include <ucx/transport.h>

ucs_status_t uct_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag,
                                    const void *data, size_t length)
{
    return ep->ops->tag_eager_short(ep, tag, data, length);
}

ssize_t uct_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                               uct_pack_callback_t pack_cb, void *arg,
                               unsigned flags)
{
    return ep->ops->tag_eager_bcopy(ep, tag, imm, pack_cb, arg, flags);
}

ucs_status_t uct_ep_tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                    const uct_iov_t *iov, size_t iovcnt,
                                    unsigned flags, uct_completion_t *comp)
{
    return ep->ops->tag_eager_zcopy(ep, tag, imm, iov, iovcnt, flags, comp);
}

ucs_status_ptr_t uct_ep_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                       const void *header,
                                       unsigned header_length,
                                       const uct_iov_t *iov, size_t iovcnt,
                                       unsigned flags, uct_completion_t *comp)
{
    return ep->ops->tag_rndv_zcopy(ep, tag, header, header_length, iov, iovcnt,
                                   flags, comp);
}

ucs_status_t uct_ep_tag_rndv_cancel(uct_ep_h ep, void *op)
{
    return ep->ops->tag_rndv_cancel(ep, op);
}

ucs_status_t uct_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                     const void *header, unsigned header_length,
                                     unsigned flags)
{
    return ep->ops->tag_rndv_request(ep, tag, header, header_length, flags);
}

ucs_status_t uct_iface_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                      uct_tag_t tag_mask, const uct_iov_t *iov,
                                      size_t iovcnt, uct_tag_context_t *ctx)
{
    if (ctx == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    return iface->ops->tag_recv_zcopy(iface, tag, tag_mask, iov, iovcnt, ctx);
}

ucs_status_t uct_iface_tag_recv_cancel(uct_iface_h iface,
                                       uct_tag_context_t *ctx, int force)
{
    if (ctx == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    return iface->ops->tag_recv_cancel(iface, ctx, force);
}
