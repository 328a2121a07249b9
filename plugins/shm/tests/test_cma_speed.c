/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is made of timed copies: processors whose figures are known beforehand,
 * disturbed tries among them.
 */
#include "cma_speed.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* A processor: seconds of a call, bytes a second; every `nth` try (0: none, 1:
 * each) takes `late` seconds more. */
typedef struct processor {
    double   call, bandwidth;
    unsigned nth;
    double   late;
    unsigned tries;
} processor_t;

static double copy(void *arg, size_t length)
{
    processor_t *processor = arg;
    double seconds = processor->call + (double)length / processor->bandwidth;

    ++processor->tries;
    if ((processor->nth > 0) && (processor->tries % processor->nth == 0)) {
        seconds += processor->late * (double)length / CMA_SPEED_LARGE;
    }
    return seconds;
}

static int is_about(double value, double expected)
{
    return fabs(value - expected) <= expected * 0.01;
}

static processor_t epyc(void)
{
    return (processor_t){1.3e-6, 14e9, 0, 0, 0};
}

static processor_t xeon(void)
{
    return (processor_t){0.4e-6, 28e9, 0, 0, 0};
}

START_TEST(overhead_and_bandwidth_are_told_apart)
{
    processor_t processors[] = {epyc(), xeon()};

    for (unsigned i = 0; i < 2; ++i) {
        cma_speed_t speed = {0};

        ck_assert(cma_speed_alone(&speed) == 0);
        ck_assert(cma_speed_real(&speed, 0) == 0);
        ck_assert(cma_speed_is_due(&speed, 0));
        cma_speed_measure(&speed, copy, &processors[i], 100);
        ck_assert(is_about(cma_speed_alone(&speed), processors[i].bandwidth));
        ck_assert(is_about(cma_speed_gain(&speed), 2));
        ck_assert(is_about(speed.overhead, processors[i].call));
        ck_assert(!cma_speed_is_due(&speed, 100));
        ck_assert(cma_speed_is_due(&speed, 100.1));
    }
}
END_TEST

START_TEST(a_disturbed_try_does_not_count)
{
    processor_t processor = xeon();
    cma_speed_t speed     = {0};

    processor.nth  = 2;
    processor.late = 4e-3;
    cma_speed_measure(&speed, copy, &processor, 0);
    ck_assert(is_about(cma_speed_alone(&speed), 28e9));
}
END_TEST

START_TEST(a_worse_result_has_to_come_twice)
{
    processor_t processor = xeon();
    cma_speed_t speed     = {0};
    double now            = 0;

    cma_speed_measure(&speed, copy, &processor, now);
    processor.nth  = 1;
    processor.late = 4e-3; /* Oversubscribed */
    now           += 1;
    cma_speed_measure(&speed, copy, &processor, now);
    ck_assert(is_about(cma_speed_alone(&speed), 28e9));
    ck_assert(cma_speed_is_due(&speed, now + 0.02)); /* In doubt: soon */

    processor.nth = 0;
    now          += 1;
    cma_speed_measure(&speed, copy, &processor, now);
    ck_assert(is_about(cma_speed_alone(&speed), 28e9));
    ck_assert(!speed.is_doubted);

    processor.bandwidth = 7e9; /* Slower for good */
    cma_speed_measure(&speed, copy, &processor, now + 1);
    cma_speed_measure(&speed, copy, &processor, now + 2);
    ck_assert(is_about(cma_speed_alone(&speed), 7e9));
    processor.bandwidth = 14e9; /* A better one counts at once */
    cma_speed_measure(&speed, copy, &processor, now + 3);
    ck_assert(is_about(cma_speed_alone(&speed), 14e9));
}
END_TEST

START_TEST(figures_that_hold_are_measured_seldom)
{
    processor_t processor = xeon();
    cma_speed_t speed     = {0};
    unsigned count        = 0;

    for (double now = 0; now < 60; now += 1e-3) {
        if (cma_speed_is_due(&speed, now)) {
            cma_speed_measure(&speed, copy, &processor, now);
            ++count;
        }
    }
    ck_assert_uint_ge(count, 10);
    ck_assert_uint_le(count, 25);
}
END_TEST

static double fails(void *arg, size_t length)
{
    return -1;
}

static double strange(void *arg, size_t length)
{
    return (length == CMA_SPEED_SMALL) ? 2e-6 : 1e-6;
}

START_TEST(a_failed_measure_leaves_what_was_known)
{
    processor_t processor = xeon();
    cma_speed_t speed     = {0};

    cma_speed_measure(&speed, fails, NULL, 0);
    cma_speed_measure(&speed, strange, NULL, 0);
    ck_assert(cma_speed_alone(&speed) == 0);
    cma_speed_measure(&speed, copy, &processor, 0);
    cma_speed_measure(&speed, fails, NULL, 1);
    cma_speed_measure(&speed, strange, NULL, 2);
    ck_assert(is_about(cma_speed_alone(&speed), 28e9));
}
END_TEST

START_TEST(a_target_that_does_not_help_counts_for_nothing)
{
    cma_speed_t speed = {0};
    unsigned i;

    for (i = 0; i < 1000; ++i) {
        cma_speed_note_help(&speed, 1048576, 0);
    }
    ck_assert(is_about(cma_speed_gain(&speed), 1));
    for (i = 0; i < 1000; ++i) {
        cma_speed_note_help(&speed, 1048576, 262144);
    }
    ck_assert(is_about(cma_speed_gain(&speed), 1 / 0.75));
    for (i = 0; i < 1000; ++i) {
        cma_speed_note_help(&speed, 1048576, 524288);
    }
    ck_assert(is_about(cma_speed_gain(&speed), 2));
    for (i = 0; i < 1000; ++i) {
        cma_speed_note_help(&speed, 1048576, 1048576); /* All of it: one */
    }
    ck_assert(is_about(cma_speed_gain(&speed), 1));
}
END_TEST

/* Reading a remote cache takes longer than the primitive. */
START_TEST(copies_of_real_data_count_while_there_are_any)
{
    processor_t processor = epyc();
    cma_speed_t speed     = {0};
    unsigned i, count     = 0;

    cma_speed_measure(&speed, copy, &processor, 100);
    ck_assert(!cma_speed_wants(&speed, SHM_TIMED_MIN - 1));
    for (i = 0; i < SHM_TIMED_ENOUGH; ++i) {
        ck_assert_uint_eq(cma_speed_real(&speed, 100), 0);
        ck_assert(cma_speed_wants(&speed, 65536));
        cma_speed_note_copy(&speed, 65536, processor.call + 65536 / 6e9, 100);
    }
    ck_assert(is_about(shm_times_bandwidth(cma_speed_real(&speed, 100.5)),
                       6e9));
    for (i = 0; i < 800; ++i) {
        count += (unsigned)cma_speed_wants(&speed, 65536);
    }
    ck_assert_uint_eq(count, 800 / SHM_TIMED_EVERY);
    ck_assert_uint_eq(cma_speed_real(&speed, 102), 0);
    cma_speed_note_copy(&speed, 65536, processor.call + 65536 / 6e9, 102);
    ck_assert_uint_eq(cma_speed_real(&speed, 102), 0); /* one is not enough */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        overhead_and_bandwidth_are_told_apart, a_disturbed_try_does_not_count,
        a_worse_result_has_to_come_twice, figures_that_hold_are_measured_seldom,
        a_failed_measure_leaves_what_was_known,
        a_target_that_does_not_help_counts_for_nothing,
        copies_of_real_data_count_while_there_are_any};
    Suite *suite    = suite_create("cma speed");
    TCase *tcase    = tcase_create("cma speed");
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
