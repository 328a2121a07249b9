/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifiers of the kernel and of objects; for that of the system see
 * <ucs/sys/uid.h>. */
#ifndef UCS_GUID_H
#define UCS_GUID_H

#include <ucs/sys/uid.h>

BEGIN_C_DECLS

/** As ucs_get_system_id(), but identifies the kernel only: processes in
 *  different namespaces get the same number. Never 0. */
uint64_t ucs_boot_guid(void);

/** A random number from the kernel's generator. */
uint64_t ucs_generate_uuid(void);

END_C_DECLS

#endif
