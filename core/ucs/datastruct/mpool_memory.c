/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for pools by malloc() or mmap(). A header before the memory stores
 * which of them has allocated it. */
#include "ucs/datastruct/mpool_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "ucs/sys/math.h"
#include "ucs/sys/sys.h"

typedef union {
    size_t mapped;     /* bytes of the mapping, including the header; 0: the
                        * memory is from malloc() */
    max_align_t align; /* not used; makes the size of the header a multiple of
                        * the largest alignment */
} header_t;

/* Maps at least `bytes`, rounded up to pages of page_size. Returns NULL on
 * failure. */
static header_t *memory_map(size_t bytes, size_t page_size, int map_flags)
{
    header_t *header;

    bytes  = ucs_align_up_pow2(bytes, page_size);
    header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | map_flags, -1, 0);
    if (header == MAP_FAILED) {
        return NULL;
    }

    header->mapped = bytes;
    return header;
}

static header_t *memory_malloc(size_t bytes)
{
    header_t *header = malloc(bytes);

    if (header != NULL) {
        header->mapped = 0;
    }

    return header;
}

void *mpool_memory_alloc(size_t *size_p, unsigned flags)
{
    size_t huge = (flags & MPOOL_MEMORY_HUGE) ? ucs_get_huge_page_size() : 0;
    header_t *header = NULL;
    size_t bytes;

    /* the limit prevents an overflow when the size is rounded up to pages */
    if (ucs_check_add(*size_p, sizeof(*header), &bytes) ||
        (bytes > SIZE_MAX / 2)) {
        return NULL;
    }

    if ((huge != 0) && (bytes >= huge / 2)) {
        header = memory_map(bytes, huge, MAP_HUGETLB);
    }

    if ((header == NULL) && (flags & MPOOL_MEMORY_NO_MALLOC)) {
        header = memory_map(bytes, ucs_get_page_size(), 0);
    } else if (header == NULL) {
        header = memory_malloc(bytes);
    }

    if (header == NULL) {
        return NULL;
    }

    if (header->mapped != 0) {
        *size_p = header->mapped - sizeof(*header);
    }

    return header + 1;
}

void mpool_memory_free(void *memory)
{
    header_t *header = (header_t *)memory - 1;

    if (header->mapped != 0) {
        munmap(header, header->mapped);
    } else {
        free(header);
    }
}
