/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection managers: meeting a peer by socket address, with a few bytes of
 * private data on each side, before transports are connected.
 *
 * All callbacks towards the core (connection request, resolve, connect,
 * notify, disconnect) are made from the worker's progress. An endpoint may be
 * destroyed, and a listener too, inside any of its own callbacks.
 */
#ifndef UCX_CM_H
#define UCX_CM_H

#include <ucx/component.h>
#include <ucx/transport.h>

UCX_BEGIN_DECLS

/** The head of a connection manager; the plugin's state follows it. */
struct uct_cm {
    const ucx_cm_ops_t    *ops;
    const ucx_ep_ops_t    *ep_ops;
    const ucx_component_t *component;
    uct_worker_h          worker;
    void                  *host;    /**< The core's */
};
typedef struct uct_cm uct_cm_t;

/** The head of a listener. */
struct uct_listener {
    uct_cm_t *cm;
};
typedef struct uct_listener uct_listener_t;

/** What open is given; valid during the call only. */
typedef struct ucx_cm_open_args {
    size_t     size;
    uct_cm_t   head;       /**< For ucx_cm_init() */
    const void *config;    /**< Options of the component's cm_config, or NULL */
} ucx_cm_open_args_t;

static inline void ucx_cm_init(uct_cm_t *cm, const ucx_cm_open_args_t *args)
{
    *cm = args->head;
}

/** Sets the head of an endpoint that belongs to a connection manager. */
static inline void ucx_cm_ep_init(uct_ep_t *ep, uct_cm_t *cm)
{
    ep->ops   = cm->ep_ops;
    ep->iface = NULL;
}

/**
 * Operations of a connection manager; worker's thread.
 */
struct ucx_cm_ops {
    size_t size;

    ucs_status_t (*open)(const ucx_component_t *component,
                         const ucx_cm_open_args_t *args, uct_cm_h *cm_p);
    void (*close)(uct_cm_h cm);
    /** attr->field_mask says what to fill: max_conn_priv. */
    ucs_status_t (*query)(uct_cm_h cm, uct_cm_attr_t *attr);

    /** UCS_ERR_BUSY: the address is taken. UCS_ERR_INVALID_ADDR: not ours. */
    ucs_status_t (*listener_create)(uct_cm_h cm, const struct sockaddr *addr,
                                    socklen_t addrlen,
                                    const uct_listener_params_t *params,
                                    uct_listener_h *listener_p);
    /** Requests that were not answered are rejected. */
    void (*listener_destroy)(uct_listener_h listener);
    /** Any thread; the listener is not being destroyed meanwhile. */
    ucs_status_t (*listener_reject)(uct_listener_h listener,
                                    uct_conn_request_h request);
    ucs_status_t (*listener_query)(uct_listener_h listener,
                                   uct_listener_attr_t *attr);

    /** As uct_ep_create with UCT_EP_PARAM_FIELD_CM: towards a socket address
     *  (client) or for a connection request (server). The request may have come
     *  in at another manager of the component, whose worker's thread may be
     *  another one and goes on meanwhile; the two have only been kept from
     *  destroying the listener. A failure after this call arrives in the
     *  callbacks, once. */
    ucs_status_t (*ep_create)(uct_cm_h cm, const uct_ep_params_t *params,
                              uct_ep_h *ep_p);

    /** Operations of its endpoints: destroy, cm_*, query_sockaddrs, and flush:
     *  complete when what was sent has left and, after cm_disconnect, the
     *  disconnect callback of the peer's endpoint has run or its connection is
     *  gone. UCT_FLUSH_FLAG_CANCEL ends the connection without a callback. */
    const ucx_ep_ops_t *ep_ops;
};

UCX_END_DECLS

#endif
