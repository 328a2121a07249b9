/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection managers: connection establishment by socket address, with a few
 * bytes of private data in each direction, before transports are connected.
 *
 * All callbacks to the core (connection request, resolve, connect, notify,
 * disconnect) run from the worker's progress. The core may destroy an endpoint,
 * or a listener, inside any of these callbacks.
 */
#ifndef UCX_CM_H
#define UCX_CM_H

#include <ucx/component.h>
#include <ucx/transport.h>

UCX_BEGIN_DECLS

/** Head of a connection manager; the plugin's state follows it. */
struct uct_cm {
    const ucx_cm_ops_t *ops;
    const ucx_ep_ops_t *ep_ops;
    const ucx_component_t *component;
    uct_worker_h worker;
    void *host; /**< Private to the core */
};
typedef struct uct_cm uct_cm_t;

/** Head of a listener; the plugin's state follows it. */
struct uct_listener {
    uct_cm_t *cm;
};
typedef struct uct_listener uct_listener_t;

/** Arguments of ucx_cm_ops::open; valid during the call only. */
typedef struct ucx_cm_open_args {
    size_t size;
    uct_cm_t head;      /**< For ucx_cm_init() */
    const void *config; /**< Options of the component's cm_config, or NULL */
} ucx_cm_open_args_t;

static inline void ucx_cm_init(uct_cm_t *cm, const ucx_cm_open_args_t *args)
{
    *cm = args->head;
}

/** Initializes the head of an endpoint of a connection manager. */
static inline void ucx_cm_ep_init(uct_ep_t *ep, uct_cm_t *cm)
{
    ep->ops   = cm->ep_ops;
    ep->iface = NULL;
}

/**
 * Operations of a connection manager. Called by the worker's thread, unless a
 * slot says otherwise; they must not block, and report results by callbacks.
 */
struct ucx_cm_ops {
    size_t size;

    /** Opens a manager for the worker args->head.worker. `close` frees it.
     *  After an error, this worker has no such manager. */
    ucs_status_t (*open)(const ucx_component_t *component,
                         const ucx_cm_open_args_t *args, uct_cm_h *cm_p);
    /** Frees the manager. The core destroys its listeners and endpoints
     *  first. */
    void (*close)(uct_cm_h cm);
    /** Fills the members that attr->field_mask names: max_conn_priv. UCS_OK, or
     *  an error that the caller of uct_cm_query receives. */
    ucs_status_t (*query)(uct_cm_h cm, uct_cm_attr_t *attr);

    /** Listens on the address; the callbacks in `params` report requests.
     *  UCS_ERR_BUSY: the address is in use. UCS_ERR_INVALID_ADDR: it is not an
     *  address of this host. */
    ucs_status_t (*listener_create)(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p);
    /** Stops listening. Requests that the user has not answered are
     *  rejected. */
    void (*listener_destroy)(uct_listener_h listener);
    /** Rejects and frees a request. May be called by any thread; the core does
     *  not destroy the listener during the call. */
    ucs_status_t (*listener_reject)(uct_listener_h listener,
                                    uct_conn_request_h request);
    /** Fills the members that attr->field_mask names: sockaddr. */
    ucs_status_t (*listener_query)(uct_listener_h listener,
                                   uct_listener_attr_t *attr);

    /** Implements uct_ep_create with UCT_EP_PARAM_FIELD_CM: creates a client's
     * endpoint, which connects to a socket address, or a server's endpoint,
     * which accepts a connection request. The request may have arrived at
     * another manager of the component, and the thread of that manager's worker
     * may run at the same time. The core only ensures that the listener is not
     * destroyed during the call. The call consumes the request even if it
     * fails. A failure after the call is reported once, by a callback. */
    ucs_status_t (*ep_create)(uct_cm_h cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

    /** Operations of the manager's endpoints: destroy, cm_*, query_sockaddrs
     *  and flush. A flush completes when everything sent has left and, after
     *  cm_disconnect, when the peer's disconnect callback has run or the
     *  connection is lost. UCT_FLUSH_FLAG_CANCEL closes the connection without
     *  a callback. */
    const ucx_ep_ops_t *ep_ops;
};

UCX_END_DECLS

#endif
