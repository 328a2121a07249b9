/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages. */
#include "iface.h"

#include <endian.h>
#include <string.h>

/* Numbers of a part of the range of message numbers. A message is sent only
 * when all messages of the second last part are complete. Otherwise so many
 * messages could follow a delayed one, injected ones above all, that the receiver
 * takes them for old ones (order.c). */
enum { PART = 4096 };

/* Returns the counter of outstanding messages of the number's part. */
static uint16_t *sent_with(ugni_peer_t *peer, uint16_t number)
{
    return &peer->sent[number / PART % 2];
}

/* Returns whether the next message has to wait. Hot path. */
static int is_full(ugni_peer_t *peer)
{
    return (peer->number % PART == 0) && (*sent_with(peer, peer->number) > 0);
}

/* Updates the state of a peer after libfabric has accepted (`rc` is 0) or
 * rejected a message for it. */
static void posted(ugni_peer_t *peer, ssize_t rc)
{
    if (rc == 0) {
        ++peer->number;
        peer->contact = UGNI_CONTACT_MET;
    } else if (peer->contact == UGNI_CONTACT_NONE) {
        peer->contact = UGNI_CONTACT_TRIED;
    }
}

static ssize_t post_msg(ugni_ep_t *ep, ugni_send_t *send)
{
    ugni_msg_t *msg   = (ugni_msg_t *)send;
    ugni_peer_t *peer = ep->peer;
    ssize_t rc;

    if (is_full(peer)) {
        return -FI_EAGAIN;
    }
    msg->head.number = htole16(peer->number);
    msg->head.epoch  = peer->epoch;
    rc = fi_send(ugni_iface_of(ep)->port->ep, &msg->head, msg->length,
                 send->desc, peer->fi_addr, &send->op.context);
    if (rc == 0) {
        ++*sent_with(peer, peer->number);
    }
    posted(peer, rc);
    return rc;
}

void ugni_am_done(const ugni_send_t *send)
{
    if (send->post == post_msg) {
        --*sent_with(send->peer,
                     le16toh(((const ugni_msg_t *)send)->head.number));
    }
}

static void fill_head(const ugni_ep_t *ep, uint8_t id, ugni_wire_head_t *head)
{
    head->source = ugni_iface_of(ep)->source;
    head->key    = htole32(ep->addr.key);
    head->id     = id;
}

/* Injects a message of `size` bytes, with its header, and sets the number and
 * epoch in the header. Returns 0 if the message has to wait or libfabric does
 * not accept it now. Hot path. */
static int inject_at(ugni_ep_t *ep, ugni_wire_head_t *head, size_t size)
{
    ugni_peer_t *peer = ep->peer;
    ssize_t rc;

    if (is_full(peer)) {
        return 0;
    }
    head->number = htole16(peer->number);
    head->epoch  = peer->epoch;
    rc = fi_inject(ugni_iface_of(ep)->port->ep, head, size, peer->fi_addr);
    posted(peer, rc);
    if (rc != 0) {
        return 0;
    }
    ep->is_injected = 1;
    return 1;
}

/* Sends a short message by one call of libfabric, without a buffer of this
 * plugin and without a completion. Returns 0 if the message is too long, or the
 * endpoint or libfabric does not accept it now. The caller then uses a normal
 * send, which can wait and reports errors. Hot path. */
static int inject(ugni_ep_t *ep, uint8_t id, uint64_t header,
                  const void *payload, unsigned length)
{
    struct {
        ugni_wire_head_t head;
        uint64_t header;
        char
            data[UGNI_MAX_INJECT - sizeof(ugni_wire_head_t) - sizeof(uint64_t)];
    } msg;
    const size_t size = offsetof(typeof(msg), data) + length;

    if ((size > ugni_iface_of(ep)->max_inject) ||
        (ugni_check_send(ep) != UCS_OK)) {
        return 0;
    }
    fill_head(ep, id, &msg.head);
    msg.header = header;
    if (length > 0) {
        memcpy(msg.data, payload, length);
    }
    return inject_at(ep, &msg.head, size);
}

ucs_status_t ugni_msg_new(ugni_ep_t *ep, uint8_t id, ugni_msg_t **msg_p)
{
    ugni_send_t *send;
    ucs_status_t status = ugni_send_new(ep, &send);

    if (status == UCS_OK) {
        *msg_p     = (ugni_msg_t *)send;
        send->post = post_msg;
        fill_head(ep, id, &(*msg_p)->head);
    }
    return status;
}

void ugni_msg_start(ugni_msg_t *msg, size_t length)
{
    msg->length                = sizeof(msg->head) + length;
    msg->super.ep->is_injected = 0;
    ugni_send_start(&msg->super);
}

ucs_status_t ugni_ep_am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                              const void *payload, unsigned length)
{
    ugni_msg_t *msg;
    ucs_status_t status;

    if (inject((ugni_ep_t *)uct_ep, id, header, payload, length)) {
        return UCS_OK;
    }
    status = ugni_msg_new((ugni_ep_t *)uct_ep, id, &msg);
    if (status == UCS_OK) {
        memcpy(msg->data, &header, sizeof(header));
        if (length > 0) {
            memcpy(msg->data + sizeof(header), payload, length);
        }
        ugni_msg_start(msg, sizeof(header) + length);
    }
    return status;
}

ssize_t ugni_ep_am_bcopy(uct_ep_h uct_ep, uint8_t id,
                         uct_pack_callback_t pack_cb, void *arg, unsigned flags)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;
    ugni_msg_t *msg;
    ucs_status_t status = ugni_msg_new(ep, id, &msg);
    size_t length;

    if (status != UCS_OK) {
        return status;
    }
    length = pack_cb(msg->data, arg);
    if ((sizeof(msg->head) + length <= ugni_iface_of(ep)->max_inject) &&
        inject_at(ep, &msg->head, sizeof(msg->head) + length)) {
        ugni_send_cancel(&msg->super);
    } else {
        ugni_msg_start(msg, length);
    }
    return (ssize_t)length;
}

/* Uses only `buffer` and `length` of the entries: for this operation, callers
 * do not set the other members. */
ucs_status_t ugni_ep_am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                  const uct_iov_t *iov, size_t iovcnt)
{
    ugni_msg_t *msg;
    ucs_status_t status = ugni_msg_new((ugni_ep_t *)uct_ep, id, &msg);
    size_t length       = 0;

    if (status != UCS_OK) {
        return status;
    }
    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) { /* The buffer of an empty entry may be NULL */
            memcpy(msg->data + length, iov[i].buffer, iov[i].length);
            length += iov[i].length;
        }
    }
    ugni_msg_start(msg, length);
    return UCS_OK;
}

ucs_status_t ugni_ep_am_notify(ugni_ep_t *ep, uint8_t id)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_msg_t *msg;
    ucs_status_t status = ugni_msg_new(ep, id, &msg);

    if (status == UCS_OK) {
        (void)ugni_iface_address(&iface->super, (void *)msg->data);
        ugni_msg_start(msg,
                       sizeof(ugni_wire_addr_t) + iface->port->name_length);
    }
    return status;
}

ucs_status_t ugni_ep_am_confirm(ugni_ep_t *ep)
{
    return ep->is_injected ? ugni_ep_am_notify(ep, UGNI_ID_CHECK) : UCS_OK;
}

/* Sends UGNI_ID_CHECK only if no other message is outstanding, because the
 * completion of any message shows that the peer is alive. */
ucs_status_t ugni_ep_am_check(uct_ep_h uct_ep, unsigned flags,
                              uct_completion_t *comp)
{
    ugni_ep_t *ep             = (ugni_ep_t *)uct_ep;
    const ugni_iface_t *iface = ugni_iface_of(ep);

    if (ep->state & UGNI_EP_FAILED) {
        return (ep->state & UGNI_EP_TELL) ? UCS_OK : ep->status;
    }
    ++ep->busy;
    ugni_port_sweep(iface->port, iface->config.user_timeout,
                    iface->host->time());
    if (ugni_peer_is_dead(iface, &ep->addr)) {
        ugni_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
    } else if (!ugni_ep_has_sends(ep)) {
        (void)ugni_ep_am_notify(ep, UGNI_ID_CHECK);
    }
    --ep->busy;
    ugni_ep_update(ep);
    return UCS_OK;
}

/* Sends UGNI_ID_CLOSED to a peer. Returns whether the caller should try
 * again. */
static int say_closed(const ugni_iface_t *iface, ugni_peer_t *peer)
{
    const ugni_wire_head_t head = {
        .source = iface->source,
        .key    = htole32(peer->key),
        .number = htole16(peer->number),
        .id     = UGNI_ID_CLOSED,
        .epoch  = peer->epoch,
    };

    if ((peer->contact != UGNI_CONTACT_NONE) &&
        (fi_inject(iface->port->ep, &head, sizeof(head), peer->fi_addr) ==
         -FI_EAGAIN)) {
        return 1;
    }
    peer->contact = UGNI_CONTACT_NONE;
    return 0;
}

void ugni_am_farewell(ugni_iface_t *iface, double end)
{
    ugni_peer_t *peer;
    int again;

    if (iface->max_inject < sizeof(ugni_wire_head_t)) {
        return; /* Without injection, a send might never complete: the peer may
                 * close its interface, too, and make no progress any more */
    }
    do {
        again = 0;
        for (peer = iface->port->peers; peer != NULL; peer = peer->next) {
            again |= say_closed(iface, peer);
        }
        (void)ugni_port_progress(iface->port);
    } while (again && (iface->host->time() < end));
}
