/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocates operations (tcp_op_t, conn.h), calls the completions of done
 * operations from progress, and completes flushes.
 */
#include "conn.h"

void *tcp_op_alloc(tcp_iface_t *iface)
{
    return ucx_mpool_get(iface->host, iface->op_pool);
}

void tcp_op_free(tcp_iface_t *iface, void *op)
{
    ucx_mpool_put(iface->op_pool, op);
}

void tcp_op_done(tcp_iface_t *iface, tcp_op_t *op, ucs_status_t status)
{
    op->next          = NULL;
    op->status        = status;
    *iface->done_tail = op;
    iface->done_tail  = &op->next;
}

unsigned tcp_op_dispatch(tcp_iface_t *iface)
{
    unsigned count = 0;
    uct_completion_t *comp;
    ucs_status_t status;
    tcp_op_t *op;

    while ((op = iface->done_head) != NULL) {
        iface->done_head = op->next;
        if (iface->done_head == NULL) {
            iface->done_tail = &iface->done_head;
        }
        comp   = op->comp;
        status = op->status;
        tcp_op_free(iface, op->mem);
        ucx_complete(comp, status);
        ++count;
    }
    return count;
}

void tcp_flush_check(tcp_conn_t *conn)
{
    tcp_flush_t *flush;
    tcp_op_t *op;

    while ((op = conn->flush_head) != NULL) {
        flush = tcp_container_of(op, tcp_flush_t, op);
        if ((flush->tx_mark > conn->tx_sent) ||
            (flush->get_mark > conn->gets_done) ||
            (flush->put_mark > conn->puts_acked)) {
            break;
        }
        conn->flush_head = op->next;
        if (conn->flush_head == NULL) {
            conn->flush_tail = &conn->flush_head;
            if (conn->flags & TCP_CONN_WANT_CLOSE) {
                tcp_tx_schedule(conn);
            }
        }
        tcp_op_done(conn->iface, op, UCS_OK);
    }
}
