/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct access to remote memory: loads, stores and atomics on a mapping of the
 * owner's segment. The operation is complete when its function returns; the
 * endpoint is not used. Each function implements the slot of ucx_ep_ops_t with
 * its name after the prefix shm_.
 *
 * Errors: UCS_ERR_INVALID_ADDR for a range outside the key's memory, and for an
 * atomic whose word is not aligned; UCS_ERR_UNSUPPORTED for an atomic operation
 * that the function does not have.
 */
#ifndef SHM_ACCESS_H
#define SHM_ACCESS_H

#include "plugin.h"

enum {
    /** Limit of put_bcopy in bytes. The length that a pack callback writes is
     *  not known before the call. Therefore shm_put_bcopy() packs into a
     *  temporary buffer if less than this limit is left until the end of the
     *  key's memory. */
    SHM_PUT_BCOPY_MAX = 8192,
};

ucs_status_t shm_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                           uint64_t remote_addr, uct_rkey_t rkey);
ssize_t shm_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                      uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t shm_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                           uint64_t remote_addr, uct_rkey_t rkey,
                           uct_completion_t *comp);
ucs_status_t shm_get_short(uct_ep_h ep, void *buffer, unsigned length,
                           uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t shm_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                           void *arg, size_t length, uint64_t remote_addr,
                           uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t shm_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                           uint64_t remote_addr, uct_rkey_t rkey,
                           uct_completion_t *comp);

ucs_status_t shm_atomic32_post(uct_ep_h ep, uct_atomic_op_t op, uint32_t value,
                               uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t shm_atomic64_post(uct_ep_h ep, uct_atomic_op_t op, uint64_t value,
                               uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t shm_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op, uint32_t value,
                                uint32_t *result, uint64_t remote_addr,
                                uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t shm_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op, uint64_t value,
                                uint64_t *result, uint64_t remote_addr,
                                uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t shm_atomic_cswap32(uct_ep_h ep, uint32_t compare, uint32_t swap,
                                uint64_t remote_addr, uct_rkey_t rkey,
                                uint32_t *result, uct_completion_t *comp);
ucs_status_t shm_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                uint64_t remote_addr, uct_rkey_t rkey,
                                uint64_t *result, uct_completion_t *comp);

#endif
