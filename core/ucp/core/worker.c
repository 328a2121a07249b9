/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: open the context's resources, set the receive handlers, progress,
 * and queries.
 */
#include "ucp/core/worker.h"

#include "ucp/amo/amo.h"
#include "ucp/cm/cm.h"
#include "ucp/core/affinity.h"
#include "ucp/core/ep.h"
#include "ucp/core/idle.h"
#include "ucp/core/ids.h"
#include "ucp/core/stats.h"
#include "ucp/multi/multi.h"
#include "ucp/rma/rkey.h"
#include "ucp/rndv/rndv.h"
#include "ucp/stage/stage.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/rndv.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/failover.h"
#include "ucp/wireup/handshake.h"
#include "ucp/wireup/introduce.h"
#include "ucp/wireup/pieces.h"
#include "ucs/debug/log.h"
#include "ucs/sys/guid.h"
#include "ucs/sys/sys.h"
#include "ucs/sys/topo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------ interfaces -- */

/* The receive handlers of all message classes. */
static const struct {
    uint8_t           id;
    uct_am_callback_t handler;
} am_handlers[] = {
    {UCP_AM_ID_INTRODUCE,      ucp_wireup_introduce_handler},
    {UCP_AM_ID_FAREWELL,       ucp_wireup_farewell_handler},
    {UCP_AM_ID_EAGER,          ucp_tag_eager_handler},
    {UCP_AM_ID_EAGER_SYNC,     ucp_tag_eager_sync_handler},
    {UCP_AM_ID_EAGER_SYNC_ACK, ucp_tag_eager_sync_ack_handler},
    {UCP_AM_ID_RNDV_RTS,       ucp_tag_rts_handler},
    {UCP_AM_ID_RNDV_RTR,       ucp_rndv_rtr_handler},
    {UCP_AM_ID_RNDV_DATA,      ucp_rndv_data_handler},
    {UCP_AM_ID_AM,             ucp_am_handler},
    {UCP_AM_ID_AM_REPLY,       ucp_am_reply_handler},
    {UCP_AM_ID_AM_RNDV,        ucp_am_rndv_handler},
    {UCP_AM_ID_RNDV_DONE,      ucp_rndv_done_handler},
    {UCP_AM_ID_RNDV_ATS,       ucp_rndv_ats_handler},
    {UCP_AM_ID_PUT,            ucp_rma_put_handler},
    {UCP_AM_ID_GET,            ucp_rma_get_handler},
    {UCP_AM_ID_GET_REPLY,      ucp_rma_get_reply_handler},
    {UCP_AM_ID_ATOMIC,         ucp_amo_handler},
    {UCP_AM_ID_ATOMIC_REPLY,   ucp_amo_reply_handler},
    {UCP_AM_ID_RMA_ACK,        ucp_rma_ack_handler},
    {UCP_AM_ID_STREAM,         ucp_stream_handler},
    {UCP_AM_ID_STREAM_OPEN,    ucp_stream_open_handler},
    {UCP_AM_ID_STREAM_CLOSE,   ucp_stream_close_handler},
    {UCP_AM_ID_EAGER_FRAGMENT, ucp_multi_handler},
    {UCP_AM_ID_WIREUP_PIECE,   ucp_wireup_piece_handler},
    {UCP_AM_ID_WIREUP_REQUEST, ucp_wireup_request_handler},
    {UCP_AM_ID_WIREUP_REPLY,   ucp_wireup_reply_handler},
    {UCP_AM_ID_WIREUP_ACK,     ucp_wireup_ack_handler},
    {UCP_AM_ID_KEEPALIVE,      ucp_keepalive_handler},
    {UCP_AM_ID_LOST,           ucp_ep_lost_handler}
};

/* An interface with only put and get has no handlers. */
static ucs_status_t set_handlers(ucp_worker_iface_t *wiface)
{
    const uint64_t messages = UCT_IFACE_FLAG_AM_SHORT |
                              UCT_IFACE_FLAG_AM_BCOPY |
                              UCT_IFACE_FLAG_AM_ZCOPY;
    uct_am_callback_t handler;
    ucs_status_t status;
    void *arg;
    size_t i;

    if (!(wiface->attr->base.cap.flags & messages)) {
        return UCS_OK;
    }

    for (i = 0; i < sizeof(am_handlers) / sizeof(am_handlers[0]); ++i) {
        handler = am_handlers[i].handler;
        arg     = wiface->worker;
        if (wiface->worker->stats != NULL) {
            ucp_stats_wrap_handler(wiface, am_handlers[i].id, &handler, &arg);
        }
        status = uct_iface_set_am_handler(wiface->iface, am_handlers[i].id,
                                          handler, arg, 0);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

/* Error handler of the interfaces: finds the endpoint of the failed lane. */
static ucs_status_t lane_failed(void *arg, uct_ep_h uct_ep, ucs_status_t status)
{
    ucp_worker_iface_t *wiface = arg;
    ucp_ep_h ep;

    ucs_list_for_each(ep, &wiface->worker->eps, link) {
        if (ucp_ep_has_lane(ep, uct_ep) || ucp_wireup_owns(ep, uct_ep)) {
            if (!ucp_failover(ep, uct_ep, status)) {
                ucp_ep_fail(ep, status);
            }
            return UCS_OK;
        }
    }
    return ucp_wireup_link_failed(wiface->worker, uct_ep) ? UCS_OK :
                                                            UCS_ERR_NO_ELEM;
}

/* Applies settings of ucp_config_modify for tables that UCP does not know. */
static ucs_status_t read_iface_config(ucp_context_h context,
                                      const ucp_resource_t *resource,
                                      uct_iface_config_t **config_p)
{
    ucs_status_t status;

    status = uct_md_iface_config_read(context->mds[resource->md_index].md,
                                      resource->tl_name, context->app_prefix,
                                      context->config_file, config_p);
    if (status == UCS_OK) {
        ucp_context_apply_overrides(context, *config_p);
    }
    return status;
}

/* Seconds from the CPUs of the calling thread, see ucp_affinity_begin(). */
static double cpu_distance(const ucp_resource_t *resource)
{
    ucs_sys_dev_distance_t distance;

    return (ucs_topo_get_distance_to_cpu(resource->sys_dev, &distance) ==
            UCS_OK) ? distance.latency : 0;
}

static ucs_status_t
open_iface(ucp_worker_h worker, unsigned resource_index,
           const ucp_worker_params_t *params, const uct_iface_config_t *config,
           ucp_worker_iface_t *wiface)
{
    ucp_context_h context         = worker->context;
    const ucp_resource_t *resource = &context->resources[resource_index];
    uct_iface_params_t iface_params;
    ucs_status_t status;

    memset(&iface_params, 0, sizeof(iface_params));
    iface_params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE |
                              UCT_IFACE_PARAM_FIELD_DEVICE |
                              UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG |
                              UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS;
    iface_params.open_mode            = UCT_IFACE_OPEN_MODE_DEVICE;
    iface_params.mode.device.tl_name  = resource->tl_name;
    iface_params.mode.device.dev_name = resource->dev_name;
    iface_params.err_handler          = lane_failed;
    iface_params.err_handler_arg      = wiface;
    if (context->features & (UCP_FEATURE_AM | UCP_FEATURE_STREAM)) {
        iface_params.field_mask |= UCT_IFACE_PARAM_FIELD_RX_HEADROOM |
                                   UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT |
                                   UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET;
        ucp_am_receive_layout(&worker->am, &iface_params);
    }
    if (params->field_mask & UCP_WORKER_PARAM_FIELD_CPU_MASK) {
        iface_params.field_mask |= UCT_IFACE_PARAM_FIELD_CPU_MASK;
        iface_params.cpu_mask    = params->cpu_mask;
        wiface->cpu_distance     = cpu_distance(resource);
    }

    wiface->worker   = worker;
    wiface->resource = (uint8_t)resource_index;
    wiface->event_fd = -1;
    status = uct_iface_open(context->mds[resource->md_index].md, worker->uct,
                            &iface_params, config, &wiface->iface);
    if (status != UCS_OK) {
        return status;
    }

    wiface->attr = uct_iface_attr(wiface->iface);
    ucp_lane_config_fill(wiface);
    status       = set_handlers(wiface);
    if (status != UCS_OK) {
        uct_iface_close(wiface->iface);
        return status;
    }

    uct_iface_progress_enable(wiface->iface, UCT_PROGRESS_SEND |
                                             UCT_PROGRESS_RECV);
    return UCS_OK;
}

/* Skips a device that cannot be opened now, because another may be
 * sufficient. UCS_ERR_INVALID_PARAM is returned: the user must correct the
 * setting, and the log names it. */
static ucs_status_t
open_ifaces(ucp_worker_h worker, const ucp_worker_params_t *params)
{
    ucp_context_h context = worker->context;
    ucs_status_t status   = UCS_ERR_NO_DEVICE;
    uct_iface_config_t *config;
    unsigned i;

    worker->ifaces = calloc(context->num_resources, sizeof(*worker->ifaces));
    if (worker->ifaces == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (i = 0; i < context->num_resources; ++i) {
        if (context->resources[i].is_copier) {
            continue;
        }
        status = read_iface_config(context, &context->resources[i], &config);
        if (status != UCS_OK) {
            return status;
        }
        status = open_iface(worker, i, params, config,
                            &worker->ifaces[worker->num_ifaces]);
        uct_config_release(config);
        if (status == UCS_ERR_INVALID_PARAM) {
            return status;
        }
        if (status == UCS_OK) {
            ++worker->num_ifaces;
        } else {
            ucs_diag("%s/%s: cannot be opened: %s",
                     context->resources[i].tl_name,
                     context->resources[i].dev_name,
                     ucs_status_string(status));
        }
    }
    return (worker->num_ifaces > 0) ? UCS_OK : status;
}

static void close_ifaces(ucp_worker_h worker)
{
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        uct_iface_progress_disable(worker->ifaces[i].iface,
                                   UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
        uct_iface_close(worker->ifaces[i].iface);
    }
    free(worker->ifaces);
}

/* ------------------------------------------------------------- creation -- */

/* The default name is unique on a host, because it contains the process id. */
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
                          params->thread_mode : UCS_THREAD_MODE_SINGLE;
    worker->events      = (mask & UCP_WORKER_PARAM_FIELD_EVENTS) ?
                          params->events : UINT32_MAX & ~UCP_WAKEUP_EDGE;
    worker->user_data   = (mask & UCP_WORKER_PARAM_FIELD_USER_DATA) ?
                          params->user_data : NULL;
    worker->client_id   = (mask & UCP_WORKER_PARAM_FIELD_CLIENT_ID) ?
                          params->client_id : 0;
    if (worker->thread_mode == UCS_THREAD_MODE_MULTI) {
        worker->flags |= UCP_WORKER_FLAG_MT;
    }
    if ((mask & UCP_WORKER_PARAM_FIELD_FLAGS) &&
        (params->flags & UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK)) {
        worker->flags |= UCP_WORKER_FLAG_NO_LEAKS;
    }
}

static ucs_status_t create(ucp_context_h context,
                           const ucp_worker_params_t *params,
                           ucp_worker_h *worker_p)
{
    ucp_worker_h worker;
    ucs_status_t status;

    worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

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
    ucs_list_head_init(&worker->owing);
    worker->owing_cb  = UCS_CALLBACKQ_ID_NULL;
    ucs_hash_init(&worker->reply_eps);
    ucp_wireup_worker_init(worker);

    worker->request_ids = ucp_id_table_create();
    worker->ep_ids      = ucp_id_table_create();
    if ((worker->request_ids == NULL) || (worker->ep_ids == NULL)) {
        status = UCS_ERR_NO_MEMORY;
        goto err_ids;
    }

    status = ucp_reserve_init(worker);
    if (status != UCS_OK) {
        goto err_ids;
    }

    status = ucp_request_pool_init(worker);
    if (status != UCS_OK) {
        goto err_reserve;
    }

    status = ucp_tag_match_init(&worker->tm, context->tag_sender_mask);
    if (status != UCS_OK) {
        goto err_requests;
    }

    status = ucp_am_worker_init(&worker->am, params);
    if (status != UCS_OK) {
        goto err_match;
    }

    status = ucp_stream_worker_init(&worker->streams);
    if (status != UCS_OK) {
        goto err_am;
    }

    status = ucs_async_context_create(UCS_ASYNC_MODE_THREAD_MUTEX,
                                      &worker->async);
    if (status != UCS_OK) {
        goto err_stream;
    }

    status = uct_worker_create(worker->async, worker->thread_mode,
                               &worker->uct);
    if (status != UCS_OK) {
        goto err_async;
    }

    worker->stats = ucp_stats_worker_create(worker);
    if (worker->stats != NULL) {
        worker->flags   |= UCP_WORKER_FLAG_STATS;
        worker->tm.stats = ucp_stats_worker_record(worker->stats);
    }

    status = open_ifaces(worker, params);
    if (status != UCS_OK) {
        goto err_uct;
    }

    if (context->options.adaptive_progress) {
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
    if (status != UCS_OK) {
        goto err_stage;
    }

    *worker_p = worker;
    return UCS_OK;

err_stage:
    ucp_stage_close(worker->stage);
err_uct:
    close_ifaces(worker);
    ucp_stats_worker_destroy(worker->stats);
    uct_worker_destroy(worker->uct);
err_async:
    ucs_async_context_destroy(worker->async);
err_stream:
    ucp_stream_worker_cleanup(&worker->streams);
err_am:
    ucp_am_worker_cleanup(&worker->am);
err_match:
    ucp_tag_match_cleanup(&worker->tm);
err_requests:
    ucp_request_pool_cleanup(worker);
err_reserve:
    ucp_reserve_cleanup(worker);
err_ids:
    ucp_id_table_destroy(worker->ep_ids);
    ucp_id_table_destroy(worker->request_ids);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
    return status;
}

/* All bits of ucp_worker_params_field in ucp.h. */
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
                       &params->cpu_mask : NULL);
    status = create(context, params, worker_p);
    ucp_affinity_end(&affinity);
    return status;
}

/* An endpoint that is not failed or not closing, or NULL. */
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

/* Completes posted receives, which nothing can match any more. Receives
 * posted by a callback are cancelled without a callback, so that the loop
 * terminates. */
static void cancel_posted(ucp_worker_h worker)
{
    uint64_t end = worker->tm.expected.sn;
    ucp_request_t *req;

    while ((req = ucp_tag_expected_any(&worker->tm)) != NULL) {
        ucp_tag_expected_remove(&worker->tm, req);
        if (req->recv.sn >= end) {
            req->flags &= ~UCP_REQUEST_FLAG_CALLBACK;
        }
        ucp_dt_iter_finish(&req->dt);
        ucp_request_complete_recv(req, UCS_ERR_CANCELED);
    }
}

/* Ends all operations under way. The endpoints still exist during callbacks,
 * as failed ones: sends are rejected and nothing new begins. */
static void end_all(ucp_worker_h worker)
{
    ucp_ep_h ep;

    ucp_am_worker_refuse_held(worker);
    while ((ep = any_live_ep(worker)) != NULL) {
        ucp_ep_discard(ep);
    }
    ucp_stage_finish(worker->stage);
    ucp_worker_complete_deferred(worker, &worker->deferred);
    cancel_posted(worker);
    ucp_am_worker_release_held(worker);
    ucp_stream_worker_release(worker);
}

void ucp_worker_destroy(ucp_worker_h worker)
{
    ucp_worker_enter(worker);
    end_all(worker);
    ucp_worker_leave(worker);

    ucp_worker_wakeup_cleanup(worker);
    ucp_cm_cleanup(worker);
    ucp_wireup_worker_cleanup(worker);
    close_ifaces(worker);
    /* closing the interfaces has completed the operations that endpoints
     * waited for */
    while (!ucs_list_is_empty(&worker->eps)) {
        ucp_ep_destroy_now(ucs_list_head(&worker->eps, struct ucp_ep, link));
    }
    ucp_stats_worker_destroy(worker->stats);
    ucp_keepalive_cleanup(worker);
    ucp_stage_close(worker->stage);
    uct_worker_destroy(worker->uct);
    ucs_async_context_destroy(worker->async);
    ucp_rma_config_free_all(worker);
    ucp_ep_config_free_all(worker);
    ucs_hash_cleanup(&worker->reply_eps);
    ucp_stream_worker_cleanup(&worker->streams);
    ucp_am_worker_cleanup(&worker->am);
    ucp_tag_match_cleanup(&worker->tm);
    ucp_request_pool_cleanup(worker);
    ucp_reserve_cleanup(worker);
    ucp_id_table_destroy(worker->ep_ids);
    ucp_id_table_destroy(worker->request_ids);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

/* ------------------------------------------------------------- progress -- */

void ucp_worker_complete_deferred(ucp_worker_h worker, ucs_queue_head_t *queue)
{
    ucs_queue_elem_t *elem;

    while ((elem = ucs_queue_pull(queue)) != NULL) {
        ucp_request_complete_send(ucs_container_of(elem, ucp_request_t,
                                                   send.queue), UCS_OK);
    }
}

static void move_those_of(ucp_ep_h ep, ucs_queue_head_t *from,
                          ucs_queue_head_t *to)
{
    ucs_queue_iter_t iter = ucs_queue_iter_begin(from);
    ucp_request_t *req;

    while (!ucs_queue_iter_end(from, iter)) {
        req = ucs_container_of(*iter, ucp_request_t, send.queue);
        if (req->send.ep == ep) {
            ucs_queue_del_iter(from, iter);
            ucs_queue_push(to, &req->send.queue);
        } else {
            iter = ucs_queue_iter_next(iter);
        }
    }
}

void ucp_worker_complete_deferred_of(ucp_worker_h worker, ucp_ep_h ep)
{
    ucs_queue_head_t queue;

    ucs_queue_head_init(&queue);
    move_those_of(ep, &worker->leaving, &queue);
    move_those_of(ep, &worker->deferred, &queue);
    ucp_worker_complete_deferred(worker, &queue);
}

/* Sends that were deferred before this progress have been sent after it. */
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
    unsigned count = ucp_idle_is_round(worker) ? ucp_idle_look(worker) : 0;

    if (ucs_unlikely(!ucs_queue_is_empty(&worker->deferred))) {
        return count + progress_deferred(worker);
    }
    return count + uct_worker_progress_inline(worker->uct);
}

/* For workers with a lock or statistics. */
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
    if (ucs_unlikely(worker->flags & (UCP_WORKER_FLAG_MT |
                                      UCP_WORKER_FLAG_STATS))) {
        return progress_watched(worker);
    }
    return progress(worker);
}

/* ------------------------------------------------------------- queries -- */

/* The bytes left for a user's header beside UCP's own header, on every
 * interface that carries active messages. */
static size_t max_am_header(ucp_worker_h worker)
{
    size_t max = SIZE_MAX;
    unsigned i;

    for (i = 0; i < worker->num_ifaces; ++i) {
        size_t limit = worker->ifaces[i].lane.am.max_bcopy;

        max = ((limit > 0) && (limit < max)) ? limit : max;
    }
    return ((max > UCP_AM_HEADER_RESERVE) && (max < SIZE_MAX)) ?
           max - UCP_AM_HEADER_RESERVE : 0;
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
