/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that identify kernels and objects, in addition to that of the
 * system. */
#ifndef UCS_GUID_H
#define UCS_GUID_H

#include <ucs/sys/uid.h>

BEGIN_C_DECLS

/** As ucs_get_system_id(), but of the kernel only: equal in all namespaces.
 *  Never 0. */
uint64_t ucs_boot_guid(void);

/** A random number from the kernel's generator. */
uint64_t ucs_generate_uuid(void);

END_C_DECLS

#endif
