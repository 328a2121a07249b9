/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the receiver knows about the streams of peers. It exists until the
 * interface is closed: a stream that was forgotten could not continue.
 */
#include "udp.h"

#include <endian.h>
#include <stdlib.h>

int udp_is_same_peer(const struct sockaddr_in *a, const struct sockaddr_in *b)
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
        if ((source->stream == stream) &&
            udp_is_same_peer(&source->peer, peer)) {
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

udp_order_t udp_source_accept(udp_iface_t *iface,
                              const struct sockaddr_in *peer,
                              const udp_header_t *header, uint32_t *expected_p)
{
    uint32_t number      = le32toh(header->number);
    udp_source_t *source = find_source(iface, peer, le64toh(header->stream),
                                       number);
    int32_t ahead;

    if (source == NULL) {
        return UDP_ORDER_UNKNOWN;
    }
    ahead = (int32_t)(number - source->expected);
    if (ahead == 0) {
        ++source->expected;
    }
    *expected_p = source->expected;
    return (ahead == 0) ? UDP_ORDER_NEXT :
           (ahead < 0)  ? UDP_ORDER_REPEATED :
                          UDP_ORDER_EARLY;
}

void udp_sources_free(udp_iface_t *iface)
{
    udp_source_t *source;

    while ((source = iface->sources) != NULL) {
        iface->sources = source->next;
        free(source);
    }
}
