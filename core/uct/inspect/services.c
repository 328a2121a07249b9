/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for tools that call the slots of a plugin without UCT. They give
 * access to the table of services that a plugin needs, to the log, and to the
 * wake-up of workers. */
#include <ucx/inspect.h>

#include "ucs/debug/log.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

const ucx_host_t *ucx_inspect_host(void)
{
    return &uct_host;
}

ucs_log_level_t ucx_inspect_log(ucs_log_level_t level, ucx_inspect_log_cb_t cb,
                                void *arg)
{
    const ucs_log_level_t before = ucs_log_level_get();

    ucs_log_hook_set(cb, arg);
    ucs_log_level_set(level);
    return before;
}

void ucx_inspect_worker_wake(uct_worker_h worker, void (*wake)(void *arg),
                             void *arg)
{
    uct_worker_set_wake(worker, wake, arg);
}

void ucx_inspect_worker_polled(uct_worker_h worker)
{
    uct_worker_set_polled(worker);
}

int ucx_inspect_worker_has_work(uct_worker_h worker)
{
    return uct_worker_has_oneshots(worker);
}
