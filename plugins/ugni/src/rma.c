/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get. A flush has to wait until written data is in the memory of the
 * peer. If the provider executes reads after earlier writes (iface->confirms),
 * the completion of a read of its first byte after the last write shows this.
 * Otherwise writes request FI_DELIVERY_COMPLETE. The read is preferred, because
 * ofi_rxm accepts FI_DELIVERY_COMPLETE for writes but ignores it.
 */
#include "rma.h"
#include "mem.h"

#include <string.h>

ucs_status_t ugni_rma_new(ugni_ep_t *ep, uint64_t remote_addr, uct_rkey_t rkey,
                          ugni_rma_t **rma_p)
{
    const ugni_port_t *port = ugni_iface_of(ep)->port;
    ugni_rkey_t *key        = (ugni_rkey_t *)rkey;
    ugni_send_t *send;
    ucs_status_t status;
    uint64_t remote_key;
    ugni_rma_t *rma;

    status = ugni_rkey_get(port->md, port->device, key, ep->addr.device,
                           &remote_key);
    if (status != UCS_OK) {
        return status;
    }
    status = ugni_send_new(ep, &send);
    if (status != UCS_OK) {
        return status;
    }
    rma              = (ugni_rma_t *)send;
    rma->comp        = NULL;
    rma->remote.addr = remote_addr - key->base;
    rma->remote.key  = remote_key;
    *rma_p           = rma;
    return UCS_OK;
}

static struct fi_msg_rma message(const ugni_ep_t *ep, ugni_rma_t *rma)
{
    rma->remote.len = rma->length;
    return (struct fi_msg_rma){.msg_iov       = rma->iov,
                               .desc          = rma->desc,
                               .iov_count     = rma->iovcnt,
                               .addr          = ep->peer->fi_addr,
                               .rma_iov       = &rma->remote,
                               .rma_iov_count = 1,
                               .context       = &rma->super.op.context};
}

static ssize_t post_write(ugni_ep_t *ep, ugni_send_t *send)
{
    ugni_rma_t *rma           = (ugni_rma_t *)send;
    struct fi_msg_rma msg     = message(ep, rma);
    const ugni_iface_t *iface = ugni_iface_of(ep);

    send->op.is_copy = 1;
    return fi_writemsg(iface->port->ep, &msg,
                       FI_COMPLETION |
                           (iface->confirms ? 0 : FI_DELIVERY_COMPLETE));
}

static ssize_t post_read(ugni_ep_t *ep, ugni_send_t *send)
{
    struct fi_msg_rma msg = message(ep, (ugni_rma_t *)send);

    send->op.is_copy = 1;
    return fi_readmsg(ugni_iface_of(ep)->port->ep, &msg, FI_COMPLETION);
}

/* Starts a write. If a read has to confirm writes, records that this one is not
 * confirmed (is_dirty), even while it waits in ep->queued. */
static void start_write(ugni_ep_t *ep, ugni_rma_t *rma)
{
    rma->super.post = post_write;
    ep->dirty_addr  = rma->remote.addr;
    ep->dirty_key   = rma->remote.key;
    ep->is_dirty    = ugni_iface_of(ep)->confirms;
    ugni_send_start(&rma->super);
}

/* Frees an operation after ugni_direct_copy() has returned `status`, and
 * returns the status for the user. After an error, the endpoints to the peer
 * fail; their operations return UCS_ERR_NO_RESOURCE until progress has reported
 * this. */
static ucs_status_t finish(ugni_ep_t *ep, ugni_rma_t *rma, ucs_status_t status)
{
    ugni_send_cancel(&rma->super);
    if (status == UCS_OK) {
        return UCS_OK;
    }
    ugni_port_lost(ugni_iface_of(ep)->port, ep->peer->fi_addr, status);
    return UCS_ERR_NO_RESOURCE;
}

/* Executes the operation without libfabric, if possible, and then frees it.
 * UCS_ERR_UNSUPPORTED: libfabric has to execute the operation. */
static ucs_status_t execute(ugni_ep_t *ep, ugni_rma_t *rma, int is_write)
{
    ucs_status_t status = ugni_direct_copy(ep, rma, is_write);

    return (status == UCS_ERR_UNSUPPORTED) ? status : finish(ep, rma, status);
}

/* Uses rma->data as the local memory of the operation. */
static void use_data(ugni_rma_t *rma, size_t length)
{
    rma->iov[0].iov_base = rma->data;
    rma->iov[0].iov_len  = length;
    rma->desc[0]         = rma->super.desc;
    rma->iovcnt          = 1;
    rma->length          = length;
}

ucs_status_t ugni_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                               uint64_t remote_addr, uct_rkey_t rkey)
{
    ugni_rma_t *rma;
    ucs_status_t status;

    if (length == 0) {
        return UCS_OK;
    }
    status = ugni_rma_new((ugni_ep_t *)ep, remote_addr, rkey, &rma);
    if (status != UCS_OK) {
        return status;
    }
    memcpy(rma->data, buffer, length);
    use_data(rma, length);
    status = execute((ugni_ep_t *)ep, rma, 1);
    if (status == UCS_ERR_UNSUPPORTED) {
        start_write((ugni_ep_t *)ep, rma);
        status = UCS_OK;
    }
    return status;
}

ssize_t ugni_ep_put_bcopy(uct_ep_h uct_ep, uct_pack_callback_t pack_cb,
                          void *arg, uint64_t remote_addr, uct_rkey_t rkey)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;
    ugni_rma_t *rma;
    ucs_status_t status = ugni_rma_new(ep, remote_addr, rkey, &rma);
    size_t length;

    if (status != UCS_OK) {
        return status;
    }
    length = pack_cb(rma->data, arg);
    if (length == 0) {
        ugni_send_cancel(&rma->super);
        return 0;
    }
    use_data(rma, length);
    if (execute(ep, rma, 1) == UCS_ERR_UNSUPPORTED) {
        start_write(ep, rma);
    }
    /* Not UCS_ERR_NO_RESOURCE if the peer process has exited: the user would
     * pack again, which may be impossible. The endpoint's failure is reported
     * instead. */
    return (ssize_t)length;
}

static void zcopy_done(ugni_send_t *send, ucs_status_t status)
{
    ucx_complete(((ugni_rma_t *)send)->comp, status);
}

/* Converts the user's entries of local memory; omits empty ones. */
static ucs_status_t take_iov(const ugni_port_t *port, ugni_rma_t *rma,
                             const uct_iov_t *iov, size_t iovcnt)
{
    size_t count;

    for (size_t i = 0; i < iovcnt; ++i) {
        count = iov[i].count;
        if ((iov[i].length == 0) || (count == 0)) {
            continue;
        }
        if (((count > 1) && (iov[i].stride != iov[i].length)) ||
            (rma->iovcnt == UGNI_RMA_IOV) ||
            (port->is_local && (iov[i].memh == UCT_MEM_HANDLE_NULL))) {
            return UCS_ERR_INVALID_PARAM;
        }
        rma->iov[rma->iovcnt].iov_base = iov[i].buffer;
        rma->iov[rma->iovcnt].iov_len  = iov[i].length * count;
        rma->desc[rma->iovcnt]         = ugni_mem_desc(port, iov[i].memh);
        rma->length += iov[i].length * count;
        ++rma->iovcnt;
    }
    return UCS_OK;
}

static ucs_status_t zcopy(ugni_ep_t *ep, int is_write, const uct_iov_t *iov,
                          size_t iovcnt, uint64_t remote_addr, uct_rkey_t rkey,
                          uct_completion_t *comp)
{
    ugni_rma_t *rma;
    ucs_status_t status = ugni_rma_new(ep, remote_addr, rkey, &rma);

    if (status != UCS_OK) {
        return status;
    }
    rma->iovcnt = 0;
    rma->length = 0;
    status      = take_iov(ugni_iface_of(ep)->port, rma, iov, iovcnt);
    if ((status != UCS_OK) || (rma->length == 0)) {
        ugni_send_cancel(&rma->super);
        return status;
    }
    status = execute(ep, rma, is_write);
    if (status != UCS_ERR_UNSUPPORTED) {
        return status;
    }
    rma->comp              = comp;
    rma->super.done        = zcopy_done;
    rma->super.op.is_zcopy = 1;
    if (is_write) {
        start_write(ep, rma);
    } else {
        rma->super.post = post_read;
        ugni_send_start(&rma->super);
    }
    return UCS_INPROGRESS;
}

ucs_status_t ugni_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                               uint64_t remote_addr, uct_rkey_t rkey,
                               uct_completion_t *comp)
{
    return zcopy((ugni_ep_t *)ep, 1, iov, iovcnt, remote_addr, rkey, comp);
}

ucs_status_t ugni_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                               uint64_t remote_addr, uct_rkey_t rkey,
                               uct_completion_t *comp)
{
    return zcopy((ugni_ep_t *)ep, 0, iov, iovcnt, remote_addr, rkey, comp);
}

static void get_bcopy_done(ugni_send_t *send, ucs_status_t status)
{
    ugni_rma_t *rma = (ugni_rma_t *)send;

    if (status == UCS_OK) {
        rma->unpack(rma->arg, rma->data, rma->length);
    }
    ucx_complete(rma->comp, status);
}

ucs_status_t ugni_ep_get_bcopy(uct_ep_h uct_ep, uct_unpack_callback_t unpack_cb,
                               void *arg, size_t length, uint64_t remote_addr,
                               uct_rkey_t rkey, uct_completion_t *comp)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;
    ugni_rma_t *rma;
    ucs_status_t status;

    if (length == 0) {
        return UCS_OK;
    }
    status = ugni_rma_new(ep, remote_addr, rkey, &rma);
    if (status != UCS_OK) {
        return status;
    }
    use_data(rma, length);
    status = ugni_direct_copy(ep, rma, 0);
    if (status == UCS_OK) {
        unpack_cb(arg, rma->data, length);
    }
    if (status != UCS_ERR_UNSUPPORTED) {
        return finish(ep, rma, status);
    }
    rma->unpack     = unpack_cb;
    rma->arg        = arg;
    rma->comp       = comp;
    rma->super.post = post_read;
    rma->super.done = get_bcopy_done;
    ugni_send_start(&rma->super);
    return UCS_INPROGRESS;
}

ucs_status_t ugni_rma_confirm(ugni_ep_t *ep)
{
    ugni_send_t *send;
    ucs_status_t status = ugni_send_new(ep, &send);
    ugni_rma_t *rma;

    if (status != UCS_OK) {
        return status;
    }
    rma              = (ugni_rma_t *)send;
    rma->remote.addr = ep->dirty_addr;
    rma->remote.key  = ep->dirty_key;
    use_data(rma, 1);
    send->post   = post_read;
    ep->is_dirty = 0;
    ugni_send_start(send);
    return UCS_OK;
}
