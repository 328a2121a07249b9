/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wake-up. The descriptor for the user is an epoll set of two descriptors: the
 * completion channel, which signals events of both completion queues, and a
 * timer for the next retransmission or UD_CONNECT.
 */
#include "ud.h"

#include <math.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

ucs_status_t ud_event_init(ud_iface_t *iface)
{
    struct epoll_event event = {.events = EPOLLIN};

    iface->timer_fd = timerfd_create(CLOCK_MONOTONIC,
                                     TFD_NONBLOCK | TFD_CLOEXEC);
    iface->event_fd = epoll_create1(EPOLL_CLOEXEC);
    if ((iface->timer_fd < 0) || (iface->event_fd < 0) ||
        (epoll_ctl(iface->event_fd, EPOLL_CTL_ADD, iface->channel->fd,
                   &event) != 0) ||
        (epoll_ctl(iface->event_fd, EPOLL_CTL_ADD, iface->timer_fd, &event) !=
         0)) {
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

void ud_event_cleanup(ud_iface_t *iface)
{
    if (iface->timer_fd >= 0) {
        close(iface->timer_fd);
    }
    if (iface->event_fd >= 0) {
        close(iface->event_fd);
    }
}

ucs_status_t ud_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((ud_iface_t *)iface)->event_fd;
    return UCS_OK;
}

/* Removes the events from the channel, so that its descriptor is not
 * readable. */
static unsigned drain(ud_iface_t *iface)
{
    unsigned count = 0;
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(iface->channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        ++count;
    }
    return count;
}

/* Sets the timer to the earliest deadline. No system call is needed if the
 * deadline has not changed. UCS_ERR_BUSY: the deadline has passed. */
static ucs_status_t set_timer(ud_iface_t *iface)
{
    double at = ib_link_is_alone(&iface->active) ? 0 : iface->next_deadline;
    struct itimerspec spec = {{0}};
    double delay;

    if ((at == iface->timer_at) && ((at == 0) || (at > ud_time(iface)))) {
        return UCS_OK;
    }
    if (at != 0) {
        delay = at - ud_time(iface);
        if (delay <= 0) {
            return UCS_ERR_BUSY;
        }
        spec.it_value.tv_sec  = (time_t)delay;
        spec.it_value.tv_nsec = (long)(fmod(delay, 1) * 1e9) + 1;
        if (spec.it_value.tv_nsec > 999999999) {
            spec.it_value.tv_nsec = 999999999;
        }
    }
    if (timerfd_settime(iface->timer_fd, 0, &spec, NULL) != 0) {
        return UCS_ERR_IO_ERROR;
    }
    iface->timer_at = at;
    return UCS_OK;
}

/*
 * Prepares for sleeping. UCS_ERR_BUSY: the caller must call progress and then
 * this function again, for one of these reasons:
 * - The service thread has left work to progress, an error handler was not
 *   called yet, the queue pair has to be restarted, or a deadline has passed.
 * - An event was drained. Its completion may still be in the queue, and causes
 *   no second event.
 * - The queues were armed by this call. A completion between the last poll and
 *   ibv_req_notify_cq() causes no event.
 */
ucs_status_t ud_event_arm(uct_iface_h uct_iface, unsigned events)
{
    ud_iface_t *iface = (ud_iface_t *)uct_iface;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    /* The next progress polls, even if there are no endpoints */
    __atomic_store_n(&iface->rounds, iface->rounds | (UD_IDLE_ROUNDS - 1),
                     __ATOMIC_RELAXED);
    if (iface->has_deferred || !ib_link_is_alone(&iface->failed)) {
        return UCS_ERR_BUSY;
    }
    if (iface->is_down) {
        /* A device that is lost causes no further events. */
        return iface->watch.is_gone ? UCS_OK : UCS_ERR_BUSY;
    }
    if (drain(iface) > 0) {
        iface->armed = 0;
        return UCS_ERR_BUSY;
    }
    if (!iface->armed) {
        if ((ibv_req_notify_cq(iface->send_cq, 0) != 0) ||
            (ibv_req_notify_cq(iface->recv_cq, 0) != 0)) {
            return UCS_ERR_IO_ERROR;
        }
        iface->armed = 1;
        return UCS_ERR_BUSY; /* The caller must poll again after arming */
    }
    /* Progress will not send these acknowledgements, because the user
     * sleeps. */
    ud_send_acks(iface, 1);
    return set_timer(iface);
}
