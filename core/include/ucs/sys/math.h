/* SPDX-License-Identifier: BSD-3-Clause */
/* Integer arithmetic: alignment, and addition and multiplication with overflow
 * checks. */
#ifndef UCS_MATH_H
#define UCS_MATH_H

#include <ucs/sys/compiler_def.h>

/** @addtogroup UCS_SYS
 *  @{ */

/* Minimum and maximum. Each use declares variables with unique names, so that
 * uses may be nested. */
#define ucs_min(_a, _b)               ucs_choose_(_a, <, _b, UCS_PP_UNIQUE_ID)
#define ucs_max(_a, _b)               ucs_choose_(_a, >, _b, UCS_PP_UNIQUE_ID)
#define ucs_choose_(_a, _op, _b, _id) ucs_choose_id_(_a, _op, _b, _id)
#define ucs_choose_id_(_a, _op, _b, _id) \
    ({ \
        __typeof__(_a) _ucs_a##_id = (_a); \
        __typeof__(_b) _ucs_b##_id = (_b); \
        _ucs_a##_id _op _ucs_b##_id ? _ucs_a##_id : _ucs_b##_id; \
    })

/** Nonzero for a power of two. */
#define ucs_is_pow2(_n) (((_n) != 0) && (((_n) & ((_n)-1)) == 0))
/** Quotient, rounded up. */
#define ucs_div_round_up(_n, _d) (((_n) + (_d)-1) / (_d))

/* Alignment to _a, which must be a power of two. */
#define ucs_align_down_pow2(_n, _a) ((_n) & ~((__typeof__(_n))(_a)-1))
#define ucs_align_up_pow2(_n, _a) \
    ucs_align_down_pow2((_n) + ((__typeof__(_n))(_a)-1), _a)
/* Number of bytes up to the next multiple of _a. */
#define ucs_padding(_n, _a) (((_a) - ((_n) & ((_a)-1))) & ((_a)-1))

/* ucs_ilog2 returns the number of the highest set bit of _n, ucs_ffs64 that of
 * the lowest one; _n must not be 0. ucs_popcount returns how many bits are
 * set. */
#define ucs_ilog2(_n)    (63u - (unsigned)__builtin_clzll(_n))
#define ucs_ffs64(_n)    ((unsigned)__builtin_ctzll(_n))
#define ucs_popcount(_n) ((unsigned)__builtin_popcountll(_n))

/**
 * Rounds up to a power of two. @a n is at most 2^63.
 *
 * @return The smallest power of two that is at least n; 1 for 0
 */
static inline uint64_t ucs_roundup_pow2(uint64_t n)
{
    return (n <= 1) ? 1 : (1ull << (64 - __builtin_clzll(n - 1)));
}

/**
 * Adds with a check for overflow.
 *
 * @return 0; 1 if the sum does not fit
 */
static inline int ucs_check_add(size_t a, size_t b, size_t *result_p)
{
    return __builtin_add_overflow(a, b, result_p);
}

/**
 * Multiplies with a check for overflow.
 *
 * @return 0; 1 if the product does not fit
 */
static inline int ucs_check_mul(size_t a, size_t b, size_t *result_p)
{
    return __builtin_mul_overflow(a, b, result_p);
}

/** @} */

#endif
