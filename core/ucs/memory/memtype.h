/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the cache of <ucs/memory/memtype_cache.h> that only the library
 * uses: the memory type of an address, with a fast path for processes that have
 * only host memory, and a function (the detector) that determines the type of
 * memory that is not recorded. */
#ifndef UCS_MEMORY_MEMTYPE_H
#define UCS_MEMORY_MEMTYPE_H

#include <ucs/memory/memtype_cache.h>

BEGIN_C_DECLS

/* Number of recorded ranges, plus one if there is a detector. */
extern size_t ucs_memtype_sources;

/** Returns whether only host memory is known. Reads one word, for the fast
 *  path. */
static UCS_F_ALWAYS_INLINE int ucs_memtype_is_all_host(void)
{
    return ucs_likely(__atomic_load_n(&ucs_memtype_sources, __ATOMIC_ACQUIRE) ==
                      0);
}

/** As ucs_memtype_cache_lookup(), but searches for the first byte only: the
 *  result is the type of the block that contains it. *place_p is what the
 *  detector stored, and unchanged if it stored nothing. */
ucs_status_t ucs_memtype_find(const void *address, size_t size,
                              ucs_memory_info_t *info, uint32_t *place_p);

/*
 * Pages that were found to be host memory, so that a detector is not called for
 * each message. A page stays host memory until it is unmapped: the code that
 * enables this must report every unmapping. Recording a range removes its
 * pages, and changing the detector removes all pages. An entry is the number of
 * a page, or 0 (no buffer is in the first page). Pages at a distance of a
 * multiple of the table's size share an entry: the table covers 256 MiB of
 * buffers that are used in turn. Untouched parts of the table take no physical
 * memory. With 16 bits, the index is one instruction.
 */
enum {
    UCS_MEMTYPE_PAGES      = 65536,
    UCS_MEMTYPE_PAGE_SHIFT = 12,
};

extern uint64_t ucs_memtype_pages[UCS_MEMTYPE_PAGES];

/**
 * Returns whether the page of the address is known to be host memory. Reads one
 * word, in no order with other accesses: the entry alone is the answer, and a
 * thread that gets an address from another thread also sees what that thread has
 * done to the entry. Compilers do not make an atomic load an operand of the
 * comparison: each message would execute one instruction more.
 */
static UCS_F_ALWAYS_INLINE int ucs_memtype_is_known_host(const void *address)
{
    const uint64_t page   = (uintptr_t)address >> UCS_MEMTYPE_PAGE_SHIFT;
    const uint64_t *entry = &ucs_memtype_pages[page % UCS_MEMTYPE_PAGES];

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    int equal;

    __asm__("cmpq %2, %1" : "=@cce"(equal) : "m"(*entry), "r"(page));
    return equal;
#else
    return __atomic_load_n(entry, __ATOMIC_RELAXED) == page;
#endif
}

/** Enables or disables the table of pages that were found to be host memory,
 *  and clears it. */
void ucs_memtype_remember_pages(int enable);

/** Removes the pages that the range touches, even in part, from the table. Any
 *  thread. Takes no lock and allocates nothing. */
void ucs_memtype_forget_range(const void *address, size_t length);

/** Called for memory that is not recorded, by any thread, also by several at
 *  once. Returns nonzero if it has determined the type. May store in *place_p
 *  where the memory is, in a form that only the code that copies such memory
 *  can interpret; with this value, that code need not query the memory
 *  again. */
typedef int (*ucs_memtype_detector_t)(const void *address, size_t size,
                                      ucs_memory_info_t *info,
                                      uint32_t *place_p);

/** Sets the detector. NULL removes it and waits until no thread runs it. */
void ucs_memtype_detector_set(ucs_memtype_detector_t detector);

END_C_DECLS

#endif
