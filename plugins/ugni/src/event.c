/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wake-up. The descriptor for the user is an epoll set of two descriptors: the
 * wait object of the completion queue, and a timer that runs while progress is
 * needed without an event.
 */
#include "tag.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    /* Nanoseconds until the user wakes up while sends are queued, or while a
     * rendezvous is received. The provider may accept messages again without an
     * event in the completion queue */
    QUEUED_NS = 10000000,
    /* Nanoseconds until the user wakes up while messages are outstanding, so
     * that progress checks whether the peers are alive; and while progress
     * searches for unexpected tagged messages: ofi_rxm has no event for one
     * that it receives in fi_trywait() */
    CHECK_NS  = 200000000,
};

ucs_status_t ugni_event_open(ugni_iface_t *iface)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd;

    if (fi_control(&iface->port->cq->fid, FI_GETWAIT, &fd) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    iface->timer_fd = timerfd_create(CLOCK_MONOTONIC,
                                     TFD_NONBLOCK | TFD_CLOEXEC);
    iface->event_fd = epoll_create1(EPOLL_CLOEXEC);
    if ((iface->timer_fd < 0) || (iface->event_fd < 0) ||
        (epoll_ctl(iface->event_fd, EPOLL_CTL_ADD, fd, &event) != 0) ||
        (epoll_ctl(iface->event_fd, EPOLL_CTL_ADD, iface->timer_fd, &event) !=
         0)) {
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

void ugni_event_close(ugni_iface_t *iface)
{
    if (iface->timer_fd >= 0) {
        close(iface->timer_fd);
    }
    if (iface->event_fd >= 0) {
        close(iface->event_fd);
    }
}

ucs_status_t ugni_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((ugni_iface_t *)iface)->event_fd;
    return UCS_OK;
}

/* Sets or stops the timer. An interface that waits for nothing needs no timer
 * and no system call. */
static ucs_status_t set_timer(ugni_iface_t *iface)
{
    struct itimerspec spec = {{0}};

    if (!ugni_link_is_alone(&iface->todo) ||
        ((iface->tags != NULL) && !ugni_link_is_alone(&iface->tags->active))) {
        spec.it_value.tv_nsec = QUEUED_NS;
    } else if (ugni_iface_needs_checks(iface) ||
               ((iface->tags != NULL) && iface->tags->searches)) {
        spec.it_value.tv_nsec = CHECK_NS;
    } else if (!iface->timer_runs) {
        return UCS_OK;
    }
    /* Setting the timer also makes an expired timer unreadable. */
    if (timerfd_settime(iface->timer_fd, 0, &spec, NULL) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    iface->timer_runs = spec.it_value.tv_nsec != 0;
    return UCS_OK;
}

ucs_status_t ugni_event_arm(uct_iface_h uct_iface, unsigned events)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    struct fid *fid     = &iface->port->cq->fid;
    const ugni_link_t *link;
    int rc;

    for (link = iface->todo.next; link != &iface->todo; link = link->next) {
        if (ugni_container_of(link, ugni_ep_t, todo)->state & UGNI_EP_TELL) {
            return UCS_ERR_BUSY;
        }
    }
    rc = fi_trywait(iface->port->device->fabric, &fid, 1);
    if (rc != 0) {
        return (rc == -FI_EAGAIN) ? UCS_ERR_BUSY : UCS_ERR_IO_ERROR;
    }
    return set_timer(iface);
}
