/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send queue of a connection; writes it to the socket. Never calls the
 * user: progress calls completions.
 */
#include "tx.h"
#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* TX_IOV_MAX: maximum number of entries of one system call. TX_ELEM_IOVS:
 * maximum number of entries of one element of the queue. */
#define TX_IOV_MAX   64
#define TX_ELEM_IOVS (TCP_IOV_MAX + 2)

static uint8_t tx_zeros[8];

/* --- I/O vectors of the user --------------------------------------------- */

size_t tcp_iov_length(const uct_iov_t *iov, size_t iovcnt)
{
    size_t length = 0;

    for (size_t i = 0; i < iovcnt; ++i) {
        length += iov[i].length * iov[i].count;
    }
    return length;
}

void tcp_iov_copy(uint8_t *dst, const uct_iov_t *iov, size_t iovcnt)
{
    for (size_t i = 0; i < iovcnt; ++i) {
        for (unsigned j = 0; (j < iov[i].count) && (iov[i].length > 0); ++j) {
            memcpy(dst, (char *)iov[i].buffer + j * iov[i].stride,
                   iov[i].length);
            dst += iov[i].length;
        }
    }
}

ucs_status_t tcp_iov_fill(struct iovec *dst, unsigned *count_p,
                          const uct_iov_t *iov, size_t iovcnt)
{
    unsigned count = 0;

    for (size_t i = 0; i < iovcnt; ++i) {
        for (unsigned j = 0; (j < iov[i].count) && (iov[i].length > 0); ++j) {
            if (count == TCP_IOV_MAX) {
                return UCS_ERR_INVALID_PARAM;
            }
            dst[count].iov_base  = (char *)iov[i].buffer + j * iov[i].stride;
            dst[count++].iov_len = iov[i].length;
        }
    }
    *count_p = count;
    return UCS_OK;
}

/* --- The queue ----------------------------------------------------------- */

void tcp_tx_append(tcp_conn_t *conn, tcp_elem_t *elem)
{
    elem->next = NULL;
    if (conn->tx_head == NULL) {
        conn->tx_head = elem;
    } else {
        conn->tx_tail->next = elem;
    }
    conn->tx_tail = elem;
    conn->tx_cur  = (elem->kind == TCP_ELEM_BUF) ? (tcp_txbuf_t *)elem : NULL;
}

void tcp_tx_schedule(tcp_conn_t *conn)
{
    if (tcp_list_is_empty(&conn->tx_node)) {
        tcp_list_add_tail(&conn->iface->tx_work, &conn->tx_node);
    }
}

uint8_t *tcp_tx_reserve_slow(tcp_conn_t *conn, size_t size, int force)
{
    tcp_iface_t *iface = conn->iface;
    tcp_txbuf_t *buf;

    if (!force && (conn->num_bufs >= TCP_TX_MAX_BUFS)) {
        if (!(conn->flags & TCP_CONN_BLOCKED)) {
            tcp_tx_flush(conn);
        }
        if (conn->num_bufs >= TCP_TX_MAX_BUFS) {
            tcp_tx_schedule(conn);
            return NULL;
        }
    }

    buf = conn->tx_cur;
    if ((buf != NULL) && (iface->txbuf_cap - buf->tail >= size)) {
        return buf->data + buf->tail;
    }

    buf = ucx_mpool_get(iface->host, iface->txbuf_pool);
    if (buf == NULL) {
        return NULL;
    }
    buf->super.kind = TCP_ELEM_BUF;
    buf->head       = 0;
    buf->tail       = 0;
    ++conn->num_bufs;
    tcp_tx_append(conn, &buf->super);
    return buf->data;
}

void tcp_tx_frame(tcp_conn_t *conn, uint64_t frame)
{
    tcp_txbuf_t *buf = conn->tx_cur;
    uint8_t *dst;

    dst = ((buf != NULL) &&
           (conn->iface->txbuf_cap - buf->tail >= TCP_WIRE_HDR)) ?
              buf->data + buf->tail :
              tcp_tx_reserve_slow(conn, TCP_WIRE_HDR, 1);
    if (dst == NULL) {
        tcp_conn_break(conn, UCS_ERR_NO_MEMORY);
        return;
    }
    memcpy(dst, &frame, sizeof(frame));
    tcp_tx_commit(conn, TCP_WIRE_HDR);
    tcp_tx_schedule(conn);
}

static tcp_elem_t *tx_pop(tcp_conn_t *conn)
{
    tcp_elem_t *elem = conn->tx_head;

    conn->tx_head = elem->next;
    if (conn->tx_cur == (tcp_txbuf_t *)elem) {
        conn->tx_cur = NULL;
    }
    return elem;
}

void tcp_tx_elem_free(tcp_conn_t *conn, tcp_elem_t *elem)
{
    tcp_iface_t *iface = conn->iface;

    switch (elem->kind) {
    case TCP_ELEM_BUF:
        --conn->num_bufs;
        ucx_mpool_put(iface->txbuf_pool, elem);
        break;
    case TCP_ELEM_ZCOPY:
        --conn->num_zcopy;
        free(((tcp_zcopy_t *)elem)->copy);
        tcp_op_free(iface, elem);
        break;
    default:
        /* TCP_ELEM_SERVE: the structure also is an element of the list
         * conn->serve_head, so it is not freed here */
        ((tcp_serve_t *)elem)->queued = 0;
        break;
    }
}

/* --- Zero copy ----------------------------------------------------------- */

/* Makes the next frame of a put the current one, and writes its header. */
static void zcopy_next_put(tcp_zcopy_t *zcopy)
{
    size_t seg = tcp_min(zcopy->left, zcopy->seg_size);
    uint64_t frame;

    frame = tcp_wire_frame(TCP_WIRE_PUT, 0,
                           (uint32_t)(sizeof(zcopy->put) + seg));
    memcpy(zcopy->hdr, &frame, sizeof(frame));
    memcpy(zcopy->hdr + sizeof(frame), &zcopy->put, sizeof(zcopy->put));
    zcopy->hdr_off  = 0;
    zcopy->hdr_len  = sizeof(frame) + sizeof(zcopy->put);
    zcopy->seg_left = (uint32_t)seg;
    zcopy->pad      = (uint8_t)tcp_wire_pad(seg);
    zcopy->left -= seg;
    zcopy->put.address = htole64(le64toh(zcopy->put.address) + seg);
}

ucs_status_t tcp_tx_zcopy_get(tcp_conn_t *conn, const uct_iov_t *iov,
                              size_t iovcnt, size_t *length_p,
                              tcp_zcopy_t **zcopy_p)
{
    tcp_zcopy_t *zcopy;
    ucs_status_t status;
    unsigned count;

    if (conn->num_zcopy >= TCP_TX_MAX_ZCOPY) {
        return UCS_ERR_NO_RESOURCE;
    }
    zcopy = tcp_op_alloc(conn->iface);
    if (zcopy == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    status = tcp_iov_fill(zcopy->iov, &count, iov, iovcnt);
    if (status != UCS_OK) {
        tcp_op_free(conn->iface, zcopy);
        return status;
    }

    *length_p = 0;
    for (unsigned i = 0; i < count; ++i) {
        *length_p += zcopy->iov[i].iov_len;
    }
    zcopy->super.kind = TCP_ELEM_ZCOPY;
    zcopy->is_put     = 0;
    zcopy->in_call    = 1;
    zcopy->is_done    = 0;
    zcopy->iovcnt     = (uint8_t)count;
    zcopy->iov_index  = 0;
    zcopy->iov_off    = 0;
    zcopy->hdr_off    = 0;
    zcopy->hdr_len    = 0;
    zcopy->left       = 0;
    zcopy->copy       = NULL;
    zcopy->op.mem     = zcopy;
    *zcopy_p          = zcopy;
    return UCS_OK;
}

uint64_t tcp_tx_zcopy_puts(const tcp_zcopy_t *zcopy)
{
    return !zcopy->is_put ?
               0 :
               1 + (zcopy->left + zcopy->seg_size - 1) / zcopy->seg_size;
}

uint64_t tcp_tx_zcopy_size(const tcp_zcopy_t *zcopy)
{
    uint64_t size = (uint64_t)(zcopy->hdr_len - zcopy->hdr_off) +
                    zcopy->seg_left + zcopy->pad;
    size_t head   = TCP_WIRE_HDR + sizeof(tcp_wire_put_t);
    size_t frames = (zcopy->left == 0) ?
                        0 :
                        (zcopy->left - 1) / zcopy->seg_size + 1;

    return size + frames * head + ((zcopy->left + 7) & ~(size_t)7);
}

ucs_status_t tcp_tx_zcopy_start(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                tcp_ep_t *ep, uct_completion_t *comp)
{
    zcopy->op.ep    = ep;
    zcopy->op.comp  = comp;
    zcopy->seg_size = conn->iface->seg_size;
    if (zcopy->is_put) {
        zcopy_next_put(zcopy);
        conn->puts += tcp_tx_zcopy_puts(zcopy);
    }
    conn->tx_queued += tcp_tx_zcopy_size(zcopy);
    ++conn->num_zcopy;
    tcp_tx_append(conn, &zcopy->super);
    conn->tx_round = conn->iface->round;
    if (!(conn->flags & TCP_CONN_BLOCKED)) {
        tcp_tx_flush(conn);
    }
    if (zcopy->is_done) {
        tcp_op_free(conn->iface, zcopy);
        return UCS_OK;
    }
    zcopy->in_call = 0;
    tcp_tx_schedule(conn);
    return UCS_INPROGRESS;
}

/* Called when the kernel has accepted all data of an operation. If that happens
 * inside the call that started the operation, that call returns UCS_OK;
 * otherwise the next progress calls the completion. */
static void zcopy_finish(tcp_conn_t *conn, tcp_zcopy_t *zcopy)
{
    --conn->num_zcopy;
    if (zcopy->in_call) {
        zcopy->is_done = 1;
        return;
    }
    free(zcopy->copy);
    tcp_op_done(conn->iface, &zcopy->op, UCS_OK);
}

/* --- Writing to the socket ------------------------------------------------ */

static unsigned zcopy_build(const tcp_zcopy_t *zcopy, struct iovec *iov)
{
    size_t left = zcopy->seg_left, off = zcopy->iov_off, take;
    unsigned count = 0, i;

    if (zcopy->hdr_off < zcopy->hdr_len) {
        iov[count].iov_base  = (void *)(zcopy->hdr + zcopy->hdr_off);
        iov[count++].iov_len = zcopy->hdr_len - zcopy->hdr_off;
    }
    for (i = zcopy->iov_index; left > 0; ++i) {
        take                 = tcp_min(left, zcopy->iov[i].iov_len - off);
        iov[count].iov_base  = (char *)zcopy->iov[i].iov_base + off;
        iov[count++].iov_len = take;
        left -= take;
        off = 0;
    }
    if (zcopy->pad > 0) {
        iov[count].iov_base  = tx_zeros;
        iov[count++].iov_len = zcopy->pad;
    }
    return count;
}

/* Fills `iov` with the unsent parts of a DATA frame, which answers a get of the
 * peer. *hold_p keeps the memory registered until the caller releases it.
 * Returns -1 if the memory is not registered any more. */
static int serve_build(tcp_conn_t *conn, const tcp_serve_t *serve,
                       struct iovec *iov, tcp_key_t **hold_p)
{
    int count = 0;

    if (serve->hdr_off < sizeof(serve->hdr)) {
        iov[count].iov_base  = (uint8_t *)&serve->hdr + serve->hdr_off;
        iov[count++].iov_len = sizeof(serve->hdr) - serve->hdr_off;
    }
    if (serve->seg_left > 0) {
        *hold_p = tcp_keys_hold(&conn->iface->md->keys, serve->key,
                                serve->address, serve->seg_left,
                                UCT_MD_MEM_ACCESS_REMOTE_GET);
        if (*hold_p == NULL) {
            return -1;
        }
        iov[count].iov_base  = (void *)(uintptr_t)serve->address;
        iov[count++].iov_len = serve->seg_left;
    }
    if (serve->pad > 0) {
        iov[count].iov_base  = tx_zeros;
        iov[count++].iov_len = serve->pad;
    }
    return count;
}

/* Fills `iov` with unsent bytes from the front of the queue. Returns the number
 * of entries, or -1 if the memory of a get of the peer is not registered any
 * more. */
static int tx_build(tcp_conn_t *conn, struct iovec *iov, tcp_key_t **hold_p)
{
    unsigned count = 0;
    tcp_elem_t *elem;
    int added;

    *hold_p = NULL;
    for (elem = conn->tx_head;
         (elem != NULL) && (count + TX_ELEM_IOVS <= TX_IOV_MAX);
         elem = elem->next) {
        if (elem->kind == TCP_ELEM_BUF) {
            tcp_txbuf_t *buf = (tcp_txbuf_t *)elem;

            if (buf->head < buf->tail) {
                iov[count].iov_base  = buf->data + buf->head;
                iov[count++].iov_len = buf->tail - buf->head;
            }
        } else if (elem->kind == TCP_ELEM_ZCOPY) {
            tcp_zcopy_t *zcopy = (tcp_zcopy_t *)elem;

            count += zcopy_build(zcopy, iov + count);
            if (zcopy->left > 0) {
                break; /* The put's next frame has no header yet */
            }
        } else {
            added = serve_build(conn, (tcp_serve_t *)elem, iov + count, hold_p);
            if (added < 0) {
                return -1;
            }
            count += (unsigned)added;
            break; /* At most one key is held at a time */
        }
    }
    return (int)count;
}

static size_t zcopy_consume(tcp_zcopy_t *zcopy, size_t n)
{
    size_t start = n, take;

    take = tcp_min(n, (size_t)(zcopy->hdr_len - zcopy->hdr_off));
    zcopy->hdr_off += (uint16_t)take;
    n -= take;

    while ((n > 0) && (zcopy->seg_left > 0)) {
        struct iovec *iov = &zcopy->iov[zcopy->iov_index];

        take = tcp_min(tcp_min(n, zcopy->seg_left),
                       iov->iov_len - zcopy->iov_off);
        zcopy->seg_left -= (uint32_t)take;
        zcopy->iov_off += take;
        n -= take;
        if (zcopy->iov_off == iov->iov_len) {
            zcopy->iov_off = 0;
            ++zcopy->iov_index;
        }
    }

    take = tcp_min(n, zcopy->pad);
    zcopy->pad -= (uint8_t)take;
    n -= take;
    return start - n;
}

static size_t serve_consume(tcp_serve_t *serve, size_t n)
{
    size_t start = n, take;

    take = tcp_min(n, sizeof(serve->hdr) - serve->hdr_off);
    serve->hdr_off += (uint8_t)take;
    n -= take;

    take = tcp_min(n, serve->seg_left);
    serve->seg_left -= (uint32_t)take;
    serve->address += take;
    n -= take;

    take = tcp_min(n, serve->pad);
    serve->pad -= (uint8_t)take;
    n -= take;
    return start - n;
}

/* Called when a DATA frame, which answers a get of the peer, is sent. Frees the
 * get if it was the last frame. */
static void serve_frame_done(tcp_conn_t *conn, tcp_serve_t *serve)
{
    serve->queued = 0;
    if (serve->left > 0) {
        return;
    }
    conn->serve_head = serve->next;
    if (conn->serve_head == NULL) {
        conn->serve_tail = &conn->serve_head;
    }
    --conn->num_serves;
    tcp_op_free(conn->iface, serve);
}

/* Removes `n` bytes, which the kernel has accepted, from the front of the
 * queue. */
static void tx_consume(tcp_conn_t *conn, size_t n)
{
    tcp_elem_t *elem;
    size_t used;

    while ((elem = conn->tx_head) != NULL) {
        if (elem->kind == TCP_ELEM_BUF) {
            tcp_txbuf_t *buf = (tcp_txbuf_t *)elem;

            used = tcp_min(n, buf->tail - buf->head);
            buf->head += (uint32_t)used;
            conn->tx_sent += used;
            if (buf->head < buf->tail) {
                return;
            }
            tcp_tx_elem_free(conn, tx_pop(conn));
        } else if (elem->kind == TCP_ELEM_ZCOPY) {
            tcp_zcopy_t *zcopy = (tcp_zcopy_t *)elem;

            used = zcopy_consume(zcopy, n);
            conn->tx_sent += used;
            if ((zcopy->hdr_off < zcopy->hdr_len) || (zcopy->seg_left > 0) ||
                (zcopy->pad > 0)) {
                return;
            }
            if (zcopy->left > 0) {
                zcopy_next_put(zcopy);
                return;
            }
            tx_pop(conn);
            zcopy_finish(conn, zcopy);
        } else {
            tcp_serve_t *serve = (tcp_serve_t *)elem;

            used = serve_consume(serve, n);
            if ((serve->hdr_off < sizeof(serve->hdr)) ||
                (serve->seg_left > 0) || (serve->pad > 0)) {
                return;
            }
            tx_pop(conn);
            serve_frame_done(conn, serve);
        }
        n -= used;
        if (n == 0) {
            return;
        }
    }
}

/* Sends from the front of the queue by one system call. Returns 1 if more can
 * be sent now, otherwise 0. */
static int tx_send(tcp_conn_t *conn)
{
    struct msghdr msg = {0};
    struct iovec iov[TX_IOV_MAX];
    tcp_key_t *hold;
    size_t total = 0;
    ssize_t n;
    int count;

    count = tx_build(conn, iov, &hold);
    if (count < 0) {
        tcp_conn_violation(conn, "gets memory that is not registered (or was "
                                 "deregistered meanwhile)");
        return 0;
    }
    for (int i = 0; i < count; ++i) {
        total += iov[i].iov_len;
    }
    if (total == 0) {
        tx_consume(conn, 0);
        return 1;
    }

    do {
        if (count == 1) {
            n = send(conn->fd, iov[0].iov_base, total, MSG_NOSIGNAL);
        } else {
            msg.msg_iov    = iov;
            msg.msg_iovlen = (size_t)count;
            n              = sendmsg(conn->fd, &msg, MSG_NOSIGNAL);
        }
    } while ((n < 0) && (errno == EINTR));
    if (hold != NULL) {
        tcp_keys_release(hold);
    }

    if (n < 0) {
        if ((errno != EAGAIN) && (errno != EWOULDBLOCK) && (errno != ENOBUFS)) {
            /* The connection is not broken yet: progress first reads the data
             * that the peer has sent before */
            conn->status = tcp_sock_status(errno);
            conn->flags |= TCP_CONN_TX_DEAD;
        }
        conn->flags |= TCP_CONN_BLOCKED;
        return 0;
    }

    conn->flags |= TCP_CONN_UNACKED;
    if (tcp_unlikely(conn->iface->sweep_at == 0)) {
        tcp_iface_sweep_later(conn->iface);
    }
    tx_consume(conn, (size_t)n);
    if ((size_t)n < total) {
        conn->flags |= TCP_CONN_BLOCKED;
        return 0;
    }
    return 1;
}

void tcp_tx_flush(tcp_conn_t *conn)
{
    uint64_t sent = conn->tx_sent;

    if ((conn->state != TCP_CONN_UP) || (conn->flags & TCP_CONN_TX_DEAD)) {
        return;
    }

    conn->flags &= ~TCP_CONN_BLOCKED;
    do {
        if (tcp_unlikely(conn->puts_taken != conn->puts_told)) {
            tcp_put_ack_queue(conn);
        }
        if (tcp_unlikely(conn->serve_head != NULL)) {
            tcp_serve_queue(conn);
        }
    } while ((conn->tx_head != NULL) && tx_send(conn));

    if ((conn->flush_head != NULL) && (conn->tx_sent != sent)) {
        tcp_flush_check(conn);
    }
    if (conn->tx_head != NULL) {
        tcp_tx_schedule(conn);
    }
}

int tcp_tx_has_room(const tcp_conn_t *conn)
{
    return (conn->state == TCP_CONN_UP) && (conn->num_bufs < TCP_TX_MAX_BUFS) &&
           (conn->num_zcopy < TCP_TX_MAX_ZCOPY) &&
           (conn->gets_sent - conn->gets_done < TCP_WIRE_GETS_MAX) &&
           (conn->fence_mark <= conn->gets_done);
}
