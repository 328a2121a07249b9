/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of client-server connection setup: attributes of connection managers
 * and listeners, and the callbacks from the connection request to the
 * disconnect. The calls are in uct_cm.h.
 *
 * Rules for all callbacks in this file: they may be called from any thread and
 * must be thread-safe; they may call UCT except for its progress functions;
 * what their arguments point to is valid during the call only; fields whose bit
 * is not set in field_mask must not be read.
 */
#ifndef UCT_API_UCT_CM_DEF_H_
#define UCT_API_UCT_CM_DEF_H_

#include <sys/socket.h>
#include <uct/api/uct_def.h>
#include <ucs/config/types.h>

BEGIN_C_DECLS

/** @addtogroup UCT_CLIENT_SERVER
 *  @{ */

/** Fields of uct_cm_attr to query. */
enum uct_cm_attr_field {
    UCT_CM_ATTR_FIELD_MAX_CONN_PRIV = UCS_BIT(0), /**< max_conn_priv */
};

/** Attributes of a connection manager. */
struct uct_cm_attr {
    uint64_t field_mask;  /**< Bits of uct_cm_attr_field, set by the caller */
    size_t max_conn_priv; /**< Maximum length in bytes of the private data of a
                           *   connection request, or of its acceptance */
};

/** Fields of uct_listener_attr to query. */
enum uct_listener_attr_field {
    UCT_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0), /**< sockaddr */
};

/** Attributes of a listener. */
struct uct_listener_attr {
    uint64_t field_mask;              /**< Bits of uct_listener_attr_field,
                                             set by the caller */
    struct sockaddr_storage sockaddr; /**< Address that it listens on, with
                                       * the port that the system selected for
                                       * port 0 */
};

/** Fields of uct_ep_connect_params that are set. */
enum uct_ep_connect_params_field {
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA = UCS_BIT(0), /**< private_data */
    UCT_EP_CONNECT_PARAM_FIELD_PRIVATE_DATA_LENGTH = UCS_BIT(
        1), /**< private_data_length */
};

/** Parameters of uct_ep_connect(). */
struct uct_ep_connect_params {
    uint64_t field_mask;        /**< Bits of uct_ep_connect_params_field */
    const void *private_data;   /**< Bytes for the server's listener;
                                          copied before the call returns */
    size_t private_data_length; /**< Length of the private data, at most
                                 *   uct_cm_attr::max_conn_priv */
};

/*
 * Arguments of callbacks.
 */

/** Fields of uct_cm_ep_priv_data_pack_args that are valid. */
enum uct_cm_ep_priv_data_pack_args_field {
    UCT_CM_EP_PRIV_DATA_PACK_ARGS_FIELD_DEVICE_NAME = UCS_BIT(
        0), /**< dev_name */
};

/** Arguments of uct_cm_ep_priv_data_pack_callback_t. */
typedef struct uct_cm_ep_priv_data_pack_args {
    /** Valid members, bits of uct_cm_ep_priv_data_pack_args_field */
    uint64_t field_mask;
    char dev_name[UCT_DEVICE_NAME_MAX]; /**< Device that the connection will
                                             use, named as in
                                             uct_tl_resource_desc::dev_name */
} uct_cm_ep_priv_data_pack_args_t;

/** Fields of uct_cm_ep_resolve_args that are valid. */
enum uct_cm_ep_resolve_args_field {
    UCT_CM_EP_RESOLVE_ARGS_FIELD_DEV_NAME = UCS_BIT(0), /**< dev_name */
    UCT_CM_EP_RESOLVE_ARGS_FIELD_STATUS   = UCS_BIT(1), /**< status */
};

/** Arguments of uct_cm_ep_resolve_callback_t. */
typedef struct uct_cm_ep_resolve_args {
    /** Valid members, bits of uct_cm_ep_resolve_args_field */
    uint64_t field_mask;
    /** Device with the route to the server, named as in
     *  uct_tl_resource_desc::dev_name */
    char dev_name[UCT_DEVICE_NAME_MAX];
    /** UCS_OK, UCS_ERR_UNREACHABLE if the server is unreachable, or a local
     *  error */
    ucs_status_t status;
} uct_cm_ep_resolve_args_t;

/** Fields of uct_cm_remote_data that are valid. */
enum uct_cm_remote_data_field {
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR        = UCS_BIT(0), /**< dev_addr */
    UCT_CM_REMOTE_DATA_FIELD_DEV_ADDR_LENGTH = UCS_BIT(
        1), /**< dev_addr_length */
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA = UCS_BIT(2), /**< conn_priv_data */
    UCT_CM_REMOTE_DATA_FIELD_CONN_PRIV_DATA_LENGTH = UCS_BIT(
        3), /**< conn_priv_data_length */
};

/** Data that the peer sent with its request or reply. */
typedef struct uct_cm_remote_data {
    /** Valid members, bits of uct_cm_remote_data_field */
    uint64_t field_mask;
    /** Device address of the peer */
    const uct_device_addr_t *dev_addr;
    /** Length of dev_addr in bytes */
    size_t dev_addr_length;
    /** The peer's private data */
    const void *conn_priv_data;
    size_t conn_priv_data_length; /**< Length of conn_priv_data in bytes */
} uct_cm_remote_data_t;

/** Fields of uct_cm_listener_conn_request_args that are valid. */
enum uct_cm_listener_conn_request_args_field {
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_DEV_NAME = UCS_BIT(
        0), /**< dev_name */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CONN_REQUEST = UCS_BIT(
        1), /**< conn_request */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_REMOTE_DATA = UCS_BIT(
        2), /**< remote_data */
    UCT_CM_LISTENER_CONN_REQUEST_ARGS_FIELD_CLIENT_ADDR = UCS_BIT(
        3), /**< client_address */
};

/** Arguments of uct_cm_listener_conn_request_callback_t. */
typedef struct uct_cm_listener_conn_request_args {
    /** Valid members, bits of uct_cm_listener_conn_request_args_field */
    uint64_t field_mask;
    char dev_name[UCT_DEVICE_NAME_MAX]; /**< Local device that received the
                                         * request */
    uct_conn_request_h conn_request;    /**< The request. Valid until it is
                                         * passed to uct_ep_create() or
                                         * uct_listener_reject(); one of
                                         * them must be called. */
    /** Device address and private data of the client */
    const uct_cm_remote_data_t *remote_data;
    ucs_sock_addr_t client_address; /**< Address of the client */
} uct_cm_listener_conn_request_args_t;

/** Fields of uct_cm_ep_client_connect_args that are valid. */
enum uct_cm_ep_client_connect_args_field {
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_REMOTE_DATA = UCS_BIT(
        0),                                                  /**< remote_data */
    UCT_CM_EP_CLIENT_CONNECT_ARGS_FIELD_STATUS = UCS_BIT(1), /**< status */
};

/** Arguments of uct_cm_ep_client_connect_callback_t. */
typedef struct uct_cm_ep_client_connect_args {
    /** Valid members, bits of uct_cm_ep_client_connect_args_field */
    uint64_t field_mask;
    /** Device address and private data of the server */
    const uct_cm_remote_data_t *remote_data;
    /** UCS_OK if accepted, UCS_ERR_REJECTED if not, UCS_ERR_CONNECTION_RESET if
     *  the server disconnected before, or a local error */
    ucs_status_t status;
} uct_cm_ep_client_connect_args_t;

/** Fields of uct_cm_ep_server_conn_notify_args that are valid. */
enum uct_cm_ep_server_conn_notify_args_field {
    UCT_CM_EP_SERVER_CONN_NOTIFY_ARGS_FIELD_STATUS = UCS_BIT(0), /**< status */
};

/** Arguments of uct_cm_ep_server_conn_notify_callback_t. */
typedef struct uct_cm_ep_server_conn_notify_args {
    /** Valid members, bits of uct_cm_ep_server_conn_notify_args_field */
    uint64_t field_mask;
    /** UCS_OK once the client has called uct_cm_client_ep_conn_notify(),
     *  UCS_ERR_CONNECTION_RESET if the client disconnected before, or a local
     *  error */
    ucs_status_t status;
} uct_cm_ep_server_conn_notify_args_t;

/*
 * Callbacks.
 */

/**
 * Handles a connection request at an interface opened in mode
 * UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER. It must call uct_iface_accept() or
 * uct_iface_reject() before it returns; the request is not valid afterwards.
 *
 * @param iface           Interface that listens.
 * @param arg             uct_iface_params::mode.sockaddr.conn_request_arg.
 * @param conn_request    The request.
 * @param conn_priv_data  The client's private data.
 * @param length          Length of the private data in bytes.
 */
typedef void (*uct_sockaddr_conn_request_callback_t)(
    uct_iface_h iface, void *arg, uct_conn_request_h conn_request,
    const void *conn_priv_data, size_t length);

/**
 * Handles a connection request at a listener: accept it by uct_ep_create() with
 * the request in its parameters, or reject it by uct_listener_reject(), here or
 * later.
 *
 * @param listener       Listener that received the request.
 * @param arg            uct_listener_params::user_data.
 * @param conn_req_args  The request and its sender.
 */
typedef void (*uct_cm_listener_conn_request_callback_t)(
    uct_listener_h listener, void *arg,
    const uct_cm_listener_conn_request_args_t *conn_req_args);

/**
 * Notifies the server's endpoint that the client is connected, too, or that the
 * connection failed.
 *
 * @param ep            Endpoint that was created for the connection request.
 * @param arg           uct_ep_params::user_data.
 * @param connect_args  Result.
 */
typedef void (*uct_cm_ep_server_conn_notify_callback_t)(
    uct_ep_h ep, void *arg,
    const uct_cm_ep_server_conn_notify_args_t *connect_args);

/**
 * Notifies the client's endpoint that the server replied, or that the
 * connection failed. On success the client calls
 * uct_cm_client_ep_conn_notify().
 *
 * @param ep            Endpoint that connects.
 * @param arg           uct_ep_params::user_data.
 * @param connect_args  Result, and the data that the server sent.
 */
typedef void (*uct_cm_ep_client_connect_callback_t)(
    uct_ep_h ep, void *arg,
    const uct_cm_ep_client_connect_args_t *connect_args);

/**
 * Notifies a connected endpoint that its peer disconnected: call
 * uct_ep_disconnect(). Never called for an endpoint that was not connected yet,
 * nor after it was destroyed.
 *
 * @param ep   Endpoint whose peer disconnected.
 * @param arg  uct_ep_params::user_data.
 */
typedef void (*uct_ep_disconnect_cb_t)(uct_ep_h ep, void *arg);

/**
 * Writes the private data of a connection request (client) or of its acceptance
 * (server). Not called if the endpoint fails earlier.
 *
 * @param arg        uct_ep_params::user_data.
 * @param pack_args  Properties of the connection.
 * @param priv_data  Destination of uct_cm_attr::max_conn_priv bytes
 *                   (uct_iface_attr::max_conn_priv without a connection
 *                   manager).
 *
 * @return Bytes written, or a negative ucs_status_t. On a server, an error
 *         rejects the client.
 */
typedef ssize_t (*uct_cm_ep_priv_data_pack_callback_t)(
    void *arg, const uct_cm_ep_priv_data_pack_args_t *pack_args,
    void *priv_data);

/**
 * Notifies the client of the local device with the route to the server. The
 * client then calls uct_ep_connect() with its private data, here or later.
 *
 * @param user_data     uct_ep_params::user_data.
 * @param resolve_args  Result and device.
 *
 * @return UCS_OK to continue, or an error to abort the connection.
 */
typedef ucs_status_t (*uct_cm_ep_resolve_callback_t)(
    void *user_data, const uct_cm_ep_resolve_args_t *resolve_args);

/** Fields of uct_listener_params that are set. */
enum uct_listener_params_field {
    UCT_LISTENER_PARAM_FIELD_BACKLOG         = UCS_BIT(0), /**< backlog */
    UCT_LISTENER_PARAM_FIELD_CONN_REQUEST_CB = UCS_BIT(
        1),                                          /**< conn_request_cb */
    UCT_LISTENER_PARAM_FIELD_USER_DATA = UCS_BIT(2), /**< user_data */
};

/** Parameters of uct_listener_create(). */
struct uct_listener_params {
    uint64_t field_mask; /**< Bits of uct_listener_params_field */
    int backlog;         /**< Maximum number of pending requests, above 0.
                          *   Default: the limit of the system. */
    /** Called for each request */
    uct_cm_listener_conn_request_callback_t conn_request_cb;
    void *user_data; /**< Argument of conn_request_cb */
};

/** @} */

END_C_DECLS

#endif
