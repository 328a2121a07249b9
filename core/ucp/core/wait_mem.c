/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_wait_mem(): pauses the processor in a user's loop that waits until
 * a memory location is written. The pause ends when the location is written, or
 * after at most about 100 microseconds; it may be much shorter. An event of the
 * worker does not end the pause: the user's loop calls progress after this
 * short time anyway.
 */
#include "ucp/base/worker.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <x86intrin.h>

enum {
    WAITPKG_LEAF = 7,
    WAITPKG_ECX  = 1 << 5,
    MAX_CYCLES   = 50000,
    /* Of two sleep states of the processor, the one with the shorter wake-up
     * latency */
    LIGHT_SLEEP  = 1,
};

static int has_umwait(void)
{
    static int known = -1;
    unsigned eax, ebx, ecx = 0, edx;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (has < 0) {
        has = __get_cpuid_count(WAITPKG_LEAF, 0, &eax, &ebx, &ecx, &edx) &&
              (ecx & WAITPKG_ECX);
        __atomic_store_n(&known, has, __ATOMIC_RELAXED);
    }
    return has;
}

__attribute__((target("waitpkg"))) static void monitor_and_wait(void *address)
{
    _umonitor(address);
    _umwait(LIGHT_SLEEP, __rdtsc() + MAX_CYCLES);
}

static void rest(void *address)
{
    if (has_umwait()) {
        monitor_and_wait(address);
    } else {
        _mm_pause();
    }
}

#elif defined(__aarch64__)

/* WFE waits for an event. After the exclusive load, a write by another
 * processor to the location is such an event. The kernel also enables a
 * periodic event, which limits the wait. */
static void rest(void *address)
{
    uint64_t value;

    __asm__ volatile("ldxr %0, [%1]\n\twfe"
                     : "=&r"(value)
                     : "r"(address)
                     : "memory");
}

#else

#include <sched.h>

static void rest(void *address)
{
    sched_yield();
}

#endif

void ucp_worker_wait_mem(ucp_worker_h worker, void *address)
{
    int idle;

    ucp_worker_enter(worker);
    idle = ucs_queue_is_empty(&worker->deferred) &&
           !uct_worker_has_oneshots(worker->uct);
    ucp_worker_leave(worker);
    if (idle) {
        rest(address);
    }
}
