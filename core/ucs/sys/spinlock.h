/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spin lock that stays polite: after some rounds it gives the core away, so it
 * is also right where threads outnumber cores.
 */
#ifndef UCS_SPINLOCK_H
#define UCS_SPINLOCK_H

#include <sched.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

typedef struct ucs_spinlock {
    unsigned taken;
} ucs_spinlock_t;

#define UCS_SPINLOCK_INITIALIZER {0}

static UCS_F_ALWAYS_INLINE void ucs_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void ucs_spinlock_init(ucs_spinlock_t *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELAXED);
}

static inline int ucs_spin_trylock(ucs_spinlock_t *lock)
{
    return (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) == 0) &&
           (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) == 0);
}

static inline void ucs_spin_lock(ucs_spinlock_t *lock)
{
    unsigned rounds = 0;

    while (!ucs_spin_trylock(lock)) {
        if (++rounds < 100) {
            ucs_cpu_relax();
        } else {
            sched_yield();
        }
    }
}

static inline void ucs_spin_unlock(ucs_spinlock_t *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

END_C_DECLS

#endif
