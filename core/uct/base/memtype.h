/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory type of an address. Allocators of device memory announce the
 * ranges that they allocate. The type of other memory is detected by the open
 * memory domains that can do so. If none of them knows the memory, it is host
 * memory.
 */
#ifndef UCT_BASE_MEMTYPE_H
#define UCT_BASE_MEMTYPE_H

#include <ucx/host.h>

/* An allocator calls these functions when it has allocated device memory, and
 * before it releases the memory. They are the services mem_type_allocated and
 * mem_type_released of plugins (<ucx/host.h>). */
void uct_memtype_add(void *address, size_t length, ucs_memory_type_t type,
                     ucs_sys_device_t sys_dev);
void uct_memtype_remove(void *address, size_t length);

/* Called when a memory domain was opened and before it is closed. If the domain
 * detects types, it is used for that in between. */
ucs_status_t uct_memtype_md_opened(uct_md_h md);
void uct_memtype_md_closed(uct_md_h md);

/*
 * Returns the type and device of memory, and the block that contains `address`.
 * Any thread. Fast while no device memory is announced and no open domain
 * detects types: reads one word.
 */
ucs_status_t uct_mem_detect(const void *address, size_t length,
                            ucx_mem_info_t *info);

/* Returns the type of memory that will be copied. *place_p receives the `place`
 * that the detecting domain has returned (ucx_mem_attr_t), to pass it to the
 * transport that copies such memory; 0 if there is none. Any thread. */
ucs_memory_type_t uct_mem_locate(const void *address, size_t length,
                                 uint32_t *place_p);

#endif
