/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of the functions of an interface and of its endpoints. For programs
 * that store or replace such functions. The plugin ABI (<ucx/transport.h>)
 * defines how this library finds a transport's functions.
 */
#ifndef UCT_API_TL_H_
#define UCT_API_TL_H_

#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <uct/api/uct_iface_def.h>

BEGIN_C_DECLS

/** @addtogroup UCT_RESOURCE
 *  @{ */

/** The structures to which handles point; opaque for programs. */
typedef struct uct_iface uct_iface_t;
typedef struct uct_ep uct_ep_t;
typedef struct uct_listener uct_listener_t;
typedef struct uct_worker uct_worker_t;

/** Types of functions. The name and the contract of a type are those of the
 *  function that uct.h, or a header that it includes, declares:
 *  uct_ep_flush_func_t is the type of uct_ep_flush(). Only the type of
 *  uct_cm_client_ep_conn_notify() is named uct_cm_ep_conn_notify_func_t. */
typedef ucs_status_t (*uct_cm_ep_conn_notify_func_t)(uct_ep_h ep);
typedef ssize_t (*uct_ep_am_bcopy_func_t)(uct_ep_h ep, uint8_t id,
                                          uct_pack_callback_t pack_cb,
                                          void *arg, unsigned flags);
typedef ucs_status_t (*uct_ep_am_short_func_t)(uct_ep_h ep, uint8_t id,
                                               uint64_t header,
                                               const void *payload,
                                               unsigned length);
typedef ucs_status_t (*uct_ep_am_short_iov_func_t)(uct_ep_h ep, uint8_t id,
                                                   const uct_iov_t *iov,
                                                   size_t iovcnt);
typedef ucs_status_t (*uct_ep_am_zcopy_func_t)(uct_ep_h ep, uint8_t id,
                                               const void *header,
                                               unsigned header_length,
                                               const uct_iov_t *iov,
                                               size_t iovcnt, unsigned flags,
                                               uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_atomic32_fetch_func_t)(
    uct_ep_h ep, uct_atomic_op_t opcode, uint32_t value, uint32_t *result,
    uint64_t remote_addr, uct_rkey_t rkey, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_atomic32_post_func_t)(uct_ep_h ep,
                                                    uct_atomic_op_t opcode,
                                                    uint32_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);
typedef ucs_status_t (*uct_ep_atomic64_fetch_func_t)(
    uct_ep_h ep, uct_atomic_op_t opcode, uint64_t value, uint64_t *result,
    uint64_t remote_addr, uct_rkey_t rkey, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_atomic64_post_func_t)(uct_ep_h ep,
                                                    uct_atomic_op_t opcode,
                                                    uint64_t value,
                                                    uint64_t remote_addr,
                                                    uct_rkey_t rkey);
typedef ucs_status_t (*uct_ep_atomic_cswap32_func_t)(
    uct_ep_h ep, uint32_t compare, uint32_t swap, uint64_t remote_addr,
    uct_rkey_t rkey, uint32_t *result, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_atomic_cswap64_func_t)(
    uct_ep_h ep, uint64_t compare, uint64_t swap, uint64_t remote_addr,
    uct_rkey_t rkey, uint64_t *result, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_check_func_t)(const uct_ep_h ep, unsigned flags,
                                            uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_connect_func_t)(
    uct_ep_h ep, const uct_ep_connect_params_t *params);
typedef ucs_status_t (*uct_ep_connect_to_ep_func_t)(
    uct_ep_h ep, const uct_device_addr_t *dev_addr,
    const uct_ep_addr_t *ep_addr);
typedef ucs_status_t (*uct_ep_create_func_t)(const uct_ep_params_t *params,
                                             uct_ep_h *ep_p);
typedef void (*uct_ep_destroy_func_t)(uct_ep_h ep);
typedef ucs_status_t (*uct_ep_disconnect_func_t)(uct_ep_h ep, unsigned flags);
typedef ucs_status_t (*uct_ep_fence_func_t)(uct_ep_h ep, unsigned flags);
typedef ucs_status_t (*uct_ep_flush_func_t)(uct_ep_h ep, unsigned flags,
                                            uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_get_address_func_t)(uct_ep_h ep,
                                                  uct_ep_addr_t *addr);
typedef ucs_status_t (*uct_ep_get_bcopy_func_t)(
    uct_ep_h ep, uct_unpack_callback_t unpack_cb, void *arg, size_t length,
    uint64_t remote_addr, uct_rkey_t rkey, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_get_short_func_t)(uct_ep_h ep, void *buffer,
                                                unsigned length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);
typedef ucs_status_t (*uct_ep_get_zcopy_func_t)(
    uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt, uint64_t remote_addr,
    uct_rkey_t rkey, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_pending_add_func_t)(uct_ep_h ep,
                                                  uct_pending_req_t *req,
                                                  unsigned flags);
typedef void (*uct_ep_pending_purge_func_t)(uct_ep_h ep,
                                            uct_pending_purge_callback_t cb,
                                            void *arg);
typedef ssize_t (*uct_ep_put_bcopy_func_t)(uct_ep_h ep,
                                           uct_pack_callback_t pack_cb,
                                           void *arg, uint64_t remote_addr,
                                           uct_rkey_t rkey);
typedef ucs_status_t (*uct_ep_put_short_func_t)(uct_ep_h ep, const void *buffer,
                                                unsigned length,
                                                uint64_t remote_addr,
                                                uct_rkey_t rkey);
typedef ucs_status_t (*uct_ep_put_zcopy_func_t)(
    uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt, uint64_t remote_addr,
    uct_rkey_t rkey, uct_completion_t *comp);
typedef ssize_t (*uct_ep_tag_eager_bcopy_func_t)(uct_ep_h ep, uct_tag_t tag,
                                                 uint64_t imm,
                                                 uct_pack_callback_t pack_cb,
                                                 void *arg, unsigned flags);
typedef ucs_status_t (*uct_ep_tag_eager_short_func_t)(uct_ep_h ep,
                                                      uct_tag_t tag,
                                                      const void *data,
                                                      size_t length);
typedef ucs_status_t (*uct_ep_tag_eager_zcopy_func_t)(
    uct_ep_h ep, uct_tag_t tag, uint64_t imm, const uct_iov_t *iov,
    size_t iovcnt, unsigned flags, uct_completion_t *comp);
typedef ucs_status_t (*uct_ep_tag_rndv_cancel_func_t)(uct_ep_h ep, void *op);
typedef ucs_status_t (*uct_ep_tag_rndv_request_func_t)(uct_ep_h ep,
                                                       uct_tag_t tag,
                                                       const void *header,
                                                       unsigned header_length,
                                                       unsigned flags);
typedef ucs_status_ptr_t (*uct_ep_tag_rndv_zcopy_func_t)(
    uct_ep_h ep, uct_tag_t tag, const void *header, unsigned header_length,
    const uct_iov_t *iov, size_t iovcnt, unsigned flags,
    uct_completion_t *comp);
typedef ucs_status_t (*uct_iface_accept_func_t)(
    uct_iface_h iface, uct_conn_request_h conn_request);
typedef void (*uct_iface_close_func_t)(uct_iface_h iface);
typedef ucs_status_t (*uct_iface_event_arm_func_t)(uct_iface_h iface,
                                                   unsigned events);
typedef ucs_status_t (*uct_iface_event_fd_get_func_t)(uct_iface_h iface,
                                                      int *fd_p);
typedef ucs_status_t (*uct_iface_fence_func_t)(uct_iface_h iface,
                                               unsigned flags);
typedef ucs_status_t (*uct_iface_flush_func_t)(uct_iface_h iface,
                                               unsigned flags,
                                               uct_completion_t *comp);
typedef ucs_status_t (*uct_iface_get_address_func_t)(uct_iface_h iface,
                                                     uct_iface_addr_t *addr);
typedef ucs_status_t (*uct_iface_get_device_address_func_t)(
    uct_iface_h iface, uct_device_addr_t *addr);
typedef int (*uct_iface_is_reachable_func_t)(
    const uct_iface_h iface, const uct_device_addr_t *dev_addr,
    const uct_iface_addr_t *iface_addr);
typedef void (*uct_iface_progress_disable_func_t)(uct_iface_h iface,
                                                  unsigned flags);
typedef void (*uct_iface_progress_enable_func_t)(uct_iface_h iface,
                                                 unsigned flags);
typedef unsigned (*uct_iface_progress_func_t)(uct_iface_h iface);
typedef ucs_status_t (*uct_iface_query_func_t)(uct_iface_h iface,
                                               uct_iface_attr_t *iface_attr);
typedef ucs_status_t (*uct_iface_reject_func_t)(
    uct_iface_h iface, uct_conn_request_h conn_request);
typedef ucs_status_t (*uct_iface_tag_recv_cancel_func_t)(uct_iface_h iface,
                                                         uct_tag_context_t *ctx,
                                                         int force);
typedef ucs_status_t (*uct_iface_tag_recv_zcopy_func_t)(
    uct_iface_h iface, uct_tag_t tag, uct_tag_t tag_mask, const uct_iov_t *iov,
    size_t iovcnt, uct_tag_context_t *ctx);

/** A table of functions: the function of an interface or endpoint for each of
 *  the types above. */
typedef struct uct_iface_ops {
    /** A member has the name of its type without "uct_" and "_func_t". */
    /** @{ */
    uct_cm_ep_conn_notify_func_t cm_ep_conn_notify;
    uct_ep_am_bcopy_func_t ep_am_bcopy;
    uct_ep_am_short_func_t ep_am_short;
    uct_ep_am_short_iov_func_t ep_am_short_iov;
    uct_ep_am_zcopy_func_t ep_am_zcopy;
    uct_ep_atomic32_fetch_func_t ep_atomic32_fetch;
    uct_ep_atomic32_post_func_t ep_atomic32_post;
    uct_ep_atomic64_fetch_func_t ep_atomic64_fetch;
    uct_ep_atomic64_post_func_t ep_atomic64_post;
    uct_ep_atomic_cswap32_func_t ep_atomic_cswap32;
    uct_ep_atomic_cswap64_func_t ep_atomic_cswap64;
    uct_ep_check_func_t ep_check;
    uct_ep_connect_func_t ep_connect;
    uct_ep_connect_to_ep_func_t ep_connect_to_ep;
    uct_ep_create_func_t ep_create;
    uct_ep_destroy_func_t ep_destroy;
    uct_ep_disconnect_func_t ep_disconnect;
    uct_ep_fence_func_t ep_fence;
    uct_ep_flush_func_t ep_flush;
    uct_ep_get_address_func_t ep_get_address;
    uct_ep_get_bcopy_func_t ep_get_bcopy;
    uct_ep_get_short_func_t ep_get_short;
    uct_ep_get_zcopy_func_t ep_get_zcopy;
    uct_ep_pending_add_func_t ep_pending_add;
    uct_ep_pending_purge_func_t ep_pending_purge;
    uct_ep_put_bcopy_func_t ep_put_bcopy;
    uct_ep_put_short_func_t ep_put_short;
    uct_ep_put_zcopy_func_t ep_put_zcopy;
    uct_ep_tag_eager_bcopy_func_t ep_tag_eager_bcopy;
    uct_ep_tag_eager_short_func_t ep_tag_eager_short;
    uct_ep_tag_eager_zcopy_func_t ep_tag_eager_zcopy;
    uct_ep_tag_rndv_cancel_func_t ep_tag_rndv_cancel;
    uct_ep_tag_rndv_request_func_t ep_tag_rndv_request;
    uct_ep_tag_rndv_zcopy_func_t ep_tag_rndv_zcopy;
    uct_iface_accept_func_t iface_accept;
    uct_iface_close_func_t iface_close;
    uct_iface_event_arm_func_t iface_event_arm;
    uct_iface_event_fd_get_func_t iface_event_fd_get;
    uct_iface_fence_func_t iface_fence;
    uct_iface_flush_func_t iface_flush;
    uct_iface_get_address_func_t iface_get_address;
    uct_iface_get_device_address_func_t iface_get_device_address;
    uct_iface_is_reachable_func_t iface_is_reachable;
    uct_iface_progress_disable_func_t iface_progress_disable;
    uct_iface_progress_enable_func_t iface_progress_enable;
    uct_iface_progress_func_t iface_progress;
    uct_iface_query_func_t iface_query;
    uct_iface_reject_func_t iface_reject;
    uct_iface_tag_recv_cancel_func_t iface_tag_recv_cancel;
    uct_iface_tag_recv_zcopy_func_t iface_tag_recv_zcopy;
    /** @} */
} uct_iface_ops_t;

/** Object that releases descriptors; see uct_recv_desc below. */
typedef struct uct_recv_desc uct_recv_desc_t;

/**
 * Releases a descriptor that a callback has kept.
 *
 * @param self  Object to which the descriptor belongs.
 * @param desc  The descriptor.
 */
typedef void (*uct_desc_release_callback_t)(uct_recv_desc_t *self, void *desc);

/** Object that releases descriptors. The callback receives this structure. */
struct uct_recv_desc {
    uct_desc_release_callback_t cb; /**< releases the descriptor */
};

/** The object that releases the descriptor _desc. A pointer to the object
 *  precedes each descriptor that a callback may keep. */
#define uct_recv_desc(_desc) (((uct_recv_desc_t **)(_desc))[-1])

/** Begins the declaration of an inline function in a header. */
#define UCT_INLINE_API static UCS_F_ALWAYS_INLINE

/** @} */

END_C_DECLS

#endif
