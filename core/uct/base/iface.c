/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public functions that open, query and close interfaces, and that get and
 * check addresses. The functions that send are in ops.c, the estimates of costs
 * in estimate.c.
 */
#include "uct/base/iface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"
#include "uct/base/state.h"
#include "uct/base/worker.h"

ucs_status_t uct_md_iface_config_read(uct_md_h md, const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename,
                                      uct_iface_config_t **config_p)
{
    const uct_code_t *code;
    const uct_tl_t *tl;

    if ((md == NULL) || (config_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_md_state(md)->code;
    if (tl_name == NULL) {
        /* The caller names no transport, to open an interface by a socket
         * address. Use the first transport of the component. */
        if (!(uct_md_state(md)->attr.flags & UCT_MD_FLAG_SOCKADDR) ||
            (code->num_tls == 0)) {
            return UCS_ERR_INVALID_PARAM;
        }
        tl = &code->tls[0];
    } else {
        tl = uct_code_tl(code, tl_name);
    }

    if (tl == NULL) {
        return UCS_ERR_NO_ELEM;
    }

    return uct_config_create(tl->config, env_prefix, filename,
                             (void **)config_p);
}

/* Handler of active message ids for which the user has set none: drops the
 * message. */
static ucs_status_t uct_am_drop(void *arg, void *data, size_t length,
                                unsigned flags)
{
    uct_iface_h iface = arg;

    ucs_debug("transport %s dropped an active message of %zu bytes that has no "
              "handler",
              uct_iface_state(iface)->tl->desc.name, length);
    return UCS_OK;
}

void uct_iface_am_reset(uct_iface_h iface, uint8_t id)
{
    iface->am[id] = (ucx_am_slot_t){.cb = uct_am_drop, .arg = iface};
}

/* Finds the transport and the device that the parameters select. *dev_name_p is
 * NULL if the interface is opened by a socket address. */
static ucs_status_t uct_iface_choose(uct_md_h md,
                                     const uct_iface_params_t *params,
                                     const uct_tl_t **tl_p,
                                     const char **dev_name_p)
{
    const uct_code_t *code = uct_md_state(md)->code;
    const uint64_t modes   = UCT_IFACE_OPEN_MODE_DEVICE |
                           UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER |
                           UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT;

    if (!(params->field_mask & UCT_IFACE_PARAM_FIELD_OPEN_MODE) ||
        !ucs_is_pow2(params->open_mode) || (params->open_mode & ~modes)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (params->open_mode != UCT_IFACE_OPEN_MODE_DEVICE) {
        *tl_p       = (code->num_tls > 0) ? &code->tls[0] : NULL;
        *dev_name_p = NULL;
        return (uct_md_state(md)->attr.flags & UCT_MD_FLAG_SOCKADDR) &&
                       (*tl_p != NULL) ?
                   UCS_OK :
                   UCS_ERR_UNSUPPORTED;
    }

    if (!(params->field_mask & UCT_IFACE_PARAM_FIELD_DEVICE) ||
        (params->mode.device.tl_name == NULL) ||
        (params->mode.device.dev_name == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    *tl_p       = uct_code_tl(code, params->mode.device.tl_name);
    *dev_name_p = params->mode.device.dev_name;
    return (*tl_p == NULL) ? UCS_ERR_NO_DEVICE : UCS_OK;
}

static ucs_status_t uct_iface_check_params(const uct_iface_params_t *params)
{
    const uint64_t mask = params->field_mask;
    size_t alignment    = 1;

    if (mask & UCT_IFACE_PARAM_FIELD_AM_ALIGNMENT) {
        alignment = params->am_alignment;
        if (!ucs_is_pow2(alignment)) {
            return UCS_ERR_INVALID_PARAM;
        }
    }

    if ((mask & UCT_IFACE_PARAM_FIELD_AM_ALIGN_OFFSET) &&
        (params->am_align_offset >= alignment)) {
        return UCS_ERR_INVALID_PARAM;
    }

    if ((params->open_mode == UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER) &&
        !(mask & UCT_IFACE_PARAM_FIELD_SOCKADDR)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return UCS_OK;
}

/* Returns `limit`; SIZE_MAX if the interface does not support the operation:
 * then no length is rejected here, and the transport's function returns the
 * error. */
static size_t uct_limit(const uct_iface_attr_t *attr, uint64_t flag,
                        size_t limit)
{
    return (attr->cap.flags & flag) ? limit : SIZE_MAX;
}

static void uct_iface_limits_init(uct_iface_limits_t *limits,
                                  const uct_iface_attr_t *attr)
{
    limits->am_short  = uct_limit(attr, UCT_IFACE_FLAG_AM_SHORT,
                                  attr->cap.am.max_short);
    limits->am_zcopy  = uct_limit(attr, UCT_IFACE_FLAG_AM_ZCOPY,
                                  attr->cap.am.max_zcopy);
    limits->am_hdr    = uct_limit(attr, UCT_IFACE_FLAG_AM_ZCOPY,
                                  attr->cap.am.max_hdr);
    limits->am_iov    = uct_limit(attr,
                                  UCT_IFACE_FLAG_AM_ZCOPY |
                                      UCT_IFACE_FLAG_AM_SHORT,
                                  attr->cap.am.max_iov);
    limits->put_short = uct_limit(attr, UCT_IFACE_FLAG_PUT_SHORT,
                                  attr->cap.put.max_short);
    limits->put_zcopy = uct_limit(attr, UCT_IFACE_FLAG_PUT_ZCOPY,
                                  attr->cap.put.max_zcopy);
    limits->put_iov   = uct_limit(attr, UCT_IFACE_FLAG_PUT_ZCOPY,
                                  attr->cap.put.max_iov);
    limits->get_short = uct_limit(attr, UCT_IFACE_FLAG_GET_SHORT,
                                  attr->cap.get.max_short);
    limits->get_bcopy = uct_limit(attr, UCT_IFACE_FLAG_GET_BCOPY,
                                  attr->cap.get.max_bcopy);
    limits->get_zcopy = uct_limit(attr, UCT_IFACE_FLAG_GET_ZCOPY,
                                  attr->cap.get.max_zcopy);
    limits->get_iov   = uct_limit(attr, UCT_IFACE_FLAG_GET_ZCOPY,
                                  attr->cap.get.max_iov);
}

const uct_tl_decl_t *uct_tl_declared(uct_md_h md, const uct_tl_t *tl)
{
    static const uct_tl_decl_t nothing;
    const uct_component_decl_t *decl = uct_component_decl(
        uct_md_state(md)->component);
    unsigned i;

    for (i = 0; i < decl->num_transports; ++i) {
        if (strcmp(decl->transports[i].name, tl->desc.name) == 0) {
            return &decl->transports[i];
        }
    }
    return &nothing;
}

static uct_iface_state_t *
uct_iface_state_create(uct_md_h md, const uct_tl_t *tl,
                       const uct_iface_params_t *params)
{
    const uct_tl_decl_t *declared;
    const uint64_t mask      = params->field_mask;
    uct_iface_state_t *state = calloc(1, sizeof(*state));

    if (state == NULL) {
        return NULL;
    }

    declared = uct_tl_declared(md, tl);
    if ((uct_checks != NULL) &&
        (uct_checks->iface_create(tl->check, declared->cap_flags,
                                  declared->event_flags,
                                  &state->check.iface) != UCS_OK)) {
        free(state);
        return NULL;
    }

    state->tl          = tl;
    state->progress_id = UCS_CALLBACKQ_ID_NULL;
    if (mask & UCT_IFACE_PARAM_FIELD_ERR_HANDLER) {
        state->err_handler = params->err_handler;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG) {
        state->err_handler_arg = params->err_handler_arg;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_CB) {
        state->async_event_cb = params->async_event_cb;
    }
    if (mask & UCT_IFACE_PARAM_FIELD_ASYNC_EVENT_ARG) {
        state->async_event_arg = params->async_event_arg;
    }
    return state;
}

static void uct_iface_state_destroy(uct_iface_state_t *state)
{
    if (state->check.iface != NULL) {
        uct_checks->iface_destroy(state->check.iface);
    }
    free(state);
}

/* Returns the keepalive interval in seconds; 0 if it is not set. Plugins get it
 * in this unit, because that of ucs_time_t is private to the core. */
static double uct_iface_keepalive(const uct_iface_params_t *params)
{
    if (!(params->field_mask & UCT_IFACE_PARAM_FIELD_KEEPALIVE_INTERVAL)) {
        return 0;
    }

    return (params->keepalive_interval == UCS_TIME_INFINITY) ?
               INFINITY :
               ucs_time_to_sec(params->keepalive_interval);
}

/* Opens an interface whose state exists, and reads its attributes. */
static ucs_status_t uct_iface_open_state(uct_iface_state_t *state,
                                         const uct_tl_t *tl,
                                         const ucx_iface_open_args_t *args,
                                         uct_iface_h *iface_p)
{
    uct_iface_h iface;
    ucs_status_t status;
    unsigned id;

    status = tl->desc.iface_open(args->head.md, args, &iface);
    if (uct_checks != NULL) {
        uct_checks->opened(tl->desc.name, "iface_open", status,
                           (status == UCS_OK) ? iface->host : NULL, state);
    }
    if (status != UCS_OK) {
        return status;
    }

    /* Set the default handlers again, now with their argument, the interface.
     * uct_iface_open_with() has set them without it. */
    for (id = 0; id < UCT_AM_ID_MAX; ++id) {
        uct_iface_am_reset(iface, (uint8_t)id);
    }

    state->attr.size = sizeof(state->attr);
    status           = tl->iface_ops.query(iface, &state->attr);
    if (status != UCS_OK) {
        tl->iface_ops.close(iface);
        return status;
    }

    uct_iface_limits_init(&state->limits, &state->attr.base);
    *iface_p = iface;
    return UCS_OK;
}

static ucs_status_t
uct_iface_open_with(uct_md_h md, uct_worker_h worker, const uct_tl_t *tl,
                    const char *dev_name, const uct_iface_params_t *params,
                    const void *options, uct_iface_h *iface_p)
{
    uct_iface_state_t *state   = uct_iface_state_create(md, tl, params);
    ucx_iface_open_args_t args = {
        .size = sizeof(args),
        .head =
            {
                .ops    = &tl->iface_ops,
                .ep_ops = &tl->ep_ops,
                .md     = md,
                .worker = worker,
                .host   = state,
            },
        .params             = params,
        .dev_name           = dev_name,
        .config             = options,
        .keepalive_interval = uct_iface_keepalive(params),
        .flags              = worker->is_polled ? UCX_IFACE_OPEN_POLLED : 0,
    };
    ucs_status_t status;
    unsigned id;

    if (state == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    for (id = 0; id < UCT_AM_ID_MAX; ++id) {
        args.head.am[id].cb = uct_am_drop;
    }

    /* Allocate memory for the progress callback now, because
     * uct_iface_progress_enable() cannot return an error. */
    status = ucs_callbackq_reserve(&worker->progress_q);
    if (status != UCS_OK) {
        goto err_free;
    }

    status = uct_iface_open_state(state, tl, &args, iface_p);
    if (status == UCS_OK) {
        return UCS_OK;
    }

    ucs_callbackq_unreserve(&worker->progress_q);
err_free:
    uct_iface_state_destroy(state);
    return status;
}

ucs_status_t uct_iface_open(uct_md_h md, uct_worker_h worker,
                            const uct_iface_params_t *params,
                            const uct_iface_config_t *config,
                            uct_iface_h *iface_p)
{
    const uct_tl_t *tl;
    const char *dev_name;
    const void *options;
    ucs_status_t status;
    void *own;

    if ((md == NULL) || (worker == NULL) || (params == NULL) ||
        (iface_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = uct_iface_choose(md, params, &tl, &dev_name);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_iface_check_params(params);
    if (status != UCS_OK) {
        return status;
    }

    status = (dev_name == NULL) ? UCS_OK :
                                  uct_tl_check_device(md, tl, dev_name);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_config_options(tl->config, config, &own, &options);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_iface_open_with(md, worker, tl, dev_name, params, options,
                                 iface_p);
    uct_config_release(own);
    return status;
}

void uct_iface_close(uct_iface_h iface)
{
    uct_iface_state_t *state = uct_iface_state(iface);
    uct_worker_t *worker     = iface->worker;

    iface->ops->progress_disable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    iface->ops->close(iface);
    ucs_callbackq_unreserve(&worker->progress_q);
    uct_iface_state_destroy(state);
}

const ucx_iface_attr_t *uct_iface_attr(uct_iface_h iface)
{
    return &uct_iface_state(iface)->attr;
}

unsigned uct_iface_num_eps(uct_iface_h iface)
{
    return uct_iface_state(iface)->num_eps;
}

int uct_iface_can_idle(uct_iface_h iface)
{
    return uct_iface_state(iface)->progress_id != UCS_CALLBACKQ_ID_NULL;
}

ucs_status_t uct_iface_query(uct_iface_h iface, uct_iface_attr_t *iface_attr)
{
    if (iface_attr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    *iface_attr = uct_iface_attr(iface)->base;
    return UCS_OK;
}

ucs_status_t uct_iface_get_device_address(uct_iface_h iface,
                                          uct_device_addr_t *addr)
{
    if (uct_iface_attr(iface)->base.device_addr_len == 0) {
        return UCS_OK; /* the address is empty */
    }
    if (addr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return iface->ops->get_device_address(iface, addr);
}

ucs_status_t uct_iface_get_address(uct_iface_h iface, uct_iface_addr_t *addr)
{
    if (!(uct_iface_attr(iface)->base.cap.flags &
          UCT_IFACE_FLAG_CONNECT_TO_IFACE)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (addr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return iface->ops->get_address(iface, addr);
}

int uct_iface_is_reachable_sized(uct_iface_h iface,
                                 const uct_device_addr_t *dev_addr,
                                 size_t dev_addr_length,
                                 const uct_iface_addr_t *iface_addr,
                                 size_t iface_addr_length, char *reason,
                                 size_t reason_size)
{
    const ucx_reachable_args_t args = {
        .size              = sizeof(args),
        .dev_addr          = dev_addr,
        .dev_addr_length   = (dev_addr == NULL) ? 0 : dev_addr_length,
        .iface_addr        = iface_addr,
        .iface_addr_length = (iface_addr == NULL) ? 0 : iface_addr_length,
        .reason            = (reason_size > 0) ? reason : NULL,
        .reason_size       = reason_size,
    };

    if (args.reason != NULL) {
        reason[0] = '\0';
    }
    return iface->ops->is_reachable(iface, &args);
}

int uct_iface_is_reachable(const uct_iface_h iface,
                           const uct_device_addr_t *dev_addr,
                           const uct_iface_addr_t *iface_addr)
{
    const uct_iface_attr_t *attr = &uct_iface_attr(iface)->base;

    if (((attr->device_addr_len > 0) && (dev_addr == NULL)) ||
        ((attr->iface_addr_len > 0) && (iface_addr == NULL))) {
        return 0;
    }

    /* The API requires that the addresses are from the same transport, so they
     * are as long as those of this interface. */
    return uct_iface_is_reachable_sized(iface, dev_addr, attr->device_addr_len,
                                        iface_addr, attr->iface_addr_len, NULL,
                                        0);
}
