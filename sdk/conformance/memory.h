/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a domain can serve: allocated by it, or the heap's and registered
 * with it. Host memory only.
 */
#ifndef CONFORMANCE_MEMORY_H
#define CONFORMANCE_MEMORY_H

#include <uct/api/uct.h>

typedef struct memory {
    uct_md_h md;
    void *address;
    size_t length;
    uct_mem_h memh; /* UCT_MEM_HANDLE_NULL: the domain registers nothing */
    int is_allocated;
    uct_allocated_memory_t allocated;
} memory_t;

/* Can the domain make memory that peers may reach? */
int memory_is_possible(uct_md_h md);

/* With access for everybody. Registration is preferred to allocation. */
ucs_status_t memory_get(uct_md_h md, size_t length, memory_t *memory);
ucs_status_t memory_put(memory_t *memory);

#endif
