/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending active messages. */
#include "rc_am.h"
#include "rc_send.h"

#include <ucx/copy.h>

enum {
    SHORT_COPY = 64, /* Longest payload of a short message that is copied behind
                      * the headers, because inline data from one address costs
                      * less than from two. Maximum of ucx_copy_small() */
};

/* Called on completion: releases the buffer of the header and calls the user's
 * completion. */
static void am_zcopy_done(rc_ep_t *ep, ib_op_t *op, ucs_status_t status)
{
    uct_completion_t *comp = ((rc_desc_t *)op)->comp;

    ucx_mpool_put(rc_iface_of(ep)->descs, op);
    ucx_complete(comp, status);
}

ucs_status_t rc_ep_am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                            const void *payload, unsigned length)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check_am(iface, ep);
    struct {
        uint8_t am;
        uint64_t header;
        char payload[SHORT_COPY];
    } __attribute__((packed)) head;
    struct ibv_send_wr wr;
    struct ibv_sge sge[2];
    int num = 1;
    uint8_t am;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    am            = rc_am_header(iface, ep, id);
    head.am       = am;
    head.header   = header;
    sge[0].addr   = (uintptr_t)&head;
    sge[0].length = sizeof(head) - SHORT_COPY;
    if (ib_likely(length <= SHORT_COPY)) {
        ucx_copy_small(head.payload, payload, length);
        sge[0].length += length;
    } else {
        sge[1].addr   = (uintptr_t)payload;
        sge[1].length = length;
        num           = 2;
    }
    rc_wr_inline(&wr, IBV_WR_SEND, sge, num);
    return rc_post_am(iface, ep, &wr, am, 0);
}

ucs_status_t rc_ep_am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                const uct_iov_t *iov, size_t iovcnt)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check_am(iface, ep);
    struct ibv_sge sge[RC_MAX_IOV];
    struct ibv_send_wr wr;
    int num = 1;
    uint8_t am;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    am            = rc_am_header(iface, ep, id);
    sge[0].addr   = (uintptr_t)&am;
    sge[0].length = sizeof(am);
    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length == 0) {
            continue;
        }
        if (ib_unlikely(num == RC_MAX_IOV)) {
            return UCS_ERR_INVALID_PARAM;
        }
        sge[num].addr   = (uintptr_t)iov[i].buffer;
        sge[num].length = (uint32_t)iov[i].length;
        ++num;
    }
    if (ib_unlikely((unsigned)num > iface->max_sge)) {
        return UCS_ERR_INVALID_PARAM;
    }
    rc_wr_inline(&wr, IBV_WR_SEND, sge, num);
    return rc_post_am(iface, ep, &wr, am, 0);
}

ssize_t rc_ep_am_bcopy(uct_ep_h uct_ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check_am(iface, ep);
    struct ibv_send_wr wr;
    struct ibv_sge sge;
    rc_desc_t *desc;
    size_t length;
    uint8_t am;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    desc = rc_desc_get(iface);
    if (ib_unlikely(desc == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    am                        = rc_am_header(iface, ep, id);
    /* The header byte is the byte before the data, so that the address of the
     * data is aligned for the pack callback. */
    desc->data[RC_AM_PAD - 1] = (char)am;
    length                    = pack_cb(desc->data + RC_AM_PAD, arg);
    sge.addr                  = (uintptr_t)desc->data + RC_AM_PAD - 1;
    sge.length                = (uint32_t)(length + 1);
    sge.lkey                  = desc->lkey;
    rc_wr_init(&wr, IBV_WR_SEND, &sge, 1);
    status = rc_post_am(iface, ep, &wr, am, length <= RC_AM_CONTROL);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->descs, desc);
        return status;
    }
    desc->super.done = rc_desc_done;
    rc_op_add(ep, &desc->super);
    return (ssize_t)length;
}

ucs_status_t rc_ep_am_zcopy(uct_ep_h uct_ep, uint8_t id, const void *header,
                            unsigned header_length, const uct_iov_t *iov,
                            size_t iovcnt, unsigned flags,
                            uct_completion_t *comp)
{
    rc_ep_t *ep         = (rc_ep_t *)uct_ep;
    rc_iface_t *iface   = rc_iface_of(ep);
    ucs_status_t status = rc_check_am(iface, ep);
    struct ibv_sge sge[RC_MAX_IOV];
    struct ibv_send_wr wr;
    rc_desc_t *desc;
    uint8_t am;
    int num;

    if (ib_unlikely(status != UCS_OK)) {
        return status;
    }
    num = rc_sge_of_iov(sge + 1, iov, iovcnt);
    if (ib_unlikely(num < 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    desc = rc_desc_get(iface);
    if (ib_unlikely(desc == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }
    am            = rc_am_header(iface, ep, id);
    desc->data[0] = (char)am;
    if (header_length > 0) {
        memcpy(desc->data + 1, header, header_length);
    }
    sge[0].addr   = (uintptr_t)desc->data;
    sge[0].length = header_length + 1;
    sge[0].lkey   = desc->lkey;
    rc_wr_init(&wr, IBV_WR_SEND, sge, num + 1);
    status = rc_post_am(iface, ep, &wr, am, 1);
    if (ib_unlikely(status != UCS_OK)) {
        ucx_mpool_put(iface->descs, desc);
        return status;
    }
    desc->comp       = comp;
    desc->super.done = am_zcopy_done;
    rc_op_add(ep, &desc->super);
    return UCS_INPROGRESS;
}
