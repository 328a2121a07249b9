/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a suite in this process, because the driver cannot be used in a child of
 * fork(). */
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

/* Forks a process that runs one test in a separate suite, and exits with the
 * result. Returns its process id.
 *
 * A child of fork() must not use checks outside of a separate suite: libcheck
 * records each check in a file whose position both processes share, so that the
 * child would corrupt the results of its parent ("Bad message type arg"). */
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
