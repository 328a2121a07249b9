/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of memory ranges with their types. A lookup of memory that is not in
 * the list, or that is recorded as UCS_MEMORY_TYPE_UNKNOWN, detects its type.
 */
#ifndef UCS_MEMTYPE_CACHE_H
#define UCS_MEMTYPE_CACHE_H

#include <stddef.h>
#include <ucs/datastruct/list.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/topo_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_RESOURCE
 *  @{ */

/** Type and location of a block of memory. */
typedef struct ucs_memory_info {
    ucs_memory_type_t type;   /**< UCS_MEMORY_TYPE_UNKNOWN if the range contains
                               *   several types, or was recorded as unknown */
    ucs_sys_device_t sys_dev; /**< Device of the memory, or
                               *   UCS_SYS_DEVICE_ID_UNKNOWN */
    uint8_t flags;            /**< Flags of ucs_memtype_cache_update() */
    void *base_address;       /**< First byte of the block */
    size_t alloc_length;      /**< Length of the block in bytes */
} ucs_memory_info_t;

/**
 * Finds the block in which a range of memory begins: among the blocks that
 * allocators or ucs_memtype_cache_update() have reported, then by detection by
 * the transports of this process. Any thread.
 *
 * @param [in]  address   First byte of the range.
 * @param [in]  size      Length of the range in bytes; may be 0.
 * @param [out] mem_info  The block. The type is UCS_MEMORY_TYPE_UNKNOWN if the
 *                        range extends beyond the block.
 *
 * @return UCS_ERR_NO_ELEM if the memory is unknown, which means that it is host
 *         memory.
 */
ucs_status_t ucs_memtype_cache_lookup(const void *address, size_t size,
                                      ucs_memory_info_t *mem_info);

/**
 * Records the type of a range, and replaces earlier records of its parts. The
 * library's transfers use this type from then on. Any thread.
 *
 * @param [in] address   First byte.
 * @param [in] size      Length in bytes; 0 has no effect.
 * @param [in] mem_type  Type; UCS_MEMORY_TYPE_HOST removes the range from the
 *                       list; with UCS_MEMORY_TYPE_UNKNOWN, transports detect
 *                       the type at each lookup.
 * @param [in] sys_dev   Device, or UCS_SYS_DEVICE_ID_UNKNOWN.
 * @param [in] flags     Value that ucs_memtype_cache_lookup() returns for the
 *                       range.
 */
void ucs_memtype_cache_update(const void *address, size_t size,
                              ucs_memory_type_t mem_type,
                              ucs_sys_device_t sys_dev, uint8_t flags);

/** Removes a range from the list. Call it before the memory is released. Any
 *  thread. */
void ucs_memtype_cache_remove(const void *address, size_t size);

/** @} */

END_C_DECLS

#endif
