/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of <ucs/memory/memtype_cache.h>, for the library's own lookups. */
#ifndef UCS_MEMORY_MEMTYPE_H
#define UCS_MEMORY_MEMTYPE_H

#include <ucs/memory/memtype_cache.h>

BEGIN_C_DECLS

/* Ranges that are listed, and one more while there is a detector. */
extern size_t ucs_memtype_sources;

/** Is all memory the host's, as far as anybody knows? One load, for the fast
 * path. */
static UCS_F_ALWAYS_INLINE int ucs_memtype_is_all_host(void)
{
    return ucs_likely(__atomic_load_n(&ucs_memtype_sources,
                                      __ATOMIC_ACQUIRE) == 0);
}

/** As ucs_memtype_cache_lookup, by the first byte alone: the type is always
 * that of the block. */
ucs_status_t ucs_memtype_find(const void *address, size_t size,
                              ucs_memory_info_t *info);

/** Asked for memory that is not listed. Any thread, several at once. Nonzero if
 * it knows. */
typedef int (*ucs_memtype_detector_t)(const void *address, size_t size,
                                      ucs_memory_info_t *info);

/** Sets the detector; NULL removes it and waits until it is not being asked. */
void ucs_memtype_detector_set(ucs_memtype_detector_t detector);

END_C_DECLS

#endif
