/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions: conditions that are false only because of a bug in the library.
 * Invalid input is reported by a status instead. */
#ifndef UCS_ASSERT_H
#define UCS_ASSERT_H

#include "ucs/debug/log.h"

/* Checked in every build; for invariants whose violation would corrupt data. */
#define ucs_assertv_always(_cond, _fmt, ...) \
    do { \
        if (ucs_unlikely(!(_cond))) { \
            ucs_fatal("assertion `%s' failed: " _fmt, #_cond, ##__VA_ARGS__); \
        } \
    } while (0)

#define ucs_assert_always(_cond) \
    do { \
        if (ucs_unlikely(!(_cond))) { \
            ucs_fatal("assertion `%s' failed", #_cond); \
        } \
    } while (0)

/* Checked in debug builds (UCS_ENABLE_ASSERT) only; otherwise the condition is
 * compiled, for its warnings, but not evaluated. */
#if defined(UCS_ENABLE_ASSERT) && UCS_ENABLE_ASSERT
#define ucs_assert(_cond) ucs_assert_always(_cond)
#define ucs_assertv(_cond, _fmt, ...) \
    ucs_assertv_always(_cond, _fmt, ##__VA_ARGS__)
#else
#define ucs_assert(_cond) \
    do { \
        if (0) { \
            (void)(_cond); \
        } \
    } while (0)
#define ucs_assertv(_cond, _fmt, ...) ucs_assert(_cond)
#endif

#endif
