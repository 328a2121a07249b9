/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/self/maps with a buffer on the stack and system calls only, so
 * that it is safe inside an event.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucm/internal.h"

size_t ucm_page_size(void)
{
    static size_t size; /* constant; any thread stores the same value */
    size_t known = __atomic_load_n(&size, __ATOMIC_RELAXED);

    if (known == 0) {
        known = getauxval(AT_PAGESZ);
        __atomic_store_n(&size, known, __ATOMIC_RELAXED);
    }
    return known;
}

/* Parses a number in this base and advances the text. */
static unsigned long ucm_maps_number(const char **text, unsigned base)
{
    unsigned long value = 0;
    const char *p       = *text;
    unsigned digit;

    for (;; ++p) {
        if ((*p >= '0') && (*p <= '9')) {
            digit = (unsigned)(*p - '0');
        } else if ((base == 16) && (*p >= 'a') && (*p <= 'f')) {
            digit = (unsigned)(*p - 'a') + 10;
        } else {
            break;
        }
        value = (value * base) + digit;
    }
    *text = p;
    return value;
}

static int ucm_maps_char(const char **text, char c)
{
    if (**text != c) {
        return 0;
    }
    ++*text;
    return 1;
}

/* Parses a line "start-end rwxp offset major:minor inode ...". Returns 0 if it
 * is not of this form. */
static int ucm_maps_parse(const char *line, ucm_map_t *map)
{
    map->start = ucm_maps_number(&line, 16);
    if (!ucm_maps_char(&line, '-')) {
        return 0;
    }
    map->end = ucm_maps_number(&line, 16);
    if (!ucm_maps_char(&line, ' ') || (strlen(line) < 5)) {
        return 0;
    }
    map->prot = ((line[0] == 'r') ? PROT_READ : 0) |
                ((line[1] == 'w') ? PROT_WRITE : 0) |
                ((line[2] == 'x') ? PROT_EXEC : 0);
    line += 5;
    map->offset = ucm_maps_number(&line, 16);
    (void)ucm_maps_char(&line, ' ');
    map->dev_major = (unsigned)ucm_maps_number(&line, 16);
    (void)ucm_maps_char(&line, ':');
    map->dev_minor = (unsigned)ucm_maps_number(&line, 16);
    (void)ucm_maps_char(&line, ' ');
    map->inode = ucm_maps_number(&line, 10);
    return 1;
}

int ucm_maps_each(ucm_map_cb_t cb, void *arg)
{
    char buffer[2048]; /* longer lines are truncated; only their start is
                        * used */
    size_t used = 0;
    int skip    = 0; /* inside the rest of a long line */
    int done    = 0;
    ucm_map_t map;
    char *line, *end;
    ssize_t got;
    int fd;

    fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                      O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }

    while (!done && ((got = syscall(SYS_read, fd, buffer + used,
                                    sizeof(buffer) - 1 - used)) > 0)) {
        used += (size_t)got;
        buffer[used] = '\0';
        for (line = buffer; !done; line = end + 1) {
            end = strchr(line, '\n');
            if (end == NULL) {
                break;
            }
            *end = '\0';
            if (!skip && ucm_maps_parse(line, &map)) {
                done = cb(&map, arg);
            }
            skip = 0;
        }
        used -= (size_t)(line - buffer);
        memmove(buffer, line, used);
        if (used == sizeof(buffer) - 1) {
            if (!done && !skip && ucm_maps_parse(buffer, &map)) {
                done = cb(&map, arg);
            }
            skip = 1;
            used = 0;
        }
    }

    syscall(SYS_close, fd);
    return 0;
}

/* --- Queries ------------------------------------------------------------- */

typedef struct ucm_shm_search {
    uintptr_t address;
    ucm_map_t last; /* last part of the segment that was found so far */
    size_t size;    /* bytes of the parts so far; 0: none was found */
} ucm_shm_search_t;

/* Collects the parts of one attachment: they are adjacent, with increasing
 * offsets. */
static int ucm_shm_search_one(const ucm_map_t *map, void *arg)
{
    ucm_shm_search_t *search = arg;
    const ucm_map_t *last    = &search->last;

    if (search->size == 0) {
        if (map->start != search->address) {
            return map->start > search->address;
        }
    } else if ((map->start != last->end) || (map->inode != last->inode) ||
               (map->dev_major != last->dev_major) ||
               (map->dev_minor != last->dev_minor) ||
               (map->offset != last->offset + (last->end - last->start))) {
        return 1;
    }
    search->last = *map;
    search->size += map->end - map->start;
    return 0;
}

size_t ucm_maps_shm_size(const void *address)
{
    ucm_shm_search_t search = {.address = (uintptr_t)address};

    return (ucm_maps_each(ucm_shm_search_one, &search) == 0) ? search.size : 0;
}

typedef struct ucm_prot_search {
    uintptr_t address;
    int prot;
} ucm_prot_search_t;

static int ucm_prot_search_one(const ucm_map_t *map, void *arg)
{
    ucm_prot_search_t *search = arg;

    if ((map->start <= search->address) && (search->address < map->end)) {
        search->prot = map->prot;
    }
    return map->end > search->address;
}

int ucm_maps_prot(const void *address)
{
    ucm_prot_search_t search = {.address = (uintptr_t)address, .prot = -1};

    (void)ucm_maps_each(ucm_prot_search_one, &search);
    return search.prot;
}
