/* SPDX-License-Identifier: BSD-3-Clause */
/* Poll mode: handlers are called only by ucs_async_poll(). The descriptor of
 * ucs_async_event_fd() is readable when a handler has an event. */
#include "suite.h"
#include "async_util.h"

START_TEST(handlers_run_when_polled)
{
    ucs_async_context_t *async;
    probe_t probe;

    probe_init(&probe);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_POLL, &async));
    ucs_async_poll(async); /* without handlers */
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_POLL, probe.fd,
                                      UCS_EVENT_SET_EVREAD, probe_cb, &probe,
                                      async));
    ck_assert(!ucs_async_thread_is_running());
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 0);
    eventfd_write(probe.fd, 1);
    ck_assert_uint_eq(probe.count, 0);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 1);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 1);

    eventfd_write(probe.fd, 1);
    ucs_async_block(async);
    ucs_async_poll(async);
    /* no call while the context is blocked */
    ck_assert_uint_eq(probe.count, 1);
    ucs_async_unblock(async);
    ucs_async_poll(NULL);
    ck_assert_uint_eq(probe.count, 2);
    ck_ok(ucs_async_remove_handler(probe.fd, 1));
    eventfd_write(probe.fd, 1);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 2);
    ucs_async_context_destroy(async);
    close(probe.fd);
}
END_TEST

START_TEST(the_descriptor_tells_when_to_poll)
{
    ucs_async_context_t *async;
    struct pollfd pfd = {.events = POLLIN};
    probe_t probe;
    int timer;

    probe_init(&probe);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_POLL, &async));
    ck_ok(ucs_async_event_fd(async, &pfd.fd));
    ck_assert_int_eq(poll(&pfd, 1, 0), 0);
    ck_ok(ucs_async_add_timer(UCS_ASYNC_MODE_POLL, ucs_time_from_msec(3),
                              probe_cb, &probe, async, &timer));
    ck_assert_int_ge(timer, UCS_ASYNC_TIMER_ID_MIN);
    ck_assert_int_eq(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
    ck_assert_uint_eq(probe.count, 0);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 1);
    /* the timer expires again: it is periodic */
    ck_assert_int_eq(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 2);
    ck_ok(ucs_async_remove_handler(timer, 1));
    ck_assert_int_eq(poll(&pfd, 1, 10), 0);
    ucs_async_context_destroy(async);
    close(probe.fd);
}
END_TEST

static ucs_async_context_t *nested;

static void nested_cb(int id, ucs_event_set_types_t events, void *arg)
{
    probe_cb(id, events, arg);
    eventfd_write(id, 1);
    ucs_async_poll(nested);
}

START_TEST(a_handler_may_poll)
{
    probe_t probe;

    probe_init(&probe);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_POLL, &nested));
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_POLL, probe.fd,
                                      UCS_EVENT_SET_EVREAD, nested_cb, &probe,
                                      nested));
    eventfd_write(probe.fd, 1);
    ucs_async_poll(nested);
    ck_assert_uint_eq(probe.count, 1);
    ucs_async_poll(nested);
    ck_assert_uint_eq(probe.count, 2);
    ucs_async_context_destroy(nested);
    close(probe.fd);
}
END_TEST

START_TEST(handlers_without_context_run_in_poll_of_all)
{
    probe_t probe;

    probe_init(&probe);
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_POLL, probe.fd,
                                      UCS_EVENT_SET_EVREAD, probe_cb, &probe,
                                      NULL));
    eventfd_write(probe.fd, 1);
    ucs_async_poll(NULL);
    ck_assert_uint_eq(probe.count, 1);
    ck_ok(ucs_async_remove_handler(probe.fd, 1));
    close(probe.fd);
}
END_TEST

START_TEST(a_late_poll_runs_each_timer_once)
{
    ucs_async_context_t *async;
    probe_t probe;
    int timer;

    probe_init(&probe);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_POLL, &async));
    ck_ok(ucs_async_add_timer(UCS_ASYNC_MODE_POLL, ucs_time_from_usec(100),
                              probe_cb, &probe, async, &timer));
    usleep(10000);
    ucs_async_poll(async);
    ck_assert_uint_eq(probe.count, 1);
    ucs_async_context_destroy(async);
    close(probe.fd);
}
END_TEST

SUITE_MAIN("async poll", handlers_run_when_polled,
           the_descriptor_tells_when_to_poll, a_handler_may_poll,
           handlers_without_context_run_in_poll_of_all,
           a_late_poll_runs_each_timer_once)
