/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stream does when time passes without an acknowledgement. */
#include "udp.h"

void udp_stream_check_time(udp_stream_t *stream, double now)
{
    if (stream->status != UCS_OK) {
        return;
    }
    if (udp_stream_outstanding(stream) == 0) {
        if ((stream->ep != NULL) &&
            (now - stream->heard >= stream->iface->keepalive)) {
            udp_stream_probe(stream);
        }
    } else if (now - stream->heard >= stream->iface->timeout) {
        udp_stream_fail(stream, UCS_ERR_ENDPOINT_TIMEOUT);
    } else if (now - stream->sent >= stream->rto) {
        udp_stream_retransmit(stream, now);
    }
}
