/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fixed-size set of CPU numbers whose layout, unlike that of cpu_set_t, does
 * not depend on the C library.
 */
#ifndef UCS_CPU_SET_H
#define UCS_CPU_SET_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

/** One word of the set. */
typedef unsigned long int ucs_cpu_mask_t;

/** Maximum number of CPUs in a set, and number of CPUs in each word. */
#define UCS_CPU_SETSIZE 1024
#define UCS_NCPUBITS    (8 * sizeof(ucs_cpu_mask_t))

/* Index of the word that contains a CPU, and the bit of the CPU in this
 * word. */
#define UCS_CPUELT(_cpu)  ((_cpu) / UCS_NCPUBITS)
#define UCS_CPUMASK(_cpu) ((ucs_cpu_mask_t)1 << ((_cpu) % UCS_NCPUBITS))

/** Set of CPUs. */
typedef struct {
    /** One bit for each CPU; CPU 0 is the lowest bit. */
    ucs_cpu_mask_t ucs_bits[UCS_CPU_SETSIZE / UCS_NCPUBITS];
} ucs_cpu_set_t;

/* Removes all CPUs. UCS_CPU_SET, UCS_CPU_CLR and UCS_CPU_ISSET ignore CPU
 * numbers that are out of range. */
#define UCS_CPU_ZERO(_cpusetp) \
    do { \
        size_t _ucs_i; \
        for (_ucs_i = 0; _ucs_i < UCS_CPU_SETSIZE / UCS_NCPUBITS; ++_ucs_i) \
            (_cpusetp)->ucs_bits[_ucs_i] = 0; \
    } while (0)

/** Adds a CPU. */
#define UCS_CPU_SET(_cpu, _cpusetp) \
    do { \
        size_t _ucs_cpu = (_cpu); \
        if (_ucs_cpu < UCS_CPU_SETSIZE) \
            (_cpusetp)->ucs_bits[UCS_CPUELT(_ucs_cpu)] |= UCS_CPUMASK( \
                _ucs_cpu); \
    } while (0)

/** Removes a CPU. */
#define UCS_CPU_CLR(_cpu, _cpusetp) \
    do { \
        size_t _ucs_cpu = (_cpu); \
        if (_ucs_cpu < UCS_CPU_SETSIZE) \
            (_cpusetp)->ucs_bits[UCS_CPUELT(_ucs_cpu)] &= ~UCS_CPUMASK( \
                _ucs_cpu); \
    } while (0)

/**
 * Tests whether @a cpu is in the set.
 *
 * @return 1 if it is, else 0
 */
static inline int ucs_cpu_is_set(int cpu, const ucs_cpu_set_t *cpusetp)
{
    if ((cpu < 0) || (cpu >= UCS_CPU_SETSIZE)) {
        return 0;
    }

    return !!(cpusetp->ucs_bits[UCS_CPUELT((size_t)cpu)] &
              UCS_CPUMASK((size_t)cpu));
}

/** Nonzero if a CPU is in the set. */
#define UCS_CPU_ISSET(_cpu, _cpusetp) ucs_cpu_is_set((_cpu), (_cpusetp))

/**
 * Finds the lowest CPU of a set.
 *
 * @return Its number; 0 for an empty set
 */
static inline int ucs_cpu_set_find_lcs(const ucs_cpu_set_t *cpu_mask)
{
    size_t i;

    for (i = 0; i < UCS_CPU_SETSIZE / UCS_NCPUBITS; ++i) {
        if (cpu_mask->ucs_bits[i] != 0) {
            return (int)(i * UCS_NCPUBITS) +
                   __builtin_ctzl(cpu_mask->ucs_bits[i]);
        }
    }
    return 0;
}

/** @} */

END_C_DECLS

#endif
