/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assertions of the integration tests. A failed one prints its location with
 * the condition or both values, and ends the process with status 1. The parent
 * process then kills the other members of the test (team.h).
 */
#ifndef INTEGRATION_CHECK_H
#define INTEGRATION_CHECK_H

#include <ucp/api/ucp.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

/* Meson's exit status for a test that cannot run here. */
enum { TEST_SKIPPED = 77 };

noreturn void check_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the reason and ends this process with TEST_SKIPPED; the parent process
 * (team.h) then ends the whole test as skipped. */
noreturn void check_skip(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

void check_status(const char *file, int line, const char *what,
                  ucs_status_t actual, ucs_status_t expected);
void check_int(const char *file, int line, const char *what, long long actual,
               const char *relation, long long expected, bool holds);

#define EXPECT(_condition) \
    do { \
        if (!(_condition)) { \
            check_failed(__FILE__, __LINE__, "expected: %s", #_condition); \
        } \
    } while (0)

#define FAIL(...) check_failed(__FILE__, __LINE__, __VA_ARGS__)

#define EXPECT_STATUS(_actual, _expected) \
    check_status(__FILE__, __LINE__, #_actual, (_actual), (_expected))

#define EXPECT_OK(_actual) EXPECT_STATUS(_actual, UCS_OK)

#define EXPECT_INT(_actual, _relation, _expected) \
    do { \
        long long _a = (long long)(_actual), _e = (long long)(_expected); \
        check_int(__FILE__, __LINE__, #_actual, _a, #_relation, _e, \
                  _a _relation _e); \
    } while (0)

/* Seconds of a monotonic clock. */
double test_now(void);

/* Returns the time limit to use for a limit of `seconds`: TEST_TIME_FACTOR
 * multiplies it, for sanitizers and slow machines. */
double test_seconds(double seconds);

#endif
