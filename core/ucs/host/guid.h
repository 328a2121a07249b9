/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifiers of the running kernel, and random identifiers for objects; for
 * the identifier of the system see <ucs/sys/uid.h>. */
#ifndef UCS_GUID_H
#define UCS_GUID_H

#include <ucs/sys/uid.h>

BEGIN_C_DECLS

/** A number for the running kernel, the same in all processes on it, whatever
 *  their namespaces (ucs_get_system_id() differs between them). Never 0. */
uint64_t ucs_boot_guid(void);

/** A random number from the kernel's generator. */
uint64_t ucs_generate_uuid(void);

END_C_DECLS

#endif
