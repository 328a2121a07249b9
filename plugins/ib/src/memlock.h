/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of locked memory (RLIMIT_MEMLOCK), which registrations and the
 * queues of a device count against. */
#ifndef IB_MEMLOCK_H
#define IB_MEMLOCK_H

#include "plugin.h"

enum { IB_ADVICE_LENGTH = 256 };

/* Returns whether the limit can be the reason why a call of libibverbs failed
 * with `error`. Stores a sentence for log messages in `advice` that says what
 * the user can do; an empty string if the limit is not the reason. */
int ib_memlock_advice(int error, char advice[IB_ADVICE_LENGTH]);

/* Converts the errno of a failed creation of a queue or a registration. */
ucs_status_t ib_status_of_errno(int error);

#endif
