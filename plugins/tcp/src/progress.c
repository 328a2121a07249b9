/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress, and arming for a sleep.
 *
 * Connections that have recently received data ("hot") are read directly, at
 * one system call per message. epoll is called if there is no hot connection,
 * and every few microseconds for the others. An idle interface is polled
 * equally rarely, so that it costs a worker that uses other transports almost
 * nothing.
 *
 * epoll is level-triggered and monitors every socket, so arming only has to
 * check for work that is queued in this plugin.
 */
#include "conn.h"
#include "timer.h"
#include "tx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PROGRESS_EVENTS 64
/* Receive calls without data after which a connection is not hot any more. */
#define PROGRESS_SILENT_MAX 512
/* Polls without an event after which polling becomes rare. */
#define PROGRESS_QUIET_MAX 512
/* Interval between calls of epoll on an idle interface, or while there are hot
 * connections, in cycles of the time stamp counter: a few microseconds at any
 * frequency. If PROGRESS_CLOCK_ROUNDS rounds take longer than that, the
 * interval is these rounds. */
#define PROGRESS_LOOK_CYCLES 24576
/* Rounds of progress between two reads of the clock. */
#define PROGRESS_CLOCK_ROUNDS 4

static inline uint64_t progress_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    /* This counter is slower than a time stamp counter by a factor of about
     * 40 */
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks * 32;
#else
    static _Thread_local uint64_t calls;

    return calls += 256;
#endif
}

ucs_status_t tcp_iface_watch(tcp_iface_t *iface, int op, int fd,
                             uint32_t events, void *ptr, enum tcp_event_tag tag)
{
    struct epoll_event event;

    memset(&event, 0, sizeof(event));
    event.events   = events;
    event.data.u64 = (uintptr_t)ptr | (uintptr_t)tag;
    return (epoll_ctl(iface->epoll_fd, op, fd, &event) == 0) ? UCS_OK :
                                                               UCS_ERR_IO_ERROR;
}

/* --- Hot connections ----------------------------------------------------- */

void tcp_iface_hot_del(tcp_iface_t *iface, tcp_conn_t *conn)
{
    if (!(conn->flags & TCP_CONN_HOT)) {
        return;
    }
    conn->flags &= ~TCP_CONN_HOT;
    for (unsigned i = 0; i < iface->num_hot; ++i) {
        if (iface->hot[i] == conn) {
            iface->hot[i] = iface->hot[--iface->num_hot];
            break;
        }
    }
}

/* If the table is full, replaces the connection with the most consecutive
 * receive calls without data. If the last call of each has received data, the
 * new connection is read by epoll. */
void tcp_iface_hot_add(tcp_iface_t *iface, tcp_conn_t *conn)
{
    tcp_conn_t *worst;

    conn->silent = 0;
    if (conn->flags & TCP_CONN_HOT) {
        return;
    }
    if (iface->num_hot == TCP_IFACE_HOT_MAX) {
        worst = iface->hot[0];
        for (unsigned i = 1; i < iface->num_hot; ++i) {
            if (iface->hot[i]->silent > worst->silent) {
                worst = iface->hot[i];
            }
        }
        if (worst->silent == 0) {
            return;
        }
        tcp_iface_hot_del(iface, worst);
    }
    conn->flags |= TCP_CONN_HOT;
    iface->hot[iface->num_hot++] = conn;
}

static unsigned progress_hot(tcp_iface_t *iface)
{
    unsigned count = 0, events;
    tcp_conn_t *conn;

    /* Iterate backwards: a removed entry is replaced by one that was already
     * visited */
    for (unsigned i = iface->num_hot; i-- > 0;) {
        if (i >= iface->num_hot) {
            continue;
        }
        conn   = iface->hot[i];
        events = tcp_rx(conn);
        count += events;
        if (tcp_unlikely(conn->silent > PROGRESS_SILENT_MAX)) {
            tcp_iface_hot_del(iface, conn);
        }
    }
    return count;
}

/* --- Timer --------------------------------------------------------------- */

void tcp_iface_timer_set(tcp_iface_t *iface, double when)
{
    tcp_timer_set(iface->host, iface->timer_fd, &iface->timer_at, when);
}

void tcp_iface_sweep_later(tcp_iface_t *iface)
{
    if (iface->config.user_timeout < 1e6) {
        iface->sweep_at = iface->host->time() + iface->config.user_timeout / 4;
        tcp_iface_timer_set(iface, iface->sweep_at);
    } else {
        iface->sweep_at = 1e300;
    }
}

static void progress_timer(tcp_iface_t *iface)
{
    double now = iface->host->time(), next;
    uint64_t fired;

    (void)!read(iface->timer_fd, &fired, sizeof(fired));
    iface->timer_at = 0;

    next = tcp_unknown_expire(iface, now);
    if (next != 0) {
        tcp_iface_timer_set(iface, next);
    }
    next = tcp_conn_expire(iface, now);
    if (next != 0) {
        tcp_iface_timer_set(iface, next);
    }
    if ((iface->sweep_at != 0) && (iface->sweep_at <= now)) {
        iface->sweep_at = tcp_conn_sweep(iface, now);
    }
    if (iface->sweep_at != 0) {
        tcp_iface_timer_set(iface, iface->sweep_at);
    }
    if (iface->listen_at != 0) {
        if (iface->listen_at <= now) {
            tcp_accept_resume(iface);
        } else {
            tcp_iface_timer_set(iface, iface->listen_at);
        }
    }
}

/* --- epoll --------------------------------------------------------------- */

static unsigned progress_conn_event(tcp_iface_t *iface, tcp_conn_t *conn,
                                    uint32_t events)
{
    unsigned count = 0;

    if (conn->state == TCP_CONN_BROKEN) {
        return 0;
    }
    if (!(conn->flags & TCP_CONN_HOT)) {
        /* A connection that is not hot has events. There may be more such
         * connections than hot[] has entries, so poll again soon */
        iface->last_look = 0;
    }
    tcp_conn_event(conn, events);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && (conn->fd >= 0)) {
        count = tcp_rx(conn);
        if ((count > 0) && (conn->state == TCP_CONN_UP)) {
            tcp_iface_hot_add(iface, conn);
        }
    }
    return count;
}

static unsigned progress_look(tcp_iface_t *iface)
{
    struct epoll_event events[PROGRESS_EVENTS];
    unsigned count = 0;
    uintptr_t data;
    void *ptr;
    int num;

    num = epoll_wait(iface->epoll_fd, events, PROGRESS_EVENTS, 0);
    if (num <= 0) {
        ++iface->quiet;
        return 0;
    }

    iface->quiet = 0;
    for (int i = 0; i < num; ++i) {
        data = (uintptr_t)events[i].data.u64;
        ptr  = (void *)(data & ~(uintptr_t)TCP_EVENT_TAG_MASK);
        switch (data & TCP_EVENT_TAG_MASK) {
        case TCP_EVENT_CONN:
            count += progress_conn_event(iface, ptr, events[i].events);
            break;
        case TCP_EVENT_UNKNOWN:
            count += tcp_unknown_event(ptr);
            break;
        case TCP_EVENT_LISTEN:
            count += tcp_accept_ready(iface);
            break;
        default:
            progress_timer(iface);
            break;
        }
    }
    return count;
}

/* Returns whether epoll must be called in this round. */
static inline int progress_is_time(tcp_iface_t *iface)
{
    uint64_t now;

    if ((iface->num_hot == 0) && (iface->quiet < PROGRESS_QUIET_MAX)) {
        return 1;
    }
    if ((iface->round % PROGRESS_CLOCK_ROUNDS) != 0) {
        return 0; /* Reading the clock in every round would take time, too */
    }
    now = progress_cycles();
    if (now - iface->last_look < PROGRESS_LOOK_CYCLES) {
        return 0;
    }
    iface->last_look = now;
    return 1;
}

/* --- Sending ------------------------------------------------------------- */

/* Enables or disables epoll's report that a full socket is writable, for the
 * time of a sleep. */
static void tx_watch(tcp_conn_t *conn, int on)
{
    if (!!(conn->flags & TCP_CONN_WATCH_OUT) == on) {
        return;
    }
    conn->flags ^= TCP_CONN_WATCH_OUT;
    (void)tcp_iface_watch(conn->iface, EPOLL_CTL_MOD, conn->fd,
                          on ? (EPOLLIN | EPOLLOUT) : EPOLLIN, conn,
                          TCP_EVENT_CONN);
}

/* Called when sending has failed: delivers the data that the peer sent before,
 * then breaks the connection. */
static void tx_dead(tcp_conn_t *conn)
{
    ucs_status_t status = conn->status;

    while (tcp_rx(conn) > 0) {
    }
    if ((conn->state == TCP_CONN_UP) || (conn->state == TCP_CONN_CLOSING)) {
        tcp_conn_break(conn, status);
    }
}

/* Sends the queue of one connection, and removes the connection from its list.
 * If it is UP and data remains in the queue, it is in tx_work afterwards. */
static void progress_tx_one(tcp_conn_t *conn)
{
    tcp_list_del(&conn->tx_node);
    if (conn->state != TCP_CONN_UP) {
        if (conn->flags & TCP_CONN_OWES_NO) {
            tcp_conn_try_close(conn);
        }
        return; /* conn_is_up() adds the connection to the list again */
    }

    tcp_tx_flush(conn);
    if (tcp_unlikely(conn->flags & TCP_CONN_TX_DEAD)) {
        if (conn->iface->in_progress) {
            tx_dead(conn);
        } else {
            tcp_tx_schedule(conn);
        }
    } else if (conn->tx_head == NULL) {
        if (tcp_unlikely(conn->flags & TCP_CONN_WATCH_OUT)) {
            tx_watch(conn, 0);
        }
        tcp_conn_try_close(conn);
    }
}

static unsigned progress_tx(tcp_iface_t *iface)
{
    unsigned count = 0;
    tcp_list_t work;

    tcp_list_take(&work, &iface->tx_work);
    while (!tcp_list_is_empty(&work)) {
        progress_tx_one(tcp_list_first(&work, tcp_conn_t, tx_node));
        ++count;
    }
    return count;
}

static unsigned progress_pending(tcp_iface_t *iface)
{
    unsigned count = 0;
    tcp_conn_t *conn;
    tcp_list_t work;

    tcp_list_take(&work, &iface->pend_work);
    while (!tcp_list_is_empty(&work)) {
        conn = tcp_list_first(&work, tcp_conn_t, pend_node);
        tcp_list_del(&conn->pend_node);
        tcp_list_add_tail(&iface->pend_work, &conn->pend_node);
        count += tcp_ep_dispatch_pending(conn);
    }
    return count;
}

/* --- Failures and deadlines ----------------------------------------------- */

static unsigned progress_failures(tcp_iface_t *iface)
{
    unsigned count = 0;

    while (!tcp_list_is_empty(&iface->broken)) {
        tcp_conn_takedown(
            tcp_list_first(&iface->broken, tcp_conn_t, broken_node));
        ++count;
    }
    while (!tcp_list_is_empty(&iface->failed_eps)) {
        tcp_ep_t *ep = tcp_list_first(&iface->failed_eps, tcp_ep_t,
                                      failed_node);

        tcp_list_del(&ep->failed_node);
        tcp_ep_fail(ep, ep->status);
        ++count;
    }
    return count;
}

static void progress_free(tcp_iface_t *iface)
{
    tcp_unknown_t *unknown;

    while (!tcp_list_is_empty(&iface->freed)) {
        unknown = tcp_list_first(&iface->freed, tcp_unknown_t, node);
        tcp_list_del(&unknown->node);
        free(unknown);
    }
}

unsigned tcp_iface_progress(uct_iface_h uct_iface)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);
    unsigned count     = 0, told;

    if (tcp_unlikely(iface->in_progress)) {
        return 0;
    }

    iface->in_progress = 1;
    ++iface->round;
    count += progress_hot(iface);
    if (progress_is_time(iface)) {
        count += progress_look(iface);
    }
    if (!tcp_list_is_empty(&iface->tx_work)) {
        progress_tx(iface);
    }
    told = count;
    if (tcp_unlikely(!tcp_list_is_empty(&iface->pend_work))) {
        count += progress_pending(iface);
    }
    if (iface->done_head != NULL) {
        count += tcp_op_dispatch(iface);
    }
    if (tcp_unlikely(!tcp_list_is_empty(&iface->broken) ||
                     !tcp_list_is_empty(&iface->failed_eps))) {
        count += progress_failures(iface);
    }
    if ((count != told) && !tcp_list_is_empty(&iface->tx_work)) {
        progress_tx(iface); /* Callbacks may have queued messages, and the user
                             * may not call progress again */
    }
    if (tcp_unlikely(!tcp_list_is_empty(&iface->freed))) {
        progress_free(iface);
    }
    iface->in_progress = 0;

    return count;
}

/* --- Sleeping ------------------------------------------------------------ */

ucs_status_t tcp_iface_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = tcp_iface(iface)->epoll_fd;
    return UCS_OK;
}

ucs_status_t tcp_iface_event_arm(uct_iface_h uct_iface, unsigned events)
{
    tcp_iface_t *iface = tcp_iface(uct_iface);
    int dead           = 0;
    tcp_list_t work;
    tcp_conn_t *conn;

    /* Send buffered data before the sleep. For data that cannot be sent, the
     * event descriptor becomes readable when the socket is writable. */
    tcp_list_take(&work, &iface->tx_work);
    while (!tcp_list_is_empty(&work)) {
        conn = tcp_list_first(&work, tcp_conn_t, tx_node);
        progress_tx_one(conn);
        if (conn->flags & TCP_CONN_TX_DEAD) {
            dead = 1; /* Sending has failed. The connection is in tx_work, so
                       * that the next progress breaks it */
        } else if (!tcp_list_is_empty(&conn->tx_node)) {
            tx_watch(conn, 1);
        }
    }
    if (dead) {
        return UCS_ERR_BUSY;
    }

    /* Work that the descriptor does not report: completions and failures to be
     * reported, and pending requests that can be sent */
    if ((iface->done_head != NULL) || !tcp_list_is_empty(&iface->broken) ||
        !tcp_list_is_empty(&iface->failed_eps)) {
        return UCS_ERR_BUSY;
    }
    for (tcp_list_t *node = iface->pend_work.next; node != &iface->pend_work;
         node             = node->next) {
        conn = tcp_container_of(node, tcp_conn_t, pend_node);
        if (tcp_tx_has_room(conn)) {
            return UCS_ERR_BUSY;
        }
    }
    return UCS_OK;
}
