/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on integers of 8, 16, 32 and 64 bits, sequentially
 * consistent. For each size there are these functions; ptr is the aligned
 * address of the integer:
 *
 *   void     ucs_atomic_add32(ptr, value)    also sub, and, or, xor
 *   uint32_t ucs_atomic_fadd32(ptr, value)   the same, returns the old number;
 *                                            also fsub, fand, for, fxor
 *   uint32_t ucs_atomic_swap32(ptr, value)   stores value, returns the old one
 *   uint32_t ucs_atomic_cswap32(ptr, compare, swap)
 *                                            stores swap if the number equals
 *                                            compare; returns the old number
 *   int      ucs_atomic_bool_cswap32(ptr, compare, swap)
 *                                            the same; returns 1 if it stored
 *                                            swap, else 0
 */
#ifndef UCS_ARCH_ATOMIC_H
#define UCS_ARCH_ATOMIC_H

#include <stdint.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_SYS
 *  @{ */

#define UCS_ATOMIC_DEFINE_OP_(_op, _size) \
    static inline void ucs_atomic_##_op##_size(volatile uint##_size##_t *ptr, \
                                               uint##_size##_t value) \
    { \
        (void)__atomic_fetch_##_op(ptr, value, __ATOMIC_SEQ_CST); \
    } \
    static inline uint##_size##_t ucs_atomic_f##_op##_size( \
        volatile uint##_size##_t *ptr, uint##_size##_t value) \
    { \
        return __atomic_fetch_##_op(ptr, value, __ATOMIC_SEQ_CST); \
    }

#define UCS_ATOMIC_DEFINE_SWAP_(_size) \
    static inline uint##_size##_t ucs_atomic_swap##_size( \
        volatile uint##_size##_t *ptr, uint##_size##_t value) \
    { \
        return __atomic_exchange_n(ptr, value, __ATOMIC_SEQ_CST); \
    } \
    static inline uint##_size##_t ucs_atomic_cswap##_size( \
        volatile uint##_size##_t *ptr, uint##_size##_t compare, \
        uint##_size##_t swap) \
    { \
        (void)__atomic_compare_exchange_n(ptr, &compare, swap, 0, \
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return compare; \
    } \
    static inline int ucs_atomic_bool_cswap##_size( \
        volatile uint##_size##_t *ptr, uint##_size##_t compare, \
        uint##_size##_t swap) \
    { \
        return __atomic_compare_exchange_n(ptr, &compare, swap, 0, \
                                           __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST); \
    }

#define UCS_ATOMIC_DEFINE_(_size) \
    UCS_ATOMIC_DEFINE_OP_(add, _size) \
    UCS_ATOMIC_DEFINE_OP_(sub, _size) \
    UCS_ATOMIC_DEFINE_OP_(and, _size) \
    UCS_ATOMIC_DEFINE_OP_(or, _size) \
    UCS_ATOMIC_DEFINE_OP_(xor, _size) \
    UCS_ATOMIC_DEFINE_SWAP_(_size)

UCS_ATOMIC_DEFINE_(8)
UCS_ATOMIC_DEFINE_(16)
UCS_ATOMIC_DEFINE_(32)
UCS_ATOMIC_DEFINE_(64)

#undef UCS_ATOMIC_DEFINE_
#undef UCS_ATOMIC_DEFINE_SWAP_
#undef UCS_ATOMIC_DEFINE_OP_

/** @} */

END_C_DECLS

#endif
