/* SPDX-License-Identifier: BSD-3-Clause */
/* The checked services of the core: see host.h. */
#include "host.h"
#include <ucx/inspect.h>

#include <unistd.h>

static ucx_host_t watched;
static run_t *reported_to;

/* Returns whether this is the worker's thread, which is the first thread of the
 * process. A call from another thread is a finding and is not passed on,
 * because it would damage data of the core. */
static int is_worker_thread(const char *slot)
{
    return check_that(reported_to, 15, gettid() == getpid(),
                      "%s is called on a service thread; only the worker's "
                      "thread may call it. Pass the work to progress by "
                      "progress_oneshot",
                      slot);
}

static ucs_status_t mpool_create(const ucx_mpool_params_t *params,
                                 ucx_mpool_t **mpool_p)
{
    return is_worker_thread("mpool_create") ?
               ucx_inspect_host()->mpool_create(params, mpool_p) :
               UCS_ERR_BUSY;
}

static void *mpool_grow(ucx_mpool_t *mpool)
{
    return is_worker_thread("mpool_grow") ?
               ucx_inspect_host()->mpool_grow(mpool) :
               NULL;
}

static void mpool_destroy(ucx_mpool_t *mpool)
{
    if (is_worker_thread("mpool_destroy")) {
        ucx_inspect_host()->mpool_destroy(mpool);
    }
}

static ucs_status_t progress_add(uct_worker_h worker, ucx_progress_cb_t cb,
                                 void *arg, int *id_p)
{
    return is_worker_thread("progress_add") ?
               ucx_inspect_host()->progress_add(worker, cb, arg, id_p) :
               UCS_ERR_BUSY;
}

static void progress_remove(uct_worker_h worker, int id)
{
    if (is_worker_thread("progress_remove")) {
        ucx_inspect_host()->progress_remove(worker, id);
    }
}

static ucs_status_t iface_ep_failed(uct_iface_h iface, uct_ep_h ep,
                                    ucs_status_t status)
{
    return is_worker_thread("iface_ep_failed") ?
               ucx_inspect_host()->iface_ep_failed(iface, ep, status) :
               UCS_ERR_BUSY;
}

const ucx_host_t *host_watched(run_t *run)
{
    reported_to             = run;
    watched                 = *ucx_inspect_host();
    watched.mpool_create    = mpool_create;
    watched.mpool_grow      = mpool_grow;
    watched.mpool_destroy   = mpool_destroy;
    watched.progress_add    = progress_add;
    watched.progress_remove = progress_remove;
    watched.iface_ep_failed = iface_ep_failed;
    return &watched;
}
