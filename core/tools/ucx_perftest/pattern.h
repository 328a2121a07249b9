/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents that a receiver can verify: every byte depends on the number of the
 * message and on the byte's offset in the message, so that data of another
 * message or offset, or old data, is detected. */
#ifndef PERFTEST_PATTERN_H
#define PERFTEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Writes `length` bytes to `memory`: those of message `number` from its byte
 * `offset` on. */
void pattern_fill(void *memory, size_t length, uint64_t number, size_t offset);

/* Returns the number of correct bytes before the first wrong one. */
size_t pattern_check(const void *memory, size_t length, uint64_t number,
                     size_t offset);

uint8_t pattern_byte(uint64_t number, size_t offset);

#endif
