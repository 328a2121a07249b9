/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by socket address: what the rest of UCP knows of them. Plugins
 * bring the connection managers; each carries one packet of private data in
 * either direction, by which two endpoints learn of each other. All else goes
 * over lanes that are chosen as for a worker's address.
 *
 *   client's endpoint                            listener, server's endpoint
 *     RESOLVING  the manager finds the way
 *     ASKING     --hello: end, address-->          a request, the user's to
 *                                                  answer
 *                <--hello: end, address--          ACCEPTED, lanes connected
 *     JOINED     lanes connected --notify-->       JOINED
 *
 * What is sent before JOINED waits in the endpoint's queue. From there on each
 * end answers the other: nobody needs an introduction.
 *
 *   closed by the user, flushed --farewell, by lane--> fails, CONNECTION_RESET
 *     LEAVING                   <--disconnect--
 *     GONE, freed
 *
 * A farewell is behind all that was sent, so that nothing is cut off, and the
 * close completes when the peer has got it. Whatever else takes an end down (a
 * failure, force, the end of the worker) disconnects at once.
 */
#ifndef UCP_CM_H
#define UCP_CM_H

#include "ucp/core/ep.h"

/** A client's endpoint, to the listener at params->sockaddr. */
ucs_status_t ucp_cm_connect(ucp_worker_h worker, const ucp_ep_params_t *params,
                            uint16_t flags, ucp_ep_h *ep_p);

/** A server's endpoint. Uses the request up whatever happens. */
ucs_status_t ucp_cm_accept(ucp_worker_h worker, ucp_conn_request_h request,
                           uint16_t flags, ucp_ep_h *ep_p);

/** Turns a client away. */
void ucp_cm_refuse(ucp_conn_request_h request);

/** Fills the socket addresses that are asked for, with the worker's lock held.
 *  UCS_ERR_NOT_CONNECTED: the endpoint has none, or not yet. */
ucs_status_t ucp_cm_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/** Nothing waits to be sent and nobody has been met: a close need not wait for
 *  the peer. */
int ucp_cm_may_drop(ucp_ep_h ep);

/** An endpoint that is being closed has been flushed. Non-zero: it takes leave
 *  first; the request completes, and the endpoint is freed, after that. */
int ucp_cm_leave(ucp_ep_h ep, ucp_request_t *req);

/** The peer has taken leave: it has sent all that it will ever send, and does
 *  not answer any more. */
void ucp_cm_peer_left(ucp_ep_h ep);

/** The endpoint can do no more. */
void ucp_cm_shut(ucp_ep_h ep, ucs_status_t status);

/** The endpoint is being freed. */
void ucp_cm_free(ucp_ep_h ep);

/** The worker ends: its listeners and managers go. The endpoints are shut. */
void ucp_cm_cleanup(ucp_worker_h worker);

#endif
