/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes an atomic operation on local memory by instructions of the
 * processor; used when the request for it has arrived as a message.
 */
#include "ucp/amo/amo.h"

/* Defines the function for operands of one size. */
#define DEFINE_BY_CPU(_bits) \
    static uint64_t by_cpu##_bits(unsigned op, void *p, \
                                  uint##_bits##_t operand, \
                                  uint##_bits##_t swap) \
    { \
        uint##_bits##_t *word = p; \
\
        switch (op) { \
        case UCP_AMO_WIRE_ADD: \
            return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST); \
        case UCP_AMO_WIRE_AND: \
            return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST); \
        case UCP_AMO_WIRE_OR: \
            return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST); \
        case UCP_AMO_WIRE_XOR: \
            return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST); \
        case UCP_AMO_WIRE_SWAP: \
            return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST); \
        default: \
            /* on failure the builtin stores the old value in `operand` */ \
            (void)__atomic_compare_exchange_n(word, &operand, swap, 0, \
                                              __ATOMIC_SEQ_CST, \
                                              __ATOMIC_SEQ_CST); \
            return operand; \
        } \
    }

DEFINE_BY_CPU(32)
DEFINE_BY_CPU(64)

uint64_t ucp_amo_by_cpu(unsigned op, unsigned size, void *word,
                        uint64_t operand, uint64_t swap)
{
    return (size == sizeof(uint32_t)) ?
               by_cpu32(op, word, (uint32_t)operand, (uint32_t)swap) :
               by_cpu64(op, word, operand, swap);
}
