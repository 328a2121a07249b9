/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Default functions for slots of interfaces that a plugin does not fill: most
 * return UCS_ERR_UNSUPPORTED. progress_enable and progress_disable add and
 * remove the plugin's progress function, which is sufficient for most
 * transports.
 */
#include "uct/base/defaults.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"
#include "ucs/debug/log.h"

static void no_close(uct_iface_h iface)
{
    /* the slot is required: a transport without it is rejected when it is
     * loaded */
}

static ucs_status_t no_query(uct_iface_h iface, ucx_iface_attr_t *attr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t preset_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    return UCS_OK; /* keep the values that uct_iface_estimate() has computed
                    * from the attributes */
}

static ucs_status_t no_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    return UCS_ERR_UNSUPPORTED;
}

static int no_is_reachable(uct_iface_h iface, const ucx_reachable_args_t *args)
{
    return 0;
}

static ucs_status_t no_ep_create(uct_iface_h iface,
                                 const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static unsigned no_progress(uct_iface_h iface)
{
    return 0;
}

/* Default of progress_enable: adds the plugin's progress function to the
 * worker, unless it is there. */
static void plain_progress_enable(uct_iface_h iface, unsigned flags)
{
    const unsigned kinds     = UCT_PROGRESS_SEND | UCT_PROGRESS_RECV;
    uct_iface_state_t *state = uct_iface_state(iface);
    ucs_callbackq_t *queue   = &iface->worker->progress_q;
    /* The cast changes the type of the argument from uct_iface_h to void *. All
     * supported C ABIs pass both in the same way. A wrapper function would cost
     * time in each progress. */
    ucs_callback_t progress  = (ucs_callback_t)(void *)iface->ops->progress;

    if (((flags & kinds) == 0) ||
        (state->progress_id != UCS_CALLBACKQ_ID_NULL)) {
        state->progress_flags |= flags & kinds;
        return;
    }

    state->progress_flags |= flags & kinds;
    state->progress_safe = !!(flags & UCT_PROGRESS_THREAD_SAFE);
    state->progress_id   = state->progress_safe ?
                               ucs_callbackq_add_safe(queue, progress, iface,
                                                      UCS_CALLBACKQ_FLAG_FAST) :
                               ucs_callbackq_add_reserved(queue, progress, iface);
    if (state->progress_id == UCS_CALLBACKQ_ID_NULL) {
        ucs_error("transport %s: an interface is not progressed: out of memory",
                  state->tl->desc.name);
    }
}

static void plain_progress_disable(uct_iface_h iface, unsigned flags)
{
    uct_iface_state_t *state = uct_iface_state(iface);
    ucs_callbackq_t *queue   = &iface->worker->progress_q;

    state->progress_flags &= ~flags;
    if ((state->progress_flags != 0) ||
        (state->progress_id == UCS_CALLBACKQ_ID_NULL)) {
        return;
    }

    /* remove the callback by the counterpart of the function that added it */
    if (state->progress_safe) {
        ucs_callbackq_remove_safe(queue, state->progress_id);
    } else {
        ucs_callbackq_remove(queue, state->progress_id);
    }
    state->progress_id = UCS_CALLBACKQ_ID_NULL;
}

static ucs_status_t no_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_flags_op(uct_iface_h iface, unsigned flags)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_event_fd_get(uct_iface_h iface, int *fd_p)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                      uct_tag_t tag_mask, const uct_iov_t *iov,
                                      size_t iovcnt, uct_tag_context_t *ctx)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_tag_recv_cancel(uct_iface_h iface,
                                       uct_tag_context_t *ctx, int force)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_conn_request_op(uct_iface_h iface,
                                       uct_conn_request_h request)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t no_set_am_tracer(uct_iface_h iface, uct_am_tracer_t tracer,
                                     void *arg)
{
    return UCS_ERR_UNSUPPORTED;
}

/* Default of mem_alloc: allocates by the memory domain, which also registers
 * the memory. If the domain cannot allocate, allocates memory of the
 * process. */
static ucs_status_t plain_mem_alloc(uct_iface_h iface, size_t length,
                                    unsigned flags, const char *name,
                                    uct_allocated_memory_t *mem)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_MD,
        UCT_ALLOC_METHOD_THP,
        UCT_ALLOC_METHOD_HEAP,
    };
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                      UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS,
        .flags    = flags,
        .mem_type = UCS_MEMORY_TYPE_HOST,
        .mds      = {.mds = &iface->md, .count = 1},
    };

    if (name != NULL) {
        params.field_mask |= UCT_MEM_ALLOC_PARAM_FIELD_NAME;
        params.name = name;
    }

    return uct_mem_alloc(length, methods, ucs_static_array_size(methods),
                         &params, mem);
}

static void plain_mem_free(uct_iface_h iface, const uct_allocated_memory_t *mem)
{
    (void)uct_mem_free(mem);
}

const ucx_iface_ops_t uct_default_iface_ops = {
    .size               = sizeof(uct_default_iface_ops),
    .close              = no_close,
    .query              = no_query,
    .estimate           = preset_estimate,
    .get_device_address = no_get_device_address,
    .get_address        = no_get_address,
    .is_reachable       = no_is_reachable,
    .ep_create          = no_ep_create,
    .progress           = no_progress,
    .progress_enable    = plain_progress_enable,
    .progress_disable   = plain_progress_disable,
    .flush              = no_flush,
    .fence              = no_flags_op,
    .event_fd_get       = no_event_fd_get,
    .event_arm          = no_flags_op,
    .tag_recv_zcopy     = no_tag_recv_zcopy,
    .tag_recv_cancel    = no_tag_recv_cancel,
    .accept             = no_conn_request_op,
    .reject             = no_conn_request_op,
    .set_am_tracer      = no_set_am_tracer,
    .mem_alloc          = plain_mem_alloc,
    .mem_free           = plain_mem_free,
};
