/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the events of a device and passes them to its interfaces. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    DEVICE_LOST  = 1 << 0,
    PORT_DOWN    = 1 << 1,
    PORT_UP      = 1 << 2,
    PORT_TIMEOUT = 1 << 3,
    QP_FAILED    = 1 << 4,
};

/* --- Worker's thread ------------------------------------------------------ */

static int port_is_active(const ib_watch_t *watch)
{
    struct ibv_port_attr attr;

    return (ibv_query_port(watch->md->context, watch->port, &attr) == 0) &&
           (attr.state == IBV_PORT_ACTIVE);
}

static void timer_stop(ib_watch_t *watch)
{
    watch->md->host->async_remove(watch->timer_id);
    watch->timer_id = 0;
}

static void port_timed_out(void *arg);

/* Starts a timer. The endpoints fail only if the port is still down when the
 * timer expires; retransmissions bridge shorter interruptions. If the timer
 * cannot be started, the endpoints fail at once. */
static void port_down(ib_watch_t *watch)
{
    const ucx_host_t *host = watch->md->host;

    if (watch->is_down) {
        return;
    }
    watch->is_down = 1;
    ucx_diag("%s:%u: the port is down; connections fail after %g s",
             ibv_get_device_name(watch->md->context->device), watch->port,
             watch->patience);
    if (host->async_add_timer(watch->worker, watch->patience, port_timed_out,
                              watch, &watch->timer_id) != UCS_OK) {
        watch->timer_id = 0;
        watch->ops->port_lost(watch);
    }
}

static void port_changed(ib_watch_t *watch, unsigned events)
{
    const ucx_host_t *host = watch->md->host;

    /* Events of both kinds may have arrived together: the port's state
     * decides. */
    if ((events & (PORT_DOWN | PORT_UP)) && !port_is_active(watch)) {
        port_down(watch);
    }
    if (!watch->is_down) {
        return;
    }
    if (port_is_active(watch)) {
        watch->is_down = 0;
        timer_stop(watch);
        ucx_diag("%s:%u: the port is active again",
                 ibv_get_device_name(watch->md->context->device), watch->port);
    } else if (events & PORT_TIMEOUT) {
        timer_stop(watch);
        watch->ops->port_lost(watch);
    }
}

static void device_lost(ib_watch_t *watch)
{
    const ucx_host_t *host = watch->md->host;

    if (watch->is_gone) {
        return;
    }
    watch->is_gone = 1;
    timer_stop(watch);
    ucx_error("%s: the device has failed or was removed; its connections end",
              ibv_get_device_name(watch->md->context->device));
    watch->ops->device_lost(watch);
}

static void watch_run(void *arg)
{
    ib_watch_t *watch = arg;
    unsigned events = __atomic_exchange_n(&watch->pending, 0, __ATOMIC_ACQ_REL);

    if (events & DEVICE_LOST) {
        device_lost(watch);
    }
    if (watch->is_gone) {
        return;
    }
    port_changed(watch, events);
    if (events & QP_FAILED) {
        watch->ops->qp_failed(watch);
    }
}

/* --- Service thread ------------------------------------------------------- */

static void watch_post(ib_watch_t *watch, unsigned events)
{
    const ucx_host_t *host = watch->md->host;

    if (__atomic_fetch_or(&watch->pending, events, __ATOMIC_ACQ_REL) != 0) {
        return; /* A call of watch_run() is queued already */
    }
    if (host->progress_oneshot(watch->worker, watch_run, watch) != UCS_OK) {
        __atomic_store_n(&watch->pending, 0, __ATOMIC_RELEASE);
        ucx_error("%s: an event of the device is lost: out of memory",
                  ibv_get_device_name(watch->md->context->device));
    }
}

static void port_timed_out(void *arg)
{
    watch_post(arg, PORT_TIMEOUT);
}

/* Posts events to the watches of all interfaces at this port; at all ports if
 * `port` is 0. */
static void post_all(ib_md_t *md, int port, unsigned events)
{
    ib_link_t *link;
    ib_watch_t *watch;

    pthread_mutex_lock(&md->watches_lock);
    for (link = md->watches.next; link != &md->watches; link = link->next) {
        watch = ib_container_of(link, ib_watch_t, link);
        if ((port == 0) || (port == watch->port)) {
            watch_post(watch, events);
        }
    }
    pthread_mutex_unlock(&md->watches_lock);
}

static void event_arrived(ib_md_t *md, const struct ibv_async_event *event)
{
    const ucx_host_t *host = md->host;

    switch (event->event_type) {
    case IBV_EVENT_DEVICE_FATAL:
        post_all(md, 0, DEVICE_LOST);
        break;
    case IBV_EVENT_PORT_ERR:
        post_all(md, event->element.port_num, PORT_DOWN);
        break;
    case IBV_EVENT_PORT_ACTIVE:
        post_all(md, event->element.port_num, PORT_UP);
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        /* The interfaces check all their queue pairs, because a pointer to the
         * queue pair of the event could not be passed to them: the queue pair
         * may be destroyed after the event is acknowledged. */
        post_all(md, 0, QP_FAILED);
        break;
    default:
        ucx_debug("%s: event %s", ibv_get_device_name(md->context->device),
                  ibv_event_type_str(event->event_type));
        break;
    }
}

/* Reads and handles all events. If reading fails, the device was removed. Its
 * descriptor then stays readable, so this handler stops monitoring it. */
static void on_events(int fd, int events, void *arg)
{
    ib_watch_t *watch = arg;
    ib_md_t *md       = watch->md;
    struct ibv_async_event event;

    while (ibv_get_async_event(md->context, &event) == 0) {
        event_arrived(md, &event);
        /* Destroying a queue pair waits for this acknowledgement. */
        ibv_ack_async_event(&event);
    }
    if ((errno != EAGAIN) && (errno != EINTR)) {
        epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, md->context->async_fd, NULL);
        post_all(md, 0, DEVICE_LOST);
    }
}

/* --- Start and end -------------------------------------------------------- */

ucs_status_t ib_watch_start(ib_watch_t *watch, const ib_watch_ops_t *ops,
                            ib_md_t *md, uct_worker_h worker, uint8_t port,
                            double patience)
{
    struct epoll_event event = {.events = EPOLLIN};
    ucs_status_t status;

    memset(watch, 0, sizeof(*watch));
    watch->md       = md;
    watch->worker   = worker;
    watch->patience = patience;
    watch->port     = port;
    watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (watch->epoll_fd < 0) {
        return UCS_ERR_IO_ERROR;
    }
    /* The epoll set is still empty, so the handler cannot run before all
     * members are initialized. */
    status = md->host->async_add_fd(worker, watch->epoll_fd,
                                    UCS_EVENT_SET_EVREAD, on_events, watch,
                                    &watch->event_id);
    if (status != UCS_OK) {
        close(watch->epoll_fd);
        return status;
    }
    watch->ops = ops;
    ib_link_init(&watch->link);
    pthread_mutex_lock(&md->watches_lock);
    ib_link_queue(&md->watches, &watch->link);
    pthread_mutex_unlock(&md->watches_lock);
    if (epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, md->context->async_fd,
                  &event) != 0) {
        ib_watch_stop(watch);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

void ib_watch_stop(ib_watch_t *watch)
{
    ib_md_t *md = watch->md;

    if (watch->ops == NULL) {
        return;
    }
    /* Remove the handlers of this watch first, without holding the lock that
     * they take. */
    md->host->async_remove(watch->event_id);
    md->host->async_remove(watch->timer_id);
    pthread_mutex_lock(&md->watches_lock);
    ib_link_remove(&watch->link);
    pthread_mutex_unlock(&md->watches_lock);
    md->host->progress_cancel(watch->worker, watch_run, watch);
    close(watch->epoll_fd);
    watch->ops = NULL;
}

ucs_status_t ib_watches_init(ib_md_t *md)
{
    int flags = fcntl(md->context->async_fd, F_GETFL);

    if ((flags < 0) ||
        (fcntl(md->context->async_fd, F_SETFL, flags | O_NONBLOCK) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    ib_link_init(&md->watches);
    pthread_mutex_init(&md->watches_lock, NULL);
    return UCS_OK;
}

void ib_watches_cleanup(ib_md_t *md)
{
    pthread_mutex_destroy(&md->watches_lock);
}
