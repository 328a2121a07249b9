/* SPDX-License-Identifier: BSD-3-Clause */
/* Callback queues: callbacks are added and removed, also by callbacks and by
 * other threads. */
#include "suite.h"

#include <pthread.h>
#include <sched.h>

#include "ucs/datastruct/callbackq.h"

static ucs_callbackq_t cbq;
static int ids[64];

static unsigned count_up(void *arg)
{
    ++*(int *)arg;
    return 1;
}

START_TEST(all_are_called_and_counted)
{
    int counts[40] = {0}, i;

    ck_ok(ucs_callbackq_init(&cbq));
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 0);
    for (i = 0; i < 40; ++i) {
        ids[i] = ucs_callbackq_add(&cbq, count_up, &counts[i]);
        ck_assert_int_ge(ids[i], 0);
    }
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 40);
    for (i = 0; i < 40; i += 2) {
        ucs_callbackq_remove(&cbq, ids[i]);
    }
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 20);
    for (i = 0; i < 40; ++i) {
        ck_assert_int_eq(counts[i], 1 + i % 2);
    }
    for (i = 1; i < 40; i += 2) {
        ucs_callbackq_remove(&cbq, ids[i]);
    }
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 0);
    ucs_callbackq_cleanup(&cbq);
}
END_TEST

static int self_id, other_id, other_count, added;

static unsigned remove_both(void *arg)
{
    ucs_callbackq_remove(&cbq, self_id);
    ucs_callbackq_remove(&cbq, other_id);
    return 1;
}

static unsigned add_many(void *arg)
{
    if (added == 0) {
        for (; added < 60; ++added) {
            ids[added] = ucs_callbackq_add(&cbq, count_up, arg);
        }
    }
    return 0;
}

START_TEST(a_callback_may_remove_and_add)
{
    int count = 0, id;

    other_count = 0;
    ck_ok(ucs_callbackq_init(&cbq));
    self_id  = ucs_callbackq_add(&cbq, remove_both, NULL);
    other_id = ucs_callbackq_add(&cbq, count_up, &other_count);
    ucs_callbackq_dispatch(&cbq);
    /* remove_both() has removed `other_id` before count_up() was called */
    ck_assert_int_eq(other_count, 0);
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 0);

    /* so many additions that the array of callbacks is reallocated */
    id = ucs_callbackq_add(&cbq, add_many, &count);
    ucs_callbackq_dispatch(&cbq);
    ucs_callbackq_dispatch(&cbq);
    ck_assert_int_ge(count, 60);
    ucs_callbackq_remove(&cbq, id);
    while (added > 0) {
        ucs_callbackq_remove(&cbq, ids[--added]);
    }
    ucs_callbackq_cleanup(&cbq);
}
END_TEST

static unsigned rearm(void *arg)
{
    int *count = arg;

    if (++*count < 3) {
        ck_assert_int_gt(ucs_callbackq_add_safe(&cbq, rearm, arg,
                                                UCS_CALLBACKQ_FLAG_ONESHOT),
                         0);
    }
    /* a nested dispatch must not call the running callback */
    ucs_callbackq_dispatch(&cbq);
    return 1;
}

START_TEST(one_shots_run_once)
{
    int count = 0, id;

    ck_ok(ucs_callbackq_init(&cbq));
    id = ucs_callbackq_add_safe(&cbq, count_up, &count,
                                UCS_CALLBACKQ_FLAG_ONESHOT);
    ck_assert_int_gt(id, 0);
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 1);
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 0);
    /* the callback has run and was removed: no effect */
    ucs_callbackq_remove_safe(&cbq, id);
    ck_assert_int_eq(count, 1);

    count = 0;
    ucs_callbackq_add_safe(&cbq, rearm, &count, UCS_CALLBACKQ_FLAG_ONESHOT);
    while (count < 3) {
        ucs_callbackq_dispatch(&cbq);
    }
    ck_assert_int_eq(count, 3);

    id = ucs_callbackq_add_safe(&cbq, count_up, &count,
                                UCS_CALLBACKQ_FLAG_ONESHOT);
    ucs_callbackq_remove_safe(&cbq, id);
    ck_assert_uint_eq(ucs_callbackq_dispatch(&cbq), 0);
    ucs_callbackq_cleanup(&cbq);
}
END_TEST

/* ---- threads ---- */

static int stop_dispatch;

static void *dispatch_main(void *arg)
{
    while (!__atomic_load_n(&stop_dispatch, __ATOMIC_ACQUIRE)) {
        ucs_callbackq_dispatch(&cbq);
        sched_yield();
    }
    return NULL;
}

typedef struct {
    int alive; /* atomic: 1: the callback may be called, 0: it was removed */
    int calls; /* atomic: number of calls */
} guarded_t;

static unsigned check_alive(void *arg)
{
    guarded_t *guarded = arg;

    ck_assert_int_eq(__atomic_load_n(&guarded->alive, __ATOMIC_ACQUIRE), 1);
    __atomic_add_fetch(&guarded->calls, 1, __ATOMIC_RELEASE);
    return 1;
}

START_TEST(a_removed_callback_never_runs_again)
{
    guarded_t guarded;
    pthread_t thread;
    int i, id;

    ck_ok(ucs_callbackq_init(&cbq));
    stop_dispatch = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, dispatch_main, NULL), 0);
    for (i = 0; i < 300; ++i) {
        guarded.alive = 1;
        guarded.calls = 0;
        id            = ucs_callbackq_add_safe(&cbq, check_alive, &guarded, 0);
        while (__atomic_load_n(&guarded.calls, __ATOMIC_ACQUIRE) == 0) {
            sched_yield();
        }
        ucs_callbackq_remove_safe(&cbq, id);
        __atomic_store_n(&guarded.alive, 0, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&stop_dispatch, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    ucs_callbackq_cleanup(&cbq);
}
END_TEST

START_TEST(what_is_left_is_told)
{
    int count = 0;

    ck_ok(ucs_callbackq_init(&cbq));
    ucs_callbackq_add(&cbq, count_up, &count);
    ucs_callbackq_add_safe(&cbq, count_up, &count, 0);
    ucs_callbackq_add_safe(&cbq, count_up, &count, UCS_CALLBACKQ_FLAG_ONESHOT);
    log_catch();
    ucs_callbackq_cleanup(&cbq);
    log_release();
    ck_logged("2 progress callbacks");
}
END_TEST

SUITE_MAIN("callbackq", all_are_called_and_counted,
           a_callback_may_remove_and_add, one_shots_run_once,
           a_removed_callback_never_runs_again, what_is_left_is_told)
