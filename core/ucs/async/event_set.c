/* SPDX-License-Identifier: BSD-3-Clause */
/* Event sets based on epoll. While a thread waits for events of a set, other
 * threads may add, change and remove descriptors. */
#include <ucs/sys/event_set.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"

#define MAX_WAIT_EVENTS 16

const unsigned ucs_sys_event_set_max_wait_events = MAX_WAIT_EVENTS;

struct ucs_sys_event_set {
    int fd;
    int is_external; /* 1: the caller owns `fd`, so it is not closed here */
};

static uint32_t events_to_epoll(ucs_event_set_types_t events)
{
    uint32_t result = 0;

    if (events & UCS_EVENT_SET_EVREAD) {
        result |= EPOLLIN;
    }
    if (events & UCS_EVENT_SET_EVWRITE) {
        result |= EPOLLOUT;
    }
    if (events & UCS_EVENT_SET_EVERR) {
        result |= EPOLLERR; /* epoll always reports it; set for clarity */
    }
    if (events & UCS_EVENT_SET_EDGE_TRIGGERED) {
        result |= EPOLLET;
    }

    return result;
}

static ucs_event_set_types_t events_from_epoll(uint32_t events)
{
    ucs_event_set_types_t result = 0;

    if (events & EPOLLIN) {
        result |= UCS_EVENT_SET_EVREAD;
    }
    if (events & EPOLLOUT) {
        result |= UCS_EVENT_SET_EVWRITE;
    }
    if (events & (EPOLLERR | EPOLLHUP)) {
        result |= UCS_EVENT_SET_EVERR;
    }

    return result;
}

static ucs_status_t event_set_new(int fd, int is_external,
                                  ucs_sys_event_set_t **event_set_p)
{
    ucs_sys_event_set_t *event_set = malloc(sizeof(*event_set));

    if (event_set == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    event_set->fd          = fd;
    event_set->is_external = is_external;
    *event_set_p           = event_set;
    return UCS_OK;
}

ucs_status_t ucs_event_set_create(ucs_sys_event_set_t **event_set_p)
{
    ucs_status_t status;
    int fd;

    fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        status = ucs_errno_to_status(errno);
        ucs_error("epoll_create1() failed: %s", strerror(errno));
        return status;
    }

    status = event_set_new(fd, 0, event_set_p);
    if (status != UCS_OK) {
        close(fd);
    }

    return status;
}

ucs_status_t ucs_event_set_create_from_fd(ucs_sys_event_set_t **event_set_p,
                                          int event_fd)
{
    return event_set_new(event_fd, 1, event_set_p);
}

static ucs_status_t event_set_ctl(ucs_sys_event_set_t *event_set, int op,
                                  const char *verb, int fd,
                                  ucs_event_set_types_t events,
                                  void *callback_data)
{
    struct epoll_event event;
    ucs_status_t status;

    memset(&event, 0, sizeof(event));
    event.events   = events_to_epoll(events);
    event.data.ptr = callback_data;
    if (epoll_ctl(event_set->fd, op, fd, &event) == 0) {
        return UCS_OK;
    }

    status = ucs_errno_to_status(errno);
    ucs_debug("cannot %s descriptor %d in event set %d: %s", verb, fd,
              event_set->fd, strerror(errno));
    return status;
}

ucs_status_t ucs_event_set_add(ucs_sys_event_set_t *event_set, int fd,
                               ucs_event_set_types_t events,
                               void *callback_data)
{
    return event_set_ctl(event_set, EPOLL_CTL_ADD, "add", fd, events,
                         callback_data);
}

ucs_status_t ucs_event_set_mod(ucs_sys_event_set_t *event_set, int fd,
                               ucs_event_set_types_t events,
                               void *callback_data)
{
    return event_set_ctl(event_set, EPOLL_CTL_MOD, "modify", fd, events,
                         callback_data);
}

ucs_status_t ucs_event_set_del(ucs_sys_event_set_t *event_set, int fd)
{
    return event_set_ctl(event_set, EPOLL_CTL_DEL, "remove", fd, 0, NULL);
}

ucs_status_t ucs_event_set_wait(ucs_sys_event_set_t *event_set,
                                unsigned *num_events, int timeout_ms,
                                ucs_event_set_handler_t handler, void *arg)
{
    struct epoll_event events[MAX_WAIT_EVENTS];
    ucs_status_t status;
    int count, i;

    if (*num_events == 0) {
        return UCS_ERR_INVALID_PARAM;
    }

    count = epoll_wait(event_set->fd, events,
                       (int)ucs_min(*num_events, (unsigned)MAX_WAIT_EVENTS),
                       timeout_ms);
    if (count < 0) {
        *num_events = 0;
        if (errno == EINTR) {
            return UCS_INPROGRESS;
        }

        status = ucs_errno_to_status(errno);
        ucs_error("epoll_wait(%d) failed: %s", event_set->fd, strerror(errno));
        return status;
    }

    for (i = 0; i < count; ++i) {
        handler(events[i].data.ptr, events_from_epoll(events[i].events), arg);
    }

    *num_events = (unsigned)count;
    return UCS_OK;
}

void ucs_event_set_cleanup(ucs_sys_event_set_t *event_set)
{
    if (!event_set->is_external) {
        close(event_set->fd);
    }

    free(event_set);
}

ucs_status_t ucs_event_set_fd_get(ucs_sys_event_set_t *event_set,
                                  int *event_fd_p)
{
    *event_fd_p = event_set->fd;
    return UCS_OK;
}
