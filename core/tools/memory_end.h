/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools that build their answers as JSON, step by step: where memory for a step
 * is out, the tool says so and ends, instead of printing an answer that lacks
 * something.
 */
#ifndef TOOLS_MEMORY_END_H
#define TOOLS_MEMORY_END_H

#include <stdio.h>

/** From now on JSON of this process ends it when memory is out: with a message
 *  of the tool called `name`, and the exit status `code`. Before threads. */
void memory_end_begin(const char *name, int code);

/** Says that memory is out, and ends the process at once. */
void memory_end(void) __attribute__((__noreturn__));

/** `block`, unless it is NULL: then this ends the process. */
static inline void *memory_or_end(void *block)
{
    if (block == NULL) {
        memory_end();
    }
    return block;
}

/** Closes a stream of open_memstream(), whose text has to be whole. */
void memory_stream_close(FILE *stream, char *const *text_p);

#endif
