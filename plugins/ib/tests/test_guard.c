/* SPDX-License-Identifier: BSD-3-Clause */
/* <ucx/guard.h>: the service thread and the user exclude each other. */
#include "suite.h"

#include <ucx/guard.h>

#include <pthread.h>

enum { ROUNDS = 20000 };

static ucx_guard_t guard;
static unsigned entries; /* Incremented by both threads without atomics: if both
                          * have the guard at the same time, increments are
                          * lost */

START_TEST(call_keeps_the_service_out)
{
    ucx_guard_init(&guard);
    {
        UCX_EXCLUDE_SERVICE(&guard);
        ck_assert(!ucx_guard_try(&guard));
        {
            ucx_guard_t *nested = ucx_guard_enter(&guard);

            ucx_guard_leave(&nested);
        }
        ck_assert(!ucx_guard_try(&guard));
        ck_assert(ucx_guard_is_wanted(&guard));
    }
    ck_assert(!ucx_guard_is_wanted(&guard));
    ck_assert(ucx_guard_try(&guard));
    ucx_guard_give(&guard);
}
END_TEST

static void *call(void *arg)
{
    UCX_EXCLUDE_SERVICE(&guard);

    ++*(unsigned *)arg;
    return NULL;
}

START_TEST(call_waits_for_the_service)
{
    unsigned calls = 0;
    pthread_t thread;

    ucx_guard_init(&guard);
    ck_assert(ucx_guard_try(&guard));
    ck_assert_int_eq(pthread_create(&thread, NULL, call, &calls), 0);
    while (!ucx_guard_is_wanted(&guard)) {
        sched_yield();
    }
    ck_assert_uint_eq(calls, 0);
    ucx_guard_give(&guard);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(calls, 1);
}
END_TEST

static void *serve(void *arg)
{
    int *is_done = arg;

    for (unsigned served = 0; served < ROUNDS;) {
        if (ucx_guard_try(&guard)) {
            ++entries;
            ++served;
            ucx_guard_give(&guard);
        }
    }
    __atomic_store_n(is_done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Two threads use the guard at the same time. `ordered` 0: the guard uses
 * membarrier(2) if the kernel supports it; 1: the guard does not use it. */
static void run_both(int ordered)
{
    int is_done    = 0;
    unsigned calls = 0;
    pthread_t thread;

    ucx_guard_init(&guard);
    guard.ordered |= ordered;
    entries = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, serve, &is_done), 0);
    while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) {
        UCX_EXCLUDE_SERVICE(&guard);
        ++entries;
        ++calls;
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(entries, ROUNDS + calls);
}

START_TEST(both_exclude_each_other)
{
    run_both(0);
}
END_TEST

START_TEST(both_exclude_each_other_without_membarrier)
{
    run_both(1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        call_keeps_the_service_out,
        call_waits_for_the_service,
        both_exclude_each_other,
        both_exclude_each_other_without_membarrier,
    };

    return suite_run("ud_guard", tests, sizeof(tests) / sizeof(*tests), 60);
}
