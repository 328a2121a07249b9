/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listeners: one address, at each manager that can listen there.
 */
#ifndef UCP_CM_LISTENER_H
#define UCP_CM_LISTENER_H

#include "ucp/cm/manager.h"

/** What of a listener belongs to one manager. */
typedef struct ucp_listener_part {
    struct ucp_listener *listener;
    uct_component_h     component;
} ucp_listener_part_t;

struct ucp_listener {
    ucp_worker_h                   worker;
    ucs_list_link_t                link;       /**< Among the worker's */
    ucp_listener_conn_callback_t   conn_cb;    /**< Either this ... */
    ucp_listener_accept_callback_t accept_cb;  /**< ... or this */
    void                           *arg;
    unsigned                       num;
    uct_listener_h                 ucts[UCP_CM_MAX];
    ucp_listener_part_t            parts[UCP_CM_MAX];  /**< Likewise */
    ucs_list_link_t                requests;   /**< That nobody has answered */
};
typedef struct ucp_listener ucp_listener_t;

/** Ends it, with the worker's lock held. */
void ucp_listener_end(ucp_listener_t *listener);

#endif
