/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The services of the core. Those that only the worker's thread may call check
 * the thread first (rule 15). This finds asynchronous handlers that call them,
 * because a check runs its workers in the first thread of its process.
 */
#ifndef CONFORMANCE_HOST_H
#define CONFORMANCE_HOST_H

#include "check.h"

#include <ucx/host.h>

/* Returns the services for the plugin under test. Findings are recorded in the
 * record of `run`. */
const ucx_host_t *host_watched(run_t *run);

#endif
