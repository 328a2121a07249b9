/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is made of the times of messages through a ring.
 */
#include "ring_speed.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { LENGTH = 32768, NEAR = 40000, FAR = 150000 /* ps */ };

static int is_about(double value, double expected)
{
    return fabs(value - expected) <= expected * 0.01;
}

/* So many messages, of which each side copies `in` and `out` bytes a second. */
static void transfer(shm_ring_speed_t *speed, unsigned count, double in,
                     double out, double now)
{
    while (count-- > 0) {
        shm_times_add(&speed->in, shm_times_of(LENGTH / in, LENGTH));
        shm_times_add(&speed->out, shm_times_of(LENGTH / out, LENGTH));
        speed->at = now;
    }
}

START_TEST(the_slower_side_counts)
{
    shm_ring_speed_t speed = {0};

    transfer(&speed, SHM_TIMED_ENOUGH, 30e9, 17e9, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0), 17e9));
    transfer(&speed, SHM_TIMED_SAMPLES, 12e9, 28e9, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0), 12e9));
}
END_TEST

START_TEST(single_times_that_are_disturbed_do_not_count)
{
    shm_ring_speed_t speed = {0};

    transfer(&speed, 3, 28e9, 28e9, 0);
    transfer(&speed, 2, 1e6, 1e6, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0), 28e9));
    transfer(&speed, 1, 1e15, 1e15, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0), 28e9));
}
END_TEST

/* Before anything is timed: more than any ring brings, less for remote caches. */
START_TEST(a_ring_that_was_not_used_is_worth_trying)
{
    shm_ring_speed_t speed = {0};
    double near            = shm_ring_speed_bandwidth(&speed, NEAR, 0, 0);
    double far             = shm_ring_speed_bandwidth(&speed, FAR, 0, 0);

    ck_assert(near > 20e9);
    ck_assert(far < 8e9);
    ck_assert(far > 5e9);
    /* noise is no other answer */
    ck_assert(shm_ring_speed_bandwidth(&speed, NEAR + 500, 0, 0) == near);
    transfer(&speed, SHM_TIMED_ENOUGH - 1, 10e9, 10e9, 0);
    ck_assert(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0) == near);
}
END_TEST

START_TEST(what_was_timed_at_another_distance_is_forgotten)
{
    shm_ring_speed_t speed = {0};

    transfer(&speed, 5, 28e9, 28e9, 0);
    shm_ring_speed_bandwidth(&speed, NEAR, 0, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, NEAR * 3 / 2, 0, 0),
                       28e9));
    ck_assert(shm_ring_speed_bandwidth(&speed, FAR, 0, 0) < 8e9);
    transfer(&speed, 5, 2.3e9, 2.3e9, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, FAR, 0, 0), 2.3e9));
    ck_assert(shm_ring_speed_bandwidth(&speed, NEAR, 0, 0) > 20e9);
}
END_TEST

/* Soon at first, then seldom. */
START_TEST(what_is_old_is_tried_again)
{
    shm_ring_speed_t speed = {0};
    double now             = 100, next;
    unsigned count         = 0;

    while (now < 110) {
        transfer(&speed, 5, 5e9, 5e9, now);
        next = now;
        while (shm_ring_speed_bandwidth(&speed, NEAR, 0, next) < 6e9) {
            next += 1e-3;
        }
        ck_assert(shm_ring_speed_bandwidth(&speed, NEAR, 0, next) > 20e9);
        ck_assert((count > 0) || (next < now + 0.03));
        ck_assert((count < 8) || (next > now + 0.9));
        now = next;
        ++count;
    }
    ck_assert_uint_le(count, 17);
}
END_TEST

START_TEST(some_messages_are_timed)
{
    shm_ring_speed_t speed = {0};
    unsigned i, count      = 0;

    for (i = 0; i < SHM_TIMED_SAMPLES; ++i) {
        ck_assert(shm_ring_speed_wants(&speed));
        transfer(&speed, 1, 28e9, 28e9, 0);
    }
    for (i = 0; i < 1000; ++i) {
        count += (unsigned)shm_ring_speed_wants(&speed);
    }
    ck_assert_uint_eq(count, 1000 / SHM_TIMED_EVERY);
}
END_TEST

/* A process that gets by messages has sent none itself. */
START_TEST(messages_that_were_received_tell_where_none_was_sent)
{
    uint32_t received      = shm_times_of(LENGTH / 2.3e9, LENGTH);
    shm_ring_speed_t speed = {0};

    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, FAR, received, 0),
                       2.3e9));
    transfer(&speed, 5, 5e9, 5e9, 0);
    ck_assert(is_about(shm_ring_speed_bandwidth(&speed, FAR, received, 0),
                       5e9));
}
END_TEST

START_TEST(strange_times_have_limits)
{
    shm_ring_speed_t speed = {0};

    ck_assert_uint_eq(shm_times_of(-1, LENGTH), 1);
    ck_assert_uint_eq(shm_times_of(NAN, LENGTH), 1);
    ck_assert_uint_eq(shm_times_of(1e9, LENGTH), UINT32_MAX);
    ck_assert(isfinite(shm_ring_speed_bandwidth(&speed, 0, 0, 0)));
    ck_assert(shm_ring_speed_bandwidth(&speed, UINT32_MAX, 0, 0) > 0);
    speed.in.count = speed.out.count = UINT32_MAX;
    shm_times_add(&speed.in, 1);
    ck_assert_uint_ge(speed.in.count, SHM_TIMED_SAMPLES);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_slower_side_counts, single_times_that_are_disturbed_do_not_count,
        a_ring_that_was_not_used_is_worth_trying,
        what_was_timed_at_another_distance_is_forgotten,
        what_is_old_is_tried_again,
        some_messages_are_timed,
        messages_that_were_received_tell_where_none_was_sent,
        strange_times_have_limits};
    Suite *suite    = suite_create("ring speed");
    TCase *tcase    = tcase_create("ring speed");
    SRunner *runner = srunner_create(suite);
    int failed;

    for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
