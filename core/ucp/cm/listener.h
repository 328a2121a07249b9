/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners: each listens at one address with every connection manager that
 * supports it.
 */
#ifndef UCP_CM_LISTENER_H
#define UCP_CM_LISTENER_H

#include "ucp/cm/manager.h"

/** The argument of one manager's callback. */
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
    unsigned num;
    uct_listener_h ucts[UCP_CM_MAX];
    /** One for each of `ucts` */
    ucp_listener_part_t parts[UCP_CM_MAX];
    /** Requests that have not been accepted or rejected */
    ucs_list_link_t requests;
};
typedef struct ucp_listener ucp_listener_t;

/** Destroys the listener; called with the worker's lock held. */
void ucp_listener_end(ucp_listener_t *listener);

#endif
