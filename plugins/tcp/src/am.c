/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending active messages. Hot path: no allocation beyond the pools. */
#include "am.h"
#include "tx.h"

#include <string.h>

/* Writes the header of a frame of `size` bytes, and zeros into its last 8
 * bytes, which contain the padding. Returns the position of the payload. */
static inline uint8_t *am_begin(uint8_t *dst, uint8_t id, uint32_t length,
                                size_t size)
{
    uint64_t frame = tcp_wire_frame(TCP_WIRE_AM, id, length);

    memset(dst + size - 8, 0, 8);
    memcpy(dst, &frame, sizeof(frame));
    return dst + sizeof(frame);
}

static inline void am_trace(tcp_conn_t *conn, uint8_t id, const void *data,
                            size_t length)
{
    if (tcp_unlikely(conn->iface->tracer != NULL)) {
        tcp_trace_am(conn->iface, UCT_AM_TRACE_TYPE_SEND, id, data, length);
    }
}

ucs_status_t tcp_ep_am_short(uct_ep_h uct_ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    size_t size  = tcp_wire_frame_size(sizeof(header) + length);
    tcp_ep_t *ep = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;
    uint8_t *dst;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) ||
        ((dst = tcp_tx_reserve(conn, size)) == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }

    dst = am_begin(dst, id, (uint32_t)(sizeof(header) + length), size);
    memcpy(dst, &header, sizeof(header));
    if (length > 0) {
        memcpy(dst + sizeof(header), payload, length);
    }
    am_trace(conn, id, dst, sizeof(header) + length);
    tcp_tx_commit(conn, size);
    return tcp_tx_kick(conn);
}

/* Returns the total length of the entries of am_short_iov. Its callers do not
 * set `count` and `stride`, so each entry counts once. */
static size_t short_iov_length(const uct_iov_t *iov, size_t iovcnt)
{
    size_t length = 0;

    for (size_t i = 0; i < iovcnt; ++i) {
        length += iov[i].length;
    }
    return length;
}

static void short_iov_copy(uint8_t *dst, const uct_iov_t *iov, size_t iovcnt)
{
    for (size_t i = 0; i < iovcnt; ++i) {
        if (iov[i].length > 0) {
            memcpy(dst, iov[i].buffer, iov[i].length);
            dst += iov[i].length;
        }
    }
}

ucs_status_t tcp_ep_am_short_iov(uct_ep_h uct_ep, uint8_t id,
                                 const uct_iov_t *iov, size_t iovcnt)
{
    size_t length = short_iov_length(iov, iovcnt);
    size_t size   = tcp_wire_frame_size(length);
    tcp_ep_t *ep  = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;
    uint8_t *dst;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) ||
        ((dst = tcp_tx_reserve(conn, size)) == NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }

    dst = am_begin(dst, id, (uint32_t)length, size);
    short_iov_copy(dst, iov, iovcnt);
    am_trace(conn, id, dst, length);
    tcp_tx_commit(conn, size);
    return tcp_tx_kick(conn);
}

ssize_t tcp_ep_am_bcopy(uct_ep_h uct_ep, uint8_t id,
                        uct_pack_callback_t pack_cb, void *arg, unsigned flags)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;
    uint64_t frame;
    size_t length;
    uint8_t *dst;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) ||
        ((dst = tcp_tx_reserve(conn, tcp_wire_frame_size(
                                         conn->iface->config.tx_seg_size))) ==
         NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }

    length = pack_cb(dst + TCP_WIRE_HDR, arg);
    frame  = tcp_wire_frame(TCP_WIRE_AM, id, (uint32_t)length);
    memcpy(dst, &frame, sizeof(frame));
    memset(dst + TCP_WIRE_HDR + length, 0, tcp_wire_pad(length));
    am_trace(conn, id, dst + TCP_WIRE_HDR, length);
    tcp_tx_commit(conn, tcp_wire_frame_size(length));
    if (flags & UCX_SEND_FLAG_MORE) {
        tcp_tx_kick(conn);
    } else {
        tcp_tx_kick_now(conn);
    }
    return (ssize_t)length;
}

/* Sends a small message as a copy, together with the data that is queued
 * already: one system call for both is faster than a separate send without the
 * copy. */
static ucs_status_t am_zcopy_copy(tcp_conn_t *conn, uint8_t id,
                                  const void *header, unsigned header_length,
                                  const uct_iov_t *iov, size_t iovcnt,
                                  size_t length)
{
    size_t size = tcp_wire_frame_size(header_length + length);
    uint8_t *dst;

    dst = tcp_tx_reserve(conn, size);
    if (dst == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    dst = am_begin(dst, id, (uint32_t)(header_length + length), size);
    if (header_length > 0) {
        memcpy(dst, header, header_length);
    }
    tcp_iov_copy(dst + header_length, iov, iovcnt);
    am_trace(conn, id, dst, header_length + length);
    tcp_tx_commit(conn, size);
    tcp_tx_kick_now(conn);
    return UCS_OK;
}

/* Copies the frame header and the user's header into the operation or, if the
 * user's header is long, into a buffer queued before the operation. */
static ucs_status_t am_zcopy_head(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                  uint8_t id, const void *header,
                                  unsigned header_length, size_t length)
{
    uint64_t frame = tcp_wire_frame(TCP_WIRE_AM, id,
                                    (uint32_t)(header_length + length));
    size_t size    = sizeof(frame) + header_length;
    uint8_t *dst   = zcopy->hdr;

    if (size > sizeof(zcopy->hdr)) {
        dst = tcp_tx_reserve(conn, size);
        if (dst == NULL) {
            return UCS_ERR_NO_RESOURCE;
        }
        tcp_tx_commit(conn, size);
    } else {
        zcopy->hdr_len = (uint16_t)size;
    }
    memcpy(dst, &frame, sizeof(frame));
    if (header_length > 0) {
        memcpy(dst + sizeof(frame), header, header_length);
    }
    zcopy->seg_left = (uint32_t)length;
    zcopy->pad      = (uint8_t)tcp_wire_pad(header_length + length);
    return UCS_OK;
}

ucs_status_t tcp_ep_am_zcopy(uct_ep_h uct_ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp)
{
    size_t length = tcp_iov_length(iov, iovcnt);
    tcp_ep_t *ep  = tcp_ep(uct_ep);
    tcp_zcopy_t *zcopy;
    ucs_status_t status;
    tcp_conn_t *conn;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) || (conn->state != TCP_CONN_UP)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if ((length == 0) || ((conn->tx_head != NULL) &&
                          (length <= conn->iface->config.sendv_thresh))) {
        return am_zcopy_copy(conn, id, header, header_length, iov, iovcnt,
                             length);
    }

    status = tcp_tx_zcopy_get(conn, iov, iovcnt, &length, &zcopy);
    if (status != UCS_OK) {
        return status;
    }
    tcp_tx_align(conn, TCP_WIRE_HDR + header_length, &zcopy->iov[0]);
    status = am_zcopy_head(conn, zcopy, id, header, header_length, length);
    if (status != UCS_OK) {
        tcp_op_free(conn->iface, zcopy);
        return status;
    }
    if (tcp_unlikely(conn->iface->tracer != NULL)) {
        tcp_trace_zcopy(conn->iface, id, header, header_length, iov, iovcnt);
    }
    return tcp_tx_zcopy_start(conn, zcopy, ep, comp);
}
