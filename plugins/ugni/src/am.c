/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending of messages. */
#include "smsg.h"

#include <endian.h>
#include <string.h>

ucs_status_t ugni_check_send(const ugni_ep_t *ep)
{
    if (ep->state & UGNI_EP_FAILED) {
        return ep->status;
    }
    return (ugni_link_is_alone(&ep->queued) &&
            (ugni_iface_of(ep)->tx_free > 0)) ? UCS_OK : UCS_ERR_NO_RESOURCE;
}

static ucs_status_t new_send(ugni_ep_t *ep, uint8_t id, ugni_send_t **send_p)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ucs_status_t status = ugni_check_send(ep);
    ugni_send_t *send;

    if (status != UCS_OK) {
        return status;
    }
    send = ucx_mpool_get(iface->host, iface->sends);
    if (send == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memset(send, 0, sizeof(*send));
    ugni_link_init(&send->link);
    ugni_link_init(&send->all);
    send->head.source = iface->source;
    send->head.key    = htole32(ep->addr.key);
    send->head.id     = id;
    send->ep          = ep;
    send->peer        = ep->peer;
    *send_p           = send;
    return UCS_OK;
}

static void start(ugni_send_t *send, size_t length)
{
    ugni_ep_t *ep       = send->ep;
    ugni_iface_t *iface = ugni_iface_of(ep);

    send->length = sizeof(send->head) + length;
    send->number = iface->next_number++;
    if (ugni_link_is_alone(&ep->sent)) {
        ep->moved = iface->host->time();
    }
    --iface->tx_free;
    ugni_link_add(&iface->outstanding, &send->all);
    ugni_link_add(&ep->queued, &send->link);
    ++ep->busy;
    ugni_ep_push(ep);
    --ep->busy;
    ugni_ep_update(ep);
}

void ugni_ep_push(ugni_ep_t *ep)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_send_t *send;
    ssize_t rc;

    while (!ugni_link_is_alone(&ep->queued)) {
        send = ugni_container_of(ep->queued.next, ugni_send_t, link);
        send->head.number = htole16(ep->peer->number);
        send->head.epoch  = ep->peer->epoch;
        rc = fi_send(iface->ep, &send->head, send->length, NULL,
                     ep->peer->fi_addr, &send->op.context);
        if (rc == -FI_EAGAIN) {
            return;
        }
        if (rc != 0) {
            ugni_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
            return;
        }
        ++ep->peer->number;
        ugni_link_remove(&send->link);
        ugni_link_add(&ep->sent, &send->link);
    }
}

void ugni_send_free(ugni_iface_t *iface, ugni_send_t *send)
{
    ugni_link_remove(&send->link);
    ugni_link_remove(&send->all);
    ++iface->tx_free;
    ucx_mpool_put(iface->sends, send);
}

void ugni_sends_cleanup(ugni_iface_t *iface)
{
    while (!ugni_link_is_alone(&iface->disowned)) {
        ugni_send_free(iface, ugni_container_of(iface->disowned.next,
                                                ugni_send_t, link));
    }
    if (iface->sends != NULL) {
        iface->host->mpool_destroy(iface->sends);
    }
}

void ugni_send_done(ugni_iface_t *iface, ugni_send_t *send, ucs_status_t status)
{
    ugni_peer_t *peer = send->peer;
    ugni_ep_t *ep     = send->ep;

    ugni_send_free(iface, send);
    if (ep != NULL) {
        ++ep->busy;
    }
    if (status != UCS_OK) {
        ugni_peer_lost(iface, peer, status);
    }
    if (ep != NULL) {
        ep->moved = iface->host->time();
        ugni_flush_update(ep);
        --ep->busy;
        ugni_ep_update(ep);
    }
    ugni_flush_update_all(iface);
}

ucs_status_t ugni_ep_am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                              const void *payload, unsigned length)
{
    ugni_send_t *send;
    ucs_status_t status = new_send((ugni_ep_t*)uct_ep, id, &send);

    if (status == UCS_OK) {
        memcpy(send->data, &header, sizeof(header));
        if (length > 0) {
            memcpy(send->data + sizeof(header), payload, length);
        }
        start(send, sizeof(header) + length);
    }
    return status;
}

ssize_t ugni_ep_am_bcopy(uct_ep_h uct_ep, uint8_t id,
                         uct_pack_callback_t pack_cb, void *arg, unsigned flags)
{
    ugni_send_t *send;
    ucs_status_t status = new_send((ugni_ep_t*)uct_ep, id, &send);
    size_t length;

    if (status != UCS_OK) {
        return status;
    }
    length = pack_cb(send->data, arg);
    start(send, length);
    return (ssize_t)length;
}

/* `count` and `stride` of the entries are not set. */
ucs_status_t ugni_ep_am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                  const uct_iov_t *iov, size_t iovcnt)
{
    ugni_send_t *send;
    ucs_status_t status = new_send((ugni_ep_t*)uct_ep, id, &send);
    size_t length       = 0;

    if (status != UCS_OK) {
        return status;
    }
    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) { /* the buffer of an empty entry may be NULL */
            memcpy(send->data + length, iov[i].buffer, iov[i].length);
            length += iov[i].length;
        }
    }
    start(send, length);
    return UCS_OK;
}

/* An outstanding message also shows whether the peer is alive. */
ucs_status_t ugni_ep_check(uct_ep_h uct_ep, unsigned flags,
                           uct_completion_t *comp)
{
    ugni_ep_t *ep = (ugni_ep_t*)uct_ep;
    ugni_send_t *send;

    if (ep->state & UGNI_EP_FAILED) {
        return ep->status;
    }
    if (ugni_peer_is_dead(ugni_iface_of(ep), &ep->addr)) {
        ugni_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
    } else if (!ugni_ep_has_sends(ep) &&
               (new_send(ep, UGNI_ID_NONE, &send) == UCS_OK)) {
        start(send, 0);
    }
    return UCS_OK;
}
