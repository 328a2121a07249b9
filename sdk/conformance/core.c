/* SPDX-License-Identifier: BSD-3-Clause */
/* See core.h. */
#include "core.h"

#include "ucs/debug/log.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

const ucx_host_t *core_host(void)
{
    return &uct_host;
}

ucs_log_level_t core_log_data(core_log_hook_t hook, void *arg)
{
    const ucs_log_level_t level = ucs_log_level_get();

    ucs_log_hook_set(hook, arg);
    ucs_log_level_set(UCS_LOG_LEVEL_TRACE_DATA);
    return level;
}

void core_log_restore(ucs_log_level_t level)
{
    ucs_log_level_set(level);
    ucs_log_hook_set(NULL, NULL);
}

void core_set_wake(uct_worker_h worker, void (*wake)(void *arg), void *arg)
{
    uct_worker_set_wake(worker, wake, arg);
}

int core_has_work(uct_worker_h worker)
{
    return uct_worker_has_oneshots(worker);
}
