/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the emulated device: pages, their addresses, and the check of the
 * source and the destination of a copy.
 */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../emulated.h"

/* The most recently released ranges. A copy to or from one of them is reported
 * as a mistake. Without this list, the driver would find no range for such
 * an address and treat it as pageable host memory. */
enum { NUM_RELEASED = 256 };

static struct {
    uintptr_t start;
    size_t length;
} released[NUM_RELEASED];
static unsigned num_released;

emu_range_t *emu_ranges;

size_t emu_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t emu_round(size_t length, size_t unit)
{
    return (length + unit - 1) / unit * unit;
}

/* ----------------------------------------------------------------- pages -- */

emu_pages_t *emu_pages_adopt(int fd, size_t length)
{
    emu_pages_t *pages = malloc(sizeof(*pages));
    struct stat file;
    void *shadow;

    if ((pages == NULL) || (fstat(fd, &file) != 0) ||
        ((size_t)file.st_size < length)) {
        free(pages);
        close(fd);
        return NULL;
    }
    if (length == 0) {
        length = (size_t)file.st_size;
    }
    shadow = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shadow == MAP_FAILED) {
        free(pages);
        close(fd);
        return NULL;
    }
    *pages = (emu_pages_t){
        .fd     = fd,
        .shadow = shadow,
        .length = length,
        .refs   = 1,
        .device = -1,
    };
    return pages;
}

emu_pages_t *emu_pages_new(int device, size_t length)
{
    emu_pages_t *pages;
    int fd;

    length = emu_round(length, emu_page_size());
    fd     = memfd_create("emulated-device", MFD_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    if (ftruncate(fd, (off_t)length) != 0) {
        close(fd);
        return NULL;
    }
    pages = emu_pages_adopt(fd, length);
    if (pages != NULL) {
        pages->device = device;
    }
    return pages;
}

void emu_pages_hold(emu_pages_t *pages)
{
    ++pages->refs;
}

void emu_pages_drop(emu_pages_t *pages)
{
    if ((pages == NULL) || (--pages->refs > 0)) {
        return;
    }
    munmap(pages->shadow, pages->length);
    close(pages->fd);
    free(pages);
}

/* ------------------------------------------------------------- addresses -- */

void *emu_reserve(size_t length, size_t alignment)
{
    size_t page = emu_page_size();
    size_t all;
    char *start, *aligned;

    length = emu_round(length, page);
    if (alignment <= page) {
        start = mmap(NULL, length, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return (start == MAP_FAILED) ? NULL : start;
    }

    all   = length + alignment;
    start = mmap(NULL, all, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    aligned = (char *)emu_round((uintptr_t)start, alignment);
    if (aligned > start) {
        munmap(start, (size_t)(aligned - start));
    }
    if (start + all > aligned + length) {
        munmap(aligned + length, (size_t)(start + all - aligned - length));
    }
    return aligned;
}

/* Removes these addresses from `released`, because they are used again. */
static void forget_released(uintptr_t start, size_t length)
{
    unsigned i;

    for (i = 0; i < NUM_RELEASED; ++i) {
        if ((released[i].start < start + length) &&
            (start < released[i].start + released[i].length)) {
            released[i].length = 0;
        }
    }
}

emu_range_t *emu_range_add(const emu_range_t *model)
{
    static uint64_t last_id;
    emu_range_t *range = malloc(sizeof(*range));

    if (range == NULL) {
        return NULL;
    }
    *range        = *model;
    range->id     = ++last_id;
    range->mapped = emu_round(range->length, emu_page_size());
    range->opened = 1;
    if (range->pages != NULL) {
        emu_pages_hold(range->pages);
    }
    forget_released(range->start, range->mapped);
    range->next = emu_ranges;
    emu_ranges  = range;
    return range;
}

void emu_range_remove(emu_range_t *range, int unmap)
{
    emu_range_t **link;

    for (link = &emu_ranges; *link != range; link = &(*link)->next) {
    }
    *link = range->next;

    released[num_released % NUM_RELEASED].start  = range->start;
    released[num_released % NUM_RELEASED].length = (range->flags &
                                                    EMU_RANGE_REGISTERED) ?
                                                       0 :
                                                       range->mapped;
    ++num_released;

    if (unmap) {
        munmap((void *)range->start, range->mapped);
    }
    emu_pages_drop(range->pages);
    free(range);
}

emu_range_t *emu_range_find(uintptr_t address)
{
    emu_range_t *range;

    for (range = emu_ranges; range != NULL; range = range->next) {
        if ((address >= range->start) &&
            (address - range->start < range->length)) {
            return range;
        }
    }
    return NULL;
}

int emu_ranges_overlap(uintptr_t start, size_t length)
{
    const emu_range_t *range;

    for (range = emu_ranges; range != NULL; range = range->next) {
        if ((range->start < start + length) &&
            (start < range->start + range->length)) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether this is pageable host memory that is mapped. Otherwise, or if
 * it was memory of the device that is released, reports a mistake. */
static int is_pageable(uintptr_t address, size_t length)
{
    size_t page     = emu_page_size();
    uintptr_t start = address / page * page;
    size_t i;

    for (i = 0; i < NUM_RELEASED; ++i) {
        if ((released[i].start < address + length) &&
            (address < released[i].start + released[i].length)) {
            emu_mistake("a copy of %zu bytes at %#lx, which were released",
                        length, (unsigned long)address);
            return 0;
        }
    }
    /* msync() fails if a part is not mapped */
    if (msync((void *)start, address + length - start, MS_ASYNC) != 0) {
        emu_mistake("a copy of %zu bytes at %#lx, where no memory is", length,
                    (unsigned long)address);
        return 0;
    }
    return 1;
}

int emu_place_find(uintptr_t address, size_t length, emu_place_t *place)
{
    emu_range_t *range = emu_range_find(address);

    *place = (emu_place_t){.at = (char *)address, .range = range};
    if (range == NULL) {
        return is_pageable(address, length);
    }
    if (length > range->length - (address - range->start)) {
        if (range->flags & EMU_RANGE_REGISTERED) {
            place->range = NULL; /* Treat the memory as pageable, because only a
                                  * part of it is registered */
            return is_pageable(address, length);
        }
        emu_mistake("a copy of %zu bytes at %#lx reaches over the end of an"
                    " allocation of %zu bytes at %#lx",
                    length, (unsigned long)address, range->length,
                    (unsigned long)range->start);
        return 0;
    }
    if (range->flags & EMU_RANGE_FREED) {
        emu_mistake("a copy at %#lx, which is being released",
                    (unsigned long)address);
        return 0;
    }
    if (range->flags & EMU_RANGE_NO_ACCESS) {
        emu_mistake("a copy at %#lx, which was mapped without access",
                    (unsigned long)address);
        return 0;
    }
    if (range->pages != NULL) {
        place->at = range->pages->shadow + range->offset +
                    (address - range->start);
        place->pages = range->pages;
        emu_pages_hold(range->pages);
    }
    return 1;
}

EMU_API void *emulated_view(const void *address, size_t length)
{
    emu_range_t *range;
    void *view = NULL;

    pthread_mutex_lock(&emu_lock);
    range = emu_range_find((uintptr_t)address);
    if ((range != NULL) &&
        (length <= range->length - ((uintptr_t)address - range->start))) {
        view = (range->pages == NULL) ? (void *)address :
                                        range->pages->shadow + range->offset +
                                            ((uintptr_t)address - range->start);
    }
    pthread_mutex_unlock(&emu_lock);
    return view;
}
