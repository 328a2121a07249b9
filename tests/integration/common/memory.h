/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a test: ordinary, or such that the processor cannot touch (of
 * tests/plugins/opaque), which the test sees by the descriptor behind it. */
#ifndef INTEGRATION_MEMORY_H
#define INTEGRATION_MEMORY_H

#include "side.h"

#include <stddef.h>

#define MEMORY_OPAQUE_TYPE UCS_MEMORY_TYPE_ROCM

enum { MEMORY_GUARD = 64 }; /* bytes that must stay behind what arrives */

struct memory {
    char *address;       /* what UCP is given */
    char *view;          /* where the test reads and writes it */
    size_t length;
    ucp_mem_h memh;
};

/* Allocated by UCP, and zero. */
void memory_make(struct side *side, struct memory *memory, size_t length,
                 bool opaque);
void memory_drop(struct side *side, struct memory *memory);

/* A place for a message and the guard behind it; and that the message is there
 * and nothing else has changed. */
void memory_prepare(struct memory *memory, size_t length);
void memory_verify(const struct memory *memory, size_t length,
                   uint64_t message);

#endif
