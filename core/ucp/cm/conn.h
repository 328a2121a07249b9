/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucp_cm_conn_t, what an endpoint by socket address has in addition to its
 * lanes: the structure, and the functions that clients and servers share. cm.h
 * describes the states.
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
    UCP_CM_GONE, /**< Disconnected: `uct` is NULL */
} ucp_cm_state_t;

typedef struct ucp_cm_conn {
    ucp_ep_h ep;
    ucp_cm_state_t state;
    /** The connection manager's endpoint; NULL if there is none */
    uct_ep_h uct;
    const ucp_cm_manager_t *manager;
    /** LEAVING: the user's close request. It completes when the peer
     *  disconnects, or when the peer's FAREWELL message arrives */
    ucp_request_t *leave_req;
    /** The peer's FAREWELL message arrived, or the peer disconnected, while the
     *  flush of the user's close was incomplete: the close then sends no
     *  FAREWELL */
    uint8_t peer_left;
    uint8_t send_id; /**< Clients: the hello contains worker->client_id
                        *   (UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID) */
    /** Clients: the user has set the address to connect from. `local` has this
     *  address until has_local is set */
    uint8_t has_bind;
    /** `local` and `remote` are the addresses that the manager reports for the
     *  connection. Before, a client's `remote` is the listener's address */
    uint8_t has_local;
    /** Clients: index in ucp_cm_worker_t::managers of the next manager to try,
     *  if the current one finds no route */
    unsigned next;
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
} ucp_cm_conn_t;

/** Creates the connection of an endpoint, in the state `state`, and stores it
 *  in ep->extra. */
ucs_status_t ucp_cm_conn_create(ucp_ep_h ep, ucp_cm_state_t state);

/** Packs the hello, the private data for the peer. The caller frees it.
 *  `dev_name`: the device that the connection uses; its addresses come first if
 *  not all addresses fit. */
ucs_status_t ucp_cm_conn_hello(ucp_cm_conn_t *conn, const char *dev_name,
                               void **hello_p, size_t *length_p);

/** Sets `local`, `remote` and `has_local` from the manager's report. */
void ucp_cm_conn_learn_addresses(ucp_cm_conn_t *conn);

/** Makes this endpoint the one that replies to messages of the peer's endpoint
 *  `peer_ep_id`. */
ucs_status_t ucp_cm_conn_pair(ucp_cm_conn_t *conn, uint64_t peer_ep_id);

/** Changes to state JOINED and sends the requests that have waited in the
 *  endpoint's queue. Called when both sides have the hello of the other
 *  side. */
void ucp_cm_conn_join(ucp_cm_conn_t *conn);

/** Disconnects, destroys the manager's endpoint and changes to state GONE. */
void ucp_cm_conn_drop(ucp_cm_conn_t *conn);

/** Callback of the manager when the peer has disconnected; `arg` is the
 *  connection. */
void ucp_cm_conn_disconnected(uct_ep_h uct, void *arg);

#endif
