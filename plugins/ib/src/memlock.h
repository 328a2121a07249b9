/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of locked memory (RLIMIT_MEMLOCK), which registrations and the
 * queues of a device count against. */
#ifndef IB_MEMLOCK_H
#define IB_MEMLOCK_H

#include "plugin.h"

enum { IB_ADVICE_LENGTH = 256 };

/* Returns whether the limit can be the reason of a call of libibverbs that
 * failed with `error`. Stores what the user can do in `advice`, to be appended
 * to a message; an empty string if the limit is not the reason. */
int ib_memlock_advice(int error, char advice[IB_ADVICE_LENGTH]);

/* Converts the error of the creation of a queue or a registration. */
ucs_status_t ib_status_of_errno(int error);

#endif
