/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of an endpoint: a window of datagrams, which are kept until
 * the peer has acknowledged them or the stream has failed. timer.c determines
 * when to retransmit.
 */
#include "udp.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

udp_stream_t *udp_stream_create(udp_iface_t *iface, udp_ep_t *ep,
                                const struct sockaddr_in *peer)
{
    udp_stream_t *stream = calloc(1, sizeof(*stream));

    if (stream == NULL) {
        return NULL;
    }
    if (getrandom(&stream->id, sizeof(stream->id), 0) !=
        (ssize_t)sizeof(stream->id)) {
        free(stream);
        return NULL;
    }
    ucx_pending_init(&stream->pending);
    stream->iface = iface;
    stream->ep    = ep;
    stream->peer  = *peer;
    ucx_window_init(&stream->window, &iface->window, 0);
    ucx_window_connected(&stream->window, 0, iface->host->time());
    stream->next   = iface->streams;
    iface->streams = stream;
    return stream;
}

static void free_packets(ucx_window_tx_t *tx)
{
    ucx_window_tx_t *next;

    for (; tx != NULL; tx = next) {
        next = tx->next;
        free(tx);
    }
}

void udp_stream_free(udp_stream_t *stream)
{
    udp_done_t *done;

    while ((done = stream->flushes) != NULL) {
        stream->flushes = done->next;
        udp_done_free(done);
    }
    free_packets(ucx_window_abandon(&stream->window));
    free(stream);
}

/* Sends a datagram. If the kernel does not accept it, the datagram is treated
 * as lost on the network: it is retransmitted later. */
static void transmit(udp_stream_t *stream, const udp_packet_t *packet)
{
    if (sendto(stream->iface->socket, &packet->header,
               sizeof(packet->header) + packet->length,
               MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&stream->peer,
               sizeof(stream->peer)) < 0) {
        return;
    }
}

udp_packet_t *udp_stream_reserve(udp_stream_t *stream, ucs_status_t *status_p)
{
    udp_packet_t *packet = NULL;

    *status_p = stream->status;
    if (stream->status != UCS_OK) {
        return NULL;
    }
    if (ucx_window_is_open(&stream->window)) {
        packet = malloc(sizeof(*packet));
    }
    *status_p = (packet == NULL) ? UCS_ERR_NO_RESOURCE : UCS_OK;
    return packet;
}

void udp_stream_send(udp_stream_t *stream, udp_packet_t *packet, uint8_t kind,
                     uint8_t id, size_t length)
{
    packet->length = length;
    packet->header = (udp_header_t){
        .magic  = htole32(UDP_MAGIC),
        .kind   = kind,
        .id     = id,
        .number = htole32(stream->window.tx_psn),
        .stream = htole64(stream->id),
    };
    ucx_window_sent(&stream->window, &packet->tx, stream->iface->host->time());
    ucx_counter_add(stream->iface->counters, UDP_COUNT_SENT, 1);
    transmit(stream, packet);
}

void udp_stream_probe(udp_stream_t *stream)
{
    ucs_status_t status;
    udp_packet_t *packet = udp_stream_reserve(stream, &status);

    if (packet != NULL) {
        udp_stream_send(stream, packet, UDP_KIND_PROBE, 0, 0);
    }
}

/* Processes an acknowledgement. Its values come from a peer and may be wrong:
 * ucx_window_take_ack() ignores impossible values. */
void udp_stream_acked(udp_stream_t *stream, uint32_t number, uint64_t received,
                      double now)
{
    udp_done_t *done;

    free_packets(ucx_window_take_ack(&stream->window, number, received, now));
    while (((done = stream->flushes) != NULL) &&
           !ucx_psn_before(stream->window.acked, done->number)) {
        stream->flushes = done->next;
        udp_iface_complete(stream->iface, done, UCS_OK);
    }
}

void udp_stream_retransmit(udp_stream_t *stream, double now)
{
    ucx_window_tx_t *tx;

    while ((tx = ucx_window_resend(&stream->window, now)) != NULL) {
        transmit(stream, (const udp_packet_t *)tx);
        ucx_counter_add(stream->iface->counters, UDP_COUNT_RETRANSMITTED, 1);
    }
}

ucs_status_t udp_stream_flush(udp_stream_t *stream, uct_completion_t *comp)
{
    if (stream->status != UCS_OK) {
        return stream->status;
    } else if (ucx_window_is_idle(&stream->window)) {
        return UCS_OK;
    } else if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    return (udp_done_create(&stream->flushes, comp, stream->window.tx_psn) ==
            NULL) ?
               UCS_ERR_NO_MEMORY :
               UCS_INPROGRESS;
}

void udp_stream_cancel(udp_stream_t *stream, ucs_status_t status)
{
    udp_done_t *done;

    while ((done = stream->flushes) != NULL) {
        stream->flushes = done->next;
        /* A flush of the interface completes with UCS_OK: the flushes of the
         * endpoint and the error handler report the error. */
        udp_iface_complete(stream->iface, done,
                           done->of_iface ? UCS_OK : status);
    }
    free_packets(ucx_window_abandon(&stream->window));
}

void udp_stream_fail(udp_stream_t *stream, ucs_status_t status)
{
    stream->status = status;
    udp_stream_cancel(stream, status);
    if (stream->ep != NULL) {
        ++stream->iface->num_failed;
    }
}
