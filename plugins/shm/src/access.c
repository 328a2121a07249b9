/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put, get and atomics by processor instructions, on a key's mapping. Hot path:
 * a range check and the access.
 */
#include "access.h"
#include "keys.h"

#include <string.h>

/* Returns the local address of [remote_addr, +length), or NULL if the key does
 * not cover the range. */
static SHM_INLINE char *locate(uct_rkey_t uct_rkey, uint64_t remote_addr,
                               uint64_t length)
{
    const shm_rkey_t *rkey = (const shm_rkey_t *)uct_rkey;
    uint64_t offset        = remote_addr - rkey->base;

    if (shm_unlikely((offset > rkey->length) ||
                     (length > rkey->length - offset))) {
        return NULL;
    }
    return rkey->local + offset;
}

/* Copies `length` bytes. 8 and 4 are the most frequent lengths: these are
 * copied by one load and one store. */
static SHM_INLINE void copy_short(void *to, const void *from, unsigned length)
{
    if (shm_likely(length == 8)) {
        memcpy(to, from, 8);
    } else if (length == 4) {
        memcpy(to, from, 4);
    } else {
        memmove(to, from, length);
    }
}

/* Returns the number of bytes of all entries; SIZE_MAX on overflow. */
static size_t iov_total(const uct_iov_t *iov, size_t iovcnt)
{
    size_t total = 0, bytes;

    for (size_t i = 0; i < iovcnt; ++i) {
        if (__builtin_mul_overflow(iov[i].length, (size_t)iov[i].count,
                                   &bytes) ||
            __builtin_add_overflow(total, bytes, &total)) {
            return SIZE_MAX;
        }
    }
    return total;
}

/* Copies from the entries to consecutive bytes at `at` if `is_put`, otherwise
 * from there to the entries. */
static void iov_copy(const uct_iov_t *iov, size_t iovcnt, char *at, int is_put)
{
    for (size_t i = 0; i < iovcnt; ++i) {
        char *buffer  = iov[i].buffer;
        size_t length = iov[i].length;

        if (length == 0) {
            continue;
        }
        for (unsigned j = 0; j < iov[i].count; ++j) {
            if (is_put) {
                memmove(at, buffer, length);
            } else {
                memmove(buffer, at, length);
            }
            at += length;
            buffer += iov[i].stride;
        }
    }
}

/* --- Put and get ---------------------------------------------------------- */

ucs_status_t shm_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                           uint64_t remote_addr, uct_rkey_t rkey)
{
    char *local = locate(rkey, remote_addr, length);

    if (shm_unlikely(local == NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }
    copy_short(local, buffer, length);
    return UCS_OK;
}

/* Packs into a temporary buffer, because the memory behind remote_addr may be
 * shorter than what pack_cb writes. */
static ssize_t put_bcopy_near_end(uct_pack_callback_t pack_cb, void *arg,
                                  uint64_t remote_addr, uct_rkey_t rkey)
{
    char buffer[SHM_PUT_BCOPY_MAX];
    size_t length = pack_cb(buffer, arg);
    char *local   = locate(rkey, remote_addr, length);

    if (local == NULL) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(local, buffer, length);
    return (ssize_t)length;
}

ssize_t shm_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                      uint64_t remote_addr, uct_rkey_t rkey)
{
    char *local = locate(rkey, remote_addr, SHM_PUT_BCOPY_MAX);

    if (local == NULL) {
        return put_bcopy_near_end(pack_cb, arg, remote_addr, rkey);
    }
    return (ssize_t)pack_cb(local, arg);
}

ucs_status_t shm_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                           uint64_t remote_addr, uct_rkey_t rkey,
                           uct_completion_t *comp)
{
    char *local = locate(rkey, remote_addr, iov_total(iov, iovcnt));

    if (shm_unlikely(local == NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }
    iov_copy(iov, iovcnt, local, 1);
    return UCS_OK;
}

ucs_status_t shm_get_short(uct_ep_h ep, void *buffer, unsigned length,
                           uint64_t remote_addr, uct_rkey_t rkey)
{
    const char *local = locate(rkey, remote_addr, length);

    if (shm_unlikely(local == NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }
    copy_short(buffer, local, length);
    return UCS_OK;
}

ucs_status_t shm_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                           void *arg, size_t length, uint64_t remote_addr,
                           uct_rkey_t rkey, uct_completion_t *comp)
{
    const char *local = locate(rkey, remote_addr, length);

    if (shm_unlikely(local == NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }
    unpack_cb(arg, local, length);
    return UCS_OK;
}

ucs_status_t shm_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                           uint64_t remote_addr, uct_rkey_t rkey,
                           uct_completion_t *comp)
{
    char *local = locate(rkey, remote_addr, iov_total(iov, iovcnt));

    if (shm_unlikely(local == NULL)) {
        return UCS_ERR_INVALID_ADDR;
    }
    iov_copy(iov, iovcnt, local, 0);
    return UCS_OK;
}

/* --- Atomics -------------------------------------------------------------- */

/* Defines the atomics of one word size. The helper apply...() stores the old
 * value in *old. */
#define DEFINE_ATOMICS(_bits) \
    static SHM_INLINE uint##_bits##_t *locate##_bits(uct_rkey_t rkey, \
                                                     uint64_t remote_addr) \
    { \
        char *local = locate(rkey, remote_addr, sizeof(uint##_bits##_t)); \
\
        return ((uintptr_t)local % sizeof(uint##_bits##_t)) ? \
                   NULL : \
                   (uint##_bits##_t *)local; \
    } \
\
    static SHM_INLINE ucs_status_t apply##_bits(uct_atomic_op_t op, \
                                                uint##_bits##_t *word, \
                                                uint##_bits##_t value, \
                                                uint##_bits##_t *old) \
    { \
        if (shm_unlikely(word == NULL)) { \
            return UCS_ERR_INVALID_ADDR; \
        } \
        switch (op) { \
        case UCT_ATOMIC_OP_ADD: \
            *old = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_AND: \
            *old = __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_OR: \
            *old = __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_XOR: \
            *old = __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        case UCT_ATOMIC_OP_SWAP: \
            *old = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); \
            return UCS_OK; \
        default: \
            return UCS_ERR_UNSUPPORTED; \
        } \
    } \
\
    ucs_status_t shm_atomic##_bits##_post(uct_ep_h ep, uct_atomic_op_t op, \
                                          uint##_bits##_t value, \
                                          uint64_t remote_addr, \
                                          uct_rkey_t rkey) \
    { \
        uint##_bits##_t old; \
\
        if (shm_unlikely(op == UCT_ATOMIC_OP_SWAP)) { \
            return UCS_ERR_UNSUPPORTED; /* A swap without a result is not
                                         * supported */ \
        } \
        return apply##_bits(op, locate##_bits(rkey, remote_addr), value, \
                            &old); \
    } \
\
    ucs_status_t shm_atomic##_bits##_fetch(uct_ep_h ep, uct_atomic_op_t op, \
                                           uint##_bits##_t value, \
                                           uint##_bits##_t *result, \
                                           uint64_t remote_addr, \
                                           uct_rkey_t rkey, \
                                           uct_completion_t *comp) \
    { \
        return apply##_bits(op, locate##_bits(rkey, remote_addr), value, \
                            result); \
    } \
\
    ucs_status_t shm_atomic_cswap##_bits(uct_ep_h ep, uint##_bits##_t compare, \
                                         uint##_bits##_t swap, \
                                         uint64_t remote_addr, \
                                         uct_rkey_t rkey, \
                                         uint##_bits##_t *result, \
                                         uct_completion_t *comp) \
    { \
        uint##_bits##_t *word = locate##_bits(rkey, remote_addr); \
\
        if (shm_unlikely(word == NULL)) { \
            return UCS_ERR_INVALID_ADDR; \
        } \
        /* On failure the builtin stores the current value in `compare` */ \
        (void)__atomic_compare_exchange_n(word, &compare, swap, 0, \
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        *result = compare; \
        return UCS_OK; \
    }

DEFINE_ATOMICS(32)
DEFINE_ATOMICS(64)
