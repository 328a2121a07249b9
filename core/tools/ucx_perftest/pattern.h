/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents that a receiver can check: every byte follows from the number of
 * the message and its place in it, so that bytes of another message, from
 * another place, or old ones are told from the right ones. */
#ifndef PERFTEST_PATTERN_H
#define PERFTEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* The contents of message `number` between `offset` and `offset + length`. */
void pattern_fill(void *memory, size_t length, uint64_t number, size_t offset);

/* Returns how many bytes are right before the first wrong one. */
size_t pattern_check(const void *memory, size_t length, uint64_t number,
                     size_t offset);

uint8_t pattern_byte(uint64_t number, size_t offset);

#endif
