/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, closes and progresses a connection manager. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <ucs/sys/event_set.h>
#include <unistd.h>

enum {
    CM_EVENTS   = 32,
    CLOSE_LIMIT = 100, /* Milliseconds to wait for acknowledgements when the
                        * manager is closed */
};

#define CM(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(ib_cm_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }

static const ucx_config_field_t cm_fields[] = {
    CM("PRIV_DATA_LEN", MEMUNITS, priv_data_len, "2048", 64, IB_CM_PRIV_MAX,
       "Most private data of a connection request or its answer."),
    CM("TIMEOUT", TIME, timeout, "10s", 0, 0,
       "Longest time to resolve an address, to connect, and for a client to "
       "send its request."),
    CM("MAX_UNKNOWN_CONNS", UINT, max_unknown, "512", 1, 65536,
       "Connections that may wait without a request; the oldest is closed "
       "when there are more."),
};

const ucx_config_table_t ib_cm_config_table = {
    .size         = sizeof(ib_cm_config_table),
    .prefix       = "RDMA_CM_",
    .options_size = sizeof(ib_cm_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = cm_fields,
    .num_fields   = sizeof(cm_fields) / sizeof(cm_fields[0]),
};

/* Adds, changes or removes (`op`) a descriptor of the epoll set. `ptr`
 * identifies the descriptor: NULL for the timer, the manager for the event
 * channel, otherwise a link. */
ucs_status_t ib_cm_watch(ib_cm_t *cm, int op, int fd, void *ptr)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = ptr}};

    return (epoll_ctl(cm->epoll_fd, op, fd, &event) == 0) ? UCS_OK :
                                                            UCS_ERR_IO_ERROR;
}

int ib_cm_may_log(ib_cm_t *cm)
{
    double now = cm->host->time();

    if ((cm->log_time != 0) && (now - cm->log_time < 1.0)) {
        return 0;
    }
    cm->log_time = now;
    return 1;
}

/* --- Timer ---------------------------------------------------------------- */

void ib_cm_timer_set(ib_cm_t *cm, double when)
{
    double delay              = when - cm->host->time();
    struct itimerspec current = {0}, wanted = {0};

    delay                   = (delay < 1e-6) ? 1e-6 : delay;
    wanted.it_value.tv_sec  = (time_t)delay;
    wanted.it_value.tv_nsec = (long)((delay - floor(delay)) * 1e9);
    (void)timerfd_gettime(cm->timer_fd, &current);
    if (((current.it_value.tv_sec == 0) && (current.it_value.tv_nsec == 0)) ||
        (current.it_value.tv_sec > wanted.it_value.tv_sec) ||
        ((current.it_value.tv_sec == wanted.it_value.tv_sec) &&
         (current.it_value.tv_nsec > wanted.it_value.tv_nsec))) {
        (void)timerfd_settime(cm->timer_fd, 0, &wanted, NULL);
    }
}

static void link_late(ib_cm_link_t *link)
{
    link->deadline = 0;
    if (link->state == IB_CM_ST_UNKNOWN) {
        ib_cm_link_refuse(link, "did not send its request in time");
    } else if (link->ep != NULL) {
        ib_cm_ep_lost(link->ep, link->gone ? UCS_ERR_CONNECTION_RESET :
                                             UCS_ERR_UNREACHABLE);
    } else {
        ib_cm_link_kill(link);
    }
}

/* Returns the earlier of two times. A time of 0 means none. */
static double earlier(double a, double b)
{
    return ((a == 0) || ((b != 0) && (b < a))) ? b : a;
}

/* Handles the links of the list whose `deadline` or `nudge_at` has passed.
 * Returns the earliest of the times that are left; 0: none. */
static double check_deadlines(ib_link_t *list, double now)
{
    ib_link_t *node, *following;
    ib_cm_link_t *link;
    double next = 0;

    for (node = list->next; node != list; node = following) {
        following = node->next;
        link      = ib_container_of(node, ib_cm_link_t, node);
        if ((link->deadline != 0) && (link->deadline <= now)) {
            link_late(link);
            following = list->next; /* A callback may have changed the list */
            continue;
        }
        if ((link->nudge_at != 0) && (link->nudge_at <= now)) {
            ib_cm_link_nudge(link);
        }
        next = earlier(earlier(next, link->deadline), link->nudge_at);
    }
    return next;
}

static void cm_timer(ib_cm_t *cm)
{
    ib_link_t *lists[] = {&cm->unknown, &cm->links};
    double now         = cm->host->time(), next;
    uint64_t fired;

    (void)!read(cm->timer_fd, &fired, sizeof(fired));
    for (int i = 0; i < 2; ++i) {
        next = check_deadlines(lists[i], now);
        if (next != 0) {
            ib_cm_timer_set(cm, next);
        }
    }
}

/* --- Progress ------------------------------------------------------------- */

static void free_dead(ib_cm_t *cm)
{
    ib_link_t *node;

    while (!ib_link_is_alone(&cm->dead)) {
        node = cm->dead.next;
        ib_link_remove(node);
        ib_cm_link_free(ib_container_of(node, ib_cm_link_t, node));
    }
}

static void cm_progress(void *arg)
{
    struct epoll_event events[CM_EVENTS];
    ib_cm_t *cm = arg;
    int num;

    if (cm->in_progress) {
        return;
    }
    cm->in_progress = 1;
    do {
        ib_cm_listener_rejected(cm);
        num = epoll_wait(cm->epoll_fd, events, CM_EVENTS, 0);
        for (int i = 0; i < num; ++i) {
            if (events[i].data.ptr == NULL) {
                cm_timer(cm);
            } else if (events[i].data.ptr == cm) {
                ib_cm_events(cm);
            } else {
                (void)ib_cm_link_poll(events[i].data.ptr);
            }
        }
        ib_cm_flush_dispatch(cm);
        free_dead(cm);
    } while (num == CM_EVENTS);
    cm->in_progress = 0;

    /* Enable the asynchronous handler again. It is level-triggered, so it
     * reports events that have arrived since epoll_wait(). */
    cm->host->async_modify_fd(cm->async_id, UCS_EVENT_SET_EVREAD);
}

/* Makes the worker call cm_progress(). If there is no memory to schedule this
 * call, enables the asynchronous handler, which then runs and tries again. */
static void cm_call(ib_cm_t *cm)
{
    if (cm->host->progress_oneshot(cm->super.worker, cm_progress, cm) !=
        UCS_OK) {
        cm->host->async_modify_fd(cm->async_id, UCS_EVENT_SET_EVREAD);
    }
}

void ib_cm_wake(ib_cm_t *cm)
{
    cm->host->progress_cancel(cm->super.worker, cm_progress, cm);
    cm_call(cm);
}

/* The asynchronous handler; runs on a service thread. Schedules cm_progress(),
 * and disables itself until cm_progress() has run. */
static void cm_async_event(int fd, int events, void *arg)
{
    ib_cm_t *cm = arg;

    cm->host->async_modify_fd(cm->async_id, 0);
    cm_call(cm);
}

/* --- Opening and closing -------------------------------------------------- */

static void cm_free(ib_cm_t *cm)
{
    if (cm->events != NULL) {
        rdma_destroy_event_channel(cm->events);
    }
    if (cm->timer_fd >= 0) {
        close(cm->timer_fd);
    }
    if (cm->epoll_fd >= 0) {
        close(cm->epoll_fd);
    }
    pthread_mutex_destroy(&cm->lock);
    free(cm);
}

static ucs_status_t cm_open_fds(ib_cm_t *cm)
{
    const ucx_host_t *host = cm->host;
    ucs_status_t status;
    int flags;

    cm->events = rdma_create_event_channel();
    if (cm->events == NULL) {
        ucx_diag(
            "rdmacm cannot be used: %s (is the module rdma_ucm loaded, and "
            "may this user open /dev/infiniband/rdma_cm?)",
            strerror(errno));
        return UCS_ERR_NO_DEVICE;
    }
    flags = fcntl(cm->events->fd, F_GETFL);
    if ((cm->epoll_fd < 0) || (cm->timer_fd < 0) ||
        (fcntl(cm->events->fd, F_SETFL, flags | O_NONBLOCK) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    /* The epoll set is still empty: the handler cannot run before `async_id` is
     * set. */
    status = host->async_add_fd(cm->super.worker, cm->epoll_fd,
                                UCS_EVENT_SET_EVREAD, cm_async_event, cm,
                                &cm->async_id);
    if (status != UCS_OK) {
        return status;
    }
    status = ib_cm_watch(cm, EPOLL_CTL_ADD, cm->timer_fd, NULL);
    if (status == UCS_OK) {
        status = ib_cm_watch(cm, EPOLL_CTL_ADD, cm->events->fd, cm);
    }
    if (status != UCS_OK) {
        host->async_remove(cm->async_id);
    }
    return status;
}

static ucs_status_t cm_open(const ucx_component_t *component,
                            const ucx_cm_open_args_t *args, uct_cm_h *cm_p)
{
    ucs_status_t status;
    ib_cm_t *cm;

    if (args->config == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    cm = calloc(1, sizeof(*cm));
    if (cm == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_cm_init(&cm->super, args);
    cm->host     = ib_cm_host(component);
    cm->config   = *(const ib_cm_config_t *)args->config;
    cm->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    cm->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    ib_link_init(&cm->listeners);
    ib_link_init(&cm->links);
    ib_link_init(&cm->unknown);
    ib_link_init(&cm->requested);
    ib_link_init(&cm->rejected);
    ib_link_init(&cm->dead);
    ib_link_init(&cm->flushed);
    pthread_mutex_init(&cm->lock, NULL);
    status = cm_open_fds(cm);
    if (status != UCS_OK) {
        cm_free(cm);
        return status;
    }
    *cm_p = &cm->super;
    return UCS_OK;
}

/* Waits for at most CLOSE_LIMIT until the sends of LINGERING links, such as
 * rejections, are acknowledged. Closes the links in other states without
 * waiting for their sends, and at the end the LINGERING links that are left. */
static void wait_lingering(ib_cm_t *cm)
{
    double end = cm->host->time() + (CLOSE_LIMIT * 1e-3);
    struct pollfd fd;
    ib_cm_link_t *link;
    int left;

    while (!ib_link_is_alone(&cm->links)) {
        link = ib_container_of(cm->links.next, ib_cm_link_t, node);
        left = (int)((end - cm->host->time()) * 1e3);
        if ((link->state == IB_CM_ST_LINGERING) && (left > 0)) {
            fd = (struct pollfd){.fd = link->channel->fd, .events = POLLIN};
            (void)poll(&fd, 1, left);
            (void)ib_cm_link_poll(link);
        } else {
            ib_cm_link_kill(link);
        }
    }
}

static void cm_close(uct_cm_h uct_cm)
{
    ib_cm_t *cm = (ib_cm_t *)uct_cm;
    ib_cm_link_t *link;

    cm->host->async_remove(cm->async_id);
    cm->in_progress = 1; /* So that the functions below do not schedule
                          * cm_progress() */
    ib_cm_listener_rejected(cm);
    while (!ib_link_is_alone(&cm->unknown)) {
        ib_cm_link_kill(ib_container_of(cm->unknown.next, ib_cm_link_t, node));
    }
    while (!ib_link_is_alone(&cm->requested)) {
        link = ib_container_of(cm->requested.next, ib_cm_link_t, node);
        if (ib_cm_link_take(link)) {
            ib_cm_link_free(link);
        }
    }
    wait_lingering(cm);
    ib_cm_flush_dispatch(cm);
    cm->host->progress_cancel(cm->super.worker, cm_progress, cm);
    free_dead(cm);
    cm_free(cm);
}

static ucs_status_t cm_query(uct_cm_h uct_cm, uct_cm_attr_t *attr)
{
    if (attr->field_mask & UCT_CM_ATTR_FIELD_MAX_CONN_PRIV) {
        attr->max_conn_priv = ((ib_cm_t *)uct_cm)->config.priv_data_len;
    }
    return UCS_OK;
}

const ucx_cm_ops_t ib_cm_ops = {
    .size             = sizeof(ib_cm_ops),
    .open             = cm_open,
    .close            = cm_close,
    .query            = cm_query,
    .listener_create  = ib_cm_listener_create,
    .listener_destroy = ib_cm_listener_destroy,
    .listener_reject  = ib_cm_listener_reject,
    .listener_query   = ib_cm_listener_query,
    .ep_create        = ib_cm_ep_create,
    .ep_ops           = &ib_cm_ep_ops,
};
