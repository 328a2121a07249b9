/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deprecated functions of UCP, for existing programs. Each names its
 * replacement. New code needs ucp.h only, which includes this file.
 *
 * Common rules: where a function returns ucs_status_ptr_t, the result is as
 * described at the top of ucp.h, and a returned request is released with
 * ucp_request_free(). A callback @a cb must not be NULL unless stated.
 */
#ifndef UCP_API_UCP_COMPAT_H
#define UCP_API_UCP_COMPAT_H

#include <ucp/api/ucp_def.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#include <stddef.h>
#include <stdint.h>

BEGIN_C_DECLS

/** @addtogroup UCP_COMPAT
 *  @{ */

/* -------------------------------------------------------------------------
 * Listener
 * ---------------------------------------------------------------------- */

/**
 * Handler of a listener that is called after the library has created the
 * endpoint on the listener's worker.
 * @deprecated ucp_listener_conn_handler_t, which lets the application select
 * the worker and the parameters, or reject the client.
 */
typedef struct ucp_listener_accept_handler {
    /** The function. */
    ucp_listener_accept_callback_t cb;
    /** Passed to @a cb. */
    void *arg;
} ucp_listener_accept_handler_t;

/* -------------------------------------------------------------------------
 * Worker
 * ---------------------------------------------------------------------- */

/**
 * Returns the address of a worker; release it by ucp_worker_release_address().
 * @deprecated ucp_worker_query() with UCP_WORKER_ATTR_FIELD_ADDRESS.
 *
 * @param address_p         receives the address
 * @param address_length_p  receives its length in bytes
 * @return UCS_OK, or an error such as UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                    ucp_address_t **address_p,
                                    size_t *address_length_p) UCS_DEPRECATED;

/**
 * Makes progress until all puts, gets and atomics issued on the worker
 * are complete at both sides.
 * @deprecated ucp_worker_flush_nbx().
 *
 * @return UCS_OK, or the error of the flush
 */
ucs_status_t ucp_worker_flush(ucp_worker_h worker) UCS_DEPRECATED;

/**
 * As ucp_worker_flush_nbx().
 * @deprecated ucp_worker_flush_nbx().
 *
 * @param flags  0
 * @param cb     called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags,
                                     ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Sets the handler of active messages that ucp_am_send_nb() sends with an id.
 * Messages of ucp_am_send_nbx() need a handler that is set by
 * ucp_worker_set_am_recv_handler().
 * @deprecated ucp_worker_set_am_recv_handler().
 *
 * @param id     the id of the messages
 * @param cb     the handler; NULL removes it
 * @param arg    passed to @a cb
 * @param flags  0 or UCP_AM_FLAG_WHOLE_MSG
 * @return UCS_OK; UCS_ERR_INVALID_PARAM if the context lacks UCP_FEATURE_AM
 *         or @a flags are unknown
 */
ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id,
                                       ucp_am_callback_t cb, void *arg,
                                       uint32_t flags) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Endpoint
 * ---------------------------------------------------------------------- */

/**
 * How ucp_ep_close_nb() closes.
 * @deprecated ucp_ep_close_flags_t.
 */
enum ucp_ep_close_mode {
    /**
     * Close at once, without the peer's agreement; operations in flight end
     * with UCS_ERR_CANCELED. Both sides should use UCP_ERR_HANDLING_MODE_PEER,
     * because the peer sees a lost connection.
     */
    UCP_EP_CLOSE_MODE_FORCE = 0,
    /** After all operations issued before have completed. */
    UCP_EP_CLOSE_MODE_FLUSH = 1,
};

/**
 * Closes an endpoint, which must not be used afterwards, even if an error is
 * returned.
 * @deprecated ucp_ep_close_nbx().
 *
 * @param mode  one of ucp_ep_close_mode
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode) UCS_DEPRECATED;

/**
 * Closes an endpoint as ucp_ep_close_nb() with UCP_EP_CLOSE_MODE_FLUSH does.
 * @deprecated ucp_ep_close_nbx().
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep) UCS_DEPRECATED;

/**
 * Closes an endpoint as ucp_disconnect_nb() does, and makes progress until the
 * close is complete.
 * @deprecated ucp_ep_close_nbx().
 */
void ucp_ep_destroy(ucp_ep_h ep) UCS_DEPRECATED;

/**
 * Makes progress until all puts, gets and atomics issued on the
 * endpoint are complete at both sides.
 * @deprecated ucp_ep_flush_nbx().
 *
 * @return UCS_OK, or the error of the flush
 */
ucs_status_t ucp_ep_flush(ucp_ep_h ep) UCS_DEPRECATED;

/**
 * As ucp_ep_flush_nbx().
 * @deprecated ucp_ep_flush_nbx().
 *
 * @param flags  0
 * @param cb     called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags,
                                 ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Changes the parameters of an endpoint. Mostly used to set the user_data and
 * the error handler of an endpoint that ucp_listener_accept_callback_t
 * received. On failure nothing changes.
 * @deprecated Accept with ucp_listener_conn_handler_t and give the parameters
 *             to ucp_ep_create().
 *
 * @param params  what to change. The peer and the error handling mode cannot be
 *                changed: UCS_ERR_INVALID_PARAM.
 *
 * @return NULL if the endpoint is changed, or UCS_ERR_INVALID_PARAM or
 *         UCS_ERR_NO_MEMORY as a pointer
 */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep,
                                  const ucp_ep_params_t *params) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Requests
 * ---------------------------------------------------------------------- */

/**
 * Always returns NULL.
 * @deprecated Any memory serves as a request: see UCP_OP_ATTR_FIELD_REQUEST.
 *
 * @return NULL
 */
void *ucp_request_alloc(ucp_worker_h worker) UCS_DEPRECATED;

/**
 * Checks whether a request has completed.
 * @deprecated ucp_request_check_status().
 *
 * @return 1 if the operation is complete, else 0
 */
int ucp_request_is_completed(void *request) UCS_DEPRECATED;

/**
 * As ucp_tag_recv_request_test().
 * @deprecated ucp_request_check_status(), or ucp_tag_recv_request_test() if
 *             @a info is needed.
 *
 * @return The status of the operation, or UCS_INPROGRESS
 */
ucs_status_t ucp_request_test(void *request,
                              ucp_tag_recv_info_t *info) UCS_DEPRECATED;

/**
 * Releases the request: the library may reuse it when the operation has
 * completed. Unlike after ucp_request_free(), the callback is still called.
 *
 * @deprecated ucp_request_free().
 */
void ucp_request_release(void *request) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Memory
 * ---------------------------------------------------------------------- */

/**
 * Packs the remote key of a mapped segment for a peer.
 * @deprecated ucp_memh_pack().
 *
 * @param rkey_buffer_p  receives the bytes; release them by
 *                       ucp_rkey_buffer_release()
 * @param size_p         receives the number of bytes
 * @return UCS_OK, or an error such as UCS_ERR_NO_MEMORY
 */
ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh,
                           void **rkey_buffer_p, size_t *size_p) UCS_DEPRECATED;

/**
 * Releases what ucp_rkey_pack() returned, and nothing else.
 * @deprecated ucp_memh_buffer_release().
 */
void ucp_rkey_buffer_release(void *rkey_buffer) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Active messages
 * ---------------------------------------------------------------------- */

/**
 * Sends an active message without a header, from host memory.
 * @deprecated ucp_am_send_nbx().
 *
 * @param id        selects the handler at the receiver; see
 *                  ucp_worker_set_am_handler()
 * @param buffer    the data; do not change it until completion
 * @param count     number of elements
 * @param datatype  layout of an element
 * @param cb        called on completion if a request was returned
 * @param flags     bits of ucp_send_am_flags
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer,
                                size_t count, ucp_datatype_t datatype,
                                ucp_send_callback_t cb,
                                unsigned flags) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Stream
 * ---------------------------------------------------------------------- */

/**
 * Appends to the stream towards a peer.
 * @deprecated ucp_stream_send_nbx().
 *
 * @param buffer    the data; do not change it until completion
 * @param count     number of elements
 * @param datatype  layout of an element
 * @param cb        called on completion if a request was returned
 * @param flags     0
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void *buffer,
                                    size_t count, ucp_datatype_t datatype,
                                    ucp_send_callback_t cb,
                                    unsigned flags) UCS_DEPRECATED;

/**
 * Receives from the stream of a peer.
 * @deprecated ucp_stream_recv_nbx().
 *
 * @param buffer    where to put the data
 * @param count     number of elements that fit
 * @param datatype  layout of an element
 * @param cb        called on completion if a request was returned
 * @param length    on immediate completion: bytes received, a whole number of
 *                  elements
 * @param flags     bits of ucp_stream_recv_flags_t
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void *buffer, size_t count,
                                    ucp_datatype_t datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length,
                                    unsigned flags) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Tagged messages
 *
 * The `_nbr` functions take memory for the request from the caller: @a req is
 * the END of at least ucp_context_attr_t::request_size bytes. Check the
 * completion by ucp_request_check_status(); such a request is not released.
 * ---------------------------------------------------------------------- */

/**
 * Sends a tagged message.
 * @deprecated ucp_tag_send_nbx().
 *
 * @param buffer    the data; do not change it until completion
 * @param count     number of elements
 * @param datatype  layout of an element
 * @param tag       the tag of the message
 * @param cb        called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag,
                                 ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Sends a tagged message with the caller's request. For senders that wait for
 * the completion at once. There is no callback. Sends with
 * UCP_OP_ATTR_FLAG_FAST_CMPL: the send of less than UCX_RNDV_SEND_NBR_THRESH
 * bytes does not wait for the receive.
 * @deprecated ucp_tag_send_nbx() with UCP_OP_ATTR_FIELD_REQUEST.
 *
 * @return UCS_OK          complete; @a req is not in use
 * @return UCS_INPROGRESS  in progress; check @a req
 * @return an error        not sent
 */
ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag,
                              void *req) UCS_DEPRECATED;

/**
 * Sends a tagged message; completes once a receive has matched it. Always
 * returns a request or an error.
 * @deprecated ucp_tag_send_sync_nbx().
 *
 * @return A request, or an error as a pointer
 */
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer,
                                      size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag,
                                      ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Receives a tagged message. Always returns a request or an error; @a cb may
 * run before the function returns.
 * @deprecated ucp_tag_recv_nbx().
 *
 * @param buffer    where to put the data
 * @param count     number of elements that fit
 * @param datatype  layout of an element
 * @param tag       the tag to match
 * @param tag_mask  the bits of the tag to compare
 * @param cb        called on completion
 *
 * @return A request, or an error as a pointer
 */
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer,
                                 size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb) UCS_DEPRECATED;

/**
 * Receives a tagged message with the caller's request.
 * @deprecated ucp_tag_recv_nbx() with UCP_OP_ATTR_FIELD_REQUEST.
 *
 * @return UCS_OK if the receive was posted or is complete: check @a req by
 *         ucp_tag_recv_request_test(). Otherwise an error.
 */
ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag,
                              ucp_tag_t tag_mask, void *req) UCS_DEPRECATED;

/**
 * Receives a message that ucp_tag_probe_nb() has removed from the queue.
 * @deprecated ucp_tag_msg_recv_nbx().
 *
 * @return A request, or an error as a pointer
 */
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer,
                                     size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h message,
                                     ucp_tag_recv_callback_t cb) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Put and get
 *
 * @a length is in bytes; @a remote_addr is in the segment of @a rkey, which
 * was unpacked on @a ep. ucp_put_nbi() and ucp_get_nbi() return no request:
 * they return UCS_OK or UCS_INPROGRESS, and a flush is necessary to know when
 * the local buffer can be reused or contains the data.
 * ---------------------------------------------------------------------- */

/**
 * Writes to a peer's memory; makes progress until @a buffer may be used again.
 * @deprecated ucp_put_nbx().
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Writes to a peer's memory without a request.
 * @deprecated ucp_put_nbx() without a callback, and release the request at
 * once.
 *
 * @return UCS_OK if the operation is complete, UCS_INPROGRESS if it is in
 *         progress, or an error
 */
ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Writes to a peer's memory; completes when @a buffer may be used again.
 * @deprecated ucp_put_nbx().
 *
 * @param cb  called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Reads from a peer's memory; makes progress until @a buffer contains the data.
 * @deprecated ucp_get_nbx().
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_get(ucp_ep_h ep, void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Reads from a peer's memory without a request.
 * @deprecated ucp_get_nbx() without a callback, and release the request at
 * once.
 *
 * @return UCS_OK if the operation is complete, UCS_INPROGRESS if it is in
 *         progress, or an error
 */
ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Reads from a peer's memory; completes when @a buffer holds the data.
 * @deprecated ucp_get_nbx().
 *
 * @param cb  called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb) UCS_DEPRECATED;

/* -------------------------------------------------------------------------
 * Atomics
 *
 * The remote address is aligned to the size of the operand, 4 or 8 bytes. The
 * functions with a @a result make progress until it contains the old remote
 * value.
 * ---------------------------------------------------------------------- */

/**
 * Atomic operations without a result.
 * @deprecated ucp_atomic_op_t.
 */
typedef enum {
    UCP_ATOMIC_POST_OP_ADD,
    UCP_ATOMIC_POST_OP_AND,
    UCP_ATOMIC_POST_OP_OR,
    UCP_ATOMIC_POST_OP_XOR,
    /** Number of operations; not an operation. */
    UCP_ATOMIC_POST_OP_LAST,
} ucp_atomic_post_op_t;

/**
 * Atomic operations that return the old remote value.
 * @deprecated ucp_atomic_op_t.
 */
typedef enum {
    UCP_ATOMIC_FETCH_OP_FADD,
    UCP_ATOMIC_FETCH_OP_SWAP,
    UCP_ATOMIC_FETCH_OP_CSWAP,
    UCP_ATOMIC_FETCH_OP_FAND,
    UCP_ATOMIC_FETCH_OP_FOR,
    UCP_ATOMIC_FETCH_OP_FXOR,
    /** Number of operations; not an operation. */
    UCP_ATOMIC_FETCH_OP_LAST,
} ucp_atomic_fetch_op_t;

/**
 * Issues an atomic operation without a result; it is complete after a flush.
 * @deprecated ucp_atomic_op_nbx() without UCP_OP_ATTR_FIELD_REPLY_BUFFER.
 *
 * @param value    the operand
 * @param op_size  size of the operand in bytes, 4 or 8
 * @return UCS_OK or UCS_INPROGRESS when issued, else an error
 */
ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode,
                             uint64_t value, size_t op_size,
                             uint64_t remote_addr,
                             ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Issues an atomic operation that fetches the old value.
 * @deprecated ucp_atomic_op_nbx() with UCP_OP_ATTR_FIELD_REPLY_BUFFER.
 *
 * @param value    the operand; for CSWAP: what the remote value must equal
 * @param result   receives the old remote value; for CSWAP it initially
 *                 contains the value to store. Do not access it until
 *                 completion.
 * @param op_size  size in bytes of operand and result, 4 or 8
 * @param cb       called on completion if a request was returned
 *
 * @return NULL if the operation is complete, a request if it is in progress, or
 *         an error as a pointer
 */
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode,
                                     uint64_t value, void *result,
                                     size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey,
                                     ucp_send_callback_t cb) UCS_DEPRECATED;

/**
 * Adds to a 32-bit integer. Makes progress until the operation is sent; it is
 * complete at the peer after a flush.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_ADD.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Adds to a 64-bit integer. Makes progress until the operation is sent; it is
 * complete at the peer after a flush.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_ADD.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey) UCS_DEPRECATED;

/**
 * Adds to a 32-bit integer and fetches the old value.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_ADD.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result) UCS_DEPRECATED;

/**
 * Adds to a 64-bit integer and fetches the old value.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_ADD.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result) UCS_DEPRECATED;

/**
 * Replaces a 32-bit value and fetches the old one.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_SWAP.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint32_t *result) UCS_DEPRECATED;

/**
 * Replaces a 64-bit value and fetches the old one.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_SWAP.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey,
                               uint64_t *result) UCS_DEPRECATED;

/**
 * Replaces a 32-bit value by @a swap if it equals @a compare; fetches the old
 * value in both cases.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_CSWAP.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint32_t *result) UCS_DEPRECATED;

/**
 * Replaces a 64-bit value by @a swap if it equals @a compare; fetches the old
 * value in both cases.
 * @deprecated ucp_atomic_op_nbx() with UCP_ATOMIC_OP_CSWAP.
 *
 * @return UCS_OK, or an error
 */
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint64_t *result) UCS_DEPRECATED;

/** @} */

END_C_DECLS

#endif
