/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread modes: events are delivered, are delayed while the context is blocked,
 * and handlers are removed. The service thread starts with the first handler
 * and ends with the last one. */
#include "suite.h"
#include "async_util.h"

static const ucs_async_mode_t modes[] = {UCS_ASYNC_MODE_THREAD_SPINLOCK,
                                         UCS_ASYNC_MODE_THREAD_MUTEX};

START_TEST(events_arrive_and_the_thread_ends_with_the_last_handler)
{
    ucs_async_context_t *async;
    probe_t probe;
    unsigned i, m;

    for (m = 0; m < 2; ++m) {
        probe_init(&probe);
        ck_assert(!ucs_async_thread_is_running());
        ck_ok(ucs_async_context_create(modes[m], &async));
        ck_ok(ucs_async_set_event_handler(modes[m], probe.fd,
                                          UCS_EVENT_SET_EVREAD, probe_cb,
                                          &probe, async));
        ck_assert(ucs_async_thread_is_running());
        for (i = 1; i <= 20; ++i) {
            eventfd_write(probe.fd, 1);
            probe_wait(&probe, i);
        }
        ck_assert_uint_eq(probe.events, UCS_EVENT_SET_EVREAD);
        ck_ok(ucs_async_remove_handler(probe.fd, 1));
        ck_assert(!ucs_async_thread_is_running());
        ck_assert_int_eq(ucs_async_remove_handler(probe.fd, 1),
                         UCS_ERR_NO_ELEM);
        ucs_async_context_destroy(async);
        close(probe.fd);
    }
}
END_TEST

START_TEST(a_block_holds_events_back_and_its_end_replays_them)
{
    ucs_async_context_t *async;
    probe_t probe, sign;
    int timer;
    unsigned m;

    for (m = 0; m < 2; ++m) {
        probe_init(&probe);
        probe_init(&sign);
        ck_ok(ucs_async_context_create(modes[m], &async));
        ck_ok(ucs_async_set_event_handler(modes[m], probe.fd,
                                          UCS_EVENT_SET_EVREAD, probe_cb,
                                          &probe, async));
        ck_ok(ucs_async_add_timer(modes[m], ucs_time_from_msec(1), probe_cb,
                                  &probe, async, &timer));
        /* This handler belongs to no context: its call shows that the
         * service thread has checked the descriptors, although the context
         * is blocked. */
        ck_ok(ucs_async_set_event_handler(modes[m], sign.fd,
                                          UCS_EVENT_SET_EVREAD, probe_cb, &sign,
                                          NULL));
        ucs_async_block(async);
        ucs_async_block(async);
        probe.count = 0;
        eventfd_write(probe.fd, 1);
        eventfd_write(sign.fd, 1);
        probe_wait(&sign, 1);
        eventfd_write(sign.fd, 1);
        probe_wait(&sign, 2);
        usleep(5000); /* so that the timer has expired as well */
        ck_assert_uint_eq(probe_count(&probe), 0);
        ucs_async_unblock(async);
        ck_assert_uint_eq(probe_count(&probe), 0);
        ucs_async_unblock(async);
        /* one call for the descriptor and one for the timer */
        probe_wait(&probe, 2);
        eventfd_write(probe.fd, 1);
        /* two more calls, for the descriptor or the periodic timer */
        probe_wait(&probe, 4);
        ck_ok(ucs_async_remove_handler(sign.fd, 1));
        ucs_async_context_destroy(async); /* removes the remaining handlers */
        ck_assert(!ucs_async_thread_is_running());
        close(probe.fd);
        close(sign.fd);
    }
}
END_TEST

/* Each handler has a probe of its own, which counts as removed from then on: so
 * a late call in a later round is found, too. */
START_TEST(a_handler_removed_in_sync_never_runs_again)
{
    enum { ROUNDS = 200 };
    static probe_t events[ROUNDS], timers[ROUNDS];
    ucs_async_context_t *async;
    int i, timer;

    for (i = 0; i < ROUNDS; ++i) {
        probe_init(&events[i]);
        timers[i] = (probe_t){.fd = -1, .alive = 1};
        ck_ok(ucs_async_context_create(modes[i % 2], &async));
        ck_ok(ucs_async_set_event_handler(modes[i % 2], events[i].fd,
                                          UCS_EVENT_SET_EVREAD, probe_cb,
                                          &events[i],
                                          (i % 4 < 2) ? async : NULL));
        eventfd_write(events[i].fd, 1);
        if (i % 3) {
            sched_yield();
        }
        ck_ok(ucs_async_remove_handler(events[i].fd, 1));
        __atomic_store_n(&events[i].alive, 0, __ATOMIC_RELEASE);

        ck_ok(ucs_async_add_timer(modes[i % 2], 1000, probe_cb, &timers[i],
                                  async, &timer));
        probe_wait(&timers[i], 1);
        ck_ok(ucs_async_remove_handler(timer, 1));
        __atomic_store_n(&timers[i].alive, 0, __ATOMIC_RELEASE);
        ucs_async_context_destroy(async);
        close(events[i].fd);
    }
}
END_TEST

static void remove_self(int id, ucs_event_set_types_t events, void *arg)
{
    probe_t *probe = arg;

    ck_assert_uint_eq(probe_count(probe), 0);
    ck_ok(ucs_async_remove_handler(id, 1));
    __atomic_add_fetch(&probe->count, 1, __ATOMIC_RELEASE);
}

START_TEST(a_handler_may_remove_itself)
{
    probe_t probe;
    int i, timer;

    for (i = 0; i < 20; ++i) {
        probe_init(&probe);
        eventfd_write(probe.fd, 1);
        ck_ok(ucs_async_set_event_handler(modes[0], probe.fd,
                                          UCS_EVENT_SET_EVREAD, remove_self,
                                          &probe, NULL));
        probe_wait(&probe, 1);
        probe.count = 0;
        ck_ok(ucs_async_add_timer(modes[0], 1000, remove_self, &probe, NULL,
                                  &timer));
        probe_wait(&probe, 1);
        close(probe.fd);
    }
    ck_assert(!ucs_async_thread_is_running());
}
END_TEST

/* ---- many threads, one context ---- */

static ucs_async_context_t *shared;
/* While threads use `shared`: accessed only while it is blocked, or inside a
 * handler. */
static unsigned guarded;

static void guarded_cb(int id, ucs_event_set_types_t events, void *arg)
{
    ++guarded;
    probe_cb(id, events, arg);
}

static void *block_main(void *arg)
{
    int i;

    for (i = 0; i < 3000; ++i) {
        ucs_async_block(shared);
        ++guarded;
        if (i % 16 == 0) {
            eventfd_write(((probe_t *)arg)->fd, 1);
        }
        ucs_async_unblock(shared);
    }
    return NULL;
}

START_TEST(blocks_exclude_handlers_and_no_event_is_lost)
{
    pthread_t threads[2];
    unsigned m, i, before;
    probe_t probe;

    for (m = 0; m < 2; ++m) {
        guarded = 0;
        probe_init(&probe);
        ck_ok(ucs_async_context_create(modes[m], &shared));
        ck_ok(ucs_async_set_event_handler(modes[m], probe.fd,
                                          UCS_EVENT_SET_EVREAD |
                                              UCS_EVENT_SET_EDGE_TRIGGERED,
                                          guarded_cb, &probe, shared));
        for (i = 0; i < 2; ++i) {
            ck_assert_int_eq(pthread_create(&threads[i], NULL, block_main,
                                            &probe),
                             0);
        }
        for (i = 0; i < 2; ++i) {
            pthread_join(threads[i], NULL);
        }
        before = probe_count(&probe);
        eventfd_write(probe.fd, 1);
        probe_wait(&probe, before + 1);
        ck_ok(ucs_async_remove_handler(probe.fd, 1));
        ck_assert_uint_eq(guarded, 6000 + probe_count(&probe));
        ucs_async_context_destroy(shared);
        close(probe.fd);
    }
}
END_TEST

START_TEST(events_can_be_modified)
{
    probe_t probe, sign;
    int timer;

    probe_init(&probe);
    probe_init(&sign);
    ck_ok(ucs_async_set_event_handler(modes[0], probe.fd, 0, probe_cb, &probe,
                                      NULL));
    ck_ok(ucs_async_set_event_handler(modes[0], sign.fd, UCS_EVENT_SET_EVREAD,
                                      probe_cb, &sign, NULL));
    eventfd_write(probe.fd, 1);
    eventfd_write(sign.fd, 1);
    probe_wait(&sign, 1);
    ck_assert_uint_eq(probe_count(&probe), 0);
    ck_ok(ucs_async_modify_handler(probe.fd, UCS_EVENT_SET_EVREAD));
    probe_wait(&probe, 1);
    ck_ok(ucs_async_remove_handler(probe.fd, 0));
    ck_ok(ucs_async_remove_handler(sign.fd, 1));
    ck_assert_int_eq(ucs_async_modify_handler(probe.fd, 0), UCS_ERR_NO_ELEM);
    ck_ok(ucs_async_add_timer(modes[0], UCS_NSEC_PER_SEC, probe_cb, &probe,
                              NULL, &timer));
    ck_assert_int_eq(ucs_async_modify_handler(timer, 0), UCS_ERR_INVALID_PARAM);
    ck_ok(ucs_async_remove_handler(timer, 1));
    close(probe.fd);
    close(sign.fd);
}
END_TEST

START_TEST(bad_input_is_refused)
{
    ucs_async_context_t *async;
    FILE *file = tmpfile();
    probe_t probe;
    int timer;

    probe_init(&probe);
    log_catch();
    ck_assert_int_eq(ucs_async_context_create(UCS_ASYNC_MODE_LAST, &async),
                     UCS_ERR_INVALID_PARAM);
    ck_ok(ucs_async_context_create(modes[0], &async));
    ck_assert_int_eq(ucs_async_set_event_handler(UCS_ASYNC_MODE_POLL, probe.fd,
                                                 UCS_EVENT_SET_EVREAD, probe_cb,
                                                 &probe, async),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucs_async_set_event_handler(modes[0], -1, 1, probe_cb,
                                                 &probe, async),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucs_async_set_event_handler(modes[0], 9999, 1, probe_cb,
                                                 &probe, async),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_ne(ucs_async_set_event_handler(modes[0], fileno(file), 1,
                                                 probe_cb, &probe, async),
                     UCS_OK);
    ck_assert(!ucs_async_thread_is_running());
    ck_assert_int_eq(ucs_async_add_timer(modes[0], 0, probe_cb, &probe, async,
                                         &timer),
                     UCS_ERR_INVALID_PARAM);
    ck_ok(ucs_async_set_event_handler(modes[0], probe.fd, 1, probe_cb, &probe,
                                      async));
    ck_assert_int_eq(ucs_async_set_event_handler(modes[0], probe.fd, 1,
                                                 probe_cb, &probe, async),
                     UCS_ERR_ALREADY_EXISTS);
    log_release();
    ck_logged("already has a handler");
    ucs_async_context_destroy(async);
    close(probe.fd);
    fclose(file);
}
END_TEST

SUITE_MAIN("async thread",
           events_arrive_and_the_thread_ends_with_the_last_handler,
           a_block_holds_events_back_and_its_end_replays_them,
           a_handler_removed_in_sync_never_runs_again,
           a_handler_may_remove_itself,
           blocks_exclude_handlers_and_no_event_is_lost, events_can_be_modified,
           bad_input_is_refused)
