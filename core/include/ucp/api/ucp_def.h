/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of UCP: handles, identifiers and the types of the callbacks that an
 * application passes to the library. The functions are in ucp.h, which includes
 * this file.
 */
#ifndef UCP_API_UCP_DEF_H
#define UCP_API_UCP_DEF_H

#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

BEGIN_C_DECLS

/** @addtogroup UCP_COMM
 *  @{ */

/* -------------------------------------------------------------------------
 * Handles
 *
 * Opaque pointers, each with the functions that create and release it. After
 * the release the handle must not be used.
 * ---------------------------------------------------------------------- */

/**
 * One instance of the library inside a process: its configuration, devices and
 * mapped memory. Contexts are separate: a message that is sent in one cannot be
 * received in another. So, for example, MPI and OpenSHMEM can use UCP in one
 * program. ucp_init(), ucp_cleanup().
 */
typedef struct ucp_context *ucp_context_h;

/**
 * A communication engine of a context: a set of open network resources, their
 * queues and their progress. Usually one for each thread. ucp_worker_create(),
 * ucp_worker_destroy().
 */
typedef struct ucp_worker *ucp_worker_h;

/**
 * A connection from one worker to one remote worker; the destination of
 * operations. ucp_ep_create(), ucp_ep_close_nbx().
 */
typedef struct ucp_ep *ucp_ep_h;

/**
 * A socket address on which a worker accepts connections.
 * ucp_listener_create(), ucp_listener_destroy().
 */
typedef struct ucp_listener *ucp_listener_h;

/**
 * A connection request at a listener. Passed to ucp_listener_conn_callback_t;
 * released by ucp_ep_create() (accept) or ucp_listener_reject().
 */
typedef struct ucp_conn_request *ucp_conn_request_h;

/**
 * A local memory segment that is registered with the devices. Operations on any
 * part of the segment may use the handle. ucp_mem_map(), ucp_mem_unmap().
 */
typedef struct ucp_mem *ucp_mem_h;

/**
 * The right to access a peer's memory segment through one endpoint.
 * ucp_ep_rkey_unpack(), ucp_rkey_destroy().
 */
typedef struct ucp_rkey *ucp_rkey_h;

/**
 * A tagged message that ucp_tag_probe_nb() removed from the queue; released by
 * ucp_tag_msg_recv_nbx().
 */
typedef struct ucp_recv_desc *ucp_tag_message_h;

/**
 * Local and remote memory segments that device code (a kernel on an
 * accelerator) accesses. No function of this version creates or uses such a
 * list.
 */
typedef struct ucp_device_mem_list_handle *ucp_device_mem_list_handle_h;

/**
 * The address of a worker, as bytes that can be copied, stored and sent to
 * another process. The bytes do not contain their length, which must be sent
 * with them.
 */
typedef struct ucp_address ucp_address_t;

/** Run-time settings read by ucp_config_read(). */
typedef struct ucp_config ucp_config_t;

/* Structures whose members ucp.h describes. */
typedef struct ucp_ep_params ucp_ep_params_t;
typedef struct ucp_mem_attr ucp_mem_attr_t;

/* -------------------------------------------------------------------------
 * Identifiers and limits
 * ---------------------------------------------------------------------- */

/**
 * The tag of a message. The library only compares it with the tags of receives,
 * under their masks; the application defines the meaning of the bits.
 */
typedef uint64_t ucp_tag_t;

/**
 * The layout of the elements of a buffer. Created by ucp_dt_make_contig(),
 * ucp_dt_make_iov() or ucp_dt_create_generic().
 */
typedef uint64_t ucp_datatype_t;

/** Bytes of the name fields in attributes, terminating zero included. */
#define UCP_ENTITY_NAME_MAX 32

/**
 * Events that make a worker's event file descriptor readable; bits for
 * ucp_worker_params_t::events. Each of them may cause spurious wake-ups. There
 * is no event for available send resources: the library queues
 * operations that wait for send resources, and progress sends them.
 */
typedef enum ucp_wakeup_event_types {
    /** A put or get completed. */
    UCP_WAKEUP_RMA      = UCS_BIT(0),
    /** An atomic operation completed. */
    UCP_WAKEUP_AMO      = UCS_BIT(1),
    /** A tagged send completed. */
    UCP_WAKEUP_TAG_SEND = UCS_BIT(2),
    /** A tagged receive completed. */
    UCP_WAKEUP_TAG_RECV = UCS_BIT(3),
    /** An outgoing operation of any kind, or a part of one, completed. */
    UCP_WAKEUP_TX       = UCS_BIT(10),
    /** A message, or a part of one, arrived. */
    UCP_WAKEUP_RX       = UCS_BIT(11),
    /** Not an event: signal only new events, not events that are still
     *  unprocessed. */
    UCP_WAKEUP_EDGE     = UCS_BIT(16),
} ucp_wakeup_event_t;

/** Handling of lost peers. */
typedef enum {
    /**
     * No guarantee: an operation towards a dead peer may never
     * complete, and the error handler is not called. The fastest mode.
     */
    UCP_ERR_HANDLING_MODE_NONE,
    /**
     * Every operation completes, with an error if the peer is lost, and the
     * error handler is called. Protocols that cannot guarantee this are not
     * used.
     */
    UCP_ERR_HANDLING_MODE_PEER,
} ucp_err_handling_mode_t;

/* -------------------------------------------------------------------------
 * Parameters of callbacks
 * ---------------------------------------------------------------------- */

/** Description of a tagged message for its receiver. */
typedef struct ucp_tag_recv_info {
    /** The tag that the sender gave. */
    ucp_tag_t sender_tag;
    /** Bytes received; from a probe: bytes sent. */
    size_t length;
} ucp_tag_recv_info_t;

/**
 * Description of an incoming active message for its handler. The library fills
 * the structure, which is valid during the call of the handler only.
 */
typedef struct ucp_am_recv_param {
    /** Valid fields and flags, bits of ucp_am_recv_attr_t. */
    uint64_t recv_attr;
    /**
     * Endpoint to the sender; valid if UCP_AM_RECV_ATTR_FIELD_REPLY_EP is set.
     * Usable as long as the connection exists; the application need not close
     * the endpoint.
     */
    ucp_ep_h reply_ep;
} ucp_am_recv_param_t;

/* -------------------------------------------------------------------------
 * Callbacks
 *
 * The library calls them mostly from ucp_worker_progress(), on the thread that
 * called that function. A callback may start operations, but must not progress
 * or wait on the same worker. It should return soon: until then, the worker
 * makes no progress. A completion callback is called only for operations that
 * returned a request, once for each.
 * ---------------------------------------------------------------------- */

/**
 * Initializes the application's part of a request. Called when the library
 * allocates the memory, not at each reuse.
 *
 * @param request  the request, as operations will return it
 */
typedef void (*ucp_request_init_callback_t)(void *request);

/**
 * Undoes ucp_request_init_callback_t. Called when the library releases the
 * memory of the request, at the latest in ucp_worker_destroy().
 */
typedef void (*ucp_request_cleanup_callback_t)(void *request);

/**
 * A send, put, get, atomic, flush or close has completed: the application may
 * use the local buffers again.
 *
 * @param request    the request that the operation returned
 * @param status     UCS_OK; UCS_ERR_CANCELED after ucp_request_cancel() or a
 *                   forced close; another error if the operation failed
 * @param user_data  ucp_request_param_t::user_data of the operation
 */
typedef void (*ucp_send_nbx_callback_t)(void *request, ucs_status_t status,
                                        void *user_data);

/**
 * A tagged receive has completed.
 *
 * @param request    the request that the receive returned
 * @param status     UCS_OK; UCS_ERR_MESSAGE_TRUNCATED if the message was
 *                   longer than the buffer; UCS_ERR_CANCELED; another error
 * @param tag_info   the message; meaningful if @a status is UCS_OK, valid
 *                   during the call only
 * @param user_data  ucp_request_param_t::user_data of the receive
 */
typedef void (*ucp_tag_recv_nbx_callback_t)(void *request, ucs_status_t status,
                                            const ucp_tag_recv_info_t *tag_info,
                                            void *user_data);

/**
 * A stream receive has completed.
 *
 * @param length  bytes received, a whole number of elements; meaningful if
 *                @a status is UCS_OK. The rest as in
 *                ucp_tag_recv_nbx_callback_t.
 */
typedef void (*ucp_stream_recv_nbx_callback_t)(void *request,
                                               ucs_status_t status,
                                               size_t length, void *user_data);

/**
 * ucp_am_recv_data_nbx() has completed: with UCS_OK, the data of the active
 * message is in the buffer. Parameters as in ucp_stream_recv_nbx_callback_t.
 */
typedef void (*ucp_am_recv_data_nbx_callback_t)(void *request,
                                                ucs_status_t status,
                                                size_t length, void *user_data);

/**
 * Handles an active message sent with ucp_am_send_nbx().
 *
 * Where @a data is depends on @a param->recv_attr:
 *
 * - no flag: the data, valid until the handler returns;
 * - UCP_AM_RECV_ATTR_FLAG_DATA: the data, which the handler may keep;
 * - UCP_AM_RECV_ATTR_FLAG_RNDV: a descriptor of data that is still at the
 *   sender; receive it by ucp_am_recv_data_nbx(), in the handler or later.
 *
 * @param arg            ucp_am_handler_param_t::arg
 * @param header         the sender's header, undefined if @a header_length is
 *                       0; valid until the handler returns
 * @param header_length  bytes of header
 * @param data           see above
 * @param length         bytes of data; for a descriptor, the size of buffer
 *                       needed to receive it
 * @param param          further properties of the message
 *
 * @return UCS_OK         the handler has finished with @a data. A descriptor
 *         that was not received is dropped, and the sender's operation
 *         succeeds.
 * @return UCS_INPROGRESS @a data stays valid until ucp_am_data_release() or
 *                        ucp_am_recv_data_nbx(); allowed with either flag.
 * @return an error       drop the descriptor; the sender's operation completes
 *                        with this error. Allowed with FLAG_RNDV only.
 */
typedef ucs_status_t (*ucp_am_recv_callback_t)(
    void *arg, const void *header, size_t header_length, void *data,
    size_t length, const ucp_am_recv_param_t *param);

/**
 * The connection of an endpoint is lost. Operations in flight complete with an
 * error, later ones fail at once with @a status. Close the endpoint with
 * UCP_EP_CLOSE_FLAG_FORCE, here or later.
 *
 * @param arg     ucp_err_handler_t::arg, or the endpoint's user_data if set
 * @param ep      the endpoint that failed
 * @param status  the reason: UCS_ERR_ENDPOINT_TIMEOUT,
 *                UCS_ERR_CONNECTION_RESET, UCS_ERR_REJECTED, ...
 */
typedef void (*ucp_err_handler_cb_t)(void *arg, ucp_ep_h ep,
                                     ucs_status_t status);

/** The error handler of an endpoint. */
typedef struct ucp_err_handler {
    /** NULL if there is no handler. */
    ucp_err_handler_cb_t cb;
    /** Passed to @a cb unless the endpoint has user_data. */
    void *arg;
} ucp_err_handler_t;

/**
 * A client requests a connection. The request must be answered by
 * ucp_ep_create() or ucp_listener_reject(), here or later.
 *
 * @param conn_request  the request; owned by the callee
 * @param arg           ucp_listener_conn_handler_t::arg
 */
typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request,
                                             void *arg);

/**
 * Handler of the connection requests of a listener. The endpoint may be created
 * on any worker of the application. The callback is called under the thread
 * rules of the listener's worker: if it uses another worker, it must follow the
 * thread mode of that worker also.
 */
typedef struct ucp_listener_conn_handler {
    /** The function. */
    ucp_listener_conn_callback_t cb;
    /** Passed to @a cb. */
    void *arg;
} ucp_listener_conn_handler_t;

/* -------------------------------------------------------------------------
 * Callbacks of the deprecated functions in ucp_compat.h. They have no
 * user_data: the application stores data of an operation in the request
 * (ucp_params_t::request_size).
 * ---------------------------------------------------------------------- */

/** As ucp_send_nbx_callback_t, for the `_nb` functions. */
typedef void (*ucp_send_callback_t)(void *request, ucs_status_t status);

/** As ucp_tag_recv_nbx_callback_t, for the `_nb` functions. */
typedef void (*ucp_tag_recv_callback_t)(void *request, ucs_status_t status,
                                        ucp_tag_recv_info_t *info);

/** As ucp_stream_recv_nbx_callback_t, for ucp_stream_recv_nb(). */
typedef void (*ucp_stream_recv_callback_t)(void *request, ucs_status_t status,
                                           size_t length);

/** Bits of the @a flags of ucp_am_callback_t. */
enum ucp_cb_param_flags {
    /** The handler may keep the data by returning UCS_INPROGRESS. */
    UCP_CB_PARAM_FLAG_DATA = UCS_BIT(0),
};

/**
 * Handles an active message sent with ucp_am_send_nb().
 *
 * @param arg       as given to ucp_worker_set_am_handler()
 * @param data      the bytes received
 * @param length    number of bytes
 * @param reply_ep  endpoint to the sender; NULL unless the sender set
 *                  UCP_AM_SEND_FLAG_REPLY
 * @param flags     bits of ucp_cb_param_flags
 *
 * @return UCS_OK         the handler has finished with @a data
 * @return UCS_INPROGRESS @a data stays valid until ucp_am_data_release();
 *                        allowed with UCP_CB_PARAM_FLAG_DATA only
 */
typedef ucs_status_t (*ucp_am_callback_t)(void *arg, void *data, size_t length,
                                          ucp_ep_h reply_ep, unsigned flags);

/**
 * Passes a new endpoint to the server: a client has connected, and the library
 * has created the endpoint to the client. The callee closes the endpoint, here
 * or later. @a arg is ucp_listener_accept_handler_t::arg.
 */
typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void *arg);

/** @} */

END_C_DECLS

#endif
