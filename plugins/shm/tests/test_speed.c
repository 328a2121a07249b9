/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The speed of copies: measured values are plausible, and are measured only
 * once.
 */
#include "speed.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };

/* Limits in bytes per second that no processor reaches. */
#define LEAST 1e7
#define MOST  1e14

static void *ask(void *arg)
{
    *(const shm_speed_t **)arg = shm_speed();
    return NULL;
}

START_TEST(copies_are_measured_once_for_all_threads)
{
    const shm_speed_t *answers[THREADS];
    double call = shm_speed_call();
    pthread_t threads[THREADS];
    shm_speed_t first;
    unsigned i;

    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &answers[i]),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    first = *answers[0];
    ck_assert_double_gt(first.memory, LEAST);
    ck_assert_double_lt(first.memory, MOST);
    /* Zero if the kernel denies the call */
    ck_assert((first.kernel == 0) || (first.kernel > LEAST));
    ck_assert_double_lt(first.kernel, MOST);
    ck_assert((call == 0) == (first.kernel == 0));
    ck_assert(call == shm_speed_call());
    ck_assert(shm_speed_line() == shm_speed_line());
#if defined(__x86_64__)
    ck_assert_double_gt(shm_speed_line(), 0);
#endif
    for (i = 0; i < THREADS; ++i) {
        ck_assert_ptr_eq(answers[i], shm_speed());
        ck_assert(answers[i]->memory == first.memory);
        ck_assert(answers[i]->kernel == first.kernel);
    }
}
END_TEST

START_TEST(rounding_is_within_a_twentieth)
{
    double least = shm_speed_rounded(0);
    double seconds, rounded;

    ck_assert_double_gt(least, 0);
    for (seconds = least; seconds < 1; seconds *= 1.01) {
        rounded = shm_speed_rounded(seconds);
        ck_assert_double_lt(rounded, 1.05 * seconds);
        ck_assert_double_gt(1.05 * rounded, seconds);
        ck_assert(rounded == shm_speed_rounded(rounded));
    }
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("speed");
    TCase *tcase    = tcase_create("speed");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, copies_are_measured_once_for_all_threads);
    tcase_add_test(tcase, rounding_is_within_a_twentieth);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
