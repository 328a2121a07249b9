/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repeatable random numbers, and message contents that can be verified without
 * a second copy.
 */
#ifndef INTEGRATION_DATA_H
#define INTEGRATION_DATA_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* Returns the seed from --seed N, or a fixed one. Prints it, so that a failure
 * can be repeated. */
uint64_t random_seed(int argc, char **argv);

uint64_t random_next(struct random *random);

/* Nearly uniform in [0, bound). */
uint64_t random_below(struct random *random, uint64_t bound);

/* Fills `order` with the numbers 0 .. count-1 in random order. */
void random_order(struct random *random, uint32_t *order, uint32_t count);

/* data_fill() writes contents that depend on the number `message` and on the
 * position. data_verify() fails the test if the buffer has other contents. */
void data_fill(void *buffer, size_t length, uint64_t message);
void data_verify(const void *buffer, size_t length, uint64_t message);

#endif
