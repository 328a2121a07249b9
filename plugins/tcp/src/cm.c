/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, closes and progresses a connection manager. */
#include "cm.h"
#include "md.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <ucs/sys/event_set.h>
#include <unistd.h>

#define CM_EVENTS 32

/* The data of an epoll event is a pointer to a link, or to a listener with this
 * bit set, or NULL for the timer. */
#define CM_TAG_LISTENER 1u

ucs_status_t tcp_cm_watch(tcp_cm_t *cm, int op, int fd, uint32_t events,
                          void *ptr, int is_listener)
{
    struct epoll_event event;

    memset(&event, 0, sizeof(event));
    event.events   = events;
    event.data.u64 = (uintptr_t)ptr | (is_listener ? CM_TAG_LISTENER : 0);
    return (epoll_ctl(cm->epoll_fd, op, fd, &event) == 0) ? UCS_OK :
                                                            UCS_ERR_IO_ERROR;
}

void tcp_cm_timer_set(tcp_cm_t *cm, double when)
{
    tcp_timer_set(cm->host, cm->timer_fd, &cm->timer_at, when);
}

int tcp_cm_may_log(tcp_cm_t *cm)
{
    double now = cm->host->time();

    if ((cm->log_time != 0) && (now - cm->log_time < 1.0)) {
        return 0;
    }
    cm->log_time = now;
    return 1;
}

/* --- Progress ------------------------------------------------------------ */

static void cm_timer(tcp_cm_t *cm)
{
    double now = cm->host->time(), next = 0;
    tcp_cm_listener_t *listener;
    tcp_list_t *node, *following;
    tcp_cm_link_t *link;
    uint64_t fired;

    (void)!read(cm->timer_fd, &fired, sizeof(fired));
    cm->timer_at = 0;

    for (node = cm->listeners.next; node != &cm->listeners; node = node->next) {
        listener = tcp_container_of(node, tcp_cm_listener_t, node);
        if (listener->paused) {
            tcp_cm_listener_resume(listener);
        }
    }
    while (!tcp_list_is_empty(&cm->unknown)) {
        link = tcp_list_first(&cm->unknown, tcp_cm_link_t, node);
        if (link->deadline > now) {
            next = link->deadline;
            break;
        }
        tcp_cm_link_refuse(link, "did not send its request in time");
    }
    for (node = cm->links.next; node != &cm->links; node = following) {
        following = node->next;
        link      = tcp_container_of(node, tcp_cm_link_t, node);
        if (link->deadline == 0) {
            continue;
        }
        if (link->deadline <= now) {
            link->deadline = 0;
            tcp_cm_ep_lost(link->ep, UCS_ERR_UNREACHABLE);
            /* The callback may have changed the list: start again at its
             * head */
            following = cm->links.next;
        } else if ((next == 0) || (link->deadline < next)) {
            next = link->deadline;
        }
    }
    if (next != 0) {
        tcp_cm_timer_set(cm, next);
    }
}

static void cm_free_dead(tcp_cm_t *cm)
{
    tcp_cm_listener_t *listener;
    tcp_cm_link_t *link;

    while (!tcp_list_is_empty(&cm->dead)) {
        link = tcp_list_first(&cm->dead, tcp_cm_link_t, node);
        tcp_list_del(&link->node);
        tcp_cm_link_free(link);
    }
    while (!tcp_list_is_empty(&cm->dead_listeners)) {
        listener = tcp_list_first(&cm->dead_listeners, tcp_cm_listener_t, node);
        tcp_list_del(&listener->node);
        free(listener);
    }
}

/* Called once by the worker's progress after cm_call() has queued it. Handles
 * the events of all sockets and the timer. */
static void cm_progress(void *arg)
{
    struct epoll_event events[CM_EVENTS];
    tcp_cm_t *cm = arg;
    uintptr_t data;
    void *ptr;
    int num;

    if (cm->in_progress) {
        return;
    }
    cm->in_progress = 1;
    do {
        num = epoll_wait(cm->epoll_fd, events, CM_EVENTS, 0);
        for (int i = 0; i < num; ++i) {
            data = (uintptr_t)events[i].data.u64;
            ptr  = (void *)(data & ~(uintptr_t)CM_TAG_LISTENER);
            if (ptr == NULL) {
                cm_timer(cm);
            } else if (data & CM_TAG_LISTENER) {
                tcp_cm_listener_ready(ptr);
            } else {
                tcp_cm_link_event(ptr, events[i].events);
            }
        }
        tcp_cm_flush_dispatch(cm);
        cm_free_dead(cm);
    } while (num == CM_EVENTS);
    cm->in_progress = 0;

    /* Enable the asynchronous handler again. It is level-triggered: events that
     * arrived while it was disabled are reported at once */
    cm->host->async_modify_fd(cm->async_id, UCS_EVENT_SET_EVREAD);
}

/* Queues cm_progress() for the worker's next progress. If there is no memory
 * for that, enables the asynchronous handler again. The handler is
 * level-triggered, so it is called again until queueing succeeds. */
static void cm_call(tcp_cm_t *cm)
{
    if (cm->host->progress_oneshot(cm->super.worker, cm_progress, cm) !=
        UCS_OK) {
        cm->host->async_modify_fd(cm->async_id, UCS_EVENT_SET_EVREAD);
    }
}

void tcp_cm_wake(tcp_cm_t *cm)
{
    cm->host->progress_cancel(cm->super.worker, cm_progress, cm);
    cm_call(cm);
}

/* The asynchronous handler, which the host calls when epoll_fd is readable, in
 * a service thread or in a call of the user. Queues cm_progress(), and disables
 * itself until that has run. */
static void cm_async_event(int fd, int events, void *arg)
{
    tcp_cm_t *cm = arg;

    cm->host->async_modify_fd(cm->async_id, 0);
    cm_call(cm);
}

/* --- Opening and closing ------------------------------------------------- */

static void cm_cleanup(tcp_cm_t *cm)
{
    if (cm->timer_fd >= 0) {
        close(cm->timer_fd);
    }
    if (cm->epoll_fd >= 0) {
        close(cm->epoll_fd);
    }
    pthread_mutex_destroy(&cm->requested_lock);
    free(cm);
}

static ucs_status_t tcp_cm_open(const ucx_component_t *component,
                                const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    ucs_status_t status = UCS_ERR_IO_ERROR;
    tcp_cm_t *cm;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    cm = calloc(1, sizeof(*cm));
    if (cm == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    ucx_cm_init(&cm->super, args);
    cm->host     = tcp_host(component);
    cm->config   = *(const tcp_cm_config_t *)args->config;
    cm->locality = tcp_md_locality(cm->host);
    tcp_list_init(&cm->listeners);
    tcp_list_init(&cm->links);
    tcp_list_init(&cm->unknown);
    tcp_list_init(&cm->requested);
    pthread_mutex_init(&cm->requested_lock, NULL);
    tcp_list_init(&cm->dead);
    tcp_list_init(&cm->dead_listeners);
    tcp_list_init(&cm->flushed);
    if (cm->config.priv_data_len > TCP_WIRE_CM_PRIV_MAX) {
        cm->config.priv_data_len = TCP_WIRE_CM_PRIV_MAX;
    }

    cm->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    cm->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if ((cm->epoll_fd < 0) || (cm->timer_fd < 0)) {
        goto err;
    }
    /* The handler needs cm->async_id, which this call sets. It cannot run
     * before, because the epoll set is still empty */
    status = cm->host->async_add_fd(cm->super.worker, cm->epoll_fd,
                                    UCS_EVENT_SET_EVREAD, cm_async_event, cm,
                                    &cm->async_id);
    if (status != UCS_OK) {
        goto err;
    }
    status = tcp_cm_watch(cm, EPOLL_CTL_ADD, cm->timer_fd, EPOLLIN, NULL, 0);
    if (status != UCS_OK) {
        cm->host->async_remove(cm->async_id);
        goto err;
    }
    *cm_p = &cm->super;
    return UCS_OK;

err:
    cm_cleanup(cm);
    return status;
}

static void tcp_cm_close(uct_cm_h uct_cm)
{
    tcp_cm_t *cm = (tcp_cm_t *)uct_cm;
    tcp_cm_link_t *link;

    cm->host->async_remove(cm->async_id);
    cm->host->progress_cancel(cm->super.worker, cm_progress, cm);
    while (!tcp_list_is_empty(&cm->unknown)) {
        tcp_cm_link_kill(tcp_list_first(&cm->unknown, tcp_cm_link_t, node));
    }
    while (!tcp_list_is_empty(&cm->links)) {
        tcp_cm_link_kill(tcp_list_first(&cm->links, tcp_cm_link_t, node));
    }
    while (!tcp_list_is_empty(&cm->requested)) {
        link = tcp_list_first(&cm->requested, tcp_cm_link_t, node);
        if (tcp_cm_link_take(link)) {
            tcp_cm_link_free(link);
        }
    }
    tcp_cm_flush_dispatch(cm);
    cm_free_dead(cm);
    cm_cleanup(cm);
}

static ucs_status_t tcp_cm_query(uct_cm_h uct_cm, uct_cm_attr_t *attr)
{
    tcp_cm_t *cm = (tcp_cm_t *)uct_cm;

    if (attr->field_mask & UCT_CM_ATTR_FIELD_MAX_CONN_PRIV) {
        attr->max_conn_priv = cm->config.priv_data_len;
    }
    return UCS_OK;
}

const ucx_cm_ops_t tcp_cm_ops = {
    .size             = sizeof(tcp_cm_ops),
    .open             = tcp_cm_open,
    .close            = tcp_cm_close,
    .query            = tcp_cm_query,
    .listener_create  = tcp_cm_listener_create,
    .listener_destroy = tcp_cm_listener_destroy,
    .listener_reject  = tcp_cm_listener_reject,
    .listener_query   = tcp_cm_listener_query,
    .ep_create        = tcp_cm_ep_create,
    .ep_ops           = &tcp_cm_ep_ops,
};
