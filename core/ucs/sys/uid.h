/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that tell hosts, processes and objects apart. */
#ifndef UCS_UID_H
#define UCS_UID_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** The same in all processes that share this boot of this machine and its
 * network and pid namespaces; different elsewhere. Never 0. */
uint64_t ucs_machine_guid(void);

/** As above, but of the kernel alone: equal across namespaces. Never 0. */
uint64_t ucs_boot_guid(void);

/** A random number; the kernel's generator. */
uint64_t ucs_generate_uuid(void);

END_C_DECLS

#endif
