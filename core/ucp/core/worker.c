/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_worker_create, ucp_worker_destroy, ucp_worker_progress, and the queries
 * of workers and their addresses.
 */
#include "ucp/base/worker.h"

#include "ucp/base/class.h"
#include "ucp/base/idle.h"
#include "ucp/base/ids.h"
#include "ucp/cm/cm.h"
#include "ucp/core/affinity.h"
#include "ucp/core/worker.h"
#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"
#include "ucp/stage/stage.h"
#include "ucp/stats/stats.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/keepalive.h"
#include "ucs/host/guid.h"
#include "ucs/sys/sys.h"

#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------- creation -- */

/* Sets the name and the serial number. The default name is unique among the
 * workers of the host, because it contains the process id and the serial
 * number. */
static void set_name(ucp_worker_h worker, const ucp_worker_params_t *params)
{
    static unsigned num_made;

    worker->serial = __atomic_add_fetch(&num_made, 1, __ATOMIC_RELAXED);
    if ((params->field_mask & UCP_WORKER_PARAM_FIELD_NAME) &&
        (params->name != NULL)) {
        snprintf(worker->name, sizeof(worker->name), "%s", params->name);
    } else {
        snprintf(worker->name, sizeof(worker->name), "%.12s:%d:%u",
                 ucs_get_host_name(), (int)getpid(), worker->serial);
    }
}

static ucs_status_t init_lock(ucp_worker_h worker)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&worker->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return UCS_OK;
}

static void take_params(ucp_worker_h worker, const ucp_worker_params_t *params)
{
    uint64_t mask = params->field_mask;

    worker->thread_mode = (mask & UCP_WORKER_PARAM_FIELD_THREAD_MODE) ?
                              params->thread_mode :
                              UCS_THREAD_MODE_SINGLE;
    worker->events      = (mask & UCP_WORKER_PARAM_FIELD_EVENTS) ?
                              params->events :
                              UINT32_MAX & ~UCP_WAKEUP_EDGE;
    worker->user_data   = (mask & UCP_WORKER_PARAM_FIELD_USER_DATA) ?
                              params->user_data :
                              NULL;
    worker->client_id   = (mask & UCP_WORKER_PARAM_FIELD_CLIENT_ID) ?
                              params->client_id :
                              0;
    if (worker->thread_mode == UCS_THREAD_MODE_MULTI) {
        worker->flags |= UCP_WORKER_FLAG_MT;
    }
    if ((mask & UCP_WORKER_PARAM_FIELD_FLAGS) &&
        (params->flags & UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK)) {
        worker->flags |= UCP_WORKER_FLAG_NO_LEAKS;
    }
}

/* Creates the tables of ids, the memory reserve and the pool of requests. */
static ucs_status_t init_requests(ucp_worker_h worker)
{
    ucs_status_t status = UCS_ERR_NO_MEMORY;

    worker->request_ids = ucp_id_table_create();
    worker->ep_ids      = ucp_id_table_create();
    if ((worker->request_ids == NULL) || (worker->ep_ids == NULL)) {
        goto err_ids;
    }

    status = ucp_reserve_init(worker);
    if (status != UCS_OK) {
        goto err_ids;
    }

    status = ucp_request_pool_init(worker);
    if (status == UCS_OK) {
        return UCS_OK;
    }

    ucp_reserve_cleanup(worker);
err_ids:
    ucp_id_table_destroy(worker->ep_ids);
    ucp_id_table_destroy(worker->request_ids);
    return status;
}

static void cleanup_requests(ucp_worker_h worker)
{
    ucp_request_pool_cleanup(worker);
    ucp_reserve_cleanup(worker);
    ucp_id_table_destroy(worker->ep_ids);
    ucp_id_table_destroy(worker->request_ids);
}

/* Opens the interfaces, and sets up what depends on them: the copiers
 * (stage/stage.h) and wake-up. */
static ucs_status_t open_transports(ucp_worker_h worker,
                                    const ucp_worker_params_t *params)
{
    ucs_status_t status;

    status = uct_worker_create(worker->async, worker->thread_mode,
                               &worker->uct);
    if (status != UCS_OK) {
        return status;
    }

    if (!(worker->context->features & UCP_FEATURE_WAKEUP)) {
        uct_worker_set_polled(worker->uct);
    }
    status = ucp_worker_open_ifaces(worker, params);
    if (status != UCS_OK) {
        goto err_uct;
    }

    if (worker->context->options.adaptive_progress) {
        ucp_idle_init(worker);
    }

    status = ucp_stage_open(worker, &worker->stage);
    if (status != UCS_OK) {
        goto err_uct;
    }
    if (worker->stage != NULL) {
        worker->flags |= UCP_WORKER_FLAG_STAGE;
    }

    status = ucp_worker_wakeup_init(worker, params);
    if (status == UCS_OK) {
        return UCS_OK;
    }

    ucp_stage_close(worker->stage);
err_uct:
    ucp_worker_close_ifaces(worker);
    uct_worker_destroy(worker->uct);
    return status;
}

/* Allocates a worker and sets the members that need no other resource. Returns
 * NULL if out of memory. */
static ucp_worker_h alloc(ucp_context_h context,
                          const ucp_worker_params_t *params)
{
    ucp_worker_h worker = calloc(1, sizeof(*worker));

    if (worker != NULL) {
        worker->context   = context;
        worker->uuid      = ucs_generate_uuid();
        worker->epoll_fd  = -1;
        worker->signal_fd = -1;
        take_params(worker, params);
        set_name(worker, params);
        init_lock(worker);
        ucs_queue_head_init(&worker->leaving);
        ucs_queue_head_init(&worker->deferred);
        ucs_list_head_init(&worker->eps);
        ucs_hash_init(&worker->reply_eps);
    }
    return worker;
}

static ucs_status_t create(ucp_context_h context,
                           const ucp_worker_params_t *params,
                           ucp_worker_h *worker_p)
{
    ucp_worker_h worker = alloc(context, params);
    ucs_status_t status;

    if (worker == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = init_requests(worker);
    if (status != UCS_OK) {
        goto err_lock;
    }

    worker->stats = ucp_stats_worker_create(worker);
    if (worker->stats != NULL) {
        worker->flags |= UCP_WORKER_FLAG_STATS;
    }

    status = ucp_classes_init(worker, params);
    if (status != UCS_OK) {
        goto err_stats;
    }

    status = ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX,
                                      &worker->async);
    if (status != UCS_OK) {
        goto err_classes;
    }

    status = open_transports(worker, params);
    if (status != UCS_OK) {
        goto err_async;
    }

    *worker_p = worker;
    return UCS_OK;

err_async:
    ucs_async_context_destroy(worker->async);
err_classes:
    ucp_classes_cleanup(worker);
err_stats:
    ucp_stats_worker_destroy(worker->stats);
    cleanup_requests(worker);
err_lock:
    pthread_mutex_destroy(&worker->lock);
    free(worker);
    return status;
}

/* All bits of ucp_worker_params_field in this version of ucp.h. */
enum { ALL_FIELDS = (UCP_WORKER_PARAM_FIELD_CLIENT_ID << 1) - 1 };

ucs_status_t ucp_worker_create(ucp_context_h context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h *worker_p)
{
    ucp_affinity_t affinity;
    ucs_status_t status;

    status = ucp_context_check_fields(context->is_newer, "ucp_worker_create",
                                      params->field_mask, ALL_FIELDS);
    if (status != UCS_OK) {
        return status;
    }
    if ((params->field_mask & UCP_WORKER_PARAM_FIELD_THREAD_MODE) &&
        (params->thread_mode >= UCS_THREAD_MODE_LAST)) {
        return UCS_ERR_INVALID_PARAM;
    }

    ucp_affinity_begin(&affinity,
                       (params->field_mask & UCP_WORKER_PARAM_FIELD_CPU_MASK) ?
                           &params->cpu_mask :
                           NULL);
    status = create(context, params, worker_p);
    ucp_affinity_end(&affinity);
    return status;
}

/* Returns an endpoint that was not discarded yet, or NULL. ucp_ep_discard()
 * sets both flags FAILED and CLOSING. */
static ucp_ep_h any_live_ep(ucp_worker_h worker)
{
    ucp_ep_h ep;

    ucs_list_for_each(ep, &worker->eps, link) {
        if ((~ep->flags & (UCP_EP_FLAG_FAILED | UCP_EP_FLAG_CLOSING)) != 0) {
            return ep;
        }
    }
    return NULL;
}

/* Completes the operations under way, except those that transports still
 * process. The user's callbacks may still use the endpoints, which have failed
 * and reject new operations. */
static void end_all(ucp_worker_h worker)
{
    ucp_ep_h ep;

    ucp_classes_stop(worker);
    while ((ep = any_live_ep(worker)) != NULL) {
        ucp_ep_discard(ep);
    }
    ucp_stage_finish(worker->stage);
    ucp_worker_complete_deferred(worker, &worker->deferred);
    ucp_classes_end(worker);
}

void ucp_worker_destroy(ucp_worker_h worker)
{
    ucp_worker_enter(worker);
    end_all(worker);
    ucp_worker_leave(worker);

    ucp_worker_wakeup_cleanup(worker);
    ucp_cm_cleanup(worker);
    ucp_wireup_worker_cleanup(worker);
    ucp_worker_close_ifaces(worker);
    /* Closing the interfaces has completed all operations of the transports, so
     * nothing refers to the endpoints any more. */
    while (!ucs_list_is_empty(&worker->eps)) {
        ucp_ep_destroy_now(ucs_list_head(&worker->eps, struct ucp_ep, link));
    }
    ucp_keepalive_cleanup(worker);
    ucp_stage_close(worker->stage);
    uct_worker_destroy(worker->uct);
    ucs_async_context_destroy(worker->async);
    ucp_ep_config_free_all(worker);
    ucs_hash_cleanup(&worker->reply_eps);
    ucp_classes_cleanup(worker);
    ucp_stats_worker_destroy(worker->stats);
    cleanup_requests(worker);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

/* ------------------------------------------------------------- progress -- */

/* Progress while `deferred` has sends. The transports have copied their data
 * and send it in their progress. After this progress the sends complete that
 * were deferred before it. */
static UCS_F_NOINLINE unsigned progress_deferred(ucp_worker_h worker)
{
    unsigned count;

    ucs_queue_splice(&worker->leaving, &worker->deferred);
    count = uct_worker_progress_inline(worker->uct);
    ucp_worker_complete_deferred(worker, &worker->leaving);
    return count + 1;
}

static UCS_F_ALWAYS_INLINE unsigned progress(ucp_worker_h worker)
{
    unsigned count = ucp_idle_is_round(worker) ? ucp_idle_poll(worker) : 0;

    if (ucs_unlikely(!ucs_queue_is_empty(&worker->deferred))) {
        return count + progress_deferred(worker);
    }
    return count + uct_worker_progress_inline(worker->uct);
}

/* Progress of workers that need a lock (UCP_WORKER_FLAG_MT) or count the calls
 * of progress (UCP_WORKER_FLAG_STATS). */
static UCS_F_NOINLINE unsigned progress_watched(ucp_worker_h worker)
{
    unsigned count;

    ucp_worker_enter(worker);
    count = progress(worker);
    if (worker->flags & UCP_WORKER_FLAG_STATS) {
        ucp_stats_progress(worker->stats, count);
    }
    ucp_worker_leave(worker);
    return count;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    if (ucs_unlikely(worker->flags &
                     (UCP_WORKER_FLAG_MT | UCP_WORKER_FLAG_STATS))) {
        return progress_watched(worker);
    }
    return progress(worker);
}

/* ------------------------------------------------------------- queries -- */

/* Returns the maximum length of the user's header of an active message: what
 * UCP's own headers leave of one message, on every interface that carries
 * active messages. */
static size_t max_am_header(ucp_worker_h worker)
{
    size_t max = SIZE_MAX;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        size_t limit = worker->ifaces[i].lane.am.max_bcopy;

        max = ((limit > 0) && (limit < max)) ? limit : max;
    }
    return ((max > UCP_AM_HEADER_RESERVE) && (max < SIZE_MAX)) ?
               max - UCP_AM_HEADER_RESERVE :
               0;
}

ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr)
{
    unsigned flags      = 0;
    ucs_status_t status = UCS_OK;
    void *address;

    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_THREAD_MODE) {
        attr->thread_mode = worker->thread_mode;
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER) {
        attr->max_am_header = max_am_header(worker);
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_NAME) {
        snprintf(attr->name, sizeof(attr->name), "%s", worker->name);
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING) {
        attr->max_debug_string = UCP_REQUEST_INFO_MAX;
    }
    if (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS) {
        if (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS) {
            flags = attr->address_flags;
        }
        ucp_worker_enter(worker);
        status = ucp_address_pack(worker, flags, &address,
                                  &attr->address_length);
        ucp_worker_leave(worker);
        if (status == UCS_OK) {
            attr->address = address;
        }
    }
    return status;
}

ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                    ucp_address_t **address_p,
                                    size_t *address_length_p)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucs_status_t status    = ucp_worker_query(worker, &attr);

    if (status == UCS_OK) {
        *address_p        = attr.address;
        *address_length_p = attr.address_length;
    }
    return status;
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    free(address);
}
