/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a test: ordinary, or such that the processor cannot touch. That is of
 * tests/plugins/opaque, which the test sees by the descriptor behind it, or with
 * TEST_MEMORY=cuda of tests/emulated, which shows it. */
#ifndef INTEGRATION_MEMORY_H
#define INTEGRATION_MEMORY_H

#include "side.h"

#include <stddef.h>

#define MEMORY_OPAQUE_TYPE memory_opaque_type()

enum { MEMORY_GUARD = 64 }; /* bytes that must stay behind what arrives */

struct memory {
    char *address;       /* what UCP is given */
    char *view;          /* where the test reads and writes it */
    size_t length;
    bool is_mapped;      /* the view, by us */
    ucp_mem_h memh;
};

ucs_memory_type_t memory_opaque_type(void);

/* Allocated by UCP, and zero. */
void memory_make(struct side *side, struct memory *memory, size_t length,
                 bool opaque);
void memory_drop(struct side *side, struct memory *memory);

/* Before the library is used: copies take long (rounds of progress, or
 * microseconds); the third copy fails, and so do later ones, if not all. */
void memory_delay(const char *amount);
void memory_fail(void);

/* A place for a message and the guard behind it; and that the message is there
 * and nothing else has changed. */
void memory_prepare(struct memory *memory, size_t length);
void memory_verify(const struct memory *memory, size_t length,
                   uint64_t message);

#endif
