/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush, fence and cancel. A flush waits until three counters reach its marks:
 * bytes passed to the kernel, gets answered and, with UCT_FLUSH_FLAG_REMOTE,
 * puts acknowledged. The peer acknowledges puts without a request, in the
 * progress that has received them.
 */
#include "flush.h"
#include "tx.h"

#include <string.h>

/* A flush of the interface: calls the user's completion when all connections
 * are flushed. */
typedef struct iface_flush {
    uct_completion_t comp;  /* Counts the flushes of connections, plus 1 while
                             * they are started */
    uct_completion_t *user; /* NULL: none is called */
    tcp_iface_t *iface;
} iface_flush_t;

/* --- Marks --------------------------------------------------------------- */

/* Sends queued data, and stores the marks that the connection's counters must
 * reach. Returns UCS_OK if they have reached them already, otherwise
 * UCS_INPROGRESS. */
static ucs_status_t flush_start(tcp_conn_t *conn, unsigned flags,
                                tcp_flush_t *marks)
{
    marks->put_mark = (flags & UCT_FLUSH_FLAG_REMOTE) ? conn->puts : 0;
    if ((conn->tx_head != NULL) && !(conn->flags & TCP_CONN_BLOCKED)) {
        tcp_tx_flush(conn);
    }
    marks->tx_mark  = conn->tx_queued;
    marks->get_mark = conn->gets_sent;
    return ((marks->tx_mark <= conn->tx_sent) &&
            (marks->get_mark <= conn->gets_done) &&
            (marks->put_mark <= conn->puts_acked)) ?
               UCS_OK :
               UCS_INPROGRESS;
}

/* Adds a flush to the connection, which calls `comp` when the marks are
 * reached. */
static ucs_status_t flush_wait(tcp_conn_t *conn, tcp_ep_t *ep,
                               const tcp_flush_t *marks, uct_completion_t *comp)
{
    tcp_flush_t *flush = tcp_op_alloc(conn->iface);

    if (flush == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *flush            = *marks;
    flush->op.next    = NULL;
    flush->op.ep      = ep;
    flush->op.comp    = comp;
    flush->op.mem     = flush;
    *conn->flush_tail = &flush->op;
    conn->flush_tail  = &flush->op.next;
    return UCS_OK;
}

/* --- Endpoint ------------------------------------------------------------ */

/* Completes a flush for which nothing is outstanding on the connection. The
 * next progress calls its completion, after the completions of the operations
 * that are done already. */
static ucs_status_t flush_later(tcp_iface_t *iface, uct_completion_t *comp)
{
    tcp_op_t *op;

    if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    op = tcp_op_alloc(iface);
    if (op == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    op->ep   = NULL;
    op->comp = comp;
    op->mem  = op;
    tcp_op_done(iface, op, UCS_OK);
    return UCS_INPROGRESS;
}

ucs_status_t tcp_ep_flush(uct_ep_h uct_ep, unsigned flags,
                          uct_completion_t *comp)
{
    tcp_ep_t *ep       = tcp_ep(uct_ep);
    tcp_iface_t *iface = tcp_iface(uct_ep->iface);
    tcp_flush_t marks;
    ucs_status_t status, wait;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        if ((ep->conn == NULL) ||
            !tcp_flush_cancel_ep(ep->conn, ep, UCS_ERR_CANCELED)) {
            return UCS_OK;
        }
        return flush_later(iface, comp);
    }
    if (ep->conn == NULL) {
        /* Without a connection, either nothing was sent yet and the status is
         * UCS_OK, or the endpoint has failed; then it is flushed if nothing was
         * outstanding at the failure */
        return ep->settled ? UCS_OK : ep->status;
    }
    if (tcp_tx_has_waiting(ep->conn, ep)) {
        return UCS_ERR_NO_RESOURCE;
    }

    status = flush_start(ep->conn, flags, &marks);
    if ((status == UCS_OK) && tcp_op_has_done(iface)) {
        return flush_later(iface, comp);
    }
    if ((status == UCS_INPROGRESS) && (comp != NULL)) {
        wait   = flush_wait(ep->conn, ep, &marks, comp);
        status = (wait == UCS_OK) ? status : wait;
    }
    return status;
}

/* Blocks later operations until all earlier gets are answered. The stream
 * orders all other operations, but the peer reads the data of a get only when
 * it sends the answer, possibly after it has handled later puts. */
static void fence_conn(tcp_conn_t *conn)
{
    if (conn->gets_sent != conn->gets_done) {
        conn->fence_mark = conn->gets_sent;
    }
}

ucs_status_t tcp_ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    tcp_ep_t *ep = tcp_ep(uct_ep);

    if (ep->conn != NULL) {
        fence_conn(ep->conn);
    }
    return ep->status;
}

/* --- Cancel -------------------------------------------------------------- */

static int cancel_gets(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status)
{
    int found = 0;
    tcp_op_t *op, *done;

    for (op = conn->get_head; op != NULL; op = op->next) {
        tcp_get_t *get = tcp_container_of(op, tcp_get_t, op);

        if ((op->ep != ep) || get->cancelled) {
            continue;
        }
        done = tcp_op_alloc(conn->iface);
        if (done == NULL) {
            tcp_conn_break(conn, UCS_ERR_NO_MEMORY);
            return 1;
        }
        /* Let another operation call the completion in the next progress. `op`
         * stays in the list until its data has arrived, which is discarded */
        done->ep       = NULL;
        done->comp     = op->comp;
        done->mem      = done;
        op->comp       = NULL;
        op->ep         = NULL;
        get->cancelled = 1;
        tcp_op_done(conn->iface, done, status);
        found = 1;
    }
    return found;
}

static int cancel_flushes(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status)
{
    tcp_op_t **link = &conn->flush_head, *op;
    int found       = 0;

    while ((op = *link) != NULL) {
        if (op->ep != ep) {
            link = &op->next;
            continue;
        }
        *link = op->next;
        tcp_op_done(conn->iface, op, status);
        found = 1;
    }
    conn->flush_tail = link;
    return found;
}

int tcp_flush_cancel_ep(tcp_conn_t *conn, tcp_ep_t *ep, ucs_status_t status)
{
    tcp_op_t **before = conn->iface->done_tail;
    int found;

    tcp_tx_cancel_ep(conn, ep, status);
    found = (conn->iface->done_tail != before);
    found |= cancel_gets(conn, ep, status);
    found |= cancel_flushes(conn, ep, status);
    return found;
}

void tcp_flush_forget_ep(tcp_conn_t *conn, tcp_ep_t *ep)
{
    tcp_elem_t *elem;
    tcp_op_t *op;

    for (elem = conn->tx_head; elem != NULL; elem = elem->next) {
        if ((elem->kind == TCP_ELEM_ZCOPY) &&
            (((tcp_zcopy_t *)elem)->op.ep == ep)) {
            ((tcp_zcopy_t *)elem)->op.ep = NULL;
        }
    }
    for (op = conn->get_head; op != NULL; op = op->next) {
        op->ep = (op->ep == ep) ? NULL : op->ep;
    }
    for (op = conn->flush_head; op != NULL; op = op->next) {
        op->ep = (op->ep == ep) ? NULL : op->ep;
    }
}

/* --- Interface ----------------------------------------------------------- */

static void iface_flush_done(uct_completion_t *comp)
{
    iface_flush_t *flush   = tcp_container_of(comp, iface_flush_t, comp);
    uct_completion_t *user = flush->user;
    ucs_status_t status    = comp->status;

    tcp_op_free(flush->iface, flush);
    ucx_complete(user, status);
}

ucs_status_t tcp_iface_flush(uct_iface_h uct_iface, unsigned flags,
                             uct_completion_t *comp)
{
    tcp_iface_t *iface   = tcp_iface(uct_iface);
    iface_flush_t *flush = NULL;
    ucs_status_t status, result = UCS_OK;
    tcp_flush_t marks;
    tcp_conn_t *conn;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (comp != NULL) {
        flush = tcp_op_alloc(iface);
        if (flush == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        flush->comp.func   = iface_flush_done;
        flush->comp.count  = 1;
        flush->comp.status = UCS_OK;
        flush->user        = comp;
        flush->iface       = iface;
    }

    for (tcp_list_t *node = iface->conns.next; node != &iface->conns;
         node             = node->next) {
        conn   = tcp_container_of(node, tcp_conn_t, node);
        status = flush_start(conn, flags, &marks);
        if ((status == UCS_INPROGRESS) && (flush != NULL)) {
            status = flush_wait(conn, NULL, &marks, &flush->comp);
            if (status == UCS_OK) {
                ++flush->comp.count;
                status = UCS_INPROGRESS;
            }
        }
        result = (result == UCS_OK) || (status < 0) ? status : result;
    }

    if (flush == NULL) {
        return ((result == UCS_OK) && tcp_op_has_done(iface)) ? UCS_INPROGRESS :
                                                                result;
    }
    if (flush->comp.count == 1) {
        tcp_op_free(iface, flush);
        return ((result == UCS_OK) && tcp_op_has_done(iface)) ?
                   flush_later(iface, comp) :
                   result;
    }
    if (result < 0) {
        /* The flushes of other connections continue; the user gets the error
         * of this call and no completion */
        flush->user = NULL;
    }
    --flush->comp.count;
    return result;
}

ucs_status_t tcp_iface_fence(uct_iface_h uct_iface, unsigned flags)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);

    for (tcp_list_t *node = iface->conns.next; node != &iface->conns;
         node             = node->next) {
        fence_conn(tcp_container_of(node, tcp_conn_t, node));
    }
    return UCS_OK;
}
