/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by socket address: the interface to the rest of UCP. Plugins
 * provide the connection managers. Each carries one packet of private data in
 * each direction, the hello: the end (the id of the endpoint, as in
 * ucp_wire_end_t) and the worker's address. All other data goes over lanes,
 * selected as for a worker's address.
 *
 *   client's endpoint                            listener, server's endpoint
 *     RESOLVING  the manager resolves the route
 *     ASKING     --hello: end, address-->          a request, for the user to
 *                                                  accept or reject
 *                <--hello: end, address--          ACCEPTED, lanes connected
 *     JOINED     lanes connected --notify-->       JOINED
 *
 * Sends before JOINED wait in the endpoint's queue. From JOINED on, the two
 * endpoints are each other's reply endpoints, so that no INTRODUCE message is
 * needed.
 *
 *   closed by the user, flushed --farewell, by lane--> fails, CONNECTION_RESET
 *     LEAVING                   <--disconnect--
 *     GONE, freed
 *
 * The farewell (the message FAREWELL) is sent after all other data, so that no
 * data is lost, and the close completes when the peer has received it. A
 * failure, a forced close, or the destruction of the worker disconnects at
 * once.
 */
#ifndef UCP_CM_H
#define UCP_CM_H

#include "ucp/proto/ep.h"

/** Creates a client's endpoint to the listener at params->sockaddr. */
ucs_status_t ucp_cm_connect(ucp_worker_h worker, const ucp_ep_params_t *params,
                            uint16_t flags, ucp_ep_h *ep_p);

/** Creates a server's endpoint for a client's request. The request is freed
 *  even on failure; the client is then rejected. */
ucs_status_t ucp_cm_accept(ucp_worker_h worker, ucp_conn_request_h request,
                           uint16_t flags, ucp_ep_h *ep_p);

/** Rejects a client. */
void ucp_cm_reject(ucp_conn_request_h request);

/** Fills the requested socket addresses; called with the worker's lock held.
 *  Returns UCS_ERR_NOT_CONNECTED if the endpoint has none, or does not have
 *  them yet. */
ucs_status_t ucp_cm_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/** Returns non-zero if the connection is not established and no request waits
 *  for it: the endpoint can be freed without waiting for the peer. */
int ucp_cm_may_drop(ucp_ep_h ep);

/** Called when the flush of a closing endpoint is complete. Returns non-zero if
 *  a FAREWELL message is sent first; after it, the request completes and the
 *  endpoint is freed. */
int ucp_cm_leave(ucp_ep_h ep, ucp_request_t *req);

/** Called when the peer's FAREWELL message has arrived: the peer sends no more
 *  data and no more replies. */
void ucp_cm_peer_left(ucp_ep_h ep);

/** Called when the endpoint has failed or is destroyed: closes its
 *  connection. */
void ucp_cm_shut(ucp_ep_h ep, ucs_status_t status);

/** Called when the endpoint is freed: frees its connection. */
void ucp_cm_free(ucp_ep_h ep);

/** Destroys the worker's listeners and managers. The endpoints
 *  have been shut. */
void ucp_cm_cleanup(ucp_worker_h worker);

#endif
