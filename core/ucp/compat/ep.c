/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated functions to close an endpoint, implemented by
 * ucp_ep_close_nbx, and to modify an endpoint.
 */
#include "ucp/compat/wait.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- closing -- */

ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS};

    switch (mode) {
    case UCP_EP_CLOSE_MODE_FORCE:
        param.flags = UCP_EP_CLOSE_FLAG_FORCE;
        break;
    case UCP_EP_CLOSE_MODE_FLUSH:
        param.flags = 0;
        break;
    default:
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    return ucp_ep_close_nbx(ep, &param);
}

ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep)
{
    return ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH);
}

void ucp_ep_destroy(ucp_ep_h ep)
{
    /* Read the worker now: the endpoint may be freed during the wait. */
    ucp_worker_h worker = ep->worker;

    ucp_compat_wait(worker, ucp_disconnect_nb(ep));
}

/* ----------------------------------------------------------- modifying -- */

/* True if the parameters keep the peer and the error handling mode of the
 * endpoint, which are fixed when it is created. */
static int is_changeable(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    const uint64_t peer_fields = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                 UCP_EP_PARAM_FIELD_SOCK_ADDR |
                                 UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR |
                                 UCP_EP_PARAM_FIELD_CONN_REQUEST;

    if (params->field_mask & peer_fields) {
        return 0;
    }
    return !(params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) ||
           ((params->err_mode == UCP_ERR_HANDLING_MODE_PEER) ==
            !!(ep->flags & UCP_EP_FLAG_ERR_MODE));
}

ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    uint64_t mask        = params->field_mask;
    ucs_status_ptr_t ret = NULL;
    char *name           = NULL;

    ucp_worker_enter(ep->worker);
    if (!is_changeable(ep, params)) {
        ret = UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
        goto out;
    }

    if ((mask & (UCP_EP_PARAM_FIELD_NAME | UCP_EP_PARAM_FIELD_ERR_HANDLER)) &&
        (ucp_ep_extra(ep) == NULL)) {
        ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
        goto out;
    }
    if ((mask & UCP_EP_PARAM_FIELD_NAME) && (params->name != NULL)) {
        name = strndup(params->name, UCP_ENTITY_NAME_MAX - 1);
        if (name == NULL) {
            ret = UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
            goto out;
        }
        free(ep->extra->name);
        ep->extra->name = name;
    }
    if (mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        ep->extra->err_cb = params->err_handler.cb;
    }
    if (mask & UCP_EP_PARAM_FIELD_USER_DATA) {
        ep->user_data = params->user_data;
    } else if (mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        ep->user_data = params->err_handler.arg;
    }
out:
    ucp_worker_leave(ep->worker);
    return ret;
}
