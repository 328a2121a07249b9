/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives datagrams, acknowledges them, and delivers messages in order. */
#include "udp.h"

#include <endian.h>
#include <stdlib.h>
#include <ucx/am.h>

static void acknowledge(udp_iface_t *iface, udp_source_t *source,
                        unsigned flags)
{
    ucx_window_t *window      = &source->window;
    const udp_header_t header = {
        .magic    = htole32(UDP_MAGIC),
        .kind     = UDP_KIND_ACK,
        .flags    = htole16((uint16_t)flags),
        .number   = htole32(window->rx_psn),
        .stream   = htole64(source->stream),
        .received = htole64(ucx_window_sack(window)),
    };

    ucx_window_acked(window);
    if (sendto(iface->socket, &header, sizeof(header),
               MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&source->peer,
               sizeof(source->peer)) < 0) {
        return; /* The acknowledgement is lost: the peer retransmits the
                 * datagram, which is then acknowledged again */
    }
}

static void deliver(udp_iface_t *iface, uint8_t kind, uint8_t id, char *data,
                    unsigned length)
{
    if (kind == UDP_KIND_MESSAGE) {
        ucx_iface_deliver_am(&iface->super, id, data, length, 0);
    }
}

void udp_deliver(udp_iface_t *iface, udp_kept_t *kept)
{
    deliver(iface, kept->kind, kept->id, kept->data, kept->length);
    free(kept);
}

static void deliver_kept(udp_iface_t *iface, udp_source_t *source)
{
    udp_kept_t *kept;

    while ((kept = (udp_kept_t *)ucx_window_next(&source->window)) != NULL) {
        if (iface->service.is_running) {
            udp_service_defer(iface, kept);
        } else {
            udp_deliver(iface, kept);
        }
    }
}

/* On the service thread, which must not call handlers of the user, copies a
 * datagram for the next progress. If too many datagrams wait already, or memory
 * is lacking, sends UDP_FLAG_BUSY and returns 0: the datagram is dropped
 * without an acknowledgement. On the user's thread, sets *copy_p to NULL and
 * returns 1. */
static int prepare(udp_iface_t *iface, const struct sockaddr_in *peer,
                   const udp_header_t *header, const char *data,
                   unsigned length, udp_kept_t **copy_p)
{
    udp_source_t *source;

    *copy_p = NULL;
    if (!iface->service.is_running) {
        return 1;
    }
    if (udp_service_is_open(iface)) {
        *copy_p = udp_kept_create(header, data, length);
    }
    if (*copy_p == NULL) {
        source = udp_source_find(iface, peer, header);
        if (source != NULL) {
            acknowledge(iface, source, UDP_FLAG_BUSY);
        }
    }
    return *copy_p != NULL;
}

static void accept_numbered(udp_iface_t *iface, const struct sockaddr_in *peer,
                            const udp_header_t *header, char *data,
                            unsigned length)
{
    udp_kept_t *copy;
    udp_source_t *source;
    udp_order_t order;

    if ((header->id >= UCT_AM_ID_MAX) ||
        !prepare(iface, peer, header, data, length, &copy)) {
        return;
    }
    order = udp_source_accept(iface, peer, header, data, length, &source);
    if (order == UDP_ORDER_NEXT) {
        if (copy != NULL) {
            udp_service_defer(iface, copy);
        } else {
            deliver(iface, header->kind, header->id, data, length);
        }
        deliver_kept(iface, source);
    } else {
        free(copy);
    }
    if (order == UDP_ORDER_UNKNOWN) {
        return;
    }
    ucx_counter_add(iface->counters,
                    (order == UDP_ORDER_REPEATED) ? UDP_COUNT_REPEATED :
                                                    UDP_COUNT_RECEIVED,
                    1);
    /* Acknowledge repeated datagrams as well: the previous acknowledgement may
     * have been lost */
    acknowledge(iface, source, 0);
}

static void accept_ack(udp_iface_t *iface, const struct sockaddr_in *peer,
                       const udp_header_t *header)
{
    const double now = iface->host->time();
    udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if ((stream->id == le64toh(header->stream)) &&
            udp_is_same_peer(&stream->peer, peer)) {
            udp_stream_acked(stream, le32toh(header->number),
                             le64toh(header->received), now);
            ucx_window_hold(&stream->window,
                            (le16toh(header->flags) & UDP_FLAG_BUSY) != 0, now);
            udp_stream_retransmit(stream, now);
            return;
        }
    }
}

/* See udp.h. */
int udp_receive(udp_iface_t *iface, unsigned *count_p)
{
    char data[UDP_MAX_MESSAGE];
    struct sockaddr_in peer;
    udp_header_t header;
    struct iovec iov[] = {{&header, sizeof(header)}, {data, sizeof(data)}};
    struct msghdr msg  = {
         .msg_name    = &peer,
         .msg_namelen = sizeof(peer),
         .msg_iov     = iov,
         .msg_iovlen  = 2,
    };
    ssize_t length = recvmsg(iface->socket, &msg, MSG_DONTWAIT);

    if (length < 0) {
        return 0;
    }
    if (((size_t)length < sizeof(header)) || (msg.msg_flags & MSG_TRUNC) ||
        (le32toh(header.magic) != UDP_MAGIC)) {
        return 1; /* The datagram is not of this transport */
    }
    if (header.kind == UDP_KIND_ACK) {
        accept_ack(iface, &peer, &header);
        ++*count_p;
    } else if (header.kind <= UDP_KIND_PROBE) {
        accept_numbered(iface, &peer, &header, data,
                        (unsigned)((size_t)length - sizeof(header)));
        ++*count_p;
    }
    return 1;
}
