/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that ends at an inaccessible page: see guard.h. */
#include "guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ucs/sys/math.h>

int guard_open(guard_t *guard, size_t max)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = ucs_align_up_pow2(max, page) + page;

    guard->map_size = body + page;
    guard->map      = mmap(NULL, guard->map_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard->map == MAP_FAILED) {
        return 0;
    }
    guard->end = guard->map + body;
    if (mprotect(guard->end, page, PROT_NONE) != 0) {
        guard_close(guard);
        return 0;
    }
    return 1;
}

void guard_close(guard_t *guard)
{
    munmap(guard->map, guard->map_size);
}

void *guard_place(guard_t *guard, const void *bytes, size_t size)
{
    char *place = guard->end - size;

    /* Overwrite the bytes before the copy, so that they do not contain data of
     * an earlier call */
    memset(guard->map, 0xa5, (size_t)(place - guard->map));
    if (size > 0) {
        memcpy(place, bytes, size);
    }
    return place;
}
