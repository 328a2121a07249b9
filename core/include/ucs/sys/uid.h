/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of the system. */
#ifndef UCS_UID_H
#define UCS_UID_H

#include <stdint.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_SYS
 *  @{ */

/**
 * Returns a number that identifies the running system. It is equal in all
 * processes of this boot of this machine that use the same network and PID
 * namespaces, and differs in all other processes. Any thread.
 *
 * @return The number; never 0
 */
uint64_t ucs_get_system_id(void);

/** @} */

END_C_DECLS

#endif
