/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The services of the core, with a check in front of those that only the worker's
 * thread may call: rule 15. Asynchronous handlers that call them are found, because
 * a check runs its workers in the first thread of its process.
 */
#ifndef CONFORMANCE_HOST_H
#define CONFORMANCE_HOST_H

#include "check.h"

#include <ucx/host.h>

/* The services for the plugin under test. Findings go to the record of `run`. */
const ucx_host_t *host_watched(run_t *run);

#endif
