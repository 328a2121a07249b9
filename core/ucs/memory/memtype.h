/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory type of an address: the part of the cache in
 * <ucs/memory/memtype_cache.h> that only the library uses. The cache contains
 * ranges that ucs_memtype_cache_update() has recorded. For other memory, a
 * function (the detector, see below) determines the type. There is a fast path
 * for processes that have only host memory. */
#ifndef UCS_MEMORY_MEMTYPE_H
#define UCS_MEMORY_MEMTYPE_H

#include <ucs/memory/memtype_cache.h>

BEGIN_C_DECLS

/* Number of recorded ranges, plus one if there is a detector. */
extern size_t ucs_memtype_sources;

/** Returns whether all memory counts as host memory, because there are no
 *  recorded ranges and no detector. Reads one word, for the fast path. */
static UCS_F_ALWAYS_INLINE int ucs_memtype_is_all_host(void)
{
    return ucs_likely(__atomic_load_n(&ucs_memtype_sources, __ATOMIC_ACQUIRE) ==
                      0);
}

/** As ucs_memtype_cache_lookup(), but for the byte at `address` only: *info
 *  describes the block of memory that contains this byte. `size` is only for
 *  the detector; if it is 0, the detector is not called. *place_p receives what
 *  the detector stores there; it does not change if the detector stores
 *  nothing. */
ucs_status_t ucs_memtype_find(const void *address, size_t size,
                              ucs_memory_info_t *info, uint32_t *place_p);

/*
 * Table of pages that the detector has found to be host memory, so that the
 * detector is not called for each message. A page stays host memory until it is
 * unmapped. Therefore the code that enables the table
 * (ucs_memtype_remember_pages) must report every unmapping by
 * ucs_memtype_forget_range(). Recording a range removes its pages, and changing
 * the detector removes all pages. An entry is the number of a page, or 0: no
 * buffer is in the first page of the address space. A page uses the entry at
 * (its number modulo the size of the table), so that the table covers 256 MiB
 * of contiguous buffers. Parts of the table that are not accessed take no
 * physical memory. The size is 2^16, so that x86 computes the modulo by one
 * instruction (movzwl).
 */
enum {
    UCS_MEMTYPE_PAGES      = 65536,
    UCS_MEMTYPE_PAGE_SHIFT = 12,
};

extern uint64_t ucs_memtype_pages[UCS_MEMTYPE_PAGES];

/**
 * Returns whether the page of the address is known to be host memory. Reads one
 * entry with relaxed ordering. That is sufficient: no other data is read
 * because of the entry, and a thread that gets the address from another thread
 * also sees the changes that the other thread has made to the entry before. On
 * x86, inline assembly makes the load an operand of the comparison. Compilers
 * use a separate instruction for an atomic load, which each message would
 * execute.
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

/** Removes all pages that overlap the range from the table. Any thread. Takes
 *  no lock and allocates nothing. */
void ucs_memtype_forget_range(const void *address, size_t length);

/** The detector: determines the type of memory that is not recorded. Several
 *  threads may call it at once. Returns nonzero if it has determined the type,
 *  and then fills *info. May store a value in *place_p that tells where the
 *  memory is, such as the number of a GPU context. Only the code that copies
 *  memory of this type interprets the value, which saves that code a second
 *  query. */
typedef int (*ucs_memtype_detector_t)(const void *address, size_t size,
                                      ucs_memory_info_t *info,
                                      uint32_t *place_p);

/** Sets the detector. NULL removes it and waits until no thread runs it. */
void ucs_memtype_detector_set(ucs_memtype_detector_t detector);

END_C_DECLS

#endif
