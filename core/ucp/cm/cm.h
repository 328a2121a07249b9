/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by socket address: the interface to the rest of UCP. Plugins
 * provide the connection managers. A manager carries one packet of private data
 * in each direction, called the hello: the id of the sender's endpoint and its
 * worker's address. All other data goes over lanes, which are selected from the
 * worker's address as for any endpoint.
 *
 *   client's endpoint                            listener, server's endpoint
 *     RESOLVING  the manager resolves the route
 *     ASKING     --hello-->                      a request, for the user to
 *                                                accept or reject
 *                <--hello--                      ACCEPTED, lanes connected
 *     JOINED     lanes connected --notify-->     JOINED
 *
 * Sends before JOINED wait in the endpoint's queue. In the state JOINED each
 * endpoint sends the replies to messages of the other one, so no INTRODUCE
 * message (wireup/introduce.h) is needed.
 *
 *   closed by the user, flushed --FAREWELL, by lane--> fails with
 *     LEAVING                   <--disconnect--        CONNECTION_RESET
 *     GONE, freed
 *
 * The message FAREWELL is sent after all other data, so that no data is lost.
 * The close completes when the peer has received it. If the endpoint fails, is
 * closed by force, or its worker is destroyed, it disconnects at once.
 */
#ifndef UCP_CM_H
#define UCP_CM_H

#include "ucp/proto/ep.h"

/** Creates a client's endpoint to the listener at params->sockaddr. */
ucs_status_t ucp_cm_connect(ucp_worker_h worker, const ucp_ep_params_t *params,
                            uint16_t flags, ucp_ep_h *ep_p);

/** Creates a server's endpoint for a client's request. The request is freed
 *  even on failure, which rejects the client. */
ucs_status_t ucp_cm_accept(ucp_worker_h worker, ucp_conn_request_h request,
                           uint16_t flags, ucp_ep_h *ep_p);

/** Rejects a client. */
void ucp_cm_reject(ucp_conn_request_h request);

/** Fills in the socket addresses that attr->field_mask requests; called with
 *  the worker's lock held. Returns UCS_ERR_NOT_CONNECTED if the endpoint was
 *  not created by socket address, or its manager does not report the addresses
 *  yet. */
ucs_status_t ucp_cm_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/** Returns non-zero if the endpoint was created by socket address, its
 *  connection is not established, and it has no requests that wait: a close can
 *  then free the endpoint without waiting for the peer. */
int ucp_cm_may_drop(ucp_ep_h ep);

/** Called when the flush of a closing endpoint is complete. If the endpoint is
 *  connected by socket address and the peer has not left, sends a FAREWELL
 *  message and returns non-zero: when the peer has received the message, `req`
 *  completes and the endpoint is freed. */
int ucp_cm_leave(ucp_ep_h ep, ucp_request_t *req);

/** Called when the peer's FAREWELL message has arrived, or the manager reports
 *  that the peer has disconnected: the peer sends no more data and no more
 *  replies. Makes the endpoint fail, unless it is closing and needs nothing
 *  more from the peer. */
void ucp_cm_peer_left(ucp_ep_h ep);

/** Called when the endpoint has failed or is closed by force: disconnects, and
 *  completes a close that waits for the peer. */
void ucp_cm_shut(ucp_ep_h ep, ucs_status_t status);

/** Called when the endpoint is freed: disconnects, and frees the connection. */
void ucp_cm_free(ucp_ep_h ep);

/** Destroys the worker's listeners and connection managers. Called after the
 *  endpoints were shut. */
void ucp_cm_cleanup(ucp_worker_h worker);

#endif
