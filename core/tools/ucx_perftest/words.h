/* SPDX-License-Identifier: BSD-3-Clause */
/* Options whose value is a word of a fixed list. */
#ifndef PERFTEST_WORDS_H
#define PERFTEST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct word {
    const char *name;
    unsigned value;
};

/* The lists. Each is terminated by a NULL name. */
extern const struct word words_thread_modes[];
extern const struct word words_async_modes[];
extern const struct word words_layouts[];
extern const struct word words_datatypes[];
extern const struct word words_memory_types[];

/* Finds the word of `length` bytes. Returns NULL if the list does not contain
 * it. */
const struct word *words_find(const struct word *words, const char *text,
                              size_t length);

/* Returns the word whose value is `value`, or NULL. */
const char *words_name(const struct word *words, unsigned value);

/* Writes the words as "a, b, c", for messages. */
void words_list(const struct word *words, char *text, size_t length);


#endif
