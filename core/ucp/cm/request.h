/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection requests: clients that wait for an answer. The user may answer on
 * any worker, in any thread, so that what is shared here has a lock of its own.
 */
#ifndef UCP_CM_REQUEST_H
#define UCP_CM_REQUEST_H

#include <sys/socket.h>

#include "ucp/cm/hello.h"
#include "ucp/cm/manager.h"

struct ucp_listener;

struct ucp_conn_request {
    ucs_list_link_t         link;          /**< Among the listener's */
    struct ucp_listener     *listener;
    uct_component_h         component;     /**< Of the manager */
    uct_listener_h          uct_listener;
    uct_conn_request_h      uct;
    char                    dev_name[UCT_DEVICE_NAME_MAX]; /**< It came by */
    struct sockaddr_storage client;
    ucp_cm_hello_t          hello;         /**< Points into `bytes` */
    char                    bytes[];
};
typedef struct ucp_conn_request ucp_conn_request_t;

/** Puts a request into the listener's list. NULL: out of memory, or its private
 *  data are nobody's of ours. */
ucp_conn_request_t *
ucp_conn_request_create(struct ucp_listener *listener,
                        ucs_list_link_t *requests, uct_listener_h uct_listener,
                        uct_component_h component,
                        const uct_cm_listener_conn_request_args_t *args);

/** Makes the manager's endpoint, which uses it up at the manager. */
ucs_status_t ucp_conn_request_answer(ucp_conn_request_t *request,
                                     uct_ep_params_t *params, uct_ep_h *uct_p);

/** Turns the client away, unless it has been answered, and frees it. */
void ucp_conn_request_end(ucp_conn_request_t *request);

/** Ends those that nobody has answered, before their listener goes, and then
 *  the listener at the manager: whoever answers meanwhile is waited for. */
void ucp_conn_requests_end(ucs_list_link_t *requests,
                           uct_listener_h *listeners, unsigned num);

#endif
