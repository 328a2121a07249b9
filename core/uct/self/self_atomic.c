/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on memory of this process. They use atomic instructions of
 * the processor, so they are atomic with respect to all threads, and complete
 * when the call returns.
 */
#include "self.h"

/* Checks that the endpoint was not invalidated, and that the address is a
 * multiple of `size`, the number of bytes of the operand. */
static inline ucs_status_t self_atomic_check(uct_ep_h ep, uint64_t remote_addr,
                                             size_t size)
{
    if (ucs_unlikely(self_ep_status(ep) != UCS_OK)) {
        return self_ep_status(ep);
    }

    return ucs_unlikely(remote_addr % size) ? UCS_ERR_INVALID_ADDR : UCS_OK;
}

/* Defines the functions for operands of _bits bits. In self_atomic*_do(), *old
 * receives the value before the operation. */
#define SELF_DEFINE_ATOMIC(_bits) \
    static inline ucs_status_t self_atomic##_bits##_do(uct_atomic_op_t op, \
                                                       uint##_bits##_t value, \
                                                       uint64_t remote_addr, \
                                                       uint##_bits##_t *old) \
    { \
        uint##_bits##_t *word = (uint##_bits##_t *)(uintptr_t)remote_addr; \
\
        switch (op) { \
        case UCT_ATOMIC_OP_ADD: \
            *old = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_AND: \
            *old = __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_OR: \
            *old = __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_XOR: \
            *old = __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_SWAP: \
            *old = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        default: \
            return UCS_ERR_UNSUPPORTED; \
        } \
    } \
\
    ucs_status_t self_atomic##_bits##_post(uct_ep_h ep, uct_atomic_op_t op, \
                                           uint##_bits##_t value, \
                                           uint64_t remote_addr, \
                                           uct_rkey_t rkey) \
    { \
        uint##_bits##_t old; \
        ucs_status_t status; \
\
        status = self_atomic_check(ep, remote_addr, sizeof(value)); \
        if (status != UCS_OK) { \
            return status; \
        } \
        if (op == UCT_ATOMIC_OP_SWAP) { \
            return UCS_ERR_UNSUPPORTED; \
        } \
        return self_atomic##_bits##_do(op, value, remote_addr, &old); \
    } \
\
    ucs_status_t self_atomic##_bits##_fetch(uct_ep_h ep, uct_atomic_op_t op, \
                                            uint##_bits##_t value, \
                                            uint##_bits##_t *result, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey, \
                                            uct_completion_t *comp) \
    { \
        ucs_status_t status; \
\
        status = self_atomic_check(ep, remote_addr, sizeof(value)); \
        if (status != UCS_OK) { \
            return status; \
        } \
        return self_atomic##_bits##_do(op, value, remote_addr, result); \
    } \
\
    ucs_status_t self_atomic_cswap##_bits( \
        uct_ep_h ep, uint##_bits##_t compare, uint##_bits##_t swap, \
        uint64_t remote_addr, uct_rkey_t rkey, uint##_bits##_t *result, \
        uct_completion_t *comp) \
    { \
        uint##_bits##_t *word = (uint##_bits##_t *)(uintptr_t)remote_addr; \
        ucs_status_t status; \
\
        status = self_atomic_check(ep, remote_addr, sizeof(swap)); \
        if (status != UCS_OK) { \
            return status; \
        } \
        /* If the values differ, the builtin stores the current value in \
         * `compare`; so `compare` is the previous value in both cases */ \
        (void)__atomic_compare_exchange_n(word, &compare, swap, 0, \
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        *result = compare; \
        return UCS_OK; \
    }

SELF_DEFINE_ATOMIC(32)
SELF_DEFINE_ATOMIC(64)
