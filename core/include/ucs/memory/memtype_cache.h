/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known memory types. Memory that is not listed is host memory, or unknown.
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

/** Type and place of a block of memory. */
typedef struct ucs_memory_info {
    ucs_memory_type_t type;   /**< UCS_MEMORY_TYPE_UNKNOWN: the range is of
                                    more than one kind, or it was told so */
    ucs_sys_device_t sys_dev; /**< Device that it is on, or
                                    UCS_SYS_DEVICE_ID_UNKNOWN */
    uint8_t flags;            /**< As they were told */
    void *base_address;       /**< First byte of the block */
    size_t alloc_length;      /**< Bytes of the block */
} ucs_memory_info_t;

/**
 * Finds the block that a range of memory begins in: among those that allocators
 * or ucs_memtype_cache_update() have reported, then by the detection of the
 * transports of this process. Any thread.
 *
 * @param [in]  address   First byte of the range.
 * @param [in]  size      Bytes of it; may be 0.
 * @param [out] mem_info  The block. The type is UCS_MEMORY_TYPE_UNKNOWN if the
 *                        range reaches beyond it.
 *
 * @return UCS_ERR_NO_ELEM if it is unknown: then it is host memory.
 */
ucs_status_t ucs_memtype_cache_lookup(const void *address, size_t size,
                                      ucs_memory_info_t *mem_info);

/**
 * Tells the type of a range, in the place of what was known of its parts. The
 * library's own transfers go by it from then on. Any thread.
 *
 * @param [in] address   First byte.
 * @param [in] size      Bytes; 0 does nothing.
 * @param [in] mem_type  Type; UCS_MEMORY_TYPE_HOST takes the range off the list,
 *                       UCS_MEMORY_TYPE_UNKNOWN leaves it to transports that can
 *                       tell.
 * @param [in] sys_dev   Device, or UCS_SYS_DEVICE_ID_UNKNOWN.
 * @param [in] flags     Kept for ucs_memtype_cache_lookup().
 */
void ucs_memtype_cache_update(const void *address, size_t size,
                              ucs_memory_type_t mem_type,
                              ucs_sys_device_t sys_dev, uint8_t flags);

/** Takes a range off the list, before its memory is released. Any thread. */
void ucs_memtype_cache_remove(const void *address, size_t size);

/** @} */

END_C_DECLS

#endif
