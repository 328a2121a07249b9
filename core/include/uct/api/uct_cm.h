/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of client-server connection setup: connection managers, listeners,
 * connecting and disconnecting by socket address. Part of uct.h, which has the
 * rules for all calls.
 *
 *     server                                 client
 *     uct_cm_open                            uct_cm_open
 *     uct_listener_create                    uct_ep_create(sockaddr)
 *                                            cm_resolve_cb, then uct_ep_connect
 *     conn_request_cb       <-- request --
 *     uct_ep_create(conn_request)
 *       or uct_listener_reject
 *                           -- response -->  sockaddr_cb_client
 *     sockaddr_cb_server    <-- notify ---   uct_cm_client_ep_conn_notify
 *         ... connected ...
 *     uct_ep_disconnect     ------------->   disconnect_cb
 *     disconnect_cb         <-------------   uct_ep_disconnect
 *     uct_ep_destroy                         uct_ep_destroy
 *
 * Either side may be the first to disconnect. Without cm_resolve_cb,
 * uct_ep_create() sends the request, with the data that sockaddr_pack_cb
 * writes.
 */
#ifndef UCT_API_UCT_CM_H_
#define UCT_API_UCT_CM_H_

#include <uct/api/uct_cm_def.h>

BEGIN_C_DECLS

/** @addtogroup UCT_CLIENT_SERVER
 *  @{ */

/**
 * Creates the configuration of a component's connection managers. Parameters
 * and rules are those of uct_md_iface_config_read(); a file that cannot be read
 * is ignored like a missing one.
 *
 * @param [in]  component   Component with UCT_COMPONENT_FLAG_CM.
 * @param [in]  env_prefix  Additional prefix of environment variables, or NULL.
 * @param [in]  filename    File to read, or NULL.
 * @param [out] config_p    Configuration; release with uct_config_release().
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the component has no connection
 *         manager; UCS_ERR_INVALID_PARAM for a value that cannot be parsed
 */
ucs_status_t uct_cm_config_read(uct_component_h component,
                                const char *env_prefix, const char *filename,
                                uct_cm_config_t **config_p);

/**
 * Opens a connection manager.
 *
 * @param [in]  component  Component with UCT_COMPONENT_FLAG_CM.
 * @param [in]  worker     Worker that progresses the connection manager.
 * @param [in]  config     From uct_cm_config_read() for the same component.
 * @param [out] cm_p       Connection manager.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the component has none;
 *         UCS_ERR_INVALID_PARAM for a configuration of another component; or
 *         the error of the plugin
 */
ucs_status_t uct_cm_open(uct_component_h component, uct_worker_h worker,
                         const uct_cm_config_t *config, uct_cm_h *cm_p);

/** Closes a connection manager; destroy its listeners and endpoints first. */
void uct_cm_close(uct_cm_h cm);

/**
 * Queries the attributes of a connection manager.
 *
 * @param [in]     cm       Connection manager.
 * @param [in,out] cm_attr  Set field_mask; the requested fields are filled.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_cm_query(uct_cm_h cm, uct_cm_attr_t *cm_attr);

/**
 * Creates a listener at a socket address.
 *
 * @param [in]  cm          Connection manager.
 * @param [in]  saddr       Address; the wildcard address means all, port 0
 *                          means any free port (see uct_listener_query()).
 * @param [in]  socklen     Length of the address in bytes.
 * @param [in]  params      Handler of the requests; conn_request_cb must be
 *                          set.
 * @param [out] listener_p  Listener.
 *
 * @return UCS_ERR_BUSY if the address is in use, UCS_ERR_INVALID_ADDR if it is
 *         not an address of this host, or another error.
 */
ucs_status_t uct_listener_create(uct_cm_h cm, const struct sockaddr *saddr,
                                 socklen_t socklen,
                                 const uct_listener_params_t *params,
                                 uct_listener_h *listener_p);

/** Stops listening. Requests that were neither accepted nor rejected are
 *  rejected; endpoints of accepted requests remain. */
void uct_listener_destroy(uct_listener_h listener);

/**
 * Rejects a client, whose callback gets UCS_ERR_REJECTED. The request is no
 * longer valid.
 *
 * @param [in] listener      Listener that received the request.
 * @param [in] conn_request  Request.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_listener_reject(uct_listener_h listener,
                                 uct_conn_request_h conn_request);

/**
 * Queries the attributes of a listener.
 *
 * @param [in]     listener       Listener.
 * @param [in,out] listener_attr  Set field_mask; the requested fields are
 *                                filled.
 *
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_listener_query(uct_listener_h listener,
                                uct_listener_attr_t *listener_attr);

/**
 * Sends the connection request of a client whose local device is known
 * (uct_ep_params::cm_resolve_cb was called). Does not wait for the reply.
 *
 * @param [in] ep      Endpoint.
 * @param [in] params  Private data for the server.
 *
 * @return UCS_OK if the request is being sent; UCS_ERR_BUSY if the device is
 *         not known yet; or another error.
 */
ucs_status_t uct_ep_connect(uct_ep_h ep, const uct_ep_connect_params_t *params);

/**
 * Notifies the server that the client is connected. Call it after
 * uct_ep_params::sockaddr_cb_client got UCS_OK.
 *
 * @param [in] ep  The client's endpoint.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED on an endpoint without a connection
 *         manager; or the error of the connection
 */
ucs_status_t uct_cm_client_ep_conn_notify(uct_ep_h ep);

/**
 * Disconnects. The peer's disconnect_cb is called, which must call this
 * function, too. The endpoint cannot send any more; destroy it after its own
 * disconnect_cb was called. A flush completes when the peer has been notified.
 *
 * @param [in] ep     Endpoint of a connection manager.
 * @param [in] flags  0.
 *
 * @return UCS_OK: both sides have disconnected. UCS_INPROGRESS: the peer has
 *         been notified, and has not replied yet. UCS_ERR_BUSY: not connected
 *         yet. UCS_ERR_NOT_CONNECTED: both sides had disconnected before.
 */
ucs_status_t uct_ep_disconnect(uct_ep_h ep, unsigned flags);

/*
 * Connection setup on an interface in server mode, without a connection
 * manager.
 */

/**
 * Accepts a client.
 *
 * @param [in] iface         Interface that received the request.
 * @param [in] conn_request  Request.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the interface has no server mode;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_accept(uct_iface_h iface,
                              uct_conn_request_h conn_request);

/**
 * Rejects a client. The error handler of the client's interface is called.
 *
 * @param [in] iface         Interface that received the request.
 * @param [in] conn_request  Request.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the interface has no server mode;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_reject(uct_iface_h iface,
                              uct_conn_request_h conn_request);

/** @} */

END_C_DECLS

#endif
