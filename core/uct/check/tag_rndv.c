/* SPDX-License-Identifier: BSD-3-Clause */
/* Checking slots (functions that replace those of the plugin, see internal.h)
 * for rendezvous by hardware tag matching. */
#include "uct/check/internal.h"

ucs_status_ptr_t
uct_check_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag, const void *header,
                         unsigned header_length, const uct_iov_t *iov,
                         size_t iovcnt, unsigned flags, uct_completion_t *comp)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep, "tag_rndv_zcopy");
    /* The operation ends only after the receiver has posted its buffer */
    uct_check_op_t *op      = uct_check_op_begin(call.iface, ep, call.slot,
                                                 UCT_CHECK_APART, comp);
    ucs_status_ptr_t handle;

    handle = ops->tag_rndv_zcopy(ep, tag, header, header_length, iov, iovcnt,
                                 flags, uct_check_op_comp(op, comp));
    if (handle == NULL) {
        uct_check_report(call.iface->tl->name, 26, call.slot,
                         "it returns neither an operation nor an error");
    }
    if (UCS_PTR_IS_ERR(handle)) {
        uct_check_send_end_op(&call, ep, op, UCS_PTR_STATUS(handle));
    } else {
        uct_check_op_handle(op, handle);
        uct_check_send_end_op(&call, ep, op, UCS_INPROGRESS);
    }
    return handle;
}

ucs_status_t uct_check_tag_rndv_cancel(uct_ep_h ep, void *handle)
{
    uct_check_iface_t *iface = uct_check_iface_of(ep->iface);
    uct_check_call_t call;
    ucs_status_t status;

    uct_check_call_begin(&call, iface, "tag_rndv_cancel", UCT_CHECK_OTHER);
    status = iface->tl->ep_ops.tag_rndv_cancel(ep, handle);
    uct_check_call_end(&call);
    uct_check_status(iface->tl->name, "tag_rndv_cancel", status);
    if (status == UCS_OK) {
        uct_check_op_cancel(iface, ep, handle);
    }
    return status;
}

ucs_status_t uct_check_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                        const void *header,
                                        unsigned header_length, unsigned flags)
{
    uct_check_call_t call;
    const ucx_ep_ops_t *ops = uct_check_send_begin(&call, ep,
                                                   "tag_rndv_request");

    return uct_check_send_end_done(&call, ep,
                                   ops->tag_rndv_request(ep, tag, header,
                                                         header_length, flags));
}
