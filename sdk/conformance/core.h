/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kit takes from the core and the public API does not have: the table of
 * services, the log, and the wake-up of a worker.
 */
#ifndef CONFORMANCE_CORE_H
#define CONFORMANCE_CORE_H

#include <ucs/config/types.h>
#include <uct/api/uct.h>
#include <ucx/host.h>

/* The services that the core passes to plugins. */
const ucx_host_t *core_host(void);

/* Receives a line of the log; non-zero: the log does not print it. */
typedef int (*core_log_hook_t)(void *arg, const char *file, unsigned line,
                               const char *function, ucs_log_level_t level,
                               const char *message);

/* Logs data from now on, to the hook. Returns the level before, for
 * core_log_restore(). */
ucs_log_level_t core_log_data(core_log_hook_t hook, void *arg);
void core_log_restore(ucs_log_level_t level);

/* Calls `wake` from any thread when a call is queued for the next progress. NULL:
 * no more. */
void core_set_wake(uct_worker_h worker, void (*wake)(void *arg), void *arg);

/* Non-zero: progress has a queued call to make. */
int core_has_work(uct_worker_h worker);

#endif
