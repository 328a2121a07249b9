/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vocabulary of UCP: handles, identifiers and the types of the callbacks
 * that an application gives to the library. No functions; those are in ucp.h,
 * which includes this file.
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
 * Opaque pointers. Each names the function that makes it and the one that
 * ends it; after the latter the handle must not be used again.
 * ---------------------------------------------------------------------- */

/**
 * One instance of the library inside a process: its configuration, devices and
 * mapped memory. Contexts are islands, so nothing sent in one can be received
 * in another; that keeps, say, MPI and OpenSHMEM of one program apart.
 * ucp_init(), ucp_cleanup().
 */
typedef struct ucp_context *ucp_context_h;

/**
 * A communication engine of a context: a set of open network resources, the
 * queues on top of them and the progress that moves them. The unit of
 * parallelism; usually one per thread. ucp_worker_create(),
 * ucp_worker_destroy().
 */
typedef struct ucp_worker *ucp_worker_h;

/**
 * A connection from one worker to one remote worker; what every send names as
 * its destination. ucp_ep_create(), ucp_ep_close_nbx().
 */
typedef struct ucp_ep *ucp_ep_h;

/**
 * A socket address on which a worker takes connections.
 * ucp_listener_create(), ucp_listener_destroy().
 */
typedef struct ucp_listener *ucp_listener_h;

/**
 * A client that knocked at a listener and waits for the answer. Given to
 * ucp_listener_conn_callback_t; consumed by ucp_ep_create() (accept) or
 * ucp_listener_reject().
 */
typedef struct ucp_conn_request *ucp_conn_request_h;

/**
 * A local memory segment made known to the network devices. Valid for any part
 * of the segment. ucp_mem_map(), ucp_mem_unmap().
 */
typedef struct ucp_mem *ucp_mem_h;

/**
 * The right to access a peer's memory segment through one endpoint.
 * ucp_ep_rkey_unpack(), ucp_rkey_destroy().
 */
typedef struct ucp_rkey *ucp_rkey_h;

/**
 * A tagged message taken off the queue by ucp_tag_probe_nb() and not received
 * yet; consumed by ucp_tag_msg_recv_nbx().
 */
typedef struct ucp_recv_desc *ucp_tag_message_h;

/**
 * A list of memory segments laid out for access from device code (a kernel on
 * an accelerator).
 */
typedef struct ucp_device_mem_list_handle *ucp_device_mem_list_handle_h;

/**
 * How to reach a worker, as bytes that may be copied, stored and sent to
 * another process. Its length is not part of it and has to travel along.
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
 * The label of a tagged message. The library only compares it, bit by bit
 * under the mask of a receive; what the bits mean is up to the application.
 */
typedef uint64_t ucp_tag_t;

/**
 * How the elements of a buffer lie in memory. Made by ucp_dt_make_contig(),
 * ucp_dt_make_iov() or ucp_dt_create_generic().
 */
typedef uint64_t ucp_datatype_t;

/** Bytes of the name fields in attributes, terminating zero included. */
#define UCP_ENTITY_NAME_MAX 32

/**
 * What may make a worker's event file descriptor readable; bits for
 * ucp_worker_params_t::events. Only TX and RX are free of spurious wake-ups.
 * Room to send never makes an event of its own: whatever waits for room is
 * queued inside and sent by progress.
 */
typedef enum ucp_wakeup_event_types {
    /** A put or get completed. */
    UCP_WAKEUP_RMA         = UCS_BIT(0),
    /** An atomic operation completed. */
    UCP_WAKEUP_AMO         = UCS_BIT(1),
    /** A tagged send completed. */
    UCP_WAKEUP_TAG_SEND    = UCS_BIT(2),
    /** A tagged receive completed. */
    UCP_WAKEUP_TAG_RECV    = UCS_BIT(3),
    /** Any outgoing operation completed, wholly or in part. */
    UCP_WAKEUP_TX          = UCS_BIT(10),
    /** Anything arrived, wholly or in part. */
    UCP_WAKEUP_RX          = UCS_BIT(11),
    /** Not an event: signal new events only, not those still unprocessed. */
    UCP_WAKEUP_EDGE        = UCS_BIT(16)
} ucp_wakeup_event_t;

/** What an endpoint does about a peer that fails. */
typedef enum {
    /**
     * No guarantee: an operation towards a dead peer may never
     * complete, and the error handler is not called. The fastest choice.
     */
    UCP_ERR_HANDLING_MODE_NONE,
    /**
     * Every operation completes, with an error if the peer is lost, and the
     * error handler is called. Protocols that cannot keep this are not used.
     */
    UCP_ERR_HANDLING_MODE_PEER
} ucp_err_handling_mode_t;

/* -------------------------------------------------------------------------
 * What a callback is told
 * ---------------------------------------------------------------------- */

/** A tagged message, as seen by its receiver. */
typedef struct ucp_tag_recv_info {
    /** The tag that the sender gave. */
    ucp_tag_t sender_tag;
    /** Bytes received; from a probe: bytes sent. */
    size_t    length;
} ucp_tag_recv_info_t;

/**
 * An incoming active message, as seen by its handler; the library fills it and
 * it is valid during the call only.
 */
typedef struct ucp_am_recv_param {
    /** Valid fields and flags, bits of ucp_am_recv_attr_t. */
    uint64_t recv_attr;
    /**
     * Leads back to the sender; set if UCP_AM_RECV_ATTR_FIELD_REPLY_EP is.
     * Usable while the connection lasts; the application need not close it.
     */
    ucp_ep_h reply_ep;
} ucp_am_recv_param_t;

/* -------------------------------------------------------------------------
 * Callbacks
 *
 * Called from within the library, mostly from ucp_worker_progress(), on the
 * thread that called it. A callback may start operations, but must not make
 * progress (nor wait) on the same worker; it should return soon, as the worker
 * stands still meanwhile. A completion callback runs only for operations that
 * returned a request, and once for each.
 * ---------------------------------------------------------------------- */

/**
 * Prepares the application's part of a request. Runs when the library first
 * takes the memory into use, not at each reuse.
 *
 * @param request  the request, as operations will return it
 */
typedef void (*ucp_request_init_callback_t)(void *request);

/**
 * Undoes ucp_request_init_callback_t when the library gives the memory up,
 * which may be as late as ucp_worker_destroy().
 */
typedef void (*ucp_request_cleanup_callback_t)(void *request);

/**
 * A send, put, get, atomic, flush or close has completed: the local buffers
 * are the application's again.
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
 * The data of an active message, asked for with ucp_am_recv_data_nbx(), is in
 * its buffer. Parameters as in ucp_stream_recv_nbx_callback_t.
 */
typedef void (*ucp_am_recv_data_nbx_callback_t)(void *request,
                                                ucs_status_t status,
                                                size_t length, void *user_data);

/**
 * Handles an active message sent with ucp_am_send_nbx().
 *
 * Where @a data is depends on @a param->recv_attr:
 *
 * - no flag: the bytes, valid until the handler returns;
 * - UCP_AM_RECV_ATTR_FLAG_DATA: the bytes, which the handler may keep;
 * - UCP_AM_RECV_ATTR_FLAG_RNDV: not the bytes but a descriptor of data that is
 *   still at the sender; fetch it with ucp_am_recv_data_nbx(), from the
 *   handler or later.
 *
 * @param arg            ucp_am_handler_param_t::arg
 * @param header         the sender's header, not to be looked at if
 *                       @a header_length is 0; gone when the handler returns
 * @param header_length  bytes of header
 * @param data           see above
 * @param length         bytes of data; for a descriptor, the size of buffer
 *                       needed to fetch it
 * @param param          more about the message
 *
 * @return UCS_OK         done with @a data. A descriptor that was not fetched
 *                        is dropped and the sender sees success.
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
 * error, later ones fail at once with @a status; what remains to be done is to
 * close the endpoint with UCP_EP_CLOSE_FLAG_FORCE, here or later.
 *
 * @param arg     ucp_err_handler_t::arg, or the endpoint's user_data if set
 * @param ep      the endpoint that failed
 * @param status  why: UCS_ERR_ENDPOINT_TIMEOUT, UCS_ERR_CONNECTION_RESET,
 *                UCS_ERR_REJECTED, ...
 */
typedef void (*ucp_err_handler_cb_t)(void *arg, ucp_ep_h ep,
                                     ucs_status_t status);

/** What to call when the connection of an endpoint is lost. */
typedef struct ucp_err_handler {
    /** NULL: nothing is called. */
    ucp_err_handler_cb_t cb;
    /** Passed to @a cb unless the endpoint has user_data. */
    void                 *arg;
} ucp_err_handler_t;

/**
 * A client wants to connect. May be kept for later, but must be answered in
 * the end with ucp_ep_create() or ucp_listener_reject().
 *
 * @param conn_request  the client; the callee owns it now
 * @param arg           ucp_listener_conn_handler_t::arg
 */
typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request,
                                             void *arg);

/**
 * What a listener calls for each client. The endpoint may be created on any
 * worker of the application, not only on the listener's; the callback runs
 * under the thread rules of the listener's worker, so one that touches other
 * workers has to see to their locking itself.
 */
typedef struct ucp_listener_conn_handler {
    /** The function. */
    ucp_listener_conn_callback_t cb;
    /** Passed to @a cb. */
    void                         *arg;
} ucp_listener_conn_handler_t;

/* -------------------------------------------------------------------------
 * Callbacks of the deprecated functions in ucp_compat.h. They know no
 * user_data: what belongs to the operation lives in the request's own space
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

/** Bits of the @a flags that ucp_am_callback_t is given. */
enum ucp_cb_param_flags {
    /** The handler may keep the data by returning UCS_INPROGRESS. */
    UCP_CB_PARAM_FLAG_DATA = UCS_BIT(0)
};

/**
 * Handles an active message sent with ucp_am_send_nb().
 *
 * @param arg       as given to ucp_worker_set_am_handler()
 * @param data      the bytes received
 * @param length    how many
 * @param reply_ep  leads back to the sender; NULL unless it sent with
 *                  UCP_AM_SEND_FLAG_REPLY
 * @param flags     bits of ucp_cb_param_flags
 *
 * @return UCS_OK         done with @a data
 * @return UCS_INPROGRESS @a data stays valid until ucp_am_data_release();
 *                        allowed with UCP_CB_PARAM_FLAG_DATA only
 */
typedef ucs_status_t (*ucp_am_callback_t)(void *arg, void *data, size_t length,
                                          ucp_ep_h reply_ep, unsigned flags);

/**
 * A client has connected and the endpoint towards it exists. The callee owns
 * the endpoint.
 */
typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void *arg);

/** @} */

END_C_DECLS

#endif
