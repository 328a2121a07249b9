/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutual exclusion between the user's calls and the service thread of an
 * interface. The user's calls are calls of the slots of the interface and its
 * endpoints; the service thread runs the handlers of timers and descriptors.
 * These do what must continue while the program computes: acknowledgements,
 * retransmission, keepalive. Each slot that accesses shared state begins with
 * UCX_EXCLUDE_SERVICE(). A handler does its work between ucx_guard_try() and
 * ucx_guard_give(), and calls no callback of a user: the next progress calls
 * them. Optional.
 *
 * If the kernel supports membarrier, a call of the user costs a few
 * instructions: it executes no fence and no atomic read-modify-write. The
 * service thread executes the expensive barrier instead (membarrier), and does
 * its work only while no call is running. A call that begins during this work
 * waits for its end.
 *
 *   user                           service thread
 *   depth = 1                      taken = 1
 *   (compiler barrier)             membarrier
 *   wait while taken               depth != 0: taken = 0, and give up
 *
 * Calls of one interface come from one thread at a time, and may be nested.
 */
#ifndef UCX_GUARD_H
#define UCX_GUARD_H

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ucx/abi.h>

UCX_BEGIN_DECLS

/** The guard of one interface. Only the functions below access the members. */
typedef struct ucx_guard {
    unsigned depth; /**< Number of nested calls of the user that are running */
    unsigned taken; /**< The service thread has the guard, or tries to take
                     *   it */
    int ordered;    /**< Non-zero: membarrier is not used; instead, the user's
                     *   calls access `depth` and `taken` with sequential
                     *   consistency */
} ucx_guard_t;

/** Registers the process for membarrier. Without membarrier (an old kernel, or
 * the thread sanitizer, which does not support it) the user's calls use
 * sequentially consistent accesses. */
static inline void ucx_guard_init(ucx_guard_t *guard)
{
    *guard = (ucx_guard_t){0};
#ifdef __SANITIZE_THREAD__
    guard->ordered = 1;
#else
    guard->ordered = syscall(SYS_membarrier,
                             MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                             0) != 0;
#endif
}

/* --- User's calls --------------------------------------------------------- */

static inline void ucx_guard_wait(const ucx_guard_t *guard)
{
    while (__atomic_load_n(&guard->taken, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

/** Begins a call of the user. Waits while the service thread has the guard,
 *  unless the call is nested in another one. Hot path. */
static inline ucx_guard_t *ucx_guard_enter(ucx_guard_t *guard)
{
    unsigned depth = __atomic_load_n(&guard->depth, __ATOMIC_RELAXED) + 1;

    if (__builtin_expect(guard->ordered, 0)) {
        __atomic_store_n(&guard->depth, depth, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n(&guard->depth, depth, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    if (__builtin_expect(__atomic_load_n(&guard->taken, __ATOMIC_SEQ_CST), 0) &&
        (depth == 1)) {
        ucx_guard_wait(guard);
    }
    return guard;
}

/** Ends a call of the user; the cleanup function of UCX_EXCLUDE_SERVICE(). */
static inline void ucx_guard_leave(ucx_guard_t **guard_p)
{
    ucx_guard_t *guard = *guard_p;

    __atomic_store_n(&guard->depth,
                     __atomic_load_n(&guard->depth, __ATOMIC_RELAXED) - 1,
                     __ATOMIC_RELEASE);
}

/** Excludes the service thread until the end of the enclosing block. */
#define UCX_EXCLUDE_SERVICE(_guard) \
    __attribute__((cleanup(ucx_guard_leave), unused)) \
    ucx_guard_t *guard_ = ucx_guard_enter(_guard)

/* --- Service thread ------------------------------------------------------- */

/** Ends the work of the service thread that ucx_guard_try() has allowed. */
static inline void ucx_guard_give(ucx_guard_t *guard)
{
    __atomic_store_n(&guard->taken, 0, __ATOMIC_RELEASE);
}

/** Returns whether a call of the user is running or waits for the service
 * thread. */
static inline int ucx_guard_is_wanted(const ucx_guard_t *guard)
{
    return __atomic_load_n(&guard->depth, __ATOMIC_SEQ_CST) != 0;
}

/** Takes the guard for the service thread. Returns 0 if a call of the user is
 * running or membarrier fails: the caller then leaves its work to its next
 * event or to the next progress. Otherwise the caller does its work and calls
 * ucx_guard_give() soon, because calls of the user wait for that. */
static inline int ucx_guard_try(ucx_guard_t *guard)
{
    if (ucx_guard_is_wanted(guard)) {
        return 0;
    }
    __atomic_store_n(&guard->taken, 1, __ATOMIC_SEQ_CST);
    if ((!guard->ordered &&
         (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) !=
          0)) ||
        ucx_guard_is_wanted(guard)) {
        ucx_guard_give(guard);
        return 0;
    }
    return 1;
}

UCX_END_DECLS

#endif
