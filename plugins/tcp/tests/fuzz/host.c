/* SPDX-License-Identifier: BSD-3-Clause */
/* The host for the fuzz target (host.h): pools on the heap, a log that prints
 * nothing, no threads. */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* --- Log: formatted, so that bad arguments are found, but not printed ---- */

static const int log_level = UCS_LOG_LEVEL_TRACE;

static void __attribute__((format(printf, 4, 5)))
fuzz_log(int level, const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
}

/* --- Pools: each element from malloc(): a sanitizer knows its bounds ------ */

typedef struct fuzz_mpool {
    ucx_mpool_t super;
    size_t elem_size;
    void **elems;
    unsigned count;
} fuzz_mpool_t;

static ucs_status_t fuzz_mpool_create(const ucx_mpool_params_t *params,
                                      ucx_mpool_t **mpool_p)
{
    fuzz_mpool_t *mpool = calloc(1, sizeof(*mpool));

    mpool->elem_size = params->elem_size;
    *mpool_p         = &mpool->super;
    return UCS_OK;
}

static void *fuzz_mpool_grow(ucx_mpool_t *super)
{
    fuzz_mpool_t *mpool = (fuzz_mpool_t *)super;
    void *elem          = malloc(mpool->elem_size);

    mpool->elems                 = realloc(mpool->elems,
                                           (mpool->count + 1) * sizeof(*mpool->elems));
    mpool->elems[mpool->count++] = elem;
    return elem;
}

static void fuzz_mpool_destroy(ucx_mpool_t *super)
{
    fuzz_mpool_t *mpool = (fuzz_mpool_t *)super;

    for (unsigned i = 0; i < mpool->count; ++i) {
        free(mpool->elems[i]);
    }
    free(mpool->elems);
    free(mpool);
}

/* --- Asynchronous events: the fuzz target calls the handlers itself ------ */

static ucx_oneshot_cb_t oneshot_cb;
static void *oneshot_arg;

static ucs_status_t fuzz_async_add_fd(uct_worker_h worker, int fd, int events,
                                      ucx_async_fd_cb_t cb, void *arg,
                                      ucx_async_id_t *id_p)
{
    *id_p = 1;
    return UCS_OK;
}

static ucs_status_t fuzz_async_modify_fd(ucx_async_id_t id, int events)
{
    return UCS_OK;
}

static void fuzz_async_remove(ucx_async_id_t id)
{
}

static ucs_status_t fuzz_progress_oneshot(uct_worker_h worker,
                                          ucx_oneshot_cb_t cb, void *arg)
{
    oneshot_cb  = cb;
    oneshot_arg = arg;
    return UCS_OK;
}

static void fuzz_progress_cancel(uct_worker_h worker, ucx_oneshot_cb_t cb,
                                 void *arg)
{
    oneshot_cb = NULL;
}

void fuzz_host_run_oneshots(void)
{
    ucx_oneshot_cb_t cb = oneshot_cb;

    oneshot_cb = NULL;
    if (cb != NULL) {
        cb(oneshot_arg);
    }
}

/* --- Other services ------------------------------------------------------- */

static ucs_status_t fuzz_ep_failed(uct_iface_h iface, uct_ep_h ep,
                                   ucs_status_t status)
{
    return UCS_OK;
}

static ucs_status_t fuzz_sys_device_by_sysfs(const char *path,
                                             ucs_sys_device_t *sys_dev_p)
{
    return UCS_ERR_NO_ELEM;
}

static uint64_t fuzz_machine_guid(void)
{
    return 42;
}

static double fuzz_time(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

const ucx_host_t fuzz_host = {
    .size                = sizeof(fuzz_host),
    .abi                 = UCX_PLUGIN_ABI_VERSION,
    .log_level           = &log_level,
    .log                 = fuzz_log,
    .mpool_create        = fuzz_mpool_create,
    .mpool_grow          = fuzz_mpool_grow,
    .mpool_destroy       = fuzz_mpool_destroy,
    .async_add_fd        = fuzz_async_add_fd,
    .async_modify_fd     = fuzz_async_modify_fd,
    .async_remove        = fuzz_async_remove,
    .progress_oneshot    = fuzz_progress_oneshot,
    .progress_cancel     = fuzz_progress_cancel,
    .iface_ep_failed     = fuzz_ep_failed,
    .sys_device_by_sysfs = fuzz_sys_device_by_sysfs,
    .machine_guid        = fuzz_machine_guid,
    .time                = fuzz_time,
};
