/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of <ucs/memory/memtype_cache.h>, for the library's own lookups. */
#ifndef UCS_MEMORY_MEMTYPE_H
#define UCS_MEMORY_MEMTYPE_H

#include <ucs/memory/memtype_cache.h>

BEGIN_C_DECLS

/* Number of recorded ranges, plus one if there is a detector. */
extern size_t ucs_memtype_sources;

/** Is no memory other than host memory known? One load, for the fast path. */
static UCS_F_ALWAYS_INLINE int ucs_memtype_is_all_host(void)
{
    return ucs_likely(__atomic_load_n(&ucs_memtype_sources,
                                      __ATOMIC_ACQUIRE) == 0);
}

/** As ucs_memtype_cache_lookup, by the first byte only: the result is the type
 *  of the whole block. */
ucs_status_t ucs_memtype_find(const void *address, size_t size,
                              ucs_memory_info_t *info);

/** Called for memory that is not recorded. Any thread, several at once. Nonzero
 *  if it knows the type. */
typedef int (*ucs_memtype_detector_t)(const void *address, size_t size,
                                      ucs_memory_info_t *info);

/** Sets the detector; NULL removes it and waits until it is not running. */
void ucs_memtype_detector_set(ucs_memtype_detector_t detector);

END_C_DECLS

#endif
