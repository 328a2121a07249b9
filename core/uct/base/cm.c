/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection managers and listeners: the public functions check the caller's
 * parameters and then call the plugin. Also the endpoints that connect by a
 * connection manager.
 */
#include "uct/base/cm.h"

#include <stdlib.h>

#include "uct/base/state.h"

ucs_status_t uct_cm_config_read(uct_component_h component,
                                const char *env_prefix, const char *filename,
                                uct_cm_config_t **config_p)
{
    const uct_code_t *code;
    ucs_status_t status;

    if ((component == NULL) || (config_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    if (!code->has_cm) {
        return UCS_ERR_UNSUPPORTED;
    }

    return uct_config_create(code->cm_config, env_prefix, filename,
                             (void **)config_p);
}

static void uct_cm_state_destroy(uct_cm_state_t *state)
{
    if (state->check.iface != NULL) {
        uct_checks->iface_destroy(state->check.iface);
    }
    free(state);
}

static ucs_status_t uct_cm_open_checked(const uct_code_t *code,
                                        const ucx_cm_open_args_t *args,
                                        const uct_cm_state_t *state,
                                        uct_cm_h *cm_p)
{
    ucs_status_t status = code->cm_ops.open(code->desc, args, cm_p);

    if (uct_checks != NULL) {
        uct_checks->opened(code->full.name, "open", status,
                           (status == UCS_OK) ? (*cm_p)->host : NULL, state);
    }
    return status;
}

static ucs_status_t uct_cm_open_with(const uct_code_t *code,
                                     uct_component_h component,
                                     uct_worker_h worker, const void *options,
                                     uct_cm_h *cm_p)
{
    uct_cm_state_t *state   = calloc(1, sizeof(*state));
    ucx_cm_open_args_t args = {
        .size = sizeof(args),
        .head =
            {
                .ops       = &code->cm_ops,
                .ep_ops    = &code->cm_ep_ops,
                .component = code->desc,
                .worker    = worker,
                .host      = state,
            },
        .config = options,
    };
    ucs_status_t status = UCS_OK;

    if (state == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    state->component = component;
    if (uct_checks != NULL) {
        status = uct_checks->iface_create(code->cm_check, 0, 0,
                                          &state->check.iface);
    }
    if (status == UCS_OK) {
        status = uct_cm_open_checked(code, &args, state, cm_p);
    }
    if (status == UCS_OK) {
        uct_component_opened(component);
    } else {
        uct_cm_state_destroy(state);
    }
    return status;
}

ucs_status_t uct_cm_open(uct_component_h component, uct_worker_h worker,
                         const uct_cm_config_t *config, uct_cm_h *cm_p)
{
    const uct_code_t *code;
    const void *options;
    ucs_status_t status;
    void *own;

    if ((component == NULL) || (worker == NULL) || (cm_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }

    code = uct_component_code(component, &status);
    if (code == NULL) {
        return status;
    }

    if (!code->has_cm) {
        return UCS_ERR_UNSUPPORTED;
    }

    status = uct_config_options(code->cm_config, config, &own, &options);
    if (status != UCS_OK) {
        return status;
    }

    status = uct_cm_open_with(code, component, worker, options, cm_p);
    uct_config_release(own);
    return status;
}

void uct_cm_close(uct_cm_h cm)
{
    uct_cm_state_t *state = cm->host;

    cm->ops->close(cm);
    uct_component_closed(state->component);
    uct_cm_state_destroy(state);
}

ucs_status_t uct_cm_query(uct_cm_h cm, uct_cm_attr_t *cm_attr)
{
    if (cm_attr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return cm->ops->query(cm, cm_attr);
}

ucs_status_t uct_listener_create(uct_cm_h cm, const struct sockaddr *saddr,
                                 socklen_t socklen,
                                 const uct_listener_params_t *params,
                                 uct_listener_h *listener_p)
{
    if ((saddr == NULL) || (socklen < sizeof(saddr->sa_family)) ||
        (params == NULL) || (listener_p == NULL) ||
        !(params->field_mask & UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB) ||
        (params->conn_request_cb == NULL) ||
        ((params->field_mask & UCT_LISTENER_PARAM_FIELD_BACKLOG) &&
         (params->backlog <= 0))) {
        return UCS_ERR_INVALID_PARAM;
    }

    return cm->ops->listener_create(cm, saddr, socklen, params, listener_p);
}

void uct_listener_destroy(uct_listener_h listener)
{
    listener->cm->ops->listener_destroy(listener);
}

ucs_status_t uct_listener_reject(uct_listener_h listener,
                                 uct_conn_request_h conn_request)
{
    if (conn_request == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return listener->cm->ops->listener_reject(listener, conn_request);
}

ucs_status_t uct_listener_query(uct_listener_h listener,
                                uct_listener_attr_t *listener_attr)
{
    if (listener_attr == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return listener->cm->ops->listener_query(listener, listener_attr);
}

/* Returns whether the parameters are valid for a client's endpoint, which
 * connects to a socket address. */
static int uct_cm_client_params_fit(const uct_ep_params_t *params)
{
    const uint64_t mask = params->field_mask;

    return (mask & UCT_EP_PARAM_FIELD_SOCKADDR) && (params->sockaddr != NULL) &&
           (params->sockaddr->addr != NULL) &&
           (params->sockaddr->addrlen >=
            sizeof(params->sockaddr->addr->sa_family)) &&
           !((mask & UCT_EP_PARAM_FIELD_SOCKADDR_PACK_CB) &&
             (mask & UCT_EP_PARAM_FIELD_CM_RESOLVE_CB)) &&
           !(mask & (UCT_EP_PARAM_FIELD_PRIV_DATA |
                     UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH));
}

/*
 * uct_ep_create() for an endpoint of a connection manager. If the parameters
 * contain a client's connection request (a server accepts it), the call must
 * free the request also on failure, which only the plugin can do. Therefore the
 * plugin checks the other parameters in this case.
 */
ucs_status_t uct_ep_create_on_cm(const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    if (params->cm == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    if (!(params->field_mask & UCT_EP_PARAM_FIELD_CONN_REQUEST) &&
        !uct_cm_client_params_fit(params)) {
        return UCS_ERR_INVALID_PARAM;
    }

    return params->cm->ops->ep_create(params->cm, params, ep_p);
}

ucs_status_t uct_ep_connect(uct_ep_h ep, const uct_ep_connect_params_t *params)
{
    if ((params == NULL) ||
        ((params->field_mask &
          UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH) &&
         (params->private_data_length > 0) &&
         (!(params->field_mask & UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA) ||
          (params->private_data == NULL)))) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ep->ops->cm_connect(ep, params);
}

ucs_status_t uct_cm_client_ep_conn_notify(uct_ep_h ep)
{
    return ep->ops->cm_conn_notify(ep);
}

ucs_status_t uct_ep_disconnect(uct_ep_h ep, unsigned flags)
{
    if (flags != 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ep->ops->cm_disconnect(ep, flags);
}

ucs_status_t uct_iface_accept(uct_iface_h iface,
                              uct_conn_request_h conn_request)
{
    if (conn_request == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return iface->ops->accept(iface, conn_request);
}

ucs_status_t uct_iface_reject(uct_iface_h iface,
                              uct_conn_request_h conn_request)
{
    if (conn_request == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    return iface->ops->reject(iface, conn_request);
}
