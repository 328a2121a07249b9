/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts what a worker polls, from the core's own structure: no public call
 * returns it. */
#ifndef TEST_CUDA_POLLED_H
#define TEST_CUDA_POLLED_H

#include <ucx/transport.h>

#include "uct/base/worker.h"

/* Number of callbacks that each progress of the interface's worker calls. */
static inline unsigned num_polled(uct_iface_h iface)
{
    const ucs_callbackq_elem_t *fast = iface->worker->progress_q.fast;
    unsigned count                   = 0;

    while (fast[count].cb != NULL) {
        ++count;
    }
    return count;
}

#endif
