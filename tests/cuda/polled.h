/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the number of callbacks of a worker from an internal structure of the
 * UCX core, because no public function returns this number. */
#ifndef TEST_CUDA_POLLED_H
#define TEST_CUDA_POLLED_H

#include <ucx/transport.h>

#include "uct/base/worker.h"

/* Returns the number of callbacks that each uct_worker_progress() of the
 * interface's worker calls. */
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
