/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a suite in this process: the driver cannot be used in a child of fork(). */
#ifndef TEST_CUDA_SUITE_H
#define TEST_CUDA_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Returns the exit status of the program. */
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

#endif
