/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects a worker to itself by a listener.
 */
#include "client.h"

#include <string.h>

#include "oob.h"
#include "peer.h"
#include "session.h"

/* Accepts the connection request of the client. */
static void accept_client(ucp_conn_request_h request, void *arg)
{
    info_client_t *client  = arg;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .conn_request = request,
        .err_mode     = client->err_mode,
    };

    if (client->server_ep != NULL) {
        /* Only one client is served, normally that of this process. This
         * request comes from another process that connected to the port. */
        ucp_listener_reject(client->listener, request);
        return;
    }
    client->server_status = ucp_ep_create(client->worker, &params,
                                          &client->server_ep);
    if (client->server_status != UCS_OK) {
        client->server_ep = NULL;
    }
}

/* Records the failure of an endpoint. Without an error handler the library
 * would log it. */
static void note_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    info_client_t *client = arg;

    client->status = status;
}

static ucs_status_t start_listening(info_client_t *client,
                                    struct sockaddr_storage *address,
                                    socklen_t length)
{
    ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr     = {(const struct sockaddr *)address, length},
        .conn_handler = {accept_client, client},
    };
    ucp_listener_attr_t attr = {
        .field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR,
    };
    ucs_status_t status;

    status = ucp_listener_create(client->worker, &params, &client->listener);
    if (status != UCS_OK) {
        client->listener = NULL;
        return status;
    }
    status   = ucp_listener_query(client->listener, &attr);
    *address = attr.sockaddr; /* includes the assigned port */
    return status;
}

static ucs_status_t start_client(info_client_t *client,
                                 const struct sockaddr_storage *address,
                                 socklen_t length)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .flags       = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr    = {(const struct sockaddr *)address, length},
        .err_mode    = client->err_mode,
        .err_handler = {note_failure, client},
    };
    ucs_status_t status;

    status = ucp_ep_create(client->worker, &params, &client->ep);
    if (status != UCS_OK) {
        client->ep = NULL;
    }
    return status;
}

int info_client_open(const info_t *info, ucp_worker_h worker,
                     info_client_t *client)
{
    const ucp_request_param_t plain = {0};
    struct sockaddr_storage address;
    ucs_status_t status;
    socklen_t length;

    memset(client, 0, sizeof(*client));
    client->worker   = worker;
    client->err_mode = info_error_mode(info) ? UCP_ERR_HANDLING_MODE_PEER :
                                               UCP_ERR_HANDLING_MODE_NONE;
    if (info_oob_parse(info->address, info->ipv6, &address, &length) != 0) {
        info_complain("-A takes an IP address of this machine%s, not '%s'",
                      info->ipv6 ? " (IPv6, as -6 says)" : "", info->address);
        return INFO_BAD;
    }

    status = start_listening(client, &address, length);
    if (status != UCS_OK) {
        info_complain("cannot listen on %s: %s. Is it an address of this "
                      "machine? `ip address` shows them",
                      info->address, ucs_status_string(status));
        return INFO_BAD;
    }
    status = start_client(client, &address, length);
    if (status == UCS_OK) {
        status = info_wait(worker, ucp_ep_flush_nbx(client->ep, &plain));
    }
    if ((status == UCS_OK) && (client->server_status != UCS_OK)) {
        status = client->server_status;
    }
    if (status != UCS_OK) {
        info_complain("the connection to %s failed: %s", info->address,
                      ucs_status_string((client->status != UCS_OK) ?
                                            client->status :
                                            status));
        return INFO_BAD;
    }
    return INFO_OK;
}

void info_client_close(info_client_t *client)
{
    if (client->listener != NULL) {
        ucp_listener_destroy(client->listener);
    }
}
