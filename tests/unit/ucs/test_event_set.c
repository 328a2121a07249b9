/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of descriptors (ucs_event_set): an edge-triggered event is reported
 * once, any other as long as its condition lasts. */
#include "suite.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ucs/sys/event_set.h>

static unsigned num_calls;
static ucs_event_set_types_t last_events;
static void *last_data;

static void handler(void *data, ucs_event_set_types_t events, void *arg)
{
    ck_assert_ptr_eq(arg, &num_calls);
    ++num_calls;
    last_events = events;
    last_data   = data;
}

static unsigned look(ucs_sys_event_set_t *set)
{
    unsigned count = ucs_sys_event_set_max_wait_events;

    num_calls   = 0;
    last_events = 0;
    ck_ok(ucs_event_set_wait(set, &count, 0, handler, &num_calls));
    ck_assert_uint_eq(count, num_calls);
    return count;
}

START_TEST(events_are_reported)
{
    ucs_sys_event_set_t *set;
    int fds[2], data, fd;
    unsigned count = 0;

    ck_assert_int_eq(pipe(fds), 0);
    ck_ok(ucs_event_set_create(&set));
    ck_ok(ucs_event_set_fd_get(set, &fd));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ucs_event_set_wait(set, &count, 0, handler, &num_calls),
                     UCS_ERR_INVALID_PARAM);
    ck_ok(ucs_event_set_add(set, fds[0], UCS_EVENT_SET_EVREAD, &data));
    ck_assert_int_eq(ucs_event_set_add(set, fds[0], UCS_EVENT_SET_EVREAD, NULL),
                     UCS_ERR_ALREADY_EXISTS);
    ck_assert_uint_eq(look(set), 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_uint_eq(look(set), 1);
    ck_assert_uint_eq(last_events, UCS_EVENT_SET_EVREAD);
    ck_assert_ptr_eq(last_data, &data);
    ck_assert_uint_eq(look(set), 1); /* still readable */
    ck_ok(ucs_event_set_mod(set, fds[0], 0, &data));
    ck_assert_uint_eq(look(set), 0);
    close(fds[1]);
    ck_assert_uint_eq(look(set), 1);
    /* the other end of the pipe is closed */
    ck_assert(last_events & UCS_EVENT_SET_EVERR);
    ck_ok(ucs_event_set_del(set, fds[0]));
    ck_assert_int_eq(ucs_event_set_del(set, fds[0]), UCS_ERR_NO_ELEM);
    ck_assert_uint_eq(look(set), 0);
    ucs_event_set_cleanup(set);
    close(fds[0]);
}
END_TEST

START_TEST(an_edge_is_reported_once)
{
    int fd = eventfd(1, 0), epfd = epoll_create1(0);
    ucs_sys_event_set_t *set;

    ck_ok(ucs_event_set_create_from_fd(&set, epfd));
    ck_ok(ucs_event_set_add(set, fd,
                            UCS_EVENT_SET_EVREAD | UCS_EVENT_SET_EVWRITE |
                                UCS_EVENT_SET_EDGE_TRIGGERED,
                            NULL));
    ck_assert_uint_eq(look(set), 1);
    ck_assert_uint_eq(last_events,
                      UCS_EVENT_SET_EVREAD | UCS_EVENT_SET_EVWRITE);
    ck_assert_uint_eq(look(set), 0);
    ck_assert_int_eq(eventfd_write(fd, 1), 0);
    ck_assert_uint_eq(look(set), 1);
    ucs_event_set_cleanup(set);
    close(fd);
    /* the set has not closed the descriptor of its user */
    ck_assert_int_eq(close(epfd), 0);
}
END_TEST

SUITE_MAIN("event_set", events_are_reported, an_edge_is_reported_once)
