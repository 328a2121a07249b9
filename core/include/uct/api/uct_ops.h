/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that move data: active messages, put and get, atomics, tagged messages,
 * and functions that order and complete them. Part of uct.h, which has the
 * rules for all calls.
 *
 * These functions are the hot path: of the arguments they check only what a
 * few comparisons can check. Only interfaces with the corresponding
 * UCT_IFACE_FLAG_ERRHANDLE_xx check all sizes, identifiers and flags. An
 * operation whose UCT_IFACE_FLAG_xx is missing returns UCS_ERR_UNSUPPORTED.
 *
 * Statuses that every operation in this file may return:
 *   UCS_OK               done; the buffer is free, the completion is not used
 *   UCS_INPROGRESS       started; the buffer has to stay as it is until the
 *                        completion, if there is one, is called
 *   UCS_ERR_NO_RESOURCE  not started; try later, see uct_ep_pending_add()
 *   another error        not started; the endpoint may have failed
 * Short operations never return UCS_INPROGRESS. Zero-copy operations take an
 * array of iovcnt entries, in order; an array without entries means no data.
 */
#ifndef UCT_API_UCT_OPS_H_
#define UCT_API_UCT_OPS_H_

#include <uct/api/uct_def.h>

BEGIN_C_DECLS

/**
 * Records the status of an operation in the completion, which keeps the first
 * error.
 *
 * @param [in,out] comp    Completion.
 * @param [in]     status  Status of the operation.
 */
static UCS_F_ALWAYS_INLINE void
uct_completion_update_status(uct_completion_t *comp, ucs_status_t status)
{
    if ((status != UCS_OK) && (comp->status == UCS_OK)) {
        comp->status = status;
    }
}

/*
 * Receiving active messages.
 */

/** @addtogroup UCT_AM
 *  @{ */

/**
 * Sets the handler of active messages with an identifier. Each identifier has
 * one handler; a new one replaces it. Messages without a handler are dropped.
 *
 * @param [in] iface  Interface.
 * @param [in] id     Identifier, below UCT_AM_ID_MAX.
 * @param [in] cb     Handler, or NULL to remove it.
 * @param [in] arg    Its argument.
 * @param [in] flags  Bits of uct_cb_flags.
 *
 * @return UCS_ERR_INVALID_PARAM for an invalid identifier; UCS_ERR_UNSUPPORTED
 *         if the interface has no active messages, or does not support the
 *         flags.
 */
ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, uint8_t id,
                                      uct_am_callback_t cb, void *arg,
                                      uint32_t flags);

/**
 * Sets the function that describes active messages in the log. It is called
 * only if data tracing is enabled.
 *
 * @param [in] iface   Interface.
 * @param [in] tracer  Callback, or NULL to remove it.
 * @param [in] arg     Its argument.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the interface has no active messages
 */
ucs_status_t uct_iface_set_am_tracer(uct_iface_h iface, uct_am_tracer_t tracer,
                                     void *arg);

/** Releases a descriptor that a callback kept by returning UCS_INPROGRESS; desc
 *  is its start: the data pointer that the callback received, minus the
 *  rx_headroom with which the interface was opened. */
void uct_iface_release_desc(void *desc);

/*
 * Sending active messages.
 */

/**
 * Sends a header and a small payload; the receiver gets the two as one block.
 *
 * @param [in] ep       Endpoint.
 * @param [in] id       Identifier, below UCT_AM_ID_MAX.
 * @param [in] header   First 8 bytes of the message, in this host's byte order.
 * @param [in] payload  Rest of the message; may be NULL if length is 0.
 * @param [in] length   Length of the payload; including the header, at most
 *                      uct_iface_attr::cap.am.max_short.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length);

/**
 * Sends a small message from several buffers.
 *
 * @param [in] ep      Endpoint.
 * @param [in] id      Identifier, below UCT_AM_ID_MAX.
 * @param [in] iov     Buffers; stride, count and memh are ignored. Their total
 *                     length is at most uct_iface_attr::cap.am.max_short.
 * @param [in] iovcnt  Entries, at most uct_iface_attr::cap.am.max_iov.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt);

/**
 * Sends a message that a callback writes into the transport's buffer.
 *
 * @param [in] ep       Endpoint.
 * @param [in] id       Identifier, below UCT_AM_ID_MAX.
 * @param [in] pack_cb  Writes the message, at most
 *                      uct_iface_attr::cap.am.max_bcopy. Not called if the
 *                      message cannot be sent now.
 * @param [in] arg      Its argument.
 * @param [in] flags    Bits of uct_msg_flags.
 *
 * @return Bytes packed, or a negative ucs_status_t.
 */
ssize_t uct_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags);

/**
 * Sends a header, and data without copying it.
 *
 * @param [in] ep             Endpoint.
 * @param [in] id             Identifier, below UCT_AM_ID_MAX.
 * @param [in] header         First bytes of the message; may be reused after
 *                            the return.
 * @param [in] header_length  Length of the header, at most
 *                            uct_iface_attr::cap.am.max_hdr.
 * @param [in] iov            Rest of the message.
 * @param [in] iovcnt         Entries, at most uct_iface_attr::cap.am.max_iov.
 * @param [in] flags          Bits of uct_msg_flags.
 * @param [in] comp           Completion, used if the call returns
 *                            UCS_INPROGRESS; may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                             unsigned header_length, const uct_iov_t *iov,
                             size_t iovcnt, unsigned flags,
                             uct_completion_t *comp);

/** @} */

/*
 * Remote memory. remote_addr is the address at the peer, rkey its key from
 * uct_rkey_unpack(). When a put has completed, the local buffer may be reused;
 * a flush with UCT_FLUSH_FLAG_REMOTE completes when the data is in the remote
 * memory.
 */

/** @addtogroup UCT_RMA
 *  @{ */

/**
 * Writes a small block to remote memory.
 *
 * @param [in] ep           Endpoint.
 * @param [in] buffer       Data.
 * @param [in] length       Length in bytes, at most
 *                          uct_iface_attr::cap.put.max_short.
 * @param [in] remote_addr  Address of the destination at the peer.
 * @param [in] rkey         Remote key.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);

/**
 * Writes data to remote memory, which a callback packs into a buffer of the
 * transport.
 *
 * @param [in] ep           Endpoint.
 * @param [in] pack_cb      Writes the data, at most
 *                          uct_iface_attr::cap.put.max_bcopy.
 * @param [in] arg          Its argument.
 * @param [in] remote_addr  Address of the destination at the peer.
 * @param [in] rkey         Remote key.
 *
 * @return Bytes packed, or a negative ucs_status_t.
 */
ssize_t uct_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                         uint64_t remote_addr, uct_rkey_t rkey);

/**
 * Writes to remote memory without copying the data.
 *
 * @param [in] ep           Endpoint.
 * @param [in] iov          Data, in the order of the entries.
 * @param [in] iovcnt       Entries, at most uct_iface_attr::cap.put.max_iov.
 * @param [in] remote_addr  Address of the destination at the peer.
 * @param [in] rkey         Remote key.
 * @param [in] comp         Completion, used if the call returns UCS_INPROGRESS;
 *                          may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

/**
 * Reads a small block of remote memory. The buffer contains the data when the
 * call returns UCS_OK.
 *
 * @param [in]  ep           Endpoint.
 * @param [out] buffer       Buffer for the data.
 * @param [in]  length       Length in bytes, at most
 *                           uct_iface_attr::cap.get.max_short.
 * @param [in]  remote_addr  Address of the data at the peer.
 * @param [in]  rkey         Remote key.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_get_short(uct_ep_h ep, void *buffer, unsigned length,
                              uint64_t remote_addr, uct_rkey_t rkey);

/**
 * Reads remote memory and passes the data to a callback.
 *
 * @param [in] ep           Endpoint.
 * @param [in] unpack_cb    Receives the data, before the call returns or from
 *                          progress.
 * @param [in] arg          Its argument.
 * @param [in] length       Length in bytes, at most
 *                          uct_iface_attr::cap.get.max_bcopy.
 * @param [in] remote_addr  Address of the data at the peer.
 * @param [in] rkey         Remote key.
 * @param [in] comp         Completion, used after unpack_cb if the call returns
 *                          UCS_INPROGRESS; may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                              void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp);

/**
 * Reads remote memory into the caller's buffers without copying.
 *
 * @param [in] ep           Endpoint.
 * @param [in] iov          Buffers, filled in the order of the entries.
 * @param [in] iovcnt       Entries, at most uct_iface_attr::cap.get.max_iov.
 * @param [in] remote_addr  Address of the data at the peer.
 * @param [in] rkey         Remote key.
 * @param [in] comp         Completion, used if the call returns UCS_INPROGRESS;
 *                          may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                              uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp);

/** @} */

/*
 * Atomics on remote words of 32 or 64 bits in the target's byte order. The
 * address must be a multiple of the word's size. uct_iface_attr::cap.atomic32
 * and .atomic64 contain the supported operations.
 */

/** @addtogroup UCT_AMO
 *  @{ */

/**
 * Replaces the value of a 64-bit word if the word has the expected value.
 *
 * @param [in]  ep           Endpoint.
 * @param [in]  compare      Expected value.
 * @param [in]  swap         New value.
 * @param [in]  remote_addr  Address of the word at the peer.
 * @param [in]  rkey         Remote key.
 * @param [out] result       Old value; valid after UCS_OK or completion.
 * @param [in]  comp         Completion, used if the call returns
 *                           UCS_INPROGRESS; may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint64_t *result, uct_completion_t *comp);

/**
 * Like uct_ep_atomic_cswap64(), for a 32-bit word.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uint32_t *result, uct_completion_t *comp);

/**
 * Changes a 32-bit word without returning the old value.
 *
 * @param [in] ep           Endpoint.
 * @param [in] opcode       Operation, one of cap.atomic32.op_flags.
 * @param [in] value        Operand.
 * @param [in] remote_addr  Address of the word at the peer.
 * @param [in] rkey         Remote key.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                  uint32_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey);

/**
 * Like uct_ep_atomic32_post(), for a 64-bit word.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t opcode,
                                  uint64_t value, uint64_t remote_addr,
                                  uct_rkey_t rkey);

/**
 * Changes a 32-bit word and returns the old value.
 *
 * @param [in]  ep           Endpoint.
 * @param [in]  opcode       Operation, one of cap.atomic32.fop_flags.
 * @param [in]  value        Operand.
 * @param [out] result       Old value; valid after UCS_OK or completion.
 * @param [in]  remote_addr  Address of the word at the peer.
 * @param [in]  rkey         Remote key.
 * @param [in]  comp         Completion, used if the call returns
 *                           UCS_INPROGRESS; may be NULL.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint32_t value, uint32_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp);

/**
 * Like uct_ep_atomic32_fetch(), for a 64-bit word.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t opcode,
                                   uint64_t value, uint64_t *result,
                                   uint64_t remote_addr, uct_rkey_t rkey,
                                   uct_completion_t *comp);

/** @} */

/*
 * Tagged messages, where the transport matches tags (UCT_IFACE_FLAG_TAG_xx).
 * Eager messages carry their data with them; rendezvous announces the data, and
 * transfers it when a receive matches. Limits are in uct_iface_attr::cap.tag.
 */

/** @addtogroup UCT_TAG
 *  @{ */

/**
 * Sends a small tagged message. Its immediate value is 0.
 *
 * @param [in] ep      Endpoint.
 * @param [in] tag     Tag.
 * @param [in] data    Data.
 * @param [in] length  Length in bytes, at most cap.tag.eager.max_short.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if there are no send resources (see
 *         uct_ep_pending_add()); or another error. After an error nothing was
 *         started
 */
ucs_status_t uct_ep_tag_eager_short(uct_ep_h ep, uct_tag_t tag,
                                    const void *data, size_t length);

/**
 * Sends a tagged message that a callback packs.
 *
 * @param [in] ep       Endpoint.
 * @param [in] tag      Tag.
 * @param [in] imm      Immediate value, which the receiver gets with the
 *                      message.
 * @param [in] pack_cb  Writes the data, at most cap.tag.eager.max_bcopy.
 * @param [in] arg      Its argument.
 * @param [in] flags    Bits of uct_msg_flags.
 *
 * @return Bytes packed, or a negative ucs_status_t.
 */
ssize_t uct_ep_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                               uct_pack_callback_t pack_cb, void *arg,
                               unsigned flags);

/**
 * Sends a tagged message without copying the data.
 *
 * @param [in] ep      Endpoint.
 * @param [in] tag     Tag.
 * @param [in] imm     Immediate value, which the receiver gets with the
 *                     message.
 * @param [in] iov     Data; the total length is at most
 *                     cap.tag.eager.max_zcopy.
 * @param [in] iovcnt  Entries, at most cap.tag.eager.max_iov.
 * @param [in] flags   Bits of uct_msg_flags.
 * @param [in] comp    Completion, used when the peer has the data if the call
 *                     returns UCS_INPROGRESS.
 *
 * @return UCS_OK; UCS_INPROGRESS; UCS_ERR_NO_RESOURCE if there are no send
 *         resources (see uct_ep_pending_add()); or another error. After an
 *         error nothing was started
 */
ucs_status_t uct_ep_tag_eager_zcopy(uct_ep_h ep, uct_tag_t tag, uint64_t imm,
                                    const uct_iov_t *iov, size_t iovcnt,
                                    unsigned flags, uct_completion_t *comp);

/**
 * Announces a tagged message. The transport transfers the data when a posted
 * receive matches.
 *
 * @param [in] ep             Endpoint.
 * @param [in] tag            Tag.
 * @param [in] header         Header, which is passed to the receiver only if no
 *                            matching receive is posted when the announcement
 *                            arrives.
 * @param [in] header_length  Length of the header, at most
 *                            cap.tag.rndv.max_hdr.
 * @param [in] iov            Data; the total length is at most
 *                            cap.tag.rndv.max_zcopy.
 * @param [in] iovcnt         Entries, at most cap.tag.rndv.max_iov.
 * @param [in] flags          Bits of uct_msg_flags.
 * @param [in] comp           Completion, used when the peer has the data or when
 *                            its receive is too short; with an error if the
 *                            peer cannot get the data.
 *
 * @return A handle for uct_ep_tag_rndv_cancel(), valid until comp is used; or
 *         an error (UCS_PTR_IS_ERR).
 */
ucs_status_ptr_t uct_ep_tag_rndv_zcopy(uct_ep_h ep, uct_tag_t tag,
                                       const void *header,
                                       unsigned header_length,
                                       const uct_iov_t *iov, size_t iovcnt,
                                       unsigned flags, uct_completion_t *comp);

/**
 * Cancels a rendezvous that has not completed; its completion is not called.
 *
 * @param [in] ep  Endpoint.
 * @param [in] op  Handle of the rendezvous.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the transport does not match tags
 */
ucs_status_t uct_ep_tag_rndv_cancel(uct_ep_h ep, void *op);

/**
 * Announces a tagged message whose data is transferred by the users of both
 * interfaces, not by the transport.
 *
 * @param [in] ep             Endpoint.
 * @param [in] tag            Tag.
 * @param [in] header         Header for the receiver.
 * @param [in] header_length  Length of the header, at most
 *                            cap.tag.rndv.max_hdr.
 * @param [in] flags          Bits of uct_msg_flags.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE if nothing was sent; UCS_ERR_UNSUPPORTED
 *         if the transport does not match tags
 */
ucs_status_t uct_ep_tag_rndv_request(uct_ep_h ep, uct_tag_t tag,
                                     const void *header, unsigned header_length,
                                     unsigned flags);

/**
 * Posts a receive: a message whose tag equals the posted tag in the bits of the
 * mask is received directly into the buffer.
 *
 * @param [in]     iface     Interface.
 * @param [in]     tag       Tag.
 * @param [in]     tag_mask  Bits that are compared.
 * @param [in]     iov       Buffer.
 * @param [in]     iovcnt    Entries, at most cap.tag.recv.max_iov.
 * @param [in,out] ctx       Callbacks, and private state of the transport.
 *
 * @return UCS_OK if posted; UCS_ERR_EXCEEDS_LIMIT if
 *         cap.tag.recv.max_outstanding receives are posted already.
 */
ucs_status_t uct_iface_tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag,
                                      uct_tag_t tag_mask, const uct_iov_t *iov,
                                      size_t iovcnt, uct_tag_context_t *ctx);

/**
 * Cancels a posted receive. The cancellation needs no action of the peer.
 *
 * @param [in] iface  Interface.
 * @param [in] ctx    The receive.
 * @param [in] force  If 0, ctx->completed_cb is called: with UCS_ERR_CANCELED
 *                    if the receive was cancelled, with UCS_OK if a message was
 *                    received before. Otherwise the receive is cancelled at
 *                    once, and no callback is called.
 *
 * @return UCS_OK; UCS_ERR_UNSUPPORTED if the transport does not match tags;
 *         UCS_ERR_INVALID_PARAM
 */
ucs_status_t uct_iface_tag_recv_cancel(uct_iface_h iface,
                                       uct_tag_context_t *ctx, int force);

/** @} */

/*
 * Waiting for resources, completing and ordering.
 */

/** @addtogroup UCT_RESOURCE
 *  @{ */

/**
 * Queues a request, whose callback is called when the endpoint may have send
 * resources again. For use after UCS_ERR_NO_RESOURCE. Requests are called in
 * order.
 *
 * @param [in] ep     Endpoint.
 * @param [in] req    Request with func set. It belongs to the transport until
 *                    func returns UCS_OK or the queue is purged.
 * @param [in] flags  Bits of uct_cb_flags.
 *
 * @return UCS_OK if queued. UCS_ERR_BUSY if not, because there are resources
 *         now, or because the endpoint has failed: try the operation again,
 *         which returns the error then. Another error if the endpoint has
 *         failed: nothing is queued.
 */
ucs_status_t uct_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags);

/**
 * Empties an endpoint's queue of pending requests.
 *
 * @param [in] ep   Endpoint.
 * @param [in] cb   Receives each request, in order, before this returns.
 * @param [in] arg  Its argument.
 */
void uct_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg);

/**
 * Completes when all earlier operations of an endpoint are complete.
 *
 * @param [in]     ep     Endpoint.
 * @param [in]     flags  Bits of uct_flush_flags.
 * @param [in,out] comp   Completion, used if the call returns UCS_INPROGRESS.
 *                        With NULL, the call only checks the state.
 *
 * @return UCS_OK: no operation is outstanding. UCS_INPROGRESS: operations are
 *         outstanding. UCS_ERR_NO_RESOURCE: the flush itself cannot be started
 *         now, see uct_ep_pending_add().
 */
ucs_status_t uct_ep_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp);

/**
 * Orders operations of an endpoint: earlier operations are executed before
 * later operations. Does not wait.
 *
 * @param [in] ep     Endpoint.
 * @param [in] flags  0.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE: try again; UCS_ERR_UNSUPPORTED;
 *         UCS_ERR_INVALID_PARAM for unknown flags
 */
ucs_status_t uct_ep_fence(uct_ep_h ep, unsigned flags);

/**
 * Completes when all earlier operations of all endpoints of an interface are
 * complete.
 *
 * @param [in]     iface  Interface.
 * @param [in]     flags  UCT_FLUSH_FLAG_LOCAL.
 * @param [in,out] comp   As for uct_ep_flush().
 *
 * @return UCS_OK: no operation is outstanding. UCS_INPROGRESS: operations are
 *         outstanding.
 */
ucs_status_t uct_iface_flush(uct_iface_h iface, unsigned flags,
                             uct_completion_t *comp);

/**
 * Orders operations of an interface, on each of its endpoints. Does not wait.
 *
 * @param [in] iface  Interface.
 * @param [in] flags  0.
 *
 * @return UCS_OK; UCS_ERR_NO_RESOURCE: try again; UCS_ERR_UNSUPPORTED;
 *         UCS_ERR_INVALID_PARAM for unknown flags
 */
ucs_status_t uct_iface_fence(uct_iface_h iface, unsigned flags);

/** @} */

END_C_DECLS

#endif
