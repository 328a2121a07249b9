/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives datagrams, acknowledges them, and delivers messages in order. */
#include "udp.h"

#include <endian.h>
#include <ucx/am.h>

static void acknowledge(udp_iface_t *iface, const struct sockaddr_in *peer,
                        uint64_t stream, uint32_t number)
{
    const udp_header_t header = {.magic  = htole32(UDP_MAGIC),
                                 .kind   = UDP_KIND_ACK,
                                 .number = htole32(number),
                                 .stream = htole64(stream)};

    if (sendto(iface->socket, &header, sizeof(header),
               MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)peer,
               sizeof(*peer)) < 0) {
        return; /* lost: the peer sends again */
    }
}

static void accept_numbered(udp_iface_t *iface, const struct sockaddr_in *peer,
                            const udp_header_t *header, char *data,
                            unsigned length)
{
    uint32_t expected;
    udp_order_t order;

    if (header->id >= UCT_AM_ID_MAX) {
        return;
    }
    order = udp_source_accept(iface, peer, header, &expected);
    if (order == UDP_ORDER_UNKNOWN) {
        return;
    }
    ucx_counter_add(iface->counters, (order == UDP_ORDER_REPEATED) ?
                                     UDP_COUNT_REPEATED : UDP_COUNT_RECEIVED, 1);
    /* repeated ones as well: the acknowledgement may have been lost */
    acknowledge(iface, peer, le64toh(header->stream), expected);
    if ((order == UDP_ORDER_NEXT) && (header->kind == UDP_KIND_MESSAGE)) {
        ucx_iface_deliver_am(&iface->super, header->id, data, length, 0);
    }
}

static unsigned accept_ack(udp_iface_t *iface, const struct sockaddr_in *peer,
                           const udp_header_t *header)
{
    udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if ((stream->id == le64toh(header->stream)) &&
            udp_is_same_peer(&stream->peer, peer)) {
            return udp_stream_acked(stream, le32toh(header->number));
        }
    }
    return 0;
}

/* 0: nothing has arrived. */
int udp_receive(udp_iface_t *iface, unsigned *count_p)
{
    char data[UDP_MAX_MESSAGE];
    struct sockaddr_in peer;
    udp_header_t header;
    struct iovec iov[] = {{&header, sizeof(header)}, {data, sizeof(data)}};
    struct msghdr msg  = {.msg_name    = &peer,
                          .msg_namelen = sizeof(peer),
                          .msg_iov     = iov,
                          .msg_iovlen  = 2};
    ssize_t length     = recvmsg(iface->socket, &msg, MSG_DONTWAIT);

    if (length < 0) {
        return 0;
    }
    if (((size_t)length < sizeof(header)) || (msg.msg_flags & MSG_TRUNC) ||
        (le32toh(header.magic) != UDP_MAGIC)) {
        return 1; /* not of this transport */
    }
    if (header.kind == UDP_KIND_ACK) {
        *count_p += accept_ack(iface, &peer, &header);
    } else if (header.kind <= UDP_KIND_PROBE) {
        accept_numbered(iface, &peer, &header, data,
                        (unsigned)((size_t)length - sizeof(header)));
        ++*count_p;
    }
    return 1;
}
