/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a test, of several kinds. Kind 0 is ordinary memory. Kind 1 is
 * inaccessible to the processor: only a transport that supports its memory type
 * can copy it. Further kinds exist only with a list in TEST_MEMORY.
 *
 * Without TEST_MEMORY, tests/plugins/opaque provides kind 1, and the test maps
 * the file behind that memory to fill and verify it. TEST_MEMORY names memory
 * types as memory.c lists them, separated by commas ("cuda,rocm"): kinds 1, 2
 * and so on. Emulated drivers of tests/emulated then provide the memory and a
 * second address for the test's accesses. The first type of the list must be
 * inaccessible to the processor.
 */
#ifndef INTEGRATION_MEMORY_H
#define INTEGRATION_MEMORY_H

#include "side.h"

#include <stddef.h>

#define MEMORY_OPAQUE_TYPE memory_opaque_type()

/* A memory type that no plugin can copy */
#define MEMORY_FOREIGN_TYPE memory_foreign_type()

enum {
    /* Bytes after the message that must not change */
    MEMORY_GUARD     = 64,
    MEMORY_MAX_KINDS = 8,
    MEMORY_FEW_KINDS = 4,
};

struct memory {
    char *address; /* Address that is passed to UCP */
    char *view;    /* Address at which the test fills and verifies the memory */
    size_t length;
    bool is_mapped; /* The test has mapped `view` and must unmap it */
    ucp_mem_h memh;
};

ucs_memory_type_t memory_opaque_type(void);
ucs_memory_type_t memory_foreign_type(void);

/* Number of kinds, including ordinary memory */
int memory_kinds(void);
/* Step by which a test goes through its list of sizes: 5 with more than
 * MEMORY_FEW_KINDS kinds, because the tests run every pair of kinds; otherwise
 * 1. */
int memory_size_step(void);
const char *memory_kind_name(int kind);
ucs_memory_type_t memory_kind_type(int kind);

/* Returns whether TEST_DIRECT is set. The test's transports then transfer
 * inaccessible memory between the processes without a copy in host memory. */
bool memory_is_direct(void);

/* Allocates memory of a kind by ucp_mem_map() and fills it with zeros. */
void memory_make(struct side *side, struct memory *memory, size_t length,
                 int kind);
void memory_drop(struct side *side, struct memory *memory);

/* Call before the first use of the library, as both set environment variables.
 * memory_delay(): each copy of inaccessible memory takes `amount` rounds of
 * progress, or microseconds with an emulated driver. memory_fail(): the third
 * copy fails, and possibly later ones. */
void memory_delay(const char *amount);
void memory_fail(void);

/* memory_prepare() fills `length` bytes and the guard after them with a
 * pattern, before a message is received. memory_verify() checks the message and
 * that the guard is unchanged. */
void memory_prepare(struct memory *memory, size_t length);
void memory_verify(const struct memory *memory, size_t length,
                   uint64_t message);

#endif
