/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The services of the core, with a check in front of those that only the
 * worker's thread may call (rule 15 of sdk/ABI.md): the calling thread must be
 * the first thread of the process, in which a check runs its workers. This
 * finds calls from asynchronous handlers, which run on a service thread.
 */
#ifndef CONFORMANCE_HOST_H
#define CONFORMANCE_HOST_H

#include "check.h"

#include <ucx/host.h>

/* Returns the services for the plugin under test. Findings are recorded in the
 * record of `run`. */
const ucx_host_t *host_watched(run_t *run);

#endif
