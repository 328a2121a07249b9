/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint's connection: what clients and servers have in common. The states
 * are those of cm.h.
 */
#ifndef UCP_CM_CONN_H
#define UCP_CM_CONN_H

#include <sys/socket.h>

#include "ucp/cm/cm.h"
#include "ucp/cm/hello.h"
#include "ucp/cm/manager.h"

typedef enum {
    UCP_CM_RESOLVING,
    UCP_CM_ASKING,
    UCP_CM_ACCEPTED,
    UCP_CM_JOINED,
    UCP_CM_LEAVING,
    UCP_CM_GONE        /**< uct is NULL */
} ucp_cm_state_t;

typedef struct ucp_cm_conn {
    ucp_ep_h                ep;
    ucp_cm_state_t          state;
    uct_ep_h                uct;        /**< The manager's endpoint */
    const ucp_cm_manager_t  *manager;
    ucp_request_t           *leave_req; /**< LEAVING: completes then */
    uint8_t                 peer_left;  /**< While we were closing */
    uint8_t                 send_id;    /**< Clients: show our client id */
    uint8_t                 has_bind;   /**< Clients: connect from `local` */
    uint8_t                 has_local;  /**< `local` is what it turned out to
                                             be */
    unsigned                next;       /**< Clients: manager to try next */
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
} ucp_cm_conn_t;

/** Gives the endpoint a connection in its first state. */
ucs_status_t ucp_cm_conn_create(ucp_ep_h ep, ucp_cm_state_t state);

/** Packs what we tell the peer; the caller frees it. `dev_name`: by which we
 *  meet. */
ucs_status_t ucp_cm_conn_hello(ucp_cm_conn_t *conn, const char *dev_name,
                               void **hello_p, size_t *length_p);

/** Asks the manager for the addresses. */
void ucp_cm_conn_learn_addresses(ucp_cm_conn_t *conn);

/** The peer's end is known: messages of either side find the other. */
ucs_status_t ucp_cm_conn_pair(ucp_cm_conn_t *conn, uint64_t peer_ep_id);

/** Both ends are ready: what waits is sent. */
void ucp_cm_conn_join(ucp_cm_conn_t *conn);

/** Lets the manager's endpoint go. */
void ucp_cm_conn_drop(ucp_cm_conn_t *conn);

/** The manager tells that the peer has disconnected; `arg` is the connection. */
void ucp_cm_conn_disconnected(uct_ep_h uct, void *arg);

#endif
