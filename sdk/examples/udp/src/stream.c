/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of an endpoint: a window of datagrams that exist until the
 * peer has acknowledged them, or counts as lost. timer.c retransmits.
 */
#include "udp.h"

#include <endian.h>
#include <math.h>
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
    stream->iface  = iface;
    stream->ep     = ep;
    stream->peer   = *peer;
    stream->heard  = iface->host->time();
    stream->next   = iface->streams;
    iface->streams = stream;
    return stream;
}

static void drop_window(udp_stream_t *stream)
{
    for (; stream->acked != stream->next_number; ++stream->acked) {
        free(stream->window[stream->acked % UDP_WINDOW]);
    }
}

void udp_stream_free(udp_stream_t *stream)
{
    udp_done_t *done;

    while ((done = stream->flushes) != NULL) {
        stream->flushes = done->next;
        free(done);
    }
    drop_window(stream);
    free(stream);
}

/* A datagram that the kernel does not take is lost like any other. */
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
    if (udp_stream_outstanding(stream) < UDP_WINDOW) {
        packet = malloc(sizeof(*packet));
    }
    *status_p = (packet == NULL) ? UCS_ERR_NO_RESOURCE : UCS_OK;
    return packet;
}

void udp_stream_send(udp_stream_t *stream, udp_packet_t *packet, uint8_t kind,
                     uint8_t id, size_t length)
{
    double now = stream->iface->host->time();

    packet->length = length;
    packet->header = (udp_header_t){.magic  = htole32(UDP_MAGIC),
                                    .kind   = kind,
                                    .id     = id,
                                    .number = htole32(stream->next_number),
                                    .stream = htole64(stream->id)};
    if (udp_stream_outstanding(stream) == 0) {
        stream->heard = now;
        stream->rto   = UDP_FIRST_RTO;
    }
    stream->sent = now;
    stream->window[stream->next_number++ % UDP_WINDOW] = packet;
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

unsigned udp_stream_acked(udp_stream_t *stream, uint32_t number)
{
    uint32_t count = number - stream->acked;
    udp_done_t *done;

    /* the number comes from a peer */
    if ((count == 0) || (count > udp_stream_outstanding(stream))) {
        return 0;
    }
    for (; stream->acked != number; ++stream->acked) {
        free(stream->window[stream->acked % UDP_WINDOW]);
    }
    stream->rto   = UDP_FIRST_RTO;
    stream->heard = stream->iface->host->time();
    stream->sent  = stream->heard;
    while (((done = stream->flushes) != NULL) &&
           ((int32_t)(stream->acked - done->number) >= 0)) {
        stream->flushes = done->next;
        udp_iface_complete(stream->iface, done, UCS_OK);
    }
    return 1 + ucx_pending_dispatch(&stream->pending);
}

/* The receiver accepts datagrams in order only: all are sent again. */
void udp_stream_retransmit(udp_stream_t *stream, double now)
{
    uint32_t number;

    stream->sent = now;
    stream->rto  = fmin(stream->rto * 2, UDP_MAX_RTO);
    for (number = stream->acked; number != stream->next_number; ++number) {
        transmit(stream, stream->window[number % UDP_WINDOW]);
        ucx_counter_add(stream->iface->counters, UDP_COUNT_RETRANSMITTED, 1);
    }
}

ucs_status_t udp_stream_flush(udp_stream_t *stream, uct_completion_t *comp)
{
    if (stream->status != UCS_OK) {
        return stream->status;
    } else if (udp_stream_outstanding(stream) == 0) {
        return UCS_OK;
    } else if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    return (udp_done_create(&stream->flushes, comp, stream->next_number) ==
            NULL) ? UCS_ERR_NO_MEMORY : UCS_INPROGRESS;
}

void udp_stream_cancel(udp_stream_t *stream, ucs_status_t status)
{
    udp_done_t *done;

    while ((done = stream->flushes) != NULL) {
        stream->flushes = done->next;
        udp_iface_complete(stream->iface, done, status);
    }
    drop_window(stream);
}

void udp_stream_fail(udp_stream_t *stream, ucs_status_t status)
{
    stream->status = status;
    udp_stream_cancel(stream, status);
    if (stream->ep != NULL) {
        ++stream->iface->num_failed;
    }
}
