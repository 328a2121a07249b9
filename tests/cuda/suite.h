/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs test suites in this process. libcheck would otherwise fork a child for
 * each test, and the driver of the devices (tests/emulated) cannot be used in a
 * child of a process that has started it. */
#ifndef TEST_CUDA_SUITE_H
#define TEST_CUDA_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs the suite; returns the exit status of the program. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Forks a child that runs one test in a separate suite, and exits with the
 * suite's exit status. Returns the child's process id.
 *
 * A child of fork() may use checks (ck_*) only in a separate suite. libcheck
 * records each check of a suite in a file, and parent and child would share the
 * position in that file: the child's records would corrupt the parent's
 * results. The parent would then end with "Bad message type arg". */
static inline pid_t suite_fork(const char *name, const TTest *test)
{
    Suite *suite;
    TCase *tcase;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        suite = suite_create(name);
        tcase = tcase_create(name);
        tcase_set_timeout(tcase, 300);
        tcase_add_test(tcase, test);
        suite_add_tcase(suite, tcase);
        exit(suite_run(suite));
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

#endif
