/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spin locks. After some attempts a waiting thread yields the processor, so
 * that the lock also works if there are more threads than processors. A lock
 * has no state outside its structure, so that processes can share a lock in
 * shared memory.
 */
#ifndef UCS_TYPE_SPINLOCK_H
#define UCS_TYPE_SPINLOCK_H

#include <pthread.h>
#include <sched.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

/** A spin lock. A thread that acquires a lock which it already holds waits
 *  forever. */
typedef struct ucs_spinlock {
    unsigned taken; /**< 1 while a thread holds it */
} ucs_spinlock_t;

/** A lock that its owner may acquire again. */
typedef struct ucs_recursive_spinlock {
    ucs_spinlock_t super; /**< the lock itself */
    int count;            /**< how often the owner has acquired it */
    pthread_t owner; /**< UCS_SPINLOCK_OWNER_NULL while no thread holds it */
} ucs_recursive_spinlock_t;

/** The owner of a recursive lock that no thread holds. */
#define UCS_SPINLOCK_OWNER_NULL ((pthread_t)0)

/** Flags for ucs_spinlock_init() and ucs_recursive_spinlock_init(). */
enum {
    UCS_SPINLOCK_FLAG_SHARED = UCS_BIT(0), /**< several processes will use it */
};

/** Hint for the processor that a loop waits for another thread. */
static UCS_F_ALWAYS_INLINE void ucs_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/**
 * Initialises a lock, which is free then.
 *
 * @param [out] lock   Lock.
 * @param [in]  flags  UCS_SPINLOCK_FLAG_SHARED or 0.
 *
 * @return UCS_ERR_INVALID_PARAM for unknown flags.
 */
static inline ucs_status_t ucs_spinlock_init(ucs_spinlock_t *lock, int flags)
{
    if (flags & ~(int)UCS_SPINLOCK_FLAG_SHARED) {
        return UCS_ERR_INVALID_PARAM;
    }

    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELAXED);
    return UCS_OK;
}

/** Destroys a lock. No thread may hold it or wait for it. It may be initialised
 *  again. */
void ucs_spinlock_destroy(ucs_spinlock_t *lock);

/** Acquires the lock if it is free. @return Nonzero if it was acquired. */
static inline int ucs_spin_trylock(ucs_spinlock_t *lock)
{
    return (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) == 0) &&
           (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) == 0);
}

/** Waits for the lock and acquires it. */
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

/** Releases the lock. Any thread may release it. */
static inline void ucs_spin_unlock(ucs_spinlock_t *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

/**
 * Initialises a recursive lock, like ucs_spinlock_init().
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for unknown flags
 */
static inline ucs_status_t
ucs_recursive_spinlock_init(ucs_recursive_spinlock_t *lock, int flags)
{
    lock->count = 0;
    __atomic_store_n(&lock->owner, UCS_SPINLOCK_OWNER_NULL, __ATOMIC_RELAXED);
    return ucs_spinlock_init(&lock->super, flags);
}

/** Destroys a recursive lock, like ucs_spinlock_destroy(). */
void ucs_recursive_spinlock_destroy(ucs_recursive_spinlock_t *lock);

/**
 * Tests whether the thread @a self holds the lock. The result is reliable for
 * the calling thread only.
 *
 * @return 1 if it does, else 0
 */
static inline int
ucs_recursive_spin_is_owner(const ucs_recursive_spinlock_t *lock,
                            pthread_t self)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self;
}

/** Records the owner of a lock that was just acquired. Private to this
 *  header. */
static inline void ucs_recursive_spin_take_(ucs_recursive_spinlock_t *lock,
                                            pthread_t self)
{
    __atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
    lock->count = 1;
}

/** Waits for the lock, unless this thread holds it, and acquires it. */
static inline void ucs_recursive_spin_lock(ucs_recursive_spinlock_t *lock)
{
    pthread_t self = pthread_self();

    if (ucs_recursive_spin_is_owner(lock, self)) {
        ++lock->count;
        return;
    }

    ucs_spin_lock(&lock->super);
    ucs_recursive_spin_take_(lock, self);
}

/** Acquires the lock if it is free or this thread holds it. @return Nonzero if
 *  it was acquired. */
static inline int ucs_recursive_spin_trylock(ucs_recursive_spinlock_t *lock)
{
    pthread_t self = pthread_self();

    if (ucs_recursive_spin_is_owner(lock, self)) {
        ++lock->count;
        return 1;
    }

    if (!ucs_spin_trylock(&lock->super)) {
        return 0;
    }

    ucs_recursive_spin_take_(lock, self);
    return 1;
}

/** Releases the lock once. It is free after as many releases as acquisitions.
 *  Only its owner may release it. */
static inline void ucs_recursive_spin_unlock(ucs_recursive_spinlock_t *lock)
{
    if (--lock->count == 0) {
        __atomic_store_n(&lock->owner, UCS_SPINLOCK_OWNER_NULL,
                         __ATOMIC_RELAXED);
        ucs_spin_unlock(&lock->super);
    }
}

/** @} */

END_C_DECLS

#endif
