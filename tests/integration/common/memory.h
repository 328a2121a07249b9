/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a test: ordinary, or inaccessible to the processor.
 * tests/plugins/opaque provides the latter, and the test maps the file
 * descriptor of that memory to access it. With TEST_MEMORY=cuda, or a list of
 * memory types, an emulated driver of tests/emulated provides both the memory
 * and the address for the test's accesses. The first type of the list must be
 * inaccessible to the processor.
 */
#ifndef INTEGRATION_MEMORY_H
#define INTEGRATION_MEMORY_H

#include "side.h"

#include <stddef.h>

#define MEMORY_OPAQUE_TYPE memory_opaque_type()

/* A type of inaccessible memory without a plugin that copies it */
#define MEMORY_FOREIGN_TYPE memory_foreign_type()

enum {
    /* Bytes after the message that must not change */
    MEMORY_GUARD     = 64,
    MEMORY_MAX_KINDS = 8,
    MEMORY_FEW_KINDS = 4,
};

struct memory {
    char *address; /* Address for UCP */
    char *view;    /* Address for the test's accesses */
    size_t length;
    bool is_mapped; /* The test has mapped the view */
    ucp_mem_h memh;
};

ucs_memory_type_t memory_opaque_type(void);
ucs_memory_type_t memory_foreign_type(void);

/* Number of kinds of memory: 0 is ordinary, 1 inaccessible to the processor, and
 * the others are further ones of TEST_MEMORY. */
int memory_kinds(void);
/* With more than a few kinds there are many pairs of them: the tests then use
 * every fifth of their sizes. */
int memory_size_step(void);
const char *memory_kind_name(int kind);
ucs_memory_type_t memory_kind_type(int kind);

/* With TEST_DIRECT=y: the transports copy such memory between the processes. */
bool memory_is_direct(void);

/* UCP allocates the memory; it is filled with zeros. */
void memory_make(struct side *side, struct memory *memory, size_t length,
                 int kind);
void memory_drop(struct side *side, struct memory *memory);

/* Call before the first use of the library. memory_delay(): copies take a long
 * time (rounds of progress, or microseconds). memory_fail(): the third copy
 * fails, and possibly later ones. */
void memory_delay(const char *amount);
void memory_fail(void);

/* Prepares memory for a message, with the guard after it. memory_verify()
 * checks the message and that no other byte has changed. */
void memory_prepare(struct memory *memory, size_t length);
void memory_verify(const struct memory *memory, size_t length,
                   uint64_t message);

#endif
