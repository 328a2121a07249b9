/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tools that build their output as JSON step by step. If memory is
 * exhausted, such a tool exits with a message instead of printing incomplete
 * output.
 */
#ifndef TOOLS_MEMORY_END_H
#define TOOLS_MEMORY_END_H

#include <stdio.h>

/** From now on, if jansson cannot allocate memory, the process prints a message
 *  that begins with the tool's name `name`, and exits with the status `code`.
 *  Call it before threads are created. */
void memory_end_begin(const char *name, int code);

/** Reports that memory is exhausted, and exits at once. */
void memory_end(void) __attribute__((__noreturn__));

/** Returns `block`. If it is NULL, the process exits. */
static inline void *memory_or_end(void *block)
{
    if (block == NULL) {
        memory_end();
    }
    return block;
}

/** Closes a stream of open_memstream(). If its text is incomplete for lack of
 *  memory, the process exits. */
void memory_stream_close(FILE *stream, char *const *text_p);

#endif
