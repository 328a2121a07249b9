/* SPDX-License-Identifier: BSD-3-Clause */
/* An identifier of the running kernel, and random identifiers. For the
 * identifier of kernel and namespaces, ucs_get_system_id(), see
 * <ucs/sys/uid.h>. */
#ifndef UCS_GUID_H
#define UCS_GUID_H

#include <ucs/sys/uid.h>

BEGIN_C_DECLS

/** Returns a number that identifies the running kernel until it reboots. It is
 *  the same in all processes of the kernel, also in different namespaces, where
 *  ucs_get_system_id() differs. Never 0. */
uint64_t ucs_boot_guid(void);

/** Returns a random number from the kernel's generator. If the kernel has none,
 *  returns a unique but predictable number. */
uint64_t ucs_generate_uuid(void);

END_C_DECLS

#endif
