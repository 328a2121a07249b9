/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's state of the streams of peers. The state of a stream exists
 * until the interface is closed: the receiver does not know when a stream ends,
 * and a stream whose state was freed could not continue.
 */
#include "udp.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

int udp_is_same_peer(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return (a->sin_addr.s_addr == b->sin_addr.s_addr) &&
           (a->sin_port == b->sin_port);
}

/* Finds the state of a stream. Creates the state only for a datagram with
 * number 0, with which each stream begins. Otherwise returns NULL for an
 * unknown stream: its datagrams are ignored, and retransmitted after number
 * 0. */
udp_source_t *udp_source_find(udp_iface_t *iface,
                              const struct sockaddr_in *peer,
                              const udp_header_t *header)
{
    const uint64_t stream = le64toh(header->stream);
    udp_source_t *source;

    for (source = iface->sources; source != NULL; source = source->next) {
        if ((source->stream == stream) &&
            udp_is_same_peer(&source->peer, peer)) {
            return source;
        }
    }
    source = (header->number == 0) ? calloc(1, sizeof(*source)) : NULL;
    if (source != NULL) {
        source->peer   = *peer;
        source->stream = stream;
        ucx_window_init(&source->window, &iface->window, 0);
        source->next   = iface->sources;
        iface->sources = source;
    }
    return source;
}

udp_kept_t *udp_kept_create(const udp_header_t *header, const char *data,
                            unsigned length)
{
    udp_kept_t *kept = malloc(sizeof(*kept) + length);

    if (kept != NULL) {
        kept->kind   = header->kind;
        kept->id     = header->id;
        kept->length = length;
        memcpy(kept->data, data, length);
    }
    return kept;
}

udp_order_t udp_source_accept(udp_iface_t *iface,
                              const struct sockaddr_in *peer,
                              const udp_header_t *header, const char *data,
                              unsigned length, udp_source_t **source_p)
{
    uint32_t number      = le32toh(header->number);
    udp_source_t *source = udp_source_find(iface, peer, header);
    udp_kept_t *kept     = NULL;
    ucx_window_result_t result;

    if (source == NULL) {
        return UDP_ORDER_UNKNOWN;
    }
    *source_p = source;
    if (ucx_psn_before(source->window.rx_psn, number)) {
        kept = udp_kept_create(header, data, length);
    }
    result = ucx_window_arrived(&source->window,
                                (kept == NULL) ? NULL : &kept->rx, number,
                                iface->host->time());
    if (result != UCX_WINDOW_RX_KEPT) {
        free(kept);
    }
    return (result == UCX_WINDOW_RX_IN_ORDER) ? UDP_ORDER_NEXT :
           (result == UCX_WINDOW_RX_KEPT)     ? UDP_ORDER_KEPT :
                                                UDP_ORDER_REPEATED;
}

static void free_source(udp_source_t *source)
{
    ucx_window_rx_t *rx;

    while ((rx = ucx_window_drop_kept(&source->window)) != NULL) {
        free(rx);
    }
    free(source);
}

void udp_sources_free(udp_iface_t *iface)
{
    udp_source_t *source;

    while ((source = iface->sources) != NULL) {
        iface->sources = source->next;
        free_source(source);
    }
}
