/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included by every unit test of UCS: libcheck, a hook that captures log
 * messages, and a main() that runs all tests in one process: libcheck does not
 * fork.
 */
#ifndef TESTS_UCS_SUITE_H
#define TESTS_UCS_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif

#define ck_ok(_status) ck_assert_int_eq((_status), UCS_OK)

/* Log messages since log_catch(), one per line, as "LEVEL text" */
static char log_text[16384] __attribute__((unused));

__attribute__((unused)) static int
log_caught(void *arg, const char *file, unsigned line, const char *function,
           ucs_log_level_t level, const char *message)
{
    size_t length = strlen(log_text);

    (void)arg;
    (void)file;
    (void)line;
    (void)function;
    snprintf(log_text + length, sizeof(log_text) - length, "%s %s\n",
             ucs_log_level_names[level], message);
    return 1;
}

__attribute__((unused)) static void log_catch(void)
{
    log_text[0] = '\0';
    ucs_log_hook_set(log_caught, NULL);
}

__attribute__((unused)) static void log_release(void)
{
    ucs_log_hook_set(NULL, NULL);
}

#define ck_logged(_part) \
    ck_assert_msg(strstr(log_text, _part) != NULL, "no '%s' in:\n%s", (_part), \
                  log_text)

#define SUITE_MAIN(_name, ...) \
    int main(void) \
    { \
        const TTest *const tests[] = {__VA_ARGS__}; \
        Suite *suite               = suite_create(_name); \
        TCase *tcase               = tcase_create(_name); \
        SRunner *runner; \
        size_t i; \
        int failed; \
\
        for (i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) { \
            tcase_add_test(tcase, tests[i]); \
        } \
        suite_add_tcase(suite, tcase); \
        runner = srunner_create(suite); \
        srunner_set_fork_status(runner, CK_NOFORK); \
        srunner_run_all(runner, CK_NORMAL); \
        failed = srunner_ntests_failed(runner); \
        srunner_free(runner); \
        return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE; \
    }

#endif
