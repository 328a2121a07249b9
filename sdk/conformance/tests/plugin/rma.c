/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get and atomics. Unpacking a key maps the peer's memory into this
 * process (md.c), so that they are executed by the processor. */
#include "probe.h"

ucs_status_t probe_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey)
{
    char *to = probe_rkey_at(rkey, remote_addr, length);

    if (to == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(to, buffer, length);
    if (probe_breaks("puts-beyond")) {
        to[length] = 1;
    }
    return UCS_OK;
}

ssize_t probe_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                        uint64_t remote_addr, uct_rkey_t rkey)
{
    char buffer[65536];
    size_t length = pack_cb(buffer, arg);
    ucs_status_t status;

    status = probe_put_short(ep, buffer, (unsigned)length, remote_addr, rkey);
    return (status == UCS_OK) ? (ssize_t)length : (ssize_t)status;
}

ucs_status_t probe_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    ucs_status_t status;

    status = probe_put_short(ep, iov[0].buffer, (unsigned)iov[0].length,
                             remote_addr, rkey);
    return (status != UCS_OK) ?
               status :
               probe_iface_done_later((probe_iface_t *)ep->iface, comp);
}

ucs_status_t probe_get_short(uct_ep_h ep, void *buffer, unsigned length,
                             uint64_t remote_addr, uct_rkey_t rkey)
{
    const void *from = probe_rkey_at(rkey, remote_addr, length);

    if (from == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    memcpy(buffer, from, length);
    return UCS_OK;
}

ucs_status_t probe_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                             void *arg, size_t length, uint64_t remote_addr,
                             uct_rkey_t rkey, uct_completion_t *comp)
{
    const void *from = probe_rkey_at(rkey, remote_addr, length);

    if (from == NULL) {
        return UCS_ERR_INVALID_PARAM;
    }
    unpack_cb(arg, from, length);
    return UCS_OK;
}

ucs_status_t probe_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    ucs_status_t status;

    status = probe_get_short(ep, iov[0].buffer, (unsigned)iov[0].length,
                             remote_addr, rkey);
    return (status != UCS_OK) ?
               status :
               probe_iface_done_later((probe_iface_t *)ep->iface, comp);
}

/* --- Atomics ------------------------------------------------------------- */

/* Defines fetch, post and compare-and-swap for both widths. */
#define DEFINE_ATOMICS(_bits) \
    ucs_status_t probe_atomic##_bits##_fetch(uct_ep_h ep, uct_atomic_op_t op, \
                                             uint##_bits##_t value, \
                                             uint##_bits##_t *result, \
                                             uint64_t remote_addr, \
                                             uct_rkey_t rkey, \
                                             uct_completion_t *comp) \
    { \
        uint##_bits##_t *word = probe_rkey_at(rkey, remote_addr, \
                                              sizeof(*word)); \
\
        if ((word == NULL) || ((uintptr_t)word % sizeof(*word) != 0)) { \
            return UCS_ERR_INVALID_PARAM; \
        } \
        if (probe_breaks("atomic-wrong") && (op == UCT_ATOMIC_OP_OR)) { \
            op = UCT_ATOMIC_OP_AND; \
        } \
        switch (op) { \
        case UCT_ATOMIC_OP_ADD: \
            *result = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); \
            break; \
        case UCT_ATOMIC_OP_AND: \
            *result = __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST); \
            break; \
        case UCT_ATOMIC_OP_OR: \
            *result = __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST); \
            break; \
        case UCT_ATOMIC_OP_XOR: \
            *result = __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST); \
            break; \
        case UCT_ATOMIC_OP_SWAP: \
            *result = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); \
            break; \
        default: \
            return UCS_ERR_UNSUPPORTED; \
        } \
        return UCS_OK; \
    } \
\
    ucs_status_t probe_atomic##_bits##_post(uct_ep_h ep, uct_atomic_op_t op, \
                                            uint##_bits##_t value, \
                                            uint64_t remote_addr, \
                                            uct_rkey_t rkey) \
    { \
        uint##_bits##_t unused; \
\
        return probe_atomic##_bits##_fetch(ep, op, value, &unused, \
                                           remote_addr, rkey, NULL); \
    } \
\
    ucs_status_t probe_atomic_cswap##_bits( \
        uct_ep_h ep, uint##_bits##_t compare, uint##_bits##_t swap, \
        uint64_t remote_addr, uct_rkey_t rkey, uint##_bits##_t *result, \
        uct_completion_t *comp) \
    { \
        uint##_bits##_t *word = probe_rkey_at(rkey, remote_addr, \
                                              sizeof(*word)); \
\
        if ((word == NULL) || ((uintptr_t)word % sizeof(*word) != 0)) { \
            return UCS_ERR_INVALID_PARAM; \
        } \
        *result = compare; \
        __atomic_compare_exchange_n(word, result, swap, 0, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST); \
        return UCS_OK; \
    }

DEFINE_ATOMICS(32)
DEFINE_ATOMICS(64)
