/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common to all unit tests of UCP: the check library, and SUITE_MAIN(), which
 * defines a main() that runs all tests of a program in one process without
 * forking, so that sanitizers observe them.
 */
#ifndef TESTS_UCP_SUITE_H
#define TESTS_UCP_SUITE_H

#include <check.h>
#include <stdlib.h>

#define SUITE_MAIN(_name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        Suite *suite               = suite_create(_name); \
        TCase *tcase               = tcase_create(_name); \
        SRunner *runner; \
        size_t i; \
        int failed; \
        for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) { \
            tcase_add_test(tcase, tests[i]); \
        } \
        tcase_set_timeout(tcase, 60); \
        suite_add_tcase(suite, tcase); \
        runner = srunner_create(suite); \
        srunner_set_fork_status(runner, CK_NOFORK); \
        srunner_run_all(runner, CK_NORMAL); \
        failed = srunner_ntests_failed(runner); \
        srunner_free(runner); \
        return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE; \
    }

#endif
