/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the tests of one program. */
#ifndef SHM_TEST_SUITE_H
#define SHM_TEST_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Returns the exit status of the program. `fork`: CK_FORK runs each test in a
 * process of its own; CK_NOFORK is for tests that create processes. */
static inline int suite_run(const char *name, const TTest *const *tests,
                            size_t count, enum fork_status fork)
{
    Suite *suite    = suite_create(name);
    TCase *tcase    = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 300);
    for (size_t i = 0; i < count; ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, fork);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
