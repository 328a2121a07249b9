/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_params_t::cpu_mask: where a worker's resources are made.
 */
#ifndef UCP_AFFINITY_H
#define UCP_AFFINITY_H

#include <sched.h>
#include <ucs/type/cpu_set.h>

/** What the calling thread may run on, to be restored. */
typedef struct ucp_affinity {
    cpu_set_t saved;
    int       is_set;  /**< Something is to be restored */
} ucp_affinity_t;

/**
 * Binds the calling thread to those CPUs of `mask` that it may use, until
 * ucp_affinity_end(). Memory that it touches first comes from their NUMA nodes, a
 * thread that it starts stays on them, and the distances of devices are those
 * from them. No effect if `mask` is NULL or has no CPU that may be used.
 */
void ucp_affinity_begin(ucp_affinity_t *affinity, const ucs_cpu_set_t *mask);
void ucp_affinity_end(const ucp_affinity_t *affinity);

#endif
