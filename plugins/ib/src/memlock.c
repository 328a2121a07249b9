/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains failures that the limit of locked memory causes. Has no state. */
#include "memlock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

/* At the limit, the kernel returns ENOMEM and some drivers EAGAIN; with a limit
 * of 0, EPERM. */
int ib_memlock_advice(int error, char advice[IB_ADVICE_LENGTH])
{
    struct rlimit limit;

    advice[0] = '\0';
    if (((error != ENOMEM) && (error != EAGAIN) && (error != EPERM)) ||
        (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) ||
        (limit.rlim_cur == RLIM_INFINITY)) {
        return 0;
    }
    snprintf(advice, IB_ADVICE_LENGTH,
             ". The probable reason: this process may lock only %llu KiB of "
             "memory (ulimit -l). Set ulimit -l unlimited, memlock in "
             "/etc/security/limits.conf, or LimitMEMLOCK= of the service",
             (unsigned long long)limit.rlim_cur / 1024);
    return 1;
}

ucs_status_t ib_status_of_errno(int error)
{
    switch (error) {
    case ENOMEM:
    case EAGAIN:
        return UCS_ERR_NO_MEMORY;
    case EINVAL:
        return UCS_ERR_INVALID_PARAM;
    default:
        return UCS_ERR_IO_ERROR;
    }
}
