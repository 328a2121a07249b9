/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kind of memory an address is: first by what allocators have announced,
 * then by asking the open domains that can tell, else it is the host's.
 */
#ifndef UCT_BASE_MEMTYPE_H
#define UCT_BASE_MEMTYPE_H

#include <ucx/host.h>

/* See mem_type_allocated and mem_type_released in <ucx/host.h>. */
void uct_memtype_add(void *address, size_t length, ucs_memory_type_t type,
                     ucs_sys_device_t sys_dev);
void uct_memtype_remove(void *address, size_t length);

/* Domains that can tell types take part while they are open. */
ucs_status_t uct_memtype_md_opened(uct_md_h md);
void uct_memtype_md_closed(uct_md_h md);

/*
 * Type and place of memory. Any thread. While no device memory was announced
 * and no open domain tells types, it costs two loads.
 */
ucs_status_t uct_mem_detect(const void *address, size_t length,
                            ucx_mem_info_t *info);

#endif
