/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal mode: handlers run in the thread that added them, which a signal
 * interrupts. */
#include "suite.h"
#include "async_util.h"

#include <signal.h>

static volatile pthread_t runner;

static void signal_cb(int id, ucs_event_set_types_t events, void *arg)
{
    probe_t *probe = arg;
    eventfd_t value;

    runner = pthread_self();
    if (id == probe->fd) {
        eventfd_read(probe->fd, &value);
    }
    __atomic_add_fetch(&probe->count, 1, __ATOMIC_RELEASE);
}

/* By signal number: the actions before the first use of signal mode */
static struct sigaction before[65];

START_TEST(the_adding_thread_is_interrupted)
{
    ucs_async_context_t *async;
    probe_t probe;
    unsigned i;
    int timer;

    for (i = 1; i < 65; ++i) {
        sigaction((int)i, NULL, &before[i]);
    }
    probe_init(&probe);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_SIGNAL, &async));
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_SIGNAL, probe.fd,
                                      UCS_EVENT_SET_EVREAD, signal_cb, &probe,
                                      async));
    for (i = 1; i <= 50; ++i) {
        eventfd_write(probe.fd, 1);
        probe_wait(&probe, i);
        ck_assert(pthread_equal(runner, pthread_self()));
    }
    ck_ok(ucs_async_remove_handler(probe.fd, 1));
    eventfd_write(probe.fd, 1);
    ck_ok(ucs_async_add_timer(UCS_ASYNC_MODE_SIGNAL, ucs_time_from_msec(1),
                              signal_cb, &probe, async, &timer));
    probe_wait(&probe, 53);
    ucs_async_context_destroy(async);
    close(probe.fd);
}
END_TEST

START_TEST(a_block_holds_signals_back)
{
    ucs_async_context_t *async;
    probe_t probe, sign;

    probe_init(&probe);
    probe_init(&sign);
    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_SIGNAL, &async));
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_SIGNAL, probe.fd,
                                      UCS_EVENT_SET_EVREAD, signal_cb, &probe,
                                      async));
    ck_ok(ucs_async_set_event_handler(UCS_ASYNC_MODE_SIGNAL, sign.fd,
                                      UCS_EVENT_SET_EVREAD, signal_cb, &sign,
                                      NULL));
    ucs_async_block(async);
    eventfd_write(probe.fd, 1);
    eventfd_write(sign.fd, 1);
    probe_wait(&sign, 1);
    eventfd_write(sign.fd, 1);
    /* when this handler is called again, both descriptors have been checked */
    probe_wait(&sign, 2);
    ck_assert_uint_eq(probe_count(&probe), 0);
    ucs_async_unblock(async);
    probe_wait(&probe, 1);
    eventfd_write(probe.fd, 1);
    probe_wait(&probe, 2);

    /* a handler is removed while its context is blocked and its event is
     * pending */
    ucs_async_block(async);
    eventfd_write(probe.fd, 1);
    eventfd_write(sign.fd, 1);
    probe_wait(&sign, 3);
    ck_ok(ucs_async_remove_handler(probe.fd, 1));
    ucs_async_unblock(async);
    ck_assert_uint_eq(probe_count(&probe), 2);
    ck_ok(ucs_async_remove_handler(sign.fd, 1));
    ucs_async_context_destroy(async);
    close(probe.fd);
    close(sign.fd);
}
END_TEST

static void *add_from_thread(void *arg)
{
    probe_t probe;

    probe_init(&probe);
    log_catch();
    ck_assert_int_eq(ucs_async_set_event_handler(UCS_ASYNC_MODE_SIGNAL,
                                                 probe.fd, 1, signal_cb, &probe,
                                                 arg),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    close(probe.fd);
    return NULL;
}

START_TEST(a_context_belongs_to_its_thread)
{
    ucs_async_context_t *async;
    pthread_t thread;

    ck_ok(ucs_async_context_create(UCS_ASYNC_MODE_SIGNAL, &async));
    ck_assert_int_eq(pthread_create(&thread, NULL, add_from_thread, async), 0);
    pthread_join(thread, NULL);
    ucs_async_context_destroy(async);
}
END_TEST

START_TEST(one_free_real_time_signal_is_taken)
{
    struct sigaction action;
    int signo, taken = 0;

    for (signo = 1; signo < 65; ++signo) {
        if ((sigaction(signo, NULL, &action) == 0) &&
            (action.sa_handler != before[signo].sa_handler)) {
            ck_assert_int_ge(signo, SIGRTMIN);
            ck_assert_ptr_eq(before[signo].sa_handler, SIG_DFL);
            ++taken;
        }
    }
    ck_assert_int_eq(taken, 1);
}
END_TEST

SUITE_MAIN("async signal", the_adding_thread_is_interrupted,
           a_block_holds_signals_back, a_context_belongs_to_its_thread,
           one_free_real_time_signal_is_taken)
