/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get of the loopback transport: a copy in the memory of this process,
 * which is complete when the call returns. The "remote" address is an address
 * of this process; self_rkey_unpack() has checked that this process made the
 * key, so the key is not used here.
 */
#include "self.h"

#include <string.h>

static inline void *self_address(uint64_t remote_addr)
{
    return (void *)(uintptr_t)remote_addr;
}

size_t self_iov_total(const uct_iov_t *iov, size_t iovcnt, size_t start)
{
    size_t total = start;
    size_t bytes, i;

    for (i = 0; i < iovcnt; ++i) {
        if (__builtin_mul_overflow(iov[i].length, (size_t)iov[i].count,
                                   &bytes) ||
            __builtin_add_overflow(total, bytes, &total)) {
            return SIZE_MAX; /* the sum overflows: larger than any limit */
        }
    }

    return total;
}

void self_iov_gather(char *dest, const uct_iov_t *iov, size_t iovcnt)
{
    size_t i, j;

    for (i = 0; i < iovcnt; ++i) {
        if (iov[i].length == 0) {
            continue;
        }
        for (j = 0; j < iov[i].count; ++j) {
            memmove(dest, (char *)iov[i].buffer + (j * iov[i].stride),
                    iov[i].length);
            dest += iov[i].length;
        }
    }
}

/* Copies from `src` to the buffers of all entries, one after another. */
static void self_iov_scatter(const uct_iov_t *iov, size_t iovcnt,
                             const char *src)
{
    size_t i, j;

    for (i = 0; i < iovcnt; ++i) {
        if (iov[i].length == 0) {
            continue;
        }
        for (j = 0; j < iov[i].count; ++j) {
            memmove((char *)iov[i].buffer + (j * iov[i].stride), src,
                    iov[i].length);
            src += iov[i].length;
        }
    }
}

ucs_status_t self_put_short(uct_ep_h ep, const void *buffer, unsigned length,
                            uint64_t remote_addr, uct_rkey_t rkey)
{
    ucs_status_t status = self_ep_status(ep);

    if ((status == UCS_OK) && (length > 0)) {
        memmove(self_address(remote_addr), buffer, length);
    }
    return status;
}

ssize_t self_put_bcopy(uct_ep_h ep, uct_pack_callback_t pack_cb, void *arg,
                       uint64_t remote_addr, uct_rkey_t rkey)
{
    ucs_status_t status = self_ep_status(ep);

    if (status != UCS_OK) {
        return status;
    }
    return (ssize_t)pack_cb(self_address(remote_addr), arg);
}

ucs_status_t self_put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    ucs_status_t status = self_ep_status(ep);

    if (status == UCS_OK) {
        self_iov_gather(self_address(remote_addr), iov, iovcnt);
    }
    return status;
}

ucs_status_t self_get_short(uct_ep_h ep, void *buffer, unsigned length,
                            uint64_t remote_addr, uct_rkey_t rkey)
{
    ucs_status_t status = self_ep_status(ep);

    if ((status == UCS_OK) && (length > 0)) {
        memmove(buffer, self_address(remote_addr), length);
    }
    return status;
}

ucs_status_t self_get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack_cb,
                            void *arg, size_t length, uint64_t remote_addr,
                            uct_rkey_t rkey, uct_completion_t *comp)
{
    ucs_status_t status = self_ep_status(ep);

    if (status == UCS_OK) {
        unpack_cb(arg, self_address(remote_addr), length);
    }
    return status;
}

ucs_status_t self_get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    ucs_status_t status = self_ep_status(ep);

    if (status == UCS_OK) {
        self_iov_scatter(iov, iovcnt, self_address(remote_addr));
    }
    return status;
}
