/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds a thread to the CPUs in ucp_worker_params_t::cpu_mask while it creates
 * a worker.
 */
#ifndef UCP_AFFINITY_H
#define UCP_AFFINITY_H

#include <sched.h>
#include <ucs/type/cpu_set.h>

/** The affinity of the calling thread before ucp_affinity_begin(). */
typedef struct ucp_affinity {
    cpu_set_t saved;
    int is_set; /**< 1: ucp_affinity_end() restores `saved` */
} ucp_affinity_t;

/**
 * Binds the calling thread to those CPUs of `mask` that it may use, until
 * ucp_affinity_end(). Memory that the thread touches first is then on the NUMA
 * nodes of these CPUs, threads that it starts stay on these CPUs, and distances
 * of devices are measured from them. No effect if `mask` is NULL or contains no
 * CPU that the thread may use.
 */
void ucp_affinity_begin(ucp_affinity_t *affinity, const ucs_cpu_set_t *mask);
void ucp_affinity_end(const ucp_affinity_t *affinity);

#endif
