/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server's side of a connection by socket address: ucp_ep_create() for a
 * client's request, which creates the endpoint and its lanes, and sends the
 * reply.
 */
#include "ucp/cm/conn.h"
#include "ucp/cm/request.h"
#include "ucp/order/queue.h"
#include "ucp/wireup/create.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* Called when the client has received the reply, or with an error if the client
 * is lost. The server's sends wait in the endpoint's queue until then: before
 * the reply, the client cannot assign messages to an endpoint. */
static void notified(uct_ep_h uct, void *arg,
                     const uct_cm_ep_server_conn_notify_args_t *args)
{
    ucp_cm_conn_t *conn = arg;

    if (args->status == UCS_OK) {
        ucp_cm_conn_join(conn);
    } else {
        ucp_ep_fail(conn->ep, args->status);
    }
}

/* Sends the reply, which contains the hello (hello.h), to a client. If an error
 * occurs before the manager's endpoint is created, the client has no answer
 * yet; the caller's ucp_conn_request_end() then rejects the client. */
static ucs_status_t send_reply(ucp_cm_conn_t *conn, ucp_conn_request_t *request)
{
    ucp_cm_manager_t *manager;
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_CM | UCT_EP_PARAM_FIELD_USER_DATA |
                      UCT_EP_PARAM_FIELD_PRIV_DATA |
                      UCT_EP_PARAM_FIELD_PRIV_DATA_LENGTH |
                      UCT_EP_PARAM_FIELD_SOCKADDR_NOTIFY_CB_SERVER |
                      UCT_EP_PARAM_FIELD_SOCKADDR_DISCONNECT_CB,
        .user_data          = conn,
        .sockaddr_cb_server = notified,
        .disconnect_cb      = ucp_cm_conn_disconnected,
    };
    ucs_status_t status;
    size_t length;
    void *hello;

    status = ucp_cm_manager_of(conn->ep->worker, request->component, &manager);
    if (status != UCS_OK) {
        return status;
    }

    conn->manager = manager;
    status        = ucp_cm_conn_hello(conn, request->dev_name, &hello, &length);
    if (status != UCS_OK) {
        return status;
    }

    params.cm                  = manager->uct;
    params.private_data        = hello;
    params.private_data_length = length;
    status = ucp_conn_request_reply(request, &params, &conn->uct);
    free(hello);
    if (status == UCS_OK) {
        ucp_cm_conn_learn_addresses(conn);
    }
    return status;
}

ucs_status_t ucp_cm_accept(ucp_worker_h worker, ucp_conn_request_h request,
                           uint16_t flags, ucp_ep_h *ep_p)
{
    ucs_status_t status;
    ucp_ep_h ep;

    if (request == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }

    status = ucp_ep_create_to_address(worker, request->hello.address,
                                      request->hello.address_length, flags,
                                      &ep);
    if (status != UCS_OK) {
        goto out;
    }

    ucp_ep_hold(ep);
    status = ucp_cm_conn_create(ep, UCP_CM_ACCEPTED);
    if (status == UCS_OK) {
        status = ucp_cm_conn_pair(ucp_ep_conn(ep), request->hello.ep_id);
    }
    if (status == UCS_OK) {
        status = send_reply(ucp_ep_conn(ep), request);
    }
    if (status != UCS_OK) {
        ucp_ep_destroy_now(ep);
        goto out;
    }
    *ep_p = ep;
out:
    if (status != UCS_OK) {
        ucs_diag("rejected a client: %s", ucs_status_string(status));
    }
    ucp_conn_request_end(request);
    return status;
}
