/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of locked memory (RLIMIT_MEMLOCK). Registered memory and the queues
 * of a device count against the limit. */
#ifndef IB_MEMLOCK_H
#define IB_MEMLOCK_H

#include "plugin.h"

enum { IB_ADVICE_LENGTH = 256 };

/* Returns whether the limit can be the reason why a call of libibverbs failed
 * with the errno `error`. If so, stores a sentence in `advice` that tells the
 * user how to raise the limit; the caller appends it to a log message.
 * Otherwise stores an empty string. */
int ib_memlock_advice(int error, char advice[IB_ADVICE_LENGTH]);

/* Converts the errno of a failed call of libibverbs, which creates a queue or
 * registers memory, to a status. */
ucs_status_t ib_status_of_errno(int error);

#endif
