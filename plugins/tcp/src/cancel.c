/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removes the zero-copy sends of one endpoint from the send queue of a shared
 * connection, and keeps the stream consistent.
 */
#include "conn.h"

#include <stdlib.h>
#include <string.h>

/* Called when `size` bytes of the stream from `position` on, and `puts` PUT
 * frames in them, will not be sent: adjusts the marks of flushes that wait for
 * later positions. */
static void tx_forget(tcp_conn_t *conn, uint64_t position, uint64_t size,
                      uint64_t puts)
{
    tcp_op_t *op;

    conn->tx_queued -= size;
    conn->puts -= puts;
    for (op = conn->flush_head; op != NULL; op = op->next) {
        tcp_flush_t *flush = tcp_container_of(op, tcp_flush_t, op);

        if (flush->tx_mark >= position + size) {
            flush->tx_mark -= size;
            flush->put_mark = (flush->put_mark > puts) ?
                                  flush->put_mark - puts :
                                  0;
        }
    }
}

/* Cancels an operation whose current frame must be sent to its end, so that the
 * peer can find the next frame: a part of the frame is sent, or its header is
 * in a buffer before the operation. The rest is sent from a copy, because the
 * user may reuse the memory after the completion, which the next progress
 * calls. Returns UCS_OK or UCS_ERR_NO_MEMORY. */
static ucs_status_t zcopy_detach(tcp_conn_t *conn, tcp_zcopy_t *zcopy,
                                 ucs_status_t status)
{
    size_t length = zcopy->seg_left, done = 0, take;
    tcp_op_t *op  = tcp_op_alloc(conn->iface);
    uint8_t *copy = malloc(length + 1);

    if ((op == NULL) || (copy == NULL)) {
        if (op != NULL) {
            tcp_op_free(conn->iface, op);
        }
        free(copy);
        return UCS_ERR_NO_MEMORY;
    }

    while (done < length) {
        struct iovec *iov = &zcopy->iov[zcopy->iov_index++];

        take = tcp_min(length - done, iov->iov_len - zcopy->iov_off);
        memcpy(copy + done, (char *)iov->iov_base + zcopy->iov_off, take);
        zcopy->iov_off = 0;
        done += take;
    }
    zcopy->copy            = copy;
    zcopy->iov[0].iov_base = copy;
    zcopy->iov[0].iov_len  = length;
    zcopy->iov_index       = 0;
    zcopy->iov_off         = 0;
    zcopy->left            = 0;

    op->comp       = zcopy->op.comp;
    op->mem        = op;
    zcopy->op.comp = NULL;
    zcopy->op.ep   = NULL;
    tcp_op_done(conn->iface, op, status);
    return UCS_OK;
}

static void tx_unlink(tcp_conn_t *conn, tcp_elem_t *elem, tcp_elem_t *previous)
{
    if (previous == NULL) {
        conn->tx_head = elem->next;
    } else {
        previous->next = elem->next;
    }
    if (conn->tx_tail == elem) {
        conn->tx_tail = previous;
    }
}

/* Returns the unsent bytes of an element of the send queue, as tx_queued and
 * flushes count them: without DATA frames. */
static uint64_t elem_stream_size(const tcp_elem_t *elem)
{
    const tcp_txbuf_t *buf = (const tcp_txbuf_t *)elem;

    switch (elem->kind) {
    case TCP_ELEM_BUF:
        return buf->tail - buf->head;
    case TCP_ELEM_ZCOPY:
        return tcp_tx_zcopy_size((const tcp_zcopy_t *)elem);
    default:
        return 0;
    }
}

void tcp_tx_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status)
{
    uint64_t position    = conn->tx_sent, size, kept, puts;
    tcp_elem_t *previous = NULL, *elem, *next;

    for (elem = conn->tx_head; elem != NULL; elem = next) {
        tcp_zcopy_t *zcopy = (tcp_zcopy_t *)elem;

        next = elem->next;
        size = elem_stream_size(elem);
        if ((elem->kind != TCP_ELEM_ZCOPY) || (zcopy->op.ep != ep)) {
            position += size;
            previous = elem;
        } else if ((zcopy->hdr_len > 0) && (zcopy->hdr_off == 0)) {
            /* Nothing of the current frame is sent */
            tx_unlink(conn, elem, previous);
            tx_forget(conn, position, size, tcp_tx_zcopy_puts(zcopy));
            --conn->num_zcopy;
            tcp_op_done(conn->iface, &zcopy->op, status);
        } else {
            puts = tcp_tx_zcopy_puts(zcopy);
            if (zcopy_detach(conn, zcopy, status) != UCS_OK) {
                tcp_conn_break(conn, UCS_ERR_NO_MEMORY);
                return;
            }
            kept = tcp_tx_zcopy_size(zcopy);
            tx_forget(conn, position + kept, size - kept,
                      puts - tcp_tx_zcopy_puts(zcopy));
            position += kept;
            previous = elem;
        }
    }
}
