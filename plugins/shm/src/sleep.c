/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping: the event descriptor, and the timer that wakes an interface to
 * check its peers.
 */
#include "iface.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int watch(shm_iface_t *iface, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    return epoll_ctl(iface->event_fd, EPOLL_CTL_ADD, fd, &event);
}

ucs_status_t shm_iface_event_fd_get(uct_iface_h uct_iface, int *fd_p)
{
    shm_iface_t *iface     = shm_iface(uct_iface);
    const ucx_host_t *host = iface->host;

    if (iface->event_fd < 0) {
        iface->event_fd = epoll_create1(EPOLL_CLOEXEC);
        iface->timer_fd = timerfd_create(CLOCK_MONOTONIC,
                                         TFD_NONBLOCK | TFD_CLOEXEC);
        if ((iface->event_fd < 0) || (iface->timer_fd < 0) ||
            (watch(iface, iface->inbox.seg.event_rd) != 0) ||
            (watch(iface, iface->timer_fd) != 0)) {
            ucx_error("cannot create the event descriptor: %s; "
                      "see `ulimit -n`",
                      strerror(errno));
            shm_iface_event_cleanup(iface);
            return UCS_ERR_IO_ERROR;
        }
    }
    *fd_p = iface->event_fd;
    return UCS_OK;
}

void shm_iface_event_cleanup(shm_iface_t *iface)
{
    if (iface->timer_fd >= 0) {
        close(iface->timer_fd);
    }
    if (iface->event_fd >= 0) {
        close(iface->event_fd);
    }
    iface->event_fd = iface->timer_fd = -1;
}

/* Sets the timer to fire once, at the next check of the peers; clears the
 * previous expiry. The delay is at least 1 ms, because 0 would disarm the
 * timer, and at most 1e6 s, because an infinite keepalive interval cannot be
 * converted to an integer. */
static void set_timer(shm_iface_t *iface)
{
    struct itimerspec spec;
    double delay = iface->tend_at - iface->host->time();

    if (delay < 1e-3) {
        delay = 1e-3;
    } else if (delay > 1e6) {
        delay = 1e6;
    }
    memset(&spec, 0, sizeof(spec));
    spec.it_value.tv_sec  = (time_t)delay;
    spec.it_value.tv_nsec = (long)((delay - (double)spec.it_value.tv_sec) *
                                   1e9);
    timerfd_settime(iface->timer_fd, 0, &spec, NULL);
}

ucs_status_t shm_iface_event_arm(uct_iface_h uct_iface, unsigned events)
{
    shm_iface_t *iface = shm_iface(uct_iface);
    ucs_status_t status;

    if (iface->event_fd < 0) {
        return UCS_ERR_INVALID_PARAM; /* The user has not requested the event
                                       * descriptor */
    }
    if (!TAILQ_EMPTY(&iface->waiting) || !LIST_EMPTY(&iface->failed)) {
        return UCS_ERR_BUSY; /* A receiver that frees space does not wake the
                              * sender, and progress reports failures: the
                              * caller must poll */
    }

    status = shm_inbox_arm(&iface->inbox);
    if (status == UCS_OK) {
        iface->is_armed = 1;
        set_timer(iface);
    }
    return status;
}

void shm_iface_disarm(shm_iface_t *iface)
{
    iface->is_armed = 0;
    shm_inbox_disarm(&iface->inbox);
    if (iface->host->time() >= iface->tend_at) {
        shm_iface_tend(iface);
    }
}
