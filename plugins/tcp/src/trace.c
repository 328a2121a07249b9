/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs active messages (level trace_data). The message path only checks
 * iface->tracer, which is NULL while tracing is disabled.
 */
#include "conn.h"

#include <stdint.h>
#include <string.h>

#define TRACE_LINE 256 /* Bytes of text from the tracer */
#define TRACE_BYTES \
    256 /* Maximum bytes of a zero-copy message that the tracer receives */

/* Default tracer: adds no text, so that only the transport's part is logged. */
static void trace_nothing(void *arg, uct_am_trace_type_t type, uint8_t id,
                          const void *data, size_t length, char *buffer,
                          size_t max)
{
}

static int trace_is_on(const tcp_iface_t *iface)
{
    return *iface->host->log_level >= (int)UCS_LOG_LEVEL_TRACE_DATA;
}

ucs_status_t tcp_iface_set_am_tracer(uct_iface_h uct_iface,
                                     uct_am_tracer_t tracer, void *arg)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);

    if ((tracer == NULL) && trace_is_on(iface)) {
        tracer = trace_nothing;
    }
    iface->tracer     = tracer;
    iface->tracer_arg = arg;
    return UCS_OK;
}

/* Logs a message of `length` bytes, of which `size` bytes are at `data`. */
static void trace_show(tcp_iface_t *iface, uct_am_trace_type_t type, uint8_t id,
                       const void *data, size_t size, size_t length)
{
    const ucx_host_t *host = iface->host;
    char line[TRACE_LINE]  = "";

    if (!trace_is_on(iface)) {
        return;
    }
    iface->tracer(iface->tracer_arg, type, id, data, size, line, sizeof(line));
    line[sizeof(line) - 1] = '\0';
    ucx_log(UCS_LOG_LEVEL_TRACE_DATA, "tcp %s am_id %u length %zu %s",
            (type == UCT_AM_TRACE_TYPE_SEND) ? "tx" : "rx", id, length, line);
}

void tcp_trace_am(tcp_iface_t *iface, uct_am_trace_type_t type, uint8_t id,
                  const void *data, size_t length)
{
    trace_show(iface, type, id, data, length, length);
}

void tcp_trace_zcopy(tcp_iface_t *iface, uint8_t id, const void *header,
                     size_t header_length, const uct_iov_t *iov, size_t iovcnt)
{
    size_t length = header_length + tcp_iov_length(iov, iovcnt);
    uint8_t first[TRACE_BYTES];
    size_t size = tcp_min(header_length, sizeof(first)), take;

    if (size > 0) {
        memcpy(first, header, size);
    }
    for (size_t i = 0; i < iovcnt; ++i) {
        take = tcp_min(iov[i].length, sizeof(first) - size);
        if (take > 0) {
            memcpy(first + size, iov[i].buffer, take);
        }
        size += take;
    }
    trace_show(iface, UCT_AM_TRACE_TYPE_SEND, id, first, size, length);
}
