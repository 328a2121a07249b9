/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeatable randomness, and message contents that can be checked without a
 * second copy of them. */
#ifndef INTEGRATION_DATA_H
#define INTEGRATION_DATA_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* The seed comes from --seed N or is a fixed one; it is printed, so that a
 * failure can be repeated. */
uint64_t random_seed(int argc, char **argv);

uint64_t random_next(struct random *random);

/* Uniform enough for tests, in [0, bound). */
uint64_t random_below(struct random *random, uint64_t bound);

/* Puts the numbers 0 .. count-1 into order, shuffled. */
void random_order(struct random *random, uint32_t *order, uint32_t count);

/* Contents that depend on the message's number and on the place. */
void data_fill(void *buffer, size_t length, uint64_t message);
void data_verify(const void *buffer, size_t length, uint64_t message);

#endif
