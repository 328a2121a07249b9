/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds a thread to the CPUs in cpu_mask while it creates a worker
 * (affinity.h).
 */
#include "ucp/core/affinity.h"

#include "ucs/debug/log.h"

#include <errno.h>
#include <string.h>

void ucp_affinity_begin(ucp_affinity_t *affinity, const ucs_cpu_set_t *mask)
{
    cpu_set_t wanted;
    int cpu;

    affinity->is_set = 0;
    if ((mask == NULL) || (sched_getaffinity(0, sizeof(affinity->saved),
                                             &affinity->saved) != 0)) {
        return;
    }

    _Static_assert(CPU_SETSIZE <= UCS_CPU_SETSIZE, "CPUs of a mask");
    CPU_ZERO(&wanted);
    for (cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &affinity->saved) && ucs_cpu_is_set(cpu, mask)) {
            CPU_SET(cpu, &wanted);
        }
    }
    if (CPU_COUNT(&wanted) == 0) {
        ucs_diag("ucp_worker_create: this thread may use no CPU of cpu_mask:"
                 " it has no effect");
        return;
    }
    affinity->is_set = (sched_setaffinity(0, sizeof(wanted), &wanted) == 0);
    if (!affinity->is_set) {
        ucs_diag("ucp_worker_create: cpu_mask has no effect: %s",
                 strerror(errno));
    }
}

void ucp_affinity_end(const ucp_affinity_t *affinity)
{
    if (affinity->is_set) {
        (void)sched_setaffinity(0, sizeof(affinity->saved), &affinity->saved);
    }
}
