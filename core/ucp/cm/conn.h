/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint's connection: shared by clients and servers. The states
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
    UCP_CM_GONE, /**< uct is NULL */
} ucp_cm_state_t;

typedef struct ucp_cm_conn {
    ucp_ep_h ep;
    ucp_cm_state_t state;
    uct_ep_h uct; /**< The manager's endpoint */
    const ucp_cm_manager_t *manager;
    /** LEAVING: completes when the peer has received the farewell */
    ucp_request_t *leave_req;
    /** The peer's farewell arrived during a close */
    uint8_t peer_left;
    uint8_t send_id;   /**< Clients: send the client id */
    uint8_t has_bind;  /**< Clients: connect from `local` */
    uint8_t has_local; /**< `local` is the actual address */
    /** Clients: index of the manager to try next */
    unsigned next;
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
} ucp_cm_conn_t;

/** Creates the connection of an endpoint, in this state. */
ucs_status_t ucp_cm_conn_create(ucp_ep_h ep, ucp_cm_state_t state);

/** Packs the private data for the peer; the caller frees it. `dev_name`: the
 *  device of the connection. */
ucs_status_t ucp_cm_conn_hello(ucp_cm_conn_t *conn, const char *dev_name,
                               void **hello_p, size_t *length_p);

/** Reads the socket addresses from the manager. */
void ucp_cm_conn_learn_addresses(ucp_cm_conn_t *conn);

/** Pairs the endpoint with the peer's endpoint, so that each side finds its
 *  endpoint for messages of the other side. */
ucs_status_t ucp_cm_conn_pair(ucp_cm_conn_t *conn, uint64_t peer_ep_id);

/** Called when both sides are ready: sends the queued requests. */
void ucp_cm_conn_join(ucp_cm_conn_t *conn);

/** Disconnects and destroys the manager's endpoint. */
void ucp_cm_conn_drop(ucp_cm_conn_t *conn);

/** Callback of the manager: the peer has disconnected; `arg`
 *  is the connection. */
void ucp_cm_conn_disconnected(uct_ep_h uct, void *arg);

#endif
