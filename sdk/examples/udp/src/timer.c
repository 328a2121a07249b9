/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions of a stream when an acknowledgement is overdue, or a probe of an idle
 * peer is due. */
#include "udp.h"

void udp_stream_check_time(udp_stream_t *stream, double now)
{
    if (stream->status != UCS_OK) {
        return;
    }
    if (ucx_window_is_idle(&stream->window)) {
        if ((stream->ep != NULL) &&
            (now - stream->window.progressed >= stream->iface->keepalive)) {
            udp_stream_probe(stream);
        }
    } else if (ucx_window_has_expired(&stream->window, now)) {
        udp_stream_fail(stream, UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (now >= stream->window.deadline) {
        ucx_window_time_out(&stream->window, now);
        udp_stream_retransmit(stream, now);
    }
}
