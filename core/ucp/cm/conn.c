/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_cm_conn_t, what an endpoint by socket address has in addition to its
 * lanes: creation, the state changes that clients and servers share, the close
 * with a FAREWELL message, and queries.
 */
#include "ucp/cm/conn.h"

#include "ucp/order/queue.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "uct/base/iface.h"

#include <stdlib.h>

/* ------------------------------------------------------------- creation -- */

ucs_status_t ucp_cm_conn_create(ucp_ep_h ep, ucp_cm_state_t state)
{
    ucp_cm_conn_t *conn = calloc(1, sizeof(*conn));

    if ((conn == NULL) || (ucp_ep_extra(ep) == NULL)) {
        free(conn);
        return UCS_ERR_NO_MEMORY;
    }
    conn->ep        = ep;
    conn->state     = state;
    ep->extra->conn = conn;
    return UCS_OK;
}

ucs_status_t ucp_cm_conn_hello(ucp_cm_conn_t *conn, const char *dev_name,
                               void **hello_p, size_t *length_p)
{
    ucp_ep_h ep          = conn->ep;
    ucp_worker_h worker  = ep->worker;
    size_t overhead      = ucp_cm_hello_overhead();
    size_t max_priv      = conn->manager->max_priv;
    ucp_cm_hello_t hello = {
        .ep_id = ucp_le64_get(ucp_ep_wire_end(ep).ep_id),
        .flags = (ep->flags & UCP_EP_FLAG_ERR_MODE) ? UCP_CM_HELLO_ERR_MODE : 0,
        .has_client_id = conn->send_id,
        .client_id     = worker->client_id,
    };
    ucs_status_t status;
    void *address;

    status = ucp_address_pack_near(worker, dev_name,
                                   (max_priv > overhead) ? max_priv - overhead :
                                                           0,
                                   &address, &hello.address_length);
    if (status != UCS_OK) {
        return status;
    }

    hello.address = address;
    *hello_p      = malloc(overhead + hello.address_length);
    if (*hello_p == NULL) {
        status = UCS_ERR_NO_MEMORY;
    } else {
        *length_p = ucp_cm_hello_pack(&hello, *hello_p);
    }
    free(address);
    return status;
}

void ucp_cm_conn_learn_addresses(ucp_cm_conn_t *conn)
{
    conn->has_local = (uct_ep_query_sockaddrs(conn->uct, &conn->local,
                                              &conn->remote) == UCS_OK);
}

ucs_status_t ucp_cm_conn_pair(ucp_cm_conn_t *conn, uint64_t peer_ep_id)
{
    /* The hello contains this worker's address, so the peer needs no INTRODUCE
     * message (wireup/introduce.h). */
    conn->ep->flags |= UCP_EP_FLAG_INTRODUCED;
    return ucp_wireup_pair(conn->ep, peer_ep_id);
}

void ucp_cm_conn_join(ucp_cm_conn_t *conn)
{
    conn->state = UCP_CM_JOINED;
    ucp_ep_resume(conn->ep);
}

/* ------------------------------------------------------------------ end -- */

void ucp_cm_conn_drop(ucp_cm_conn_t *conn)
{
    uct_ep_h uct = conn->uct;

    conn->state = UCP_CM_GONE;
    if (uct != NULL) {
        conn->uct = NULL;
        /* An error means that there is no connection yet, so that there is
         * nothing to disconnect. */
        (void)uct_ep_disconnect(uct, 0);
        uct_ep_destroy(uct);
    }
}

/* Completes a close that has sent a FAREWELL message: the peer has received the
 * message or is lost, or the endpoint is closed by force. */
static void left(ucp_cm_conn_t *conn, ucs_status_t status)
{
    ucp_request_t *req = conn->leave_req;

    conn->leave_req = NULL;
    conn->ep->flags |= UCP_EP_FLAG_FLUSHED;
    ucp_cm_conn_drop(conn);
    ucp_ep_schedule(conn->ep);
    ucp_request_complete_send(req, status);
}

void ucp_cm_peer_left(ucp_ep_h ep)
{
    ucp_cm_conn_t *conn = ucp_ep_conn(ep);

    if ((conn == NULL) || !(ep->flags & UCP_EP_FLAG_CLOSING)) {
        ucp_ep_fail(ep, UCS_ERR_CONNECTION_RESET);
    } else if (conn->leave_req != NULL) {
        left(conn, UCS_OK);
    } else if (ucs_list_is_empty(&ep->awaited)) {
        /* The endpoint waits for no reply of the peer, so the flush of the
         * close can still complete. */
        conn->peer_left = 1;
    } else {
        ucp_ep_fail(ep, UCS_ERR_CONNECTION_RESET);
    }
}

void ucp_cm_conn_disconnected(uct_ep_h uct, void *arg)
{
    ucp_cm_conn_t *conn = arg;

    ucp_cm_peer_left(conn->ep);
}

int ucp_cm_may_drop(ucp_ep_h ep)
{
    return (ucp_ep_conn(ep) != NULL) &&
           (ucp_ep_conn(ep)->state < UCP_CM_JOINED) &&
           ucs_queue_is_empty(&ep->waiting) && ucs_list_is_empty(&ep->awaited);
}

int ucp_cm_leave(ucp_ep_h ep, ucp_request_t *req)
{
    ucp_cm_conn_t *conn = ucp_ep_conn(ep);

    if ((conn == NULL) || (conn->state != UCP_CM_JOINED) || conn->peer_left) {
        return 0;
    }
    conn->state     = UCP_CM_LEAVING;
    conn->leave_req = req;
    ucp_wireup_farewell(ep);
    return 1;
}

void ucp_cm_shut(ucp_ep_h ep, ucs_status_t status)
{
    ucp_cm_conn_t *conn = ucp_ep_conn(ep);

    if (conn == NULL) {
        return;
    }
    if (conn->leave_req != NULL) {
        /* All data was flushed before the state LEAVING, so the loss of the
         * peer is not an error. */
        left(conn, (status == UCS_ERR_CANCELED) ? status : UCS_OK);
    } else {
        ucp_cm_conn_drop(conn);
    }
}

void ucp_cm_free(ucp_ep_h ep)
{
    ucp_cm_conn_t *conn = ucp_ep_conn(ep);

    if (conn != NULL) {
        ucp_cm_conn_drop(conn);
        free(conn);
        ep->extra->conn = NULL;
    }
}

/* ---------------------------------------------------------------- query -- */

ucs_status_t ucp_cm_query(ucp_ep_h ep, ucp_ep_attr_t *attr)
{
    const ucp_cm_conn_t *conn = ucp_ep_conn(ep);
    ucs_status_t status       = UCS_ERR_NOT_CONNECTED;

    if (conn == NULL) {
        return status;
    }

    if (conn->has_local) {
        status = UCS_OK;
        if (attr->field_mask & UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR) {
            attr->local_sockaddr = conn->local;
        }
        if (attr->field_mask & UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR) {
            attr->remote_sockaddr = conn->remote;
        }
    }
    return status;
}
