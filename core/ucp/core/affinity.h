/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_params_t::cpu_mask: the CPUs for which a worker's resources are
 * allocated.
 */
#ifndef UCP_AFFINITY_H
#define UCP_AFFINITY_H

#include <sched.h>
#include <ucs/type/cpu_set.h>

/** Affinity of the calling thread, to be restored. */
typedef struct ucp_affinity {
    cpu_set_t saved;
    int is_set; /**< `saved` is to be restored */
} ucp_affinity_t;

/**
 * Binds the calling thread to those CPUs of `mask` that it may use, until
 * ucp_affinity_end(). Memory that it touches first is on their NUMA nodes,
 * threads that it starts stay on them, and distances of devices are measured
 * from them. No effect if `mask` is NULL or has no CPU that the thread may use.
 */
void ucp_affinity_begin(ucp_affinity_t *affinity, const ucs_cpu_set_t *mask);
void ucp_affinity_end(const ucp_affinity_t *affinity);

#endif
