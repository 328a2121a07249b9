/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the tests of one program, in its process. */
#ifndef IB_TEST_SUITE_H
#define IB_TEST_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Returns the exit status of the program. `seconds`: time limit of each test */
static inline int suite_run(const char *name, const TTest *const *tests,
                            size_t count, double seconds)
{
    Suite *suite    = suite_create(name);
    TCase *tcase    = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, seconds);
    for (size_t i = 0; i < count; ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
