/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the tests of one cma test program. */
#ifndef SHM_TEST_CMA_SUITE_H
#define SHM_TEST_CMA_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs the tests, each in a process of its own. Returns the exit status of the
 * program. */
static inline int cma_suite_run(const char *name, const TTest *const *tests,
                                unsigned num_tests)
{
    Suite *suite    = suite_create(name);
    TCase *tcase    = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 300);
    for (unsigned i = 0; i < num_tests; ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
