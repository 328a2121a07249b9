/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's side of a connection by socket address. Tries the worker's
 * connection managers in order. The first one that resolves the listener's
 * address sends the request, whose private data is the hello (hello.h). When
 * the server's hello arrives, connects the lanes to the worker address in it.
 */
#include "ucp/cm/conn.h"
#include "ucp/wireup/create.h"
#include "ucs/debug/log.h"
#include "ucs/sys/sock.h"
#include "uct/base/component.h"

#include <stdlib.h>
#include <string.h>

static void failed(ucp_cm_conn_t *conn, ucs_status_t status)
{
    char server[UCS_SOCKADDR_STRING_LEN];

    ucs_diag("ep %p: not connected to %s: %s", conn->ep,
             ucs_sockaddr_str((struct sockaddr *)&conn->remote, server,
                              sizeof(server)),
             ucs_status_string(status));
    ucp_ep_fail(conn->ep, status);
}

/* ----------------------------------------------------------------- reply -- */

/* Connects the lanes to the worker address in the server's hello. */
static ucs_status_t join(ucp_cm_conn_t *conn,
                         const uct_cm_remote_data_t *remote)
{
    ucp_cm_hello_t hello;
    ucs_status_t status;

    status = ucp_cm_hello_unpack(remote->conn_priv_data,
                                 remote->conn_priv_data_length, &hello);
    if (status != UCS_OK) {
        ucs_diag("the reply of a listener is malformed: it is not of this"
                 " library");
        return UCS_ERR_CONNECTION_RESET;
    }

    status = ucp_ep_connect(conn->ep, hello.address, hello.address_length);
    if (status == UCS_OK) {
        status = ucp_cm_conn_pair(conn, hello.ep_id);
    }
    if (status == UCS_OK) {
        status = uct_cm_client_ep_conn_notify(conn->uct);
    }
    return status;
}

static void handle_reply(uct_ep_h uct, void *arg,
                         const uct_cm_ep_client_connect_args_t *args)
{
    ucp_cm_conn_t *conn = arg;
    ucs_status_t status = args->status;

    if (status == UCS_OK) {
        status = join(conn, args->remote_data);
    }
    if (status == UCS_OK) {
        ucp_cm_conn_join(conn);
    } else {
        failed(conn, status);
    }
}

/* --------------------------------------------------------------- request -- */

static ucs_status_t try_next(ucp_cm_conn_t *conn, ucs_status_t status);

/* Sends this side's hello. */
static ucs_status_t send_request(ucp_cm_conn_t *conn, const char *dev_name)
{
    uct_ep_connect_params_t params = {
        .field_mask = UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA |
                      UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH,
    };
    ucs_status_t status;
    size_t length;
    void *hello;

    status = ucp_cm_conn_hello(conn, dev_name, &hello, &length);
    if (status == UCS_OK) {
        params.private_data        = hello;
        params.private_data_length = length;
        conn->state                = UCP_CM_ASKING;
        status                     = uct_ep_connect(conn->uct, &params);
        free(hello);
    }
    return status;
}

static ucs_status_t resolved(void *arg, const uct_cm_ep_resolve_args_t *args)
{
    ucp_cm_conn_t *conn  = arg;
    const char *dev_name = (args->field_mask &
                            UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME) ?
                               args->dev_name :
                               "";
    ucs_status_t status;

    if (args->status != UCS_OK) {
        ucp_cm_conn_drop(conn);
        conn->state = UCP_CM_RESOLVING;
        status      = try_next(conn, args->status);
    } else {
        ucp_cm_conn_learn_addresses(conn);
        status = send_request(conn, dev_name);
    }
    if (status != UCS_OK) {
        failed(conn, status);
    }
    return (args->status != UCS_OK) ? args->status : status;
}

static ucs_status_t start(ucp_cm_conn_t *conn, ucp_cm_manager_t *manager)
{
    ucs_sock_addr_t server = {(struct sockaddr *)&conn->remote,
                              sizeof(conn->remote)};
    ucs_sock_addr_t local  = {(struct sockaddr *)&conn->local,
                              sizeof(conn->local)};
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA |
                      UCT_EP_PARAM_FIELD_SOCKADDR |
                      UCT_EP_PARAM_FIELD_CM_RESOLVE_CB |
                      UCT_EP_PARAM_FIELD_SOCKADDR_CONNECT_CB_CLIENT |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB |
                      (conn->has_bind ? UCT_EP_PARAM_FIELD_LOCAL_SOCKADDR : 0),
        .user_data          = conn,
        .sockaddr           = &server,
        .cm_resolve_cb      = resolved,
        .sockaddr_cb_client = handle_reply,
        .disconnect_cb      = ucp_cm_conn_disconnected,
        .local_sockaddr     = &local,
    };
    ucs_status_t status;

    status = ucp_cm_manager_open(conn->ep->worker, manager);
    if (status == UCS_OK) {
        params.cm     = manager->uct;
        conn->manager = manager;
        status        = uct_ep_create(&params, &conn->uct);
    }
    return status;
}

/* Tries the managers that were not tried yet, until one starts to resolve the
 * address. If none does, returns the error of the last manager. `status`: the
 * error of the manager that was tried before this call. */
static ucs_status_t try_next(ucp_cm_conn_t *conn, ucs_status_t status)
{
    ucp_cm_worker_t *cms = ucp_worker_cm(conn->ep->worker)->cms;

    while (conn->next < cms->num) {
        ucp_cm_manager_t *manager = &cms->managers[conn->next++];

        status = start(conn, manager);
        if (status == UCS_OK) {
            return UCS_OK;
        }
        ucs_debug("ep %p: %s has no route: %s", conn->ep,
                  uct_component_decl(manager->component)->name,
                  ucs_status_string(status));
    }
    return status;
}

/* Copies the address to connect to and, if the user has set it, the address to
 * connect from. */
static ucs_status_t take_addresses(ucp_cm_conn_t *conn,
                                   const ucp_ep_params_t *params)
{
    ucs_status_t status;

    status = ucs_sockaddr_copy(&conn->remote, params->sockaddr.addr,
                               params->sockaddr.addrlen);
    if ((status == UCS_OK) &&
        (params->field_mask & UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR)) {
        conn->has_bind = 1;
        status = ucs_sockaddr_copy(&conn->local, params->local_sockaddr.addr,
                                   params->local_sockaddr.addrlen);
    }
    return status;
}

ucs_status_t ucp_cm_connect(ucp_worker_h worker, const ucp_ep_params_t *params,
                            uint16_t flags, ucp_ep_h *ep_p)
{
    ucp_cm_worker_t *cms;
    ucs_status_t status;
    ucp_ep_h ep;

    if ((params->sockaddr.addr == NULL) ||
        ((params->field_mask & UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR) &&
         (params->local_sockaddr.addr == NULL))) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = ucp_cm_worker_get(worker, &cms);
    if (status != UCS_OK) {
        return status;
    }

    status = ucp_ep_create_unconnected(worker, flags, &ep);
    if (status != UCS_OK) {
        return status;
    }

    status = ucp_cm_conn_create(ep, UCP_CM_RESOLVING);
    if (status != UCS_OK) {
        goto err;
    }

    ucp_ep_conn(ep)->send_id = !!(params->flags &
                                  UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID);
    /* The hello contains this worker's address, so the peer needs no INTRODUCE
     * message (wireup/introduce.h). */
    ep->flags |= UCP_EP_FLAG_INTRODUCED;
    status = take_addresses(ucp_ep_conn(ep), params);
    if (status == UCS_OK) {
        status = try_next(ucp_ep_conn(ep), UCS_ERR_UNREACHABLE);
    }
    if (status == UCS_OK) {
        *ep_p = ep;
        return UCS_OK;
    }

err:
    ucp_ep_destroy_now(ep);
    return status;
}
