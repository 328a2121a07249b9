/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleep and wake-up of a worker. One epoll set contains the event descriptors
 * of its interfaces and an eventfd. ucp_worker_signal() writes the eventfd, and
 * so do other threads that have work for the worker's progress.
 *
 * After ucp_worker_arm() has returned UCS_OK, each of these descriptors makes
 * the set readable when there is work for progress. If there was such work
 * before, the call returns UCS_ERR_BUSY, and the user must call progress before
 * the next ucp_worker_arm(). Interfaces without an event descriptor do
 * not wake the user.
 */
#include "ucp/base/idle.h"
#include "ucp/base/worker.h"
#include "ucp/stats/stats.h"

#include "ucp/base/class.h"
#include "ucp/core/worker.h"
#include "ucp/stage/stage.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void write_signal(void *arg)
{
    ucp_worker_h worker = arg;
    uint64_t one        = 1;

    /* EAGAIN: the counter is at its maximum, so the descriptor is readable. */
    if ((write(worker->signal_fd, &one, sizeof(one)) < 0) &&
        (errno != EAGAIN)) {
        ucs_error("cannot signal worker %s: %m", worker->name);
    }
}

static ucs_status_t watch(ucp_worker_h worker, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (worker->flags & UCP_WORKER_FLAG_EDGE) {
        event.events |= EPOLLET;
    }
    event.data.ptr = worker->user_data;
    if (epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        ucs_error("cannot watch fd %d for worker %s: %m", fd, worker->name);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

/* Adds the interfaces' event descriptors to the epoll set. */
static ucs_status_t watch_ifaces(ucp_worker_h worker)
{
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        ucp_worker_iface_t *wiface = &worker->ifaces[i];

        if (!(wiface->attr->base.cap.event_flags & UCT_IFACE_FLAG_EVENT_FD)) {
            continue;
        }
        status = uct_iface_event_fd_get(wiface->iface, &wiface->event_fd);
        if (status == UCS_OK) {
            status = watch(worker, wiface->event_fd);
        }
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_worker_wakeup_init(ucp_worker_h worker,
                                    const ucp_worker_params_t *params)
{
    ucs_status_t status;

    if (!(worker->context->features & UCP_FEATURE_WAKEUP)) {
        return UCS_OK;
    }

    worker->flags |= UCP_WORKER_FLAG_WAKEUP;
    if (worker->events & UCP_WAKEUP_EDGE) {
        worker->flags |= UCP_WORKER_FLAG_EDGE;
    }
    if (params->field_mask & UCP_WORKER_PARAM_FIELD_EVENT_FD) {
        worker->flags |= UCP_WORKER_FLAG_EXT_EFD;
        worker->epoll_fd = params->event_fd;
    } else {
        worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    }
    worker->signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if ((worker->epoll_fd < 0) || (worker->signal_fd < 0)) {
        ucs_error("cannot set up wake-up of worker %s: %m", worker->name);
        status = UCS_ERR_IO_ERROR;
        goto err;
    }

    status = watch(worker, worker->signal_fd);
    if (status == UCS_OK) {
        status = watch_ifaces(worker);
    }
    if (status != UCS_OK) {
        goto err;
    }

    uct_worker_set_wake(worker->uct, write_signal, worker);
    return UCS_OK;

err:
    ucp_worker_wakeup_cleanup(worker);
    return status;
}

void ucp_worker_wakeup_cleanup(ucp_worker_h worker)
{
    unsigned i;

    if (!(worker->flags & UCP_WORKER_FLAG_WAKEUP)) {
        return;
    }

    uct_worker_set_wake(worker->uct, NULL, NULL);
    if (worker->flags & UCP_WORKER_FLAG_EXT_EFD) {
        for (i = 0; i < worker->num_ifaces; ++i) {
            if (worker->ifaces[i].event_fd >= 0) {
                epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL,
                          worker->ifaces[i].event_fd, NULL);
            }
        }
        epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL, worker->signal_fd, NULL);
    } else if (worker->epoll_fd >= 0) {
        close(worker->epoll_fd);
    }
    if (worker->signal_fd >= 0) {
        close(worker->signal_fd);
    }
    worker->epoll_fd  = -1;
    worker->signal_fd = -1;
}

ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd)
{
    if (!(worker->flags & UCP_WORKER_FLAG_WAKEUP)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (worker->flags & UCP_WORKER_FLAG_EXT_EFD) {
        return UCS_ERR_UNSUPPORTED;
    }
    *fd = worker->epoll_fd;
    return UCS_OK;
}

ucs_status_t ucp_worker_signal(ucp_worker_h worker)
{
    if (!(worker->flags & UCP_WORKER_FLAG_WAKEUP)) {
        return UCS_ERR_INVALID_PARAM;
    }
    write_signal(worker);
    if (worker->stats != NULL) {
        ucs_stats_add_shared(ucp_stats_worker_record(worker->stats),
                             UCP_STATS_SIGNALS, 1);
    }
    return UCS_OK;
}

/* Returns the UCT events (UCT_EVENT_*) that must wake the user, according to
 * the UCP_WAKEUP_* that the user has selected. */
static unsigned uct_events(const ucp_worker_t *worker)
{
    unsigned sends = UCP_WAKEUP_RMA | UCP_WAKEUP_AMO | UCP_WAKEUP_TAG_SEND |
                     UCP_WAKEUP_TX;
    unsigned events = 0;

    if (worker->events & sends) {
        events |= UCT_EVENT_SEND_COMP;
    }
    if (worker->events & (UCP_WAKEUP_TAG_RECV | UCP_WAKEUP_RX | sends)) {
        /* Sends may complete with a reply, which is received. */
        events |= UCT_EVENT_RECV;
    }
    return events;
}

static ucs_status_t arm_ifaces(ucp_worker_h worker)
{
    unsigned events = uct_events(worker);
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        if (worker->ifaces[i].event_fd < 0) {
            continue;
        }
        status = uct_iface_event_arm(worker->ifaces[i].iface, events);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    ucs_status_t status;
    uint64_t count;

    if (!(worker->flags & UCP_WORKER_FLAG_WAKEUP)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_worker_enter(worker);
    ucp_idle_poll_soon(worker);
    if (read(worker->signal_fd, &count, sizeof(count)) > 0) {
        status = UCS_ERR_BUSY;
    } else if (!ucs_queue_is_empty(&worker->deferred)) {
        status = UCS_ERR_BUSY; /* The next progress completes these sends */
    } else if (ucp_classes_are_busy(worker)) {
        status = UCS_ERR_BUSY;
    } else if (ucp_stage_is_busy(worker->stage)) {
        /* Copiers (stage/stage.h) have no events: progress must poll them */
        status = UCS_ERR_BUSY;
    } else {
        status = arm_ifaces(worker);
        if ((status == UCS_OK) && uct_worker_has_oneshots(worker->uct)) {
            status = UCS_ERR_BUSY;
        }
    }
    ucp_worker_leave(worker);
    return status;
}

ucs_status_t ucp_worker_wait(ucp_worker_h worker)
{
    struct pollfd set = {.fd = worker->epoll_fd, .events = POLLIN};
    ucs_status_t status;

    status = ucp_worker_arm(worker);
    if (status == UCS_ERR_BUSY) {
        return UCS_OK;
    }
    if (status != UCS_OK) {
        return status;
    }

    if (worker->stats != NULL) {
        ucs_stats_add_shared(ucp_stats_worker_record(worker->stats),
                             UCP_STATS_SLEEPS, 1);
    }
    while (poll(&set, 1, -1) < 0) {
        if (errno != EINTR) {
            ucs_error("cannot wait for worker %s: %m", worker->name);
            return UCS_ERR_IO_ERROR;
        }
    }
    return UCS_OK;
}
