/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system calls process_vm_readv and process_vm_writev, and the meaning of
 * their errors. Addresses of the other process are only passed to the kernel,
 * which checks them.
 */
#include "cma.h"

#include <errno.h>
#include <unistd.h>

static ucs_status_t status_of(int error)
{
    switch (error) {
    case ESRCH:
        return UCS_ERR_CONNECTION_RESET;
    case EPERM:
    case EACCES:
        return UCS_ERR_REJECTED;
    case EFAULT:
        return UCS_ERR_INVALID_ADDR;
    case ENOMEM:
        return UCS_ERR_NO_MEMORY;
    case ENOSYS:
        return UCS_ERR_UNSUPPORTED;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

/* Fills `part` with the entries of the vector from `offset` on, at most
 * `length` bytes. Returns the number of entries. */
static unsigned slice(const struct iovec *iov, unsigned iovcnt, size_t offset,
                      size_t length, struct iovec *part)
{
    unsigned count = 0;

    for (unsigned i = 0; (i < iovcnt) && (length > 0); ++i) {
        if (offset >= iov[i].iov_len) {
            offset -= iov[i].iov_len;
            continue;
        }
        part[count].iov_base = (char *)iov[i].iov_base + offset;
        part[count].iov_len  = shm_min(iov[i].iov_len - offset, length);
        length -= part[count].iov_len;
        offset = 0;
        ++count;
    }
    return count;
}

static ssize_t call_kernel(pid_t pid, int is_put, const struct iovec *local,
                           unsigned num_local, const struct iovec *remote,
                           unsigned num_remote)
{
    return is_put ?
               process_vm_writev(pid, local, num_local, remote, num_remote, 0) :
               process_vm_readv(pid, local, num_local, remote, num_remote, 0);
}

ucs_status_t cma_copy(pid_t pid, int is_put, const struct iovec *iov,
                      unsigned iovcnt, size_t offset, uint64_t remote,
                      size_t length)
{
    struct iovec local[CMA_MAX_IOV], there;
    unsigned count;
    ssize_t n;

    while (length > 0) {
        count          = slice(iov, iovcnt, offset, length, local);
        there.iov_base = (void *)(uintptr_t)remote;
        there.iov_len  = length;
        n              = call_kernel(pid, is_put, local, count, &there, 1);
        if (n < 0) {
            return status_of(errno);
        }
        if (n == 0) {
            return UCS_ERR_INVALID_ADDR;
        }
        /* If the kernel has copied less than `length`, there is an unmapped
         * page or a limit of the call: the next call continues, or fails */
        length -= shm_min((size_t)n, length);
        offset += (size_t)n;
        remote += (size_t)n;
    }
    return UCS_OK;
}

int cma_copy_pieces(pid_t pid, int is_put, const struct iovec *local,
                    unsigned num_local, const struct iovec *remote,
                    unsigned num_remote, size_t length)
{
    ssize_t n = call_kernel(pid, is_put, local, num_local, remote, num_remote);

    return (n > 0) && ((size_t)n == length);
}

ucs_status_t cma_read_words(pid_t pid, uint64_t address, cma_words_t *words)
{
    struct iovec iov = {words, sizeof(*words)};

    return cma_copy(pid, 0, &iov, 1, 0, address, sizeof(*words));
}

/* Tests a copy within this process, which needs no permission: it fails only
 * if the kernel lacks the system calls or a filter (seccomp) denies them. */
int cma_copy_is_allowed(void)
{
    cma_words_t from = {1, 2}, to = {0, 0};

    return (cma_read_words(getpid(), (uintptr_t)&from, &to) == UCS_OK) &&
           (to.secret == from.secret);
}
