/* SPDX-License-Identifier: BSD-3-Clause */
/* See check.h. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

noreturn void check_failed(const char *file, int line, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    va_list args;

    fflush(stdout);
    fprintf(stderr, "[%d] %s:%d: ", (int)getpid(),
            (slash == NULL) ? file : slash + 1, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(1);
}

noreturn void check_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    _exit(TEST_SKIPPED);
}

void check_status(const char *file, int line, const char *what,
                  ucs_status_t actual, ucs_status_t expected)
{
    if (actual != expected) {
        check_failed(file, line, "%s is '%s' (%d), expected '%s' (%d)", what,
                     ucs_status_string(actual), actual,
                     ucs_status_string(expected), expected);
    }
}

void check_int(const char *file, int line, const char *what, long long actual,
               const char *relation, long long expected, bool holds)
{
    if (!holds) {
        check_failed(file, line, "%s is %lld, expected %s %lld", what, actual,
                     relation, expected);
    }
}

double test_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

double test_seconds(double seconds)
{
    const char *factor = getenv("TEST_TIME_FACTOR");

    return seconds * ((factor != NULL) ? atof(factor) : 1);
}
