/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recorded ranges of memory that is not host memory, and pages that are known
 * to be host memory. The ranges are in a sorted array without overlaps: there
 * are few ranges, and lookups are far more frequent than changes.
 */
#include "ucs/memory/memtype.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"

typedef struct {
    uintptr_t start;
    uintptr_t end; /* after the last byte */
    ucs_memory_type_t type;
    ucs_sys_device_t sys_dev;
    uint8_t flags; /* as passed to ucs_memtype_cache_update() */
} range_t;

size_t ucs_memtype_sources;
uint64_t ucs_memtype_pages[UCS_MEMTYPE_PAGES];

/* Atomic. Whether pages are stored in ucs_memtype_pages. */
static int remembers_pages;

static struct {
    pthread_rwlock_t lock;
    range_t *ranges; /* in ascending order */
    size_t count;
    size_t capacity; /* length of the array */
} cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The function that determines types (memtype.h). It is called with this lock
 * held, not with the lock of the cache, because it may record the memory. */
static struct {
    pthread_rwlock_t lock;
    ucs_memtype_detector_t func;
} detector = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* --- pages known to be host memory --- */

/* Atomic. Number of calls that have removed pages from the table. */
static uint64_t forgotten;

/* Atomic. 1 from the first store to the table of pages. While it is 0, the
 * table is empty, and forget_all_pages() need not access it. */
static int has_pages;

/* Removes all pages from the table. Another thread may store a page in an entry
 * that the loop has already cleared. That thread then reads the changed count
 * and removes the page itself (see remember_page). */
static void forget_all_pages(void)
{
    size_t i;

    __atomic_add_fetch(&forgotten, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&has_pages, __ATOMIC_SEQ_CST)) {
        return;
    }
    for (i = 0; i < UCS_MEMTYPE_PAGES; ++i) {
        if (__atomic_load_n(&ucs_memtype_pages[i], __ATOMIC_SEQ_CST) != 0) {
            __atomic_store_n(&ucs_memtype_pages[i], 0, __ATOMIC_SEQ_CST);
        }
    }
}

void ucs_memtype_remember_pages(int enable)
{
    __atomic_store_n(&remembers_pages, enable, __ATOMIC_RELEASE);
    forget_all_pages();
}

/* If the range has at least as many pages as the table has entries, its pages
 * may be in any entry. Then all pages are removed. */
void ucs_memtype_forget_range(const void *address, size_t length)
{
    const uintptr_t first = (uintptr_t)address >> UCS_MEMTYPE_PAGE_SHIFT;
    const uintptr_t count = (((uintptr_t)address + length - 1) >>
                             UCS_MEMTYPE_PAGE_SHIFT) -
                            first + 1;
    uintptr_t page;
    uint64_t *slot;

    if (length == 0) {
        return;
    }
    if (count >= UCS_MEMTYPE_PAGES) {
        forget_all_pages();
        return;
    }
    __atomic_add_fetch(&forgotten, 1, __ATOMIC_SEQ_CST);
    for (page = first; page < first + count; ++page) {
        slot = &ucs_memtype_pages[page % UCS_MEMTYPE_PAGES];
        if (__atomic_load_n(slot, __ATOMIC_SEQ_CST) == page) {
            __atomic_store_n(slot, 0, __ATOMIC_SEQ_CST);
        }
    }
}

/* Returns the count of removals. The caller of the detector reads it before the
 * call, and passes it to remember_page(). */
static uint64_t forgotten_now(void)
{
    return __atomic_load_n(&forgotten, __ATOMIC_SEQ_CST);
}

/* Stores the page of the address in the table. `forgotten_before`: the count of
 * removals before the detector was called. Another thread may have unmapped and
 * removed the page since. Then either this thread reads a changed count and
 * removes the page again, or the other thread finds the page in the table and
 * removes it. */
static void remember_page(const void *address, uint64_t forgotten_before)
{
    const uint64_t page = (uintptr_t)address >> UCS_MEMTYPE_PAGE_SHIFT;
    uint64_t *slot      = &ucs_memtype_pages[page % UCS_MEMTYPE_PAGES];

    if (!__atomic_load_n(&remembers_pages, __ATOMIC_ACQUIRE)) {
        return;
    }
    __atomic_store_n(&has_pages, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(slot, page, __ATOMIC_SEQ_CST);
    if (forgotten_now() != forgotten_before) {
        __atomic_store_n(slot, 0, __ATOMIC_SEQ_CST);
    }
}

/* --- recorded ranges --- */

/* Adds to ucs_memtype_sources; (size_t)-1 subtracts 1. */
static void count_source(size_t change)
{
    __atomic_add_fetch(&ucs_memtype_sources, change, __ATOMIC_RELEASE);
}

/* Returns the index of the first range that ends after the address;
 * cache.count if there is none. */
static size_t search(uintptr_t address)
{
    size_t low = 0, high = cache.count, middle;

    while (low < high) {
        middle = low + ((high - low) / 2);
        if (cache.ranges[middle].end > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Allocates space for two more ranges: an update inserts one range, and may
 * split an existing one. Returns 0 if memory is exhausted. */
static int reserve(void)
{
    size_t need = cache.count + 2;
    range_t *ranges;

    if (need <= cache.capacity) {
        return 1;
    }

    ranges = realloc(cache.ranges, 2 * need * sizeof(*ranges));
    if (ranges == NULL) {
        return 0;
    }
    cache.ranges   = ranges;
    cache.capacity = 2 * need;
    return 1;
}

static void insert(size_t index, const range_t *range)
{
    memmove(&cache.ranges[index + 1], &cache.ranges[index],
            (cache.count - index) * sizeof(*range));
    cache.ranges[index] = *range;
    ++cache.count;
    count_source(1);
}

static void erase(size_t index)
{
    --cache.count;
    memmove(&cache.ranges[index], &cache.ranges[index + 1],
            (cache.count - index) * sizeof(*cache.ranges));
    count_source((size_t)-1);
}

/* Removes the addresses [start, end) from all ranges. A range that extends
 * beyond both ends becomes two, so the caller must have called reserve(). */
static void cut(uintptr_t start, uintptr_t end)
{
    size_t index = search(start);
    range_t *range, rest;

    while ((index < cache.count) && (cache.ranges[index].start < end)) {
        range = &cache.ranges[index];
        if ((range->start < start) && (range->end > end)) {
            rest       = *range;
            rest.start = end;
            range->end = start;
            insert(index + 1, &rest);
            return;
        }

        if (range->start < start) {
            range->end = start;
            ++index;
        } else if (range->end > end) {
            range->start = end;
            return;
        } else {
            erase(index);
        }
    }
}

static int is_valid(const void *address, size_t size)
{
    return (size > 0) && ((uintptr_t)address + size > (uintptr_t)address);
}

void ucs_memtype_cache_update(const void *address, size_t size,
                              ucs_memory_type_t mem_type,
                              ucs_sys_device_t sys_dev, uint8_t flags)
{
    const range_t range = {(uintptr_t)address, (uintptr_t)address + size,
                           mem_type, sys_dev, flags};

    if (!is_valid(address, size) ||
        ((unsigned)mem_type > UCS_MEMORY_TYPE_LAST)) {
        return;
    }

    pthread_rwlock_wrlock(&cache.lock);
    if (reserve()) {
        cut(range.start, range.end);
        if (mem_type != UCS_MEMORY_TYPE_HOST) {
            insert(search(range.start), &range);
        }
    } else {
        ucs_warn("no memory to note the type of %zu bytes at %p", size,
                 address);
    }
    pthread_rwlock_unlock(&cache.lock);
    ucs_memtype_forget_range(address, size);
}

void ucs_memtype_cache_remove(const void *address, size_t size)
{
    ucs_memtype_cache_update(address, size, UCS_MEMORY_TYPE_HOST,
                             UCS_SYS_DEVICE_ID_UNKNOWN, 0);
}

static ucs_status_t find_listed(const void *address, ucs_memory_info_t *info)
{
    ucs_status_t status = UCS_ERR_NO_ELEM;
    const range_t *range;
    size_t index;

    pthread_rwlock_rdlock(&cache.lock);
    index = search((uintptr_t)address);
    if ((index < cache.count) &&
        (cache.ranges[index].start <= (uintptr_t)address)) {
        range              = &cache.ranges[index];
        info->type         = range->type;
        info->sys_dev      = range->sys_dev;
        info->flags        = range->flags;
        info->base_address = (void *)range->start;
        info->alloc_length = range->end - range->start;
        status             = UCS_OK;
    }
    pthread_rwlock_unlock(&cache.lock);
    return status;
}

/* Calls the detector. If it finds memory that is not host memory, fills *info
 * and returns UCS_OK. If it finds host memory, returns UCS_ERR_NO_ELEM. If it
 * cannot determine the type, returns `listed`, the result of the search among
 * the recorded ranges. */
static ucs_status_t ask_detector(const void *address, size_t size,
                                 ucs_memory_info_t *info, uint32_t *place_p,
                                 ucs_status_t listed)
{
    ucs_memory_info_t told = *info;

    pthread_rwlock_rdlock(&detector.lock);
    if ((detector.func != NULL) &&
        detector.func(address, size, &told, place_p)) {
        if (told.type == UCS_MEMORY_TYPE_HOST) {
            listed = UCS_ERR_NO_ELEM;
        } else {
            *info  = told;
            listed = UCS_OK;
        }
    }
    pthread_rwlock_unlock(&detector.lock);
    return listed;
}

ucs_status_t ucs_memtype_find(const void *address, size_t size,
                              ucs_memory_info_t *info, uint32_t *place_p)
{
    ucs_memory_info_t found = {UCS_MEMORY_TYPE_UNKNOWN,
                               UCS_SYS_DEVICE_ID_UNKNOWN, 0, NULL, 0};
    ucs_status_t status;
    uint64_t before;

    if (ucs_memtype_is_all_host() || ucs_memtype_is_known_host(address)) {
        return UCS_ERR_NO_ELEM;
    }
    before = forgotten_now();

    status = find_listed(address, &found);
    if ((found.type == UCS_MEMORY_TYPE_UNKNOWN) && (size > 0)) {
        status = ask_detector(address, size, &found, place_p, status);
        if (status == UCS_ERR_NO_ELEM) {
            remember_page(address, before);
        }
    }
    if (status == UCS_OK) {
        *info = found;
    }
    return status;
}

ucs_status_t ucs_memtype_cache_lookup(const void *address, size_t size,
                                      ucs_memory_info_t *mem_info)
{
    uint32_t place;
    ucs_status_t status = ucs_memtype_find(address, size, mem_info, &place);

    if ((status == UCS_OK) &&
        (size > mem_info->alloc_length -
                    ((uintptr_t)address - (uintptr_t)mem_info->base_address))) {
        mem_info->type = UCS_MEMORY_TYPE_UNKNOWN;
    }
    return status;
}

void ucs_memtype_detector_set(ucs_memtype_detector_t func)
{
    pthread_rwlock_wrlock(&detector.lock);
    if ((func != NULL) != (detector.func != NULL)) {
        count_source((func != NULL) ? 1 : (size_t)-1);
    }
    detector.func = func;
    pthread_rwlock_unlock(&detector.lock);
    forget_all_pages();
}

static void UCS_F_DTOR release_ranges(void)
{
    free(cache.ranges);
    cache.ranges   = NULL;
    cache.count    = 0;
    cache.capacity = 0;
    __atomic_store_n(&ucs_memtype_sources, 0, __ATOMIC_RELEASE);
}
