/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection requests of clients, between their arrival and the user's reply
 * (accept or reject). Any thread may reply, on any worker.
 */
#include "ucp/cm/request.h"

#include "ucp/cm/cm.h"
#include "ucs/sys/sock.h"

#include <stdlib.h>
#include <string.h>

/* Protects the lists of requests of all listeners. A thread that sends a reply
 * holds this lock too, so that another thread does not destroy the listener at
 * that time. No callback is called while the lock is held. A thread may hold
 * one worker's lock when it takes this lock, but takes no worker's lock while
 * it holds this one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

ucp_conn_request_t *
ucp_conn_request_create(struct ucp_listener *listener,
                        ucs_list_link_t *requests, uct_listener_h uct_listener,
                        uct_component_h component,
                        const uct_cm_listener_conn_request_args_t *args)
{
    const uct_cm_remote_data_t *remote = args->remote_data;
    ucp_conn_request_t *request;

    request = calloc(1, sizeof(*request) + remote->conn_priv_data_length);
    if (request == NULL) {
        return NULL;
    }

    memcpy(request->bytes, remote->conn_priv_data,
           remote->conn_priv_data_length);
    if ((ucp_cm_hello_unpack(request->bytes, remote->conn_priv_data_length,
                             &request->hello) != UCS_OK) ||
        (ucs_sockaddr_copy(&request->client, args->client_address.addr,
                           args->client_address.addrlen) != UCS_OK)) {
        free(request);
        return NULL;
    }

    request->listener     = listener;
    request->component    = component;
    request->uct_listener = uct_listener;
    request->uct          = args->conn_request;
    memcpy(request->dev_name, args->dev_name, sizeof(request->dev_name));
    pthread_mutex_lock(&lock);
    ucs_list_add_tail(requests, &request->link);
    pthread_mutex_unlock(&lock);
    return request;
}

ucs_status_t ucp_conn_request_reply(ucp_conn_request_t *request,
                                    uct_ep_params_t *params, uct_ep_h *uct_p)
{
    ucs_status_t status;

    params->field_mask |= UCT_EP_PARAM_FIELD_CONN_REQUEST;
    params->conn_request = request->uct;
    pthread_mutex_lock(&lock);
    ucs_list_del_init(&request->link);
    status       = uct_ep_create(params, uct_p);
    request->uct = NULL;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Called with `lock` held. */
static void end(ucp_conn_request_t *request)
{
    ucs_list_del_init(&request->link);
    if (request->uct != NULL) {
        (void)uct_listener_reject(request->uct_listener, request->uct);
    }
    free(request);
}

void ucp_conn_request_end(ucp_conn_request_t *request)
{
    pthread_mutex_lock(&lock);
    end(request);
    pthread_mutex_unlock(&lock);
}

void ucp_conn_requests_end(ucs_list_link_t *requests, uct_listener_h *listeners,
                           unsigned num)
{
    ucp_conn_request_t *request;
    unsigned i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < num; ++i) {
        /* This also rejects the clients whose requests are pending. */
        uct_listener_destroy(listeners[i]);
    }
    while (!ucs_list_is_empty(requests)) {
        request      = ucs_list_head(requests, ucp_conn_request_t, link);
        request->uct = NULL;
        end(request);
    }
    pthread_mutex_unlock(&lock);
}

void ucp_cm_reject(ucp_conn_request_h request)
{
    if (request != NULL) {
        ucp_conn_request_end(request);
    }
}

ucs_status_t ucp_conn_request_query(ucp_conn_request_h conn_request,
                                    ucp_conn_request_attr_t *attr)
{
    if (attr->field_mask & UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR) {
        attr->client_address = conn_request->client;
    }
    if (attr->field_mask & UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID) {
        attr->client_id = conn_request->hello.client_id;
    }
    return UCS_OK;
}
