/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory type of an address: first from announcements of allocators, then from
 * open domains that detect types; otherwise host memory.
 */
#ifndef UCT_BASE_MEMTYPE_H
#define UCT_BASE_MEMTYPE_H

#include <ucx/host.h>

/* Record device memory that an allocator announces, and remove the record when
 * the memory is released. Plugins call these functions as mem_type_allocated
 * and mem_type_released (<ucx/host.h>). */
void uct_memtype_add(void *address, size_t length, ucs_memory_type_t type,
                     ucs_sys_device_t sys_dev);
void uct_memtype_remove(void *address, size_t length);

/* Adds or removes a domain that detects types. */
ucs_status_t uct_memtype_md_opened(uct_md_h md);
void uct_memtype_md_closed(uct_md_h md);

/*
 * Detects type and device of memory. Any thread. Reads only two words while no
 * device memory is announced and no open domain detects types.
 */
ucs_status_t uct_mem_detect(const void *address, size_t length,
                            ucx_mem_info_t *info);

/* Detects the type of memory for a copy. *place_p receives the domain's `place`
 * for its copier, or 0. Any thread. */
ucs_memory_type_t uct_mem_locate(const void *address, size_t length,
                                 uint32_t *place_p);

#endif
