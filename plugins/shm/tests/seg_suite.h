/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whose bodies run in child processes (seg_side.h), and their runner. */
#ifndef SHM_TEST_SEG_SUITE_H
#define SHM_TEST_SEG_SUITE_H

#include "seg_side.h"
#include "suite.h"

#include <stdio.h>

/* A test whose body runs in a child process. */
#define SEG_TEST(_name, _body) \
    START_TEST(_name) \
    { \
        int seg_test_fd, seg_test_skipped; \
        pid_t seg_test_pid = seg_fork(_body, NULL, 0, &seg_test_fd); \
\
        ck_assert_msg(seg_join(seg_test_pid, &seg_test_skipped), \
                      "it failed; it said why above"); \
        close(seg_test_fd); \
        if (seg_test_skipped) { \
            printf("skipped: " #_name "\n"); \
        } \
    } \
    END_TEST

#define SEG_SUITE_RUN(_name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
\
        (void)seg_dir(); \
        return suite_run(_name, tests, sizeof(tests) / sizeof(tests[0]), \
                         CK_NOFORK); \
    }

#endif
