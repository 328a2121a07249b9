/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory for a domain: allocated by the domain, or allocated from the heap
 * and registered.
 */
#ifndef CONFORMANCE_MEMORY_H
#define CONFORMANCE_MEMORY_H

#include <uct/api/uct.h>

typedef struct memory {
    uct_md_h md;
    void *address;
    size_t length;
    uct_mem_h memh;   /* UCT_MEM_HANDLE_NULL: the domain does not register */
    int is_allocated; /* 1: allocated by the domain; 0: from the heap */
    uct_allocated_memory_t allocated; /* Valid if `is_allocated` */
} memory_t;

/* Returns whether the domain can provide memory that peers can access. */
int memory_is_possible(uct_md_h md);

/* Gets memory with all access rights: from the heap and registered if the
 * domain registers host memory, otherwise allocated by the domain. If it can do
 * neither, the memory is from the heap and not registered. */
ucs_status_t memory_get(uct_md_h md, size_t length, memory_t *memory);
ucs_status_t memory_put(memory_t *memory);

#endif
