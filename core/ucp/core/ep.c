/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_ep_create and ucp_ep_query. ep_fail.c has the failure and release of
 * endpoints, ep_close.c has ucp_ep_close_nbx.
 */
#include "ucp/proto/ep.h"

#include "ucp/base/class.h"
#include "ucp/cm/cm.h"
#include "ucp/wireup/create.h"
#include "ucp/wireup/keepalive.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All bits of ucp_ep_params_field in this version of ucp.h. */
enum { ALL_FIELDS = (UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR << 1) - 1 };

/* True if the parameters name exactly one peer: by worker address, socket
 * address or connection request. */
static int is_target_given(const ucp_ep_params_t *params)
{
    uint64_t mask  = params->field_mask;
    unsigned flags = (mask & UCP_EP_PARAM_FIELD_FLAGS) ? params->flags : 0;
    int client     = !!(flags & UCP_EP_PARAMS_FLAGS_CLIENT_SERVER);

    if (client != !!(mask & UCP_EP_PARAM_FIELD_SOCK_ADDR)) {
        return 0;
    }
    if (mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
        return !client && !(mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
    }
    return client ? !(mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) :
                    ((mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) &&
                     (params->address != NULL));
}

static int is_mode_known(const ucp_ep_params_t *params)
{
    return !(params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) ||
           (params->err_mode == UCP_ERR_HANDLING_MODE_NONE) ||
           (params->err_mode == UCP_ERR_HANDLING_MODE_PEER);
}

/* True if the endpoint may carry the replies to its own messages, in case its
 * peer is its own worker. */
static int may_loop(const ucp_ep_params_t *params)
{
    uint64_t mask = params->field_mask;

    return (mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) &&
           !((mask & UCP_EP_PARAM_FIELD_FLAGS) &&
             (params->flags & UCP_EP_PARAMS_FLAGS_NO_LOOPBACK));
}

static ucs_status_t create_to_target(ucp_worker_h worker,
                                     const ucp_ep_params_t *params,
                                     uint16_t flags, ucp_ep_h *ep_p)
{
    uint64_t mask = params->field_mask;
    ucs_status_t status;

    if (mask & UCP_EP_PARAM_FIELD_SOCK_ADDR) {
        return ucp_cm_connect(worker, params, flags, ep_p);
    }
    if (mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
        return ucp_cm_accept(worker, params->conn_request, flags, ep_p);
    }

    status = ucp_ep_create_to_address(worker, params->address,
                                      ucp_address_length(params->address),
                                      flags, ep_p);
    if (status != UCS_OK) {
        return status;
    }
    /* Only for endpoints by worker address: for the others the connection
     * manager detects a lost peer. */
    status = ucp_keepalive_connect(*ep_p);
    if (status != UCS_OK) {
        ucp_ep_discard(*ep_p);
    }
    return status;
}

/* Stores the name, the error handler and the user_data of the parameters in a
 * new endpoint. */
static ucs_status_t take_params(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    uint64_t mask = params->field_mask;
    int has_name  = (mask & UCP_EP_PARAM_FIELD_NAME) && (params->name != NULL);

    if ((has_name || (mask & UCP_EP_PARAM_FIELD_ERR_HANDLER)) &&
        (ucp_ep_extra(ep) == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }
    if (mask & UCP_EP_PARAM_FIELD_USER_DATA) {
        ep->user_data = params->user_data;
    }
    if (mask & UCP_EP_PARAM_FIELD_ERR_HANDLER) {
        ep->extra->err_cb = params->err_handler.cb;
        if (!(mask & UCP_EP_PARAM_FIELD_USER_DATA)) {
            ep->user_data = params->err_handler.arg;
        }
    }
    if (has_name) {
        ep->extra->name = strndup(params->name, UCP_ENTITY_NAME_MAX - 1);
        if (ep->extra->name == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p)
{
    uint16_t flags = 0;
    ucs_status_t status;
    ucp_ep_h ep;

    status = ucp_context_check_fields(worker->context->is_newer,
                                      "ucp_ep_create", params->field_mask,
                                      ALL_FIELDS);
    if ((status == UCS_OK) &&
        (!is_target_given(params) || !is_mode_known(params))) {
        status = UCS_ERR_INVALID_PARAM;
    }
    if (status != UCS_OK) {
        if (params->field_mask & UCP_EP_PARAM_FIELD_CONN_REQUEST) {
            /* The user cannot use the request after this call, even if it
             * fails. */
            ucp_cm_reject(params->conn_request);
        }
        return status;
    }
    if ((params->field_mask & UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE) &&
        (params->err_mode == UCP_ERR_HANDLING_MODE_PEER)) {
        flags |= UCP_EP_FLAG_ERR_MODE;
    }
    if (may_loop(params)) {
        flags |= UCP_EP_FLAG_LOOPBACK;
    }

    ucp_worker_enter(worker);
    status = create_to_target(worker, params, flags, &ep);
    if (status == UCS_OK) {
        status = ucp_classes_ep_init(ep, params);
        if (status == UCS_OK) {
            status = take_params(ep, params);
        }
        if (status == UCS_OK) {
            *ep_p = ep;
        } else {
            ucp_ep_discard(ep);
        }
    }
    ucp_worker_leave(worker);
    return status;
}

/* Returns the number of bytes of those members of ucp_transport_entry_t that
 * are completely within the first `size` bytes. All members have the same
 * size. */
static size_t entry_bytes(size_t size)
{
    size_t member = sizeof(((ucp_transport_entry_t *)NULL)->transport_name);
    size_t all    = sizeof(ucp_transport_entry_t);

    return (size < all) ? size - (size % member) : all;
}

/* Lists the transports of the lanes that work, as far as the caller's array
 * allows. A program that was built with another version of ucp.h has entries of
 * another size: only the members that fit are written, and nothing behind
 * them. */
static void list_transports(ucp_ep_h ep, ucp_transports_t *transports)
{
    const ucp_ep_config_t *config = ep->config;
    size_t size                   = transports->entry_size;
    char *entries                 = (char *)transports->entries;
    unsigned count                = 0;
    unsigned lane;

    for (lane = 0; (lane < config->num_lanes) && !config->unconnected &&
                   (count < transports->num_entries);
         ++lane) {
        const ucp_resource_t *resource = ucp_worker_iface_resource(
            ep->worker, config->lanes[lane].iface_index);
        ucp_transport_entry_t entry = {
            .transport_name = resource->tl_name,
            .device_name    = resource->dev_name,
        };

        if (!(config->lost & UCS_BIT(lane))) {
            memcpy(entries + count * size, &entry, entry_bytes(size));
            ++count;
        }
    }
    transports->num_entries = count;
}

ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    uint64_t sockaddrs = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR |
                         UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
    ucp_worker_h worker = ep->worker;
    ucs_status_t status = UCS_OK;

    ucp_worker_enter(worker);
    if (attr->field_mask & UCP_EP_ATTR_FIELD_NAME) {
        if ((ep->extra != NULL) && (ep->extra->name != NULL)) {
            snprintf(attr->name, sizeof(attr->name), "%s", ep->extra->name);
        } else {
            snprintf(attr->name, sizeof(attr->name), "ep_%d_%u_%x",
                     (int)getpid(), worker->serial, ep->id);
        }
    }
    if (attr->field_mask & sockaddrs) {
        status = ucp_cm_query(ep, attr);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_TRANSPORTS) {
        list_transports(ep, &attr->transports);
    }
    if (attr->field_mask & UCP_EP_ATTR_FIELD_USER_DATA) {
        attr->user_data = ep->user_data;
    }
    ucp_worker_leave(worker);
    return status;
}
