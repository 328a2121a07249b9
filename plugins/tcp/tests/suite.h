/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs tests with the library check. Each test runs its sides (side.h) in child
 * processes, so check need not fork a process for each test.
 */
#ifndef TCP_TEST_SUITE_H
#define TCP_TEST_SUITE_H

#include <check.h>
#include <stdlib.h>

#define PAIR_TEST(_name, _first, _second) \
    START_TEST(_name) \
    { \
        ck_assert_msg(side_run_pair(_first, _second, NULL), \
                      "a side failed; it said why above"); \
    } \
    END_TEST

static inline int suite_run(const char *name, const TTest *const *tests,
                            size_t num)
{
    Suite *suite    = suite_create(name);
    TCase *tcase    = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 120);
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

#define SUITE_RUN(_name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        return suite_run(_name, tests, sizeof(tests) / sizeof(tests[0])); \
    }

#endif
