/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection requests of clients that the user has not accepted or rejected
 * yet. The user may reply on any worker, in any thread, so one lock protects
 * the lists of requests of all listeners.
 */
#ifndef UCP_CM_REQUEST_H
#define UCP_CM_REQUEST_H

#include <sys/socket.h>

#include "ucp/cm/hello.h"
#include "ucp/cm/manager.h"

struct ucp_listener;

struct ucp_conn_request {
    ucs_list_link_t link; /**< In ucp_listener_t::requests */
    struct ucp_listener *listener;
    uct_component_h component; /**< Component of the connection manager */
    uct_listener_h uct_listener;
    uct_conn_request_h uct;
    /** The device on which the request arrived */
    char dev_name[UCT_DEVICE_NAME_MAX];
    struct sockaddr_storage client;
    ucp_cm_hello_t hello; /**< Points into `bytes` */
    char bytes[];
};
typedef struct ucp_conn_request ucp_conn_request_t;

/** Adds a request to the listener's list. Returns NULL if out of memory, or if
 *  the private data is malformed. */
ucp_conn_request_t *
ucp_conn_request_create(struct ucp_listener *listener,
                        ucs_list_link_t *requests, uct_listener_h uct_listener,
                        uct_component_h component,
                        const uct_cm_listener_conn_request_args_t *args);

/** Creates the manager's endpoint for the accepted connection. This consumes
 *  the manager's request `uct`, also on failure. */
ucs_status_t ucp_conn_request_reply(ucp_conn_request_t *request,
                                    uct_ep_params_t *params, uct_ep_h *uct_p);

/** Removes the request from its listener's list and frees it. Rejects the
 *  client if no reply was sent. */
void ucp_conn_request_end(ucp_conn_request_t *request);

/** Destroys the managers' listeners, and rejects and frees the requests that
 *  the user has not answered. Takes the lock of the lists, so it waits for a
 *  reply that another thread is sending. */
void ucp_conn_requests_end(ucs_list_link_t *requests, uct_listener_h *listeners,
                           unsigned num);

#endif
