/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of ugni_rdma. */
#ifndef UGNI_RMA_H
#define UGNI_RMA_H

#include "iface.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

enum { UGNI_RMA_IOV = 4 }; /* Maximum number of entries of local memory */

/* An operation on remote memory: put, get or atomic. */
typedef struct ugni_rma {
    ugni_send_t super;
    uct_completion_t *comp;
    struct iovec iov[UGNI_RMA_IOV]; /* Local memory */
    void *desc[UGNI_RMA_IOV];       /* Descriptors of the local memory, with
                                     * FI_MR_LOCAL and for memory of
                                     * accelerators; otherwise NULL */
    size_t iovcnt;                  /* Number of entries of `iov` */
    size_t length;                  /* Bytes to transfer */
    struct fi_rma_iov remote;
    /* Members of get_bcopy: the user's callback for the data, and its
     * argument */
    uct_unpack_callback_t unpack;
    void *arg;
    /* Members of atomics: type of the remote word and operation; operand,
     * compared value (for CSWAP) and previous value of the word; the user's
     * address for the previous value */
    enum fi_datatype type;
    enum fi_op op;
    uint64_t operand, compare, old;
    void *result;
    char data[]; /* Data of short and bcopy operations */
} ugni_rma_t;

/* Allocates an operation on remote memory. UCS_ERR_INVALID_PARAM: the remote
 * key contains no key for the peer's device. Other errors are those that the
 * operation of UCT returns, such as UCS_ERR_NO_RESOURCE. */
ucs_status_t ugni_rma_new(ugni_ep_t *ep, uint64_t remote_addr, uct_rkey_t rkey,
                          ugni_rma_t **rma_p);

/* direct.c: executes a put or get at once, by a system call of this plugin.
 * UCS_ERR_UNSUPPORTED: libfabric has to execute the operation, because it has
 * to wait for earlier ones or a copy is not possible. UCS_ERR_CONNECTION_RESET:
 * the peer process has exited. */
ucs_status_t ugni_direct_copy(ugni_ep_t *ep, ugni_rma_t *rma, int is_write);

/* rma.c */
ucs_status_t ugni_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                               uint64_t remote_addr, uct_rkey_t rkey);
ssize_t ugni_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                          uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t ugni_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                               uint64_t remote_addr, uct_rkey_t rkey,
                               uct_completion_t *comp);
ucs_status_t ugni_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                               void *arg, size_t length, uint64_t remote_addr,
                               uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t ugni_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                               uint64_t remote_addr, uct_rkey_t rkey,
                               uct_completion_t *comp);

/* atomic.c */
/* Sets the attributes of atomics to those that the provider supports. */
void ugni_atomic_attr(const ugni_iface_t *iface, uct_iface_attr_t *attr);
ucs_status_t ugni_ep_atomic32_post(uct_ep_h ep, uct_atomic_op_t op,
                                   uint32_t value, uint64_t remote_addr,
                                   uct_rkey_t rkey);
ucs_status_t ugni_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                   uint64_t value, uint64_t remote_addr,
                                   uct_rkey_t rkey);
ucs_status_t ugni_ep_atomic32_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                    uint32_t value, uint32_t *result,
                                    uint64_t remote_addr, uct_rkey_t rkey,
                                    uct_completion_t *comp);
ucs_status_t ugni_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                    uint64_t value, uint64_t *result,
                                    uint64_t remote_addr, uct_rkey_t rkey,
                                    uct_completion_t *comp);
ucs_status_t ugni_ep_atomic_cswap32(uct_ep_h ep, uint32_t compare,
                                    uint32_t swap, uint64_t remote_addr,
                                    uct_rkey_t rkey, uint32_t *result,
                                    uct_completion_t *comp);
ucs_status_t ugni_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare,
                                    uint64_t swap, uint64_t remote_addr,
                                    uct_rkey_t rkey, uint64_t *result,
                                    uct_completion_t *comp);

#endif
