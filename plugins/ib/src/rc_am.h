/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rc_verbs endpoints that transfer data. <ucx/transport.h>
 * specifies the operations. */
#ifndef IB_RC_AM_H
#define IB_RC_AM_H

#include "rc.h"

enum {
    RC_MAX_IOV    = 16, /* Maximum number of scatter/gather entries of a work
                         * request, including the header's */
    RC_AM_PAD     = 8, /* Offset of a buffered message's data in rc_desc_t.data;
                        * the header byte is the byte before the data */
    /* A buffered message of at most this many bytes is always signaled, because
     * UCP's control messages are not longer. UCP's last control message makes
     * the peer close its endpoint. A flush after that message posts no further
     * request, because the message is signaled. The closed peer could not
     * acknowledge such a request. */
    RC_AM_CONTROL = 32,
};

ucs_status_t rc_ep_am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                            const void *payload, unsigned length);
ucs_status_t rc_ep_am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                size_t iovcnt);
ssize_t rc_ep_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                       void *arg, unsigned flags);
ucs_status_t rc_ep_am_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                            unsigned header_length, const uct_iov_t *iov,
                            size_t iovcnt, unsigned flags,
                            uct_completion_t *comp);

ucs_status_t rc_ep_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey);
ssize_t rc_ep_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey);
ucs_status_t rc_ep_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t rc_ep_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp);
ucs_status_t rc_ep_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp);
ucs_status_t rc_ep_atomic64_post(uct_ep_h ep, uct_atomic_op_t op,
                                 uint64_t value, uint64_t remote_addr,
                                 uct_rkey_t rkey);
ucs_status_t rc_ep_atomic64_fetch(uct_ep_h ep, uct_atomic_op_t op,
                                  uint64_t value, uint64_t *result,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uct_completion_t *comp);
ucs_status_t rc_ep_atomic_cswap64(uct_ep_h ep, uint64_t compare, uint64_t swap,
                                  uint64_t remote_addr, uct_rkey_t rkey,
                                  uint64_t *result, uct_completion_t *comp);

#endif
