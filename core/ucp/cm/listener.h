/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener of the user: it listens at one socket address, with every
 * connection manager of the worker that supports this address.
 */
#ifndef UCP_CM_LISTENER_H
#define UCP_CM_LISTENER_H

#include "ucp/cm/manager.h"

/** The argument with which one connection manager calls the callback for
 *  connection requests. */
typedef struct ucp_listener_part {
    struct ucp_listener *listener;
    uct_component_h component;
} ucp_listener_part_t;

struct ucp_listener {
    ucp_worker_h worker;
    /** In the worker's list of listeners */
    ucs_list_link_t link;
    /** NULL if `accept_cb` is used */
    ucp_listener_conn_callback_t conn_cb;
    ucp_listener_accept_callback_t accept_cb; /**< NULL if `conn_cb` is used */
    void *arg;
    unsigned num; /**< Number of managers that listen */
    uct_listener_h ucts[UCP_CM_MAX];
    /** parts[i] is the argument of the callback for connection requests at
     *  ucts[i] */
    ucp_listener_part_t parts[UCP_CM_MAX];
    /** Connection requests that have not been accepted or rejected
     *  (request.h) */
    ucs_list_link_t requests;
};
typedef struct ucp_listener ucp_listener_t;

/** Destroys the listener; called with the worker's lock held. */
void ucp_listener_end(ucp_listener_t *listener);

#endif
