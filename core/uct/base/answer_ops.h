/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macros that define functions for the slots of a table of endpoint operations
 * (ucx_ep_ops_t), all of which only return a status. Each user of the macros
 * has a different status: UCS_ERR_UNSUPPORTED for slots that a plugin does not
 * fill, UCS_ERR_NO_RESOURCE while UCP connects an endpoint, and other errors
 * for lost or cancelled endpoints. The macros cover data transfers, atomics and
 * tag matching. The users write the functions for other slots (flush, pending
 * requests and so on).
 */
#ifndef UCT_ANSWER_OPS_H
#define UCT_ANSWER_OPS_H

#include "uct/base/iface.h"

/** Defines functions, named `_prefix`..., that return `_status`. */
#define UCT_ANSWER_OPS_DEFINE(_prefix, _status) \
    static ucs_status_t _prefix##_am_short(uct_ep_h ep, uint8_t id, \
                                           uint64_t header, \
                                           const void *payload, \
                                           unsigned length) \
    { \
        return _status; \
    } \
    static ssize_t _prefix##_am_bcopy(uct_ep_h ep, uint8_t id, \
                                      uct_pack_callback_t pack_cb, void *arg, \
                                      unsigned flags) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_am_zcopy(uct_ep_h ep, uint8_t id, \
                                           const void *header, \
                                           unsigned header_length, \
                                           const uct_iov_t *iov, \
                                           size_t iovcnt, unsigned flags, \
                                           uct_completion_t *comp) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_am_short_iov(uct_ep_h ep, uint8_t id, \
                                               const uct_iov_t *iov, \
                                               size_t iovcnt) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_put_short(uct_ep_h ep, const void *buffer, \
                                            unsigned length, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey) \
    { \
        return _status; \
    } \
    static ssize_t _prefix##_put_bcopy(uct_ep_h ep, \
                                       uct_pack_callback_t pack_cb, void *arg, \
                                       uint64_t remote_addr, uct_rkey_t rkey) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_rma_zcopy(uct_ep_h ep, const uct_iov_t *iov, \
                                            size_t iovcnt, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey, \
                                            uct_completion_t *comp) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_get_short(uct_ep_h ep, void *buffer, \
                                            unsigned length, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_get_bcopy(uct_ep_h ep, \
                                            uct_unpack_callback_t unpack_cb, \
                                            void *arg, size_t length, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey, \
                                            uct_completion_t *comp) \
    { \
        return _status; \
    } \
    UCT_ANSWER_OPS_DEFINE_ATOMICS(_prefix, _status, 32) \
    UCT_ANSWER_OPS_DEFINE_ATOMICS(_prefix, _status, 64)

/* Part of UCT_ANSWER_OPS_DEFINE(): atomics of _bits bits. */
#define UCT_ANSWER_OPS_DEFINE_ATOMICS(_prefix, _status, _bits) \
    static ucs_status_t _prefix##_atomic##_bits##_post(uct_ep_h ep, \
                                                       uct_atomic_op_t op, \
                                                       uint##_bits##_t value, \
                                                       uint64_t remote_addr, \
                                                       uct_rkey_t rkey) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_atomic##_bits##_fetch( \
        uct_ep_h ep, uct_atomic_op_t op, uint##_bits##_t value, \
        uint##_bits##_t *result, uint64_t remote_addr, uct_rkey_t rkey, \
        uct_completion_t *comp) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_atomic_cswap##_bits( \
        uct_ep_h ep, uint##_bits##_t compare, uint##_bits##_t swap, \
        uint64_t remote_addr, uct_rkey_t rkey, uint##_bits##_t *result, \
        uct_completion_t *comp) \
    { \
        return _status; \
    }

/** Defines the slots of hardware tag matching, which return `_status`. */
#define UCT_ANSWER_TAG_OPS_DEFINE(_prefix, _status) \
    static ucs_status_t _prefix##_tag_eager_short(uct_ep_h ep, uct_tag_t tag, \
                                                  const void *data, \
                                                  size_t length) \
    { \
        return _status; \
    } \
    static ssize_t _prefix##_tag_eager_bcopy(uct_ep_h ep, uct_tag_t tag, \
                                             uint64_t imm, \
                                             uct_pack_callback_t pack_cb, \
                                             void *arg, unsigned flags) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_tag_eager_zcopy( \
        uct_ep_h ep, uct_tag_t tag, uint64_t imm, const uct_iov_t *iov, \
        size_t iovcnt, unsigned flags, uct_completion_t *comp) \
    { \
        return _status; \
    } \
    static ucs_status_ptr_t _prefix##_tag_rndv_zcopy( \
        uct_ep_h ep, uct_tag_t tag, const void *header, \
        unsigned header_length, const uct_iov_t *iov, size_t iovcnt, \
        unsigned flags, uct_completion_t *comp) \
    { \
        return UCS_STATUS_PTR(_status); \
    } \
    static ucs_status_t _prefix##_tag_rndv_cancel(uct_ep_h ep, void *op) \
    { \
        return _status; \
    } \
    static ucs_status_t _prefix##_tag_rndv_request(uct_ep_h ep, uct_tag_t tag, \
                                                   const void *header, \
                                                   unsigned header_length, \
                                                   unsigned flags) \
    { \
        return _status; \
    }

/** Initializers of ucx_ep_ops_t for the functions that UCT_ANSWER_OPS_DEFINE()
 *  has defined with the same prefix. */
#define UCT_ANSWER_OPS(_prefix) \
    .am_short = _prefix##_am_short, .am_bcopy = _prefix##_am_bcopy, \
    .am_zcopy = _prefix##_am_zcopy, .am_short_iov = _prefix##_am_short_iov, \
    .put_short = _prefix##_put_short, .put_bcopy = _prefix##_put_bcopy, \
    .put_zcopy = _prefix##_rma_zcopy, .get_short = _prefix##_get_short, \
    .get_bcopy = _prefix##_get_bcopy, .get_zcopy = _prefix##_rma_zcopy, \
    .atomic32_post  = _prefix##_atomic32_post, \
    .atomic64_post  = _prefix##_atomic64_post, \
    .atomic32_fetch = _prefix##_atomic32_fetch, \
    .atomic64_fetch = _prefix##_atomic64_fetch, \
    .atomic_cswap32 = _prefix##_atomic_cswap32, \
    .atomic_cswap64 = _prefix##_atomic_cswap64

/** As UCT_ANSWER_OPS(), for UCT_ANSWER_TAG_OPS_DEFINE(). */
#define UCT_ANSWER_TAG_OPS(_prefix) \
    .tag_eager_short  = _prefix##_tag_eager_short, \
    .tag_eager_bcopy  = _prefix##_tag_eager_bcopy, \
    .tag_eager_zcopy  = _prefix##_tag_eager_zcopy, \
    .tag_rndv_zcopy   = _prefix##_tag_rndv_zcopy, \
    .tag_rndv_cancel  = _prefix##_tag_rndv_cancel, \
    .tag_rndv_request = _prefix##_tag_rndv_request

#endif
