/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory: puts and gets of this side, and serving the peer's gets.
 *
 * The receiver writes the data of a put before it handles any later frame of
 * the stream. Its PUT_ACK frame contains the number of puts written so far.
 */
#include "am.h"
#include "tx.h"

#include <stdlib.h>
#include <string.h>

/* --- Puts ---------------------------------------------------------------- */

static void put_fill(tcp_wire_put_t *put, uint64_t remote_addr, uct_rkey_t rkey)
{
    const tcp_rkey_t *key = (const tcp_rkey_t *)rkey;

    put->key     = htole64(key->key);
    put->address = htole64(remote_addr);
}

/* Writes the header of a PUT with `length` bytes of data. */
static uint8_t *put_begin(uint8_t *dst, uint64_t remote_addr, uct_rkey_t rkey,
                          size_t length)
{
    uint64_t frame;
    tcp_wire_put_t put;

    put_fill(&put, remote_addr, rkey);
    frame = tcp_wire_frame(TCP_WIRE_PUT, 0, (uint32_t)(sizeof(put) + length));
    memcpy(dst, &frame, sizeof(frame));
    memcpy(dst + sizeof(frame), &put, sizeof(put));
    dst += sizeof(frame) + sizeof(put);
    memset(dst + length, 0, tcp_wire_pad(length));
    return dst;
}

static ucs_status_t put_end(tcp_conn_t *conn, size_t length)
{
    ++conn->puts;
    tcp_tx_commit(conn, tcp_wire_frame_size(sizeof(tcp_wire_put_t) + length));
    return tcp_tx_gather(conn);
}

ucs_status_t tcp_ep_put_short(uct_ep_h uct_ep, const void *buffer,
                              unsigned length, uint64_t remote_addr,
                              uct_rkey_t rkey)
{
    size_t size  = tcp_wire_frame_size(sizeof(tcp_wire_put_t) + length);
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

    dst = put_begin(dst, remote_addr, rkey, length);
    if (length > 0) {
        memcpy(dst, buffer, length);
    }
    return put_end(conn, length);
}

ssize_t tcp_ep_put_bcopy(uct_ep_h uct_ep, uct_pack_callback_t pack_cb,
                         void *arg, uint64_t remote_addr, uct_rkey_t rkey)
{
    const size_t head = TCP_WIRE_HDR + sizeof(tcp_wire_put_t);
    tcp_ep_t *ep      = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;
    size_t length;
    uint8_t *dst;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) ||
        ((dst = tcp_tx_reserve(conn,
                               head + tcp_wire_frame_size(
                                          conn->iface->config.tx_seg_size))) ==
         NULL)) {
        return UCS_ERR_NO_RESOURCE;
    }

    length = pack_cb(dst + head, arg);
    put_begin(dst, remote_addr, rkey, length);
    put_end(conn, length);
    return (ssize_t)length;
}

ucs_status_t tcp_ep_put_zcopy(uct_ep_h uct_ep, const uct_iov_t *iov,
                              size_t iovcnt, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    size_t length = tcp_iov_length(iov, iovcnt);
    tcp_ep_t *ep  = tcp_ep(uct_ep);
    tcp_zcopy_t *zcopy;
    ucs_status_t status;
    tcp_conn_t *conn;
    uint8_t *dst;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (tcp_tx_is_gated(conn, ep) || (conn->state != TCP_CONN_UP)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (length == 0) {
        return UCS_OK;
    }

    if ((conn->tx_head != NULL) &&
        (length <= conn->iface->config.sendv_thresh)) {
        dst = tcp_tx_reserve(conn, tcp_wire_frame_size(sizeof(tcp_wire_put_t) +
                                                       length));
        if (dst == NULL) {
            return UCS_ERR_NO_RESOURCE;
        }
        tcp_iov_copy(put_begin(dst, remote_addr, rkey, length), iov, iovcnt);
        put_end(conn, length);
        return UCS_OK;
    }

    status = tcp_tx_zcopy_get(conn, iov, iovcnt, &length, &zcopy);
    if (status != UCS_OK) {
        return status;
    }
    tcp_tx_align(conn, TCP_WIRE_HDR + sizeof(tcp_wire_put_t), &zcopy->iov[0]);
    zcopy->is_put = 1;
    zcopy->left   = length;
    put_fill(&zcopy->put, remote_addr, rkey);
    return tcp_tx_zcopy_start(conn, zcopy, ep, comp);
}

/* --- Gets ---------------------------------------------------------------- */

/* Queues the GET frame for sending, and adds `get` to the gets that wait for
 * data. */
static ucs_status_t get_start(tcp_conn_t *conn, tcp_ep_t *ep, tcp_get_t *get,
                              size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    const tcp_rkey_t *key = (const tcp_rkey_t *)rkey;
    size_t size           = tcp_wire_frame_size(sizeof(tcp_wire_get_t));
    tcp_wire_get_t wire;
    uint64_t frame;
    uint8_t *dst;

    dst = tcp_tx_reserve(conn, size);
    if (dst == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    frame        = tcp_wire_frame(TCP_WIRE_GET, 0, sizeof(wire));
    wire.key     = htole64(key->key);
    wire.address = htole64(remote_addr);
    wire.length  = htole64(length);
    memcpy(dst, &frame, sizeof(frame));
    memcpy(dst + sizeof(frame), &wire, sizeof(wire));

    get->op.next    = NULL;
    get->op.ep      = ep;
    get->op.comp    = comp;
    get->op.mem     = get;
    get->left       = length;
    get->length     = length;
    get->cancelled  = 0;
    get->iov_index  = 0;
    get->iov_off    = 0;
    *conn->get_tail = &get->op;
    conn->get_tail  = &get->op.next;
    ++conn->gets_sent;

    tcp_tx_commit(conn, size);
    tcp_tx_kick(conn);
    return UCS_INPROGRESS;
}

static tcp_get_t *get_alloc(tcp_conn_t *conn, const tcp_ep_t *ep)
{
    if (tcp_tx_is_gated(conn, ep) || (conn->state != TCP_CONN_UP) ||
        (conn->gets_sent - conn->gets_done >= TCP_WIRE_GETS_MAX)) {
        return NULL;
    }
    return tcp_op_alloc(conn->iface);
}

ucs_status_t tcp_ep_get_zcopy(uct_ep_h uct_ep, const uct_iov_t *iov,
                              size_t iovcnt, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    size_t length = tcp_iov_length(iov, iovcnt);
    tcp_ep_t *ep  = tcp_ep(uct_ep);
    ucs_status_t status;
    tcp_conn_t *conn;
    unsigned count;
    tcp_get_t *get;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (length == 0) {
        return UCS_OK;
    }
    get = get_alloc(conn, ep);
    if (get == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }

    get->bounce    = NULL;
    get->unpack_cb = NULL;
    status         = tcp_iov_fill(get->iov, &count, iov, iovcnt);
    if (status == UCS_OK) {
        get->iovcnt = (uint8_t)count;
        status      = get_start(conn, ep, get, length, remote_addr, rkey, comp);
    }
    if (status != UCS_INPROGRESS) {
        tcp_op_free(conn->iface, get);
    }
    return status;
}

ucs_status_t tcp_ep_get_bcopy(uct_ep_h uct_ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    tcp_ep_t *ep       = tcp_ep(uct_ep);
    tcp_iface_t *iface = tcp_iface(uct_ep->iface);
    ucs_status_t status;
    tcp_conn_t *conn;
    tcp_get_t *get;

    conn = tcp_ep_conn(ep, &status);
    if (tcp_unlikely(conn == NULL)) {
        return status;
    }
    if (length == 0) {
        return UCS_OK;
    }
    get = get_alloc(conn, ep);
    if (get == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }

    status      = UCS_ERR_NO_RESOURCE;
    get->bounce = ucx_mpool_get(iface->host, iface->txbuf_pool);
    if (get->bounce == NULL) {
        goto err;
    }
    get->unpack_cb       = unpack_cb;
    get->unpack_arg      = arg;
    get->iovcnt          = 1;
    get->iov[0].iov_base = get->bounce->data;
    get->iov[0].iov_len  = length;
    status = get_start(conn, ep, get, length, remote_addr, rkey, comp);
    if (status == UCS_INPROGRESS) {
        return status;
    }

    ucx_mpool_put(iface->txbuf_pool, get->bounce);
err:
    tcp_op_free(iface, get);
    return status;
}

void tcp_get_finish(tcp_conn_t *conn)
{
    tcp_get_t *get = tcp_container_of(conn->get_head, tcp_get_t, op);

    conn->get_head = get->op.next;
    if (conn->get_head == NULL) {
        conn->get_tail = &conn->get_head;
        if (conn->flags & TCP_CONN_WANT_CLOSE) {
            tcp_tx_schedule(conn);
        }
    }
    ++conn->gets_done;

    if (get->bounce != NULL) {
        if (!get->cancelled) {
            get->unpack_cb(get->unpack_arg, get->bounce->data, get->length);
        }
        ucx_mpool_put(conn->iface->txbuf_pool, get->bounce);
    }
    if (get->cancelled) {
        /* Another operation calls the completion: cancel_gets() in flush.c */
        tcp_op_free(conn->iface, get);
    } else {
        tcp_op_done(conn->iface, &get->op, UCS_OK);
    }
    tcp_flush_check(conn);
}

/* --- The peer's gets ----------------------------------------------------- */

void tcp_serve_add(tcp_conn_t *conn, const tcp_wire_get_t *wire)
{
    uint64_t length = le64toh(wire->length);
    tcp_serve_t *serve;
    tcp_key_t *key;

    if ((length == 0) || (conn->num_serves >= TCP_WIRE_GETS_MAX)) {
        tcp_conn_violation(conn, "sends a get of no bytes, or of too many");
        return;
    }
    key = tcp_keys_hold(&conn->iface->md->keys, le64toh(wire->key),
                        le64toh(wire->address), length,
                        UCT_MD_MEM_ACCESS_REMOTE_GET);
    if (key == NULL) {
        tcp_conn_violation(conn, "gets memory for which it has no valid key");
        return;
    }
    tcp_keys_release(key);

    serve = tcp_op_alloc(conn->iface);
    if (serve == NULL) {
        tcp_conn_break(conn, UCS_ERR_NO_MEMORY);
        return;
    }
    memset(serve, 0, sizeof(*serve));
    serve->super.kind = TCP_ELEM_SERVE;
    serve->key        = le64toh(wire->key);
    serve->address    = le64toh(wire->address);
    serve->left       = length;
    *conn->serve_tail = serve;
    conn->serve_tail  = &serve->next;
    ++conn->num_serves;
    tcp_tx_schedule(conn);
}

void tcp_serve_queue(tcp_conn_t *conn)
{
    tcp_serve_t *serve = conn->serve_head;
    struct iovec data;

    if (serve->queued) {
        return;
    }
    serve->queued   = 1;
    serve->seg_left = (uint32_t)tcp_min(serve->left, conn->iface->seg_size);
    serve->left -= serve->seg_left;
    data = (struct iovec){.iov_base = (void *)(uintptr_t)serve->address,
                          .iov_len  = serve->seg_left};
    tcp_tx_align(conn, sizeof(serve->hdr), &data);
    serve->pad     = (uint8_t)tcp_wire_pad(serve->seg_left);
    serve->hdr     = tcp_wire_frame(TCP_WIRE_DATA, 0, serve->seg_left);
    serve->hdr_off = 0;
    tcp_tx_append(conn, &serve->super);
}

/* --- Remote completion --------------------------------------------------- */

/* Queues PUT_ACK with the number of the peer's puts that are complete. If the
 * queue is full, nothing is queued, and a later call acknowledges these puts
 * too. */
void tcp_put_ack_queue(tcp_conn_t *conn)
{
    uint64_t words[2];
    uint8_t *dst;

    if (conn->num_bufs >= TCP_TX_MAX_BUFS) {
        return;
    }
    dst = tcp_tx_reserve_slow(conn, sizeof(words), 1);
    if (dst == NULL) {
        return;
    }
    words[0] = tcp_wire_frame(TCP_WIRE_PUT_ACK, 0, sizeof(words[1]));
    words[1] = htole64(conn->puts_taken);
    memcpy(dst, words, sizeof(words));
    tcp_tx_commit(conn, sizeof(words));
    conn->puts_told = conn->puts_taken;
}
