/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deliberate defects of the example plugin udp, which the conformance kit must
 * find. With the linker option --wrap, calls of a function NAME in the plugin
 * call __wrap_NAME() in this file, which can call the plugin's function as
 * __real_NAME(). The name of the library's folder selects a defect; if it names
 * none, all calls are passed on.
 */
#include "udp.h"

#include "../common/defect.h"

udp_order_t __real_udp_source_accept(udp_iface_t *iface,
                                     const struct sockaddr_in *peer,
                                     const udp_header_t *header,
                                     const char *data, unsigned length,
                                     udp_source_t **source_p);
udp_order_t __wrap_udp_source_accept(udp_iface_t *iface,
                                     const struct sockaddr_in *peer,
                                     const udp_header_t *header,
                                     const char *data, unsigned length,
                                     udp_source_t **source_p);
ucs_status_t __real_udp_stream_flush(udp_stream_t *stream,
                                     uct_completion_t *comp);
ucs_status_t __wrap_udp_stream_flush(udp_stream_t *stream,
                                     uct_completion_t *comp);
void __real_udp_stream_fail(udp_stream_t *stream, ucs_status_t status);
void __wrap_udp_stream_fail(udp_stream_t *stream, ucs_status_t status);
void __real_udp_stream_retransmit(udp_stream_t *stream, double now);
void __wrap_udp_stream_retransmit(udp_stream_t *stream, double now);

static int breaks(const char *defect)
{
    return defect_is(&udp_transport, defect);
}

udp_order_t __wrap_udp_source_accept(udp_iface_t *iface,
                                     const struct sockaddr_in *peer,
                                     const udp_header_t *header,
                                     const char *data, unsigned length,
                                     udp_source_t **source_p)
{
    udp_order_t order;

    if ((header->kind == UDP_KIND_PROBE) && breaks("ignores-probes")) {
        return UDP_ORDER_UNKNOWN;
    }
    order = __real_udp_source_accept(iface, peer, header, data, length,
                                     source_p);
    return ((order == UDP_ORDER_REPEATED) && breaks("delivers-twice")) ?
               UDP_ORDER_NEXT :
               order;
}

ucs_status_t __wrap_udp_stream_flush(udp_stream_t *stream,
                                     uct_completion_t *comp)
{
    return ((stream->status == UCS_OK) && breaks("flushes-unacknowledged")) ?
               UCS_OK :
               __real_udp_stream_flush(stream, comp);
}

void __wrap_udp_stream_fail(udp_stream_t *stream, ucs_status_t status)
{
    if ((status != UCS_ERR_ENDPOINT_TIMEOUT) || !breaks("never-times-out")) {
        __real_udp_stream_fail(stream, status);
    }
}

void __wrap_udp_stream_retransmit(udp_stream_t *stream, double now)
{
    if (!breaks("never-retransmits")) {
        __real_udp_stream_retransmit(stream, now);
    }
}
