/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: accepts the peer's connection and reads its packets. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <ucx/am.h>
#include <unistd.h>

enum { PACKETS_A_ROUND = 16 };

/* -------------------------------------------------------------- packets -- */

static pairs_md_t *md_of(pairs_ep_t *ep)
{
    return (pairs_md_t *)ep->super.iface->md;
}

static ucs_status_t serve_get(pairs_ep_t *ep, const pairs_header_t *header)
{
    size_t length = header->length;
    char *data;
    int done;

    if (length > PAIRS_MAX_DATA) {
        return UCS_ERR_CONNECTION_RESET;
    }
    data = malloc(length + 1);
    if (data == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (pairs_md_copy(md_of(ep), header->key, header->address, data, length,
                      0)) {
        done = pairs_answer(ep, PAIRS_GET_REPLY, data, length);
    } else {
        done = pairs_answer(ep, PAIRS_REFUSED, NULL, 0);
    }
    free(data);
    return done ? UCS_OK : UCS_ERR_NO_MEMORY;
}

static ucs_status_t serve_put(pairs_ep_t *ep, const pairs_header_t *header,
                              void *data, size_t length)
{
    if (pairs_md_copy(md_of(ep), header->key, header->address, data, length,
                      1)) {
        return UCS_OK;
    }
    return pairs_answer(ep, PAIRS_REFUSED, NULL, 0) ? UCS_OK :
                                                      UCS_ERR_NO_MEMORY;
}

/* Completes the operation that waits for this answer. An answer that no
 * operation expects violates the protocol. */
static ucs_status_t take_answer(pairs_ep_t *ep, pairs_kind_t kind,
                                const void *data, size_t length)
{
    pairs_op_t *op = pairs_take_op(ep, kind);

    if (op == NULL) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (length != op->length) {
        pairs_complete(op, UCS_ERR_IO_ERROR);
        return UCS_ERR_CONNECTION_RESET;
    }
    if (op->unpack != NULL) {
        op->unpack(op->arg, data, length);
    }
    pairs_complete(op, UCS_OK);
    pairs_send_more(ep); /* One operation less is in flight */
    return UCS_OK;
}

/* Handles one packet. If it returns an error, the caller closes the
 * connection. */
static ucs_status_t serve(pairs_ep_t *ep, const pairs_header_t *header,
                          char *data, size_t length)
{
    switch (header->kind) {
    case PAIRS_MESSAGE:
        if (header->am_id >= UCT_AM_ID_MAX) {
            return UCS_ERR_CONNECTION_RESET;
        }
        ucx_iface_deliver_am(ep->super.iface, header->am_id, data,
                             (unsigned)length, 0);
        return UCS_OK;
    case PAIRS_PUT:
        return serve_put(ep, header, data, length);
    case PAIRS_GET:
        return serve_get(ep, header);
    case PAIRS_FLUSH:
        return pairs_answer(ep, PAIRS_FLUSHED, NULL, 0) ? UCS_OK :
                                                          UCS_ERR_NO_MEMORY;
    case PAIRS_GET_REPLY:
    case PAIRS_FLUSHED:
        return take_answer(ep, (pairs_kind_t)header->kind, data, length);
    case PAIRS_REFUSED:
        return UCS_ERR_REJECTED;
    default:
        return UCS_ERR_CONNECTION_RESET;
    }
}

static int is_hello(const pairs_ep_t *ep, const char *packet, ssize_t length)
{
    pairs_header_t header;

    if (length != (ssize_t)sizeof(header)) {
        return 0;
    }
    memcpy(&header, packet, sizeof(header));
    return (header.kind == PAIRS_HELLO) &&
           (memcmp(&header.name, &ep->peer, sizeof(ep->peer)) == 0);
}

/* Receives and handles one packet. Returns 0 if there is none, if the
 * connection is closed, or if memory is short. */
static int receive_one(pairs_ep_t *ep, poller_source_t *source)
{
    size_t size  = sizeof(pairs_header_t) + PAIRS_MAX_DATA;
    char *packet = malloc(size);
    pairs_header_t header;
    ucs_status_t status;
    ssize_t length;

    if (packet == NULL) {
        return 0;
    }
    length = sock_recv(source->fd, packet, size);
    if (length == UCS_ERR_NO_PROGRESS) {
        free(packet);
        return 0;
    }
    if (length < (ssize_t)sizeof(header)) {
        status = UCS_ERR_CONNECTION_RESET;
    } else if (!ep->is_greeted) {
        ep->is_greeted = is_hello(ep, packet, length);
        status         = ep->is_greeted ? UCS_OK : UCS_ERR_CONNECTION_RESET;
    } else {
        memcpy(&header, packet, sizeof(header));
        status = serve(ep, &header, packet + sizeof(header),
                       (size_t)length - sizeof(header));
    }
    free(packet);
    if ((status != UCS_OK) && (source->fd >= 0)) {
        pairs_ep_fail(ep, status);
    }
    return source->fd >= 0;
}

static void receive(poller_source_t *source, uint32_t events)
{
    unsigned i;

    (void)events;
    for (i = 0; (i < PACKETS_A_ROUND) && receive_one(source->owner, source);
         ++i) {
    }
}

/* -------------------------------------------------------- the connection -- */

/* Accepts the peer's connection and closes the listening socket, so that there
 * is no further connection. */
void pairs_accept(poller_source_t *source, uint32_t events)
{
    pairs_ep_t *ep   = source->owner;
    poller_t *poller = &pairs_iface_of(ep)->poller;
    int fd           = sock_accept(source->fd);

    (void)events;
    if (fd < 0) {
        return;
    }
    ep->listener = NULL;
    poller_remove(poller, source);
    ep->in = poller_add(poller, fd, EPOLLIN, receive, ep);
    if (ep->in == NULL) {
        pairs_ep_fail(ep, UCS_ERR_NO_MEMORY);
    }
}

ucs_status_t pairs_greet_early(pairs_ep_t *ep)
{
    const ucx_host_t *host = local_host_of(ep->super.iface->md);
    char packet[sizeof(pairs_header_t) + 1];
    ssize_t length;

    pairs_accept(ep->listener, 0);
    if (ep->in == NULL) {
        return (ep->state == PAIRS_FAILED) ? ep->status : UCS_OK;
    }

    length = sock_recv(ep->in->fd, packet, sizeof(packet));
    if (!is_hello(ep, packet, length)) {
        return UCS_ERR_CONNECTION_RESET;
    }
    ep->is_greeted = 1;
    if (!sock_has_message(ep->in->fd)) {
        return UCS_OK;
    }
    ucx_error("pairs: the peer has sent before this end was connected");
    return UCS_ERR_CONNECTION_RESET;
}
