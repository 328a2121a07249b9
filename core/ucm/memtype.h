/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For code that allocates device memory, or intercepts its allocation:
 * functions that report the allocation and the release to subscribers of
 * UCM_EVENT_MEM_TYPE_xx. UCM does not intercept these calls itself.
 */
#ifndef UCM_MEMTYPE_H
#define UCM_MEMTYPE_H

#include <stddef.h>
#include <ucs/memory/memory_type.h>

BEGIN_C_DECLS

/* Call after the allocation; `size` in bytes. */
void ucm_mem_type_alloc(void *address, size_t size, ucs_memory_type_t type);

/* Call before the release. */
void ucm_mem_type_free(void *address, size_t size, ucs_memory_type_t type);

END_C_DECLS

#endif
