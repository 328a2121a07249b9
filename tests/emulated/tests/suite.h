/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macros for the tests of the emulated CUDA driver. The tests run without fork,
 * because a child of fork() cannot use the driver.
 */
#ifndef EMULATED_SUITE_H
#define EMULATED_SUITE_H

#include <check.h>
#include <stdlib.h>

#include "../cuda/face.h"
#include "../emulated.h"

#define ck_cuda(_call)          ck_assert_int_eq((_call), CUDA_SUCCESS)
#define ck_fails(_call, _error) ck_assert_int_eq((_call), (_error))

/* Defines a main() that runs the tests, each between _setup and _teardown. */
#define SUITE_MAIN(_name, _setup, _teardown, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        Suite *suite               = suite_create(_name); \
        TCase *tcase               = tcase_create(_name); \
        SRunner *runner; \
        size_t i; \
        int failed; \
\
        tcase_add_checked_fixture(tcase, (_setup), (_teardown)); \
        for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) { \
            tcase_add_test(tcase, tests[i]); \
        } \
        suite_add_tcase(suite, tcase); \
        runner = srunner_create(suite); \
        srunner_set_fork_status(runner, CK_NOFORK); \
        srunner_run_all(runner, CK_NORMAL); \
        failed = srunner_ntests_failed(runner); \
        srunner_free(runner); \
        return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE; \
    }

#endif
