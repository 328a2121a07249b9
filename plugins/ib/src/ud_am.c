/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends active messages and releases their buffers. */
#include "ud_am.h"
#include "ud_send.h"

#define HEAD sizeof(ud_wire_t)

/* Allocates a buffer if the endpoint accepts a message now. Otherwise returns
 * NULL and stores the status that the send operation must return. */
static inline ud_desc_t *prepare(ud_iface_t *iface, ud_ep_t *ep,
                                 ucs_status_t *status_p)
{
    ud_desc_t *desc;

    *status_p = ud_check(iface, ep);
    if (ib_unlikely(*status_p != UCS_OK)) {
        return NULL;
    }
    desc = ud_desc_get(iface, ep);
    if (ib_unlikely(desc == NULL)) {
        *status_p = UCS_ERR_NO_RESOURCE;
    }
    return desc;
}

/* Sends a prepared message, or releases the buffer. A zero-copy message
 * requests an acknowledgement, because its completion waits for one, and the
 * receiver may make no progress for a long time after it has received the
 * message. */
static inline ucs_status_t send_message(ud_iface_t *iface, ud_ep_t *ep,
                                        ud_desc_t *desc, uint8_t id)
{
    if (ib_unlikely(
            !ud_send(iface, ep, desc, UD_MESSAGE, id, desc->comp != NULL))) {
        ucx_mpool_put(iface->descs, desc);
        return UCS_ERR_NO_RESOURCE;
    }
    return UCS_OK;
}

ucs_status_t ud_ep_am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                            const void *payload, unsigned length)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    ucs_status_t status;
    ud_desc_t *desc;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    desc = prepare(iface, ep, &status);
    if (ib_unlikely(desc == NULL)) {
        return status;
    }
    memcpy(desc->data + HEAD, &header, sizeof(header));
    memcpy(desc->data + HEAD + sizeof(header), payload, length);
    desc->length = (uint32_t)(HEAD + sizeof(header) + length);
    return send_message(iface, ep, desc, id);
}

ucs_status_t ud_ep_am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                const uct_iov_t *iov, size_t iovcnt)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    ucs_status_t status;
    ud_desc_t *desc;
    char *to;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    desc = prepare(iface, ep, &status);
    if (ib_unlikely(desc == NULL)) {
        return status;
    }
    to = desc->data + HEAD;
    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) {
            memcpy(to, iov[i].buffer, iov[i].length);
            to += iov[i].length;
        }
    }
    desc->length = (uint32_t)(to - desc->data);
    return send_message(iface, ep, desc, id);
}

ssize_t ud_ep_am_bcopy(uct_ep_h uct_ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    ucs_status_t status;
    ud_desc_t *desc;
    size_t length;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    desc = prepare(iface, ep, &status);
    if (ib_unlikely(desc == NULL)) {
        return status;
    }
    length       = pack_cb(desc->data + HEAD, arg);
    desc->length = (uint32_t)(HEAD + length);
    status       = send_message(iface, ep, desc, id);
    return (status == UCS_OK) ? (ssize_t)length : status;
}

/* Converts the user's vector to scatter/gather entries. Returns 0 if an entry
 * has no memory handle or is strided, or if there are too many. */
static inline int fill_sge(ud_desc_t *desc, const uct_iov_t *iov, size_t iovcnt)
{
    struct ibv_sge *sge = desc->sge;

    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length == 0) {
            continue;
        }
        if (ib_unlikely((iov[i].memh == UCT_MEM_HANDLE_NULL) ||
                        (iov[i].count > 1) ||
                        (sge == desc->sge + UD_MAX_IOV))) {
            return 0;
        }
        sge->addr   = (uintptr_t)iov[i].buffer;
        sge->length = (uint32_t)iov[i].length;
        sge->lkey   = ib_lkey(iov[i].memh);
        ++sge;
    }
    desc->num_sge = (uint8_t)(sge - desc->sge);
    return 1;
}

ucs_status_t ud_ep_am_zcopy(uct_ep_h uct_ep, uint8_t id, const void *header,
                            unsigned header_length, const uct_iov_t *iov,
                            size_t iovcnt, unsigned flags,
                            uct_completion_t *comp)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    ucs_status_t status;
    ud_desc_t *desc;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    desc = prepare(iface, ep, &status);
    if (ib_unlikely(desc == NULL)) {
        return status;
    }
    if (ib_unlikely(!fill_sge(desc, iov, iovcnt))) {
        ucx_mpool_put(iface->descs, desc);
        return UCS_ERR_INVALID_PARAM;
    }
    if (header_length > 0) {
        memcpy(desc->data + HEAD, header, header_length);
    }
    desc->length = (uint32_t)(HEAD + header_length);
    desc->comp   = comp;
    status       = send_message(iface, ep, desc, id);
    return (status == UCS_OK) ? UCS_INPROGRESS : status;
}

int ud_send_empty(ud_iface_t *iface, ud_ep_t *ep, ud_kind_t kind)
{
    ud_desc_t *desc = NULL;

    /* On the service thread, take only a buffer that is free already: the pool
     * must not allocate memory there. */
    if (ud_has_queue(iface) &&
        (!iface->in_service || (iface->descs->free_list != NULL))) {
        desc = ud_desc_get(iface, ep);
    }
    if (desc == NULL) {
        return 0;
    }
    desc->length = HEAD;
    if (!ud_send(iface, ep, desc, kind, 0, 1)) {
        ucx_mpool_put(iface->descs, desc);
        return 0;
    }
    return 1;
}

/* --- Release of buffers --------------------------------------------------- */

static void end_desc(ud_iface_t *iface, ud_desc_t *desc, ucs_status_t status)
{
    uct_completion_t *comp = desc->comp;

    ucx_mpool_put(iface->descs, desc);
    ucx_complete(comp, status);
}

/* Ends a packet that is acknowledged or has failed. Adds the packet to
 * iface->leaving if the device may still use its buffer, or if the packet has a
 * completion of the user and this is the service thread, which calls none. If
 * an acknowledged packet was sent only once, the device has sent it and does
 * not use its buffer any more. */
void ud_desc_done(ud_iface_t *iface, ud_desc_t *desc, ucs_status_t status)
{
    if ((((desc->tx.resends == 0) && (status == UCS_OK)) ||
         ud_has_left(iface, desc->sn)) &&
        (!iface->in_service || (desc->comp == NULL))) {
        end_desc(iface, desc, status);
        return;
    }
    desc->status   = (int8_t)status;
    desc->tx.next  = (ucx_window_tx_t *)iface->leaving;
    iface->leaving = desc;
    ++desc->ep->leaving;
}

void ud_desc_end_leaving(ud_iface_t *iface, int force)
{
    ud_desc_t *desc, *list = iface->leaving;
    ud_ep_t *ep;

    iface->leaving = NULL;
    while ((desc = list) != NULL) {
        list = (ud_desc_t *)desc->tx.next;
        if (!force && !ud_has_left(iface, desc->sn)) {
            desc->tx.next  = (ucx_window_tx_t *)iface->leaving;
            iface->leaving = desc;
            continue;
        }
        ep = desc->ep;
        --ep->leaving;
        ++ep->busy;
        end_desc(iface, desc, (ucs_status_t)desc->status);
        if (ep->leaving == 0) {
            ud_flush_end(ep, (ucs_status_t)ep->status);
        }
        --ep->busy;
        if (ep->leaving == 0) {
            ud_ep_finish(ep);
        }
    }
}
