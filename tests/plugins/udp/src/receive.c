/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives datagrams, acknowledges them, and delivers messages in order. */
#include "udp.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
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

static int is_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return (a->sin_addr.s_addr == b->sin_addr.s_addr) &&
           (a->sin_port == b->sin_port);
}

/* A stream begins with number 0; later datagrams of an unknown one are ignored,
 * so that it starts in order. */
static udp_source_t *find_source(udp_iface_t *iface,
                                 const struct sockaddr_in *peer,
                                 uint64_t stream, uint32_t number)
{
    udp_source_t *source;

    for (source = iface->sources; source != NULL; source = source->next) {
        if ((source->stream == stream) && is_same(&source->peer, peer)) {
            return source;
        }
    }
    source = (number == 0) ? calloc(1, sizeof(*source)) : NULL;
    if (source != NULL) {
        source->peer   = *peer;
        source->stream = stream;
        source->next   = iface->sources;
        iface->sources = source;
    }
    return source;
}

static void accept_numbered(udp_iface_t *iface, const struct sockaddr_in *peer,
                            const udp_header_t *header, char *data,
                            unsigned length)
{
    uint32_t number      = le32toh(header->number);
    udp_source_t *source = find_source(iface, peer, le64toh(header->stream),
                                       number);
    int is_next;

    if ((source == NULL) || (header->id >= UCT_AM_ID_MAX) ||
        ((header->kind == UDP_KIND_PROBE) && udp_breaks("ignores-probes"))) {
        return;
    }
    is_next = (number == source->expected);
    source->expected += (uint32_t)is_next;
    acknowledge(iface, peer, source->stream, source->expected);
    if ((header->kind == UDP_KIND_MESSAGE) &&
        (is_next || (((int32_t)(number - source->expected) < 0) &&
                     udp_breaks("delivers-twice")))) {
        ucx_iface_deliver_am(&iface->super, header->id, data, length, 0);
    }
}

static unsigned accept_ack(udp_iface_t *iface, const struct sockaddr_in *peer,
                           const udp_header_t *header)
{
    udp_stream_t *stream;

    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        if ((stream->id == le64toh(header->stream)) &&
            is_same(&stream->peer, peer)) {
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
