/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs tests with the library check. The runner does not fork: tests create
 * child processes themselves.
 */
#ifndef SHM_TEST_SEG_SUITE_H
#define SHM_TEST_SEG_SUITE_H

#include "seg_side.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static inline int seg_suite_run(const char *name, const TTest *const *tests,
                                size_t num)
{
    Suite *suite    = suite_create(name);
    TCase *tcase    = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    (void)seg_dir();
    for (size_t i = 0; i < num; ++i) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

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
        return seg_suite_run(_name, tests, sizeof(tests) / sizeof(tests[0])); \
    }

#endif
