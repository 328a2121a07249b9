/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of an endpoint by socket address: the structure, and what
 * clients and servers share. cm.h describes the states.
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
    UCP_CM_GONE, /**< Disconnected; `uct` is NULL */
} ucp_cm_state_t;

typedef struct ucp_cm_conn {
    ucp_ep_h ep;
    ucp_cm_state_t state;
    uct_ep_h uct; /**< The manager's endpoint */
    const ucp_cm_manager_t *manager;
    /** LEAVING: the user's close request; completes when the peer disconnects
     *  or sends its own farewell */
    ucp_request_t *leave_req;
    /** The peer's farewell arrived while the flush of a close was incomplete */
    uint8_t peer_left;
    uint8_t send_id;   /**< Clients: the hello contains worker->client_id
                        *   (UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID) */
    uint8_t has_bind;  /**< Clients: the user has set `local`, the address to
                        *   connect from */
    uint8_t has_local; /**< `local` and `remote` are the addresses of the
                        *   connection that the manager reports */
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
 *  endpoint for messages of its peer. */
ucs_status_t ucp_cm_conn_pair(ucp_cm_conn_t *conn, uint64_t peer_ep_id);

/** Changes to state JOINED and sends the requests that have waited in the
 *  endpoint's queue. Called when each side has received the hello of its
 *  peer. */
void ucp_cm_conn_join(ucp_cm_conn_t *conn);

/** Disconnects and destroys the manager's endpoint. */
void ucp_cm_conn_drop(ucp_cm_conn_t *conn);

/** Callback of the manager: the peer has disconnected; `arg`
 *  is the connection. */
void ucp_cm_conn_disconnected(uct_ep_h uct, void *arg);

#endif
