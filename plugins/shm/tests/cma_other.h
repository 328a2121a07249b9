/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other process of a cma test: a child process with a side of its own
 * (cma_side.h), which is the peer of the test's side. It fills or compares its
 * memory on request.
 */
#ifndef SHM_TEST_CMA_OTHER_H
#define SHM_TEST_CMA_OTHER_H

#include "cma_side.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of memory of the other process that this process may access. */
#define WINDOW (24ul << 20)

/* The other process, as this process sees it. */
typedef struct cma_other {
    const char *config; /* Configuration of its interface, or NULL */
    pid_t pid;
    int fd; /* Socket for requests and answers */
} cma_other_t;

/* Fills a buffer with test data. Each byte depends on the seed and on its
 * position. */
void cma_fill(uint8_t *data, uint64_t seed, size_t length);
/* Returns the offset of the first byte that differs from the data of
 * cma_fill(), or -1. */
long long cma_first_bad(const uint8_t *data, uint64_t seed, size_t length);

/* Starts the other process, opens a side in this process, and connects them.
 * `config`: configuration of both interfaces (NAME=VALUE,...), or NULL. */
void cma_other_begin(cma_other_t *other, cma_side_t *side, cma_link_t *link,
                     const char *config);
/* Closes both sides and waits for the other process. Fails if that failed, or
 * if an error handler was called. */
void cma_other_end(cma_other_t *other, cma_side_t *side, cma_link_t *link);

/* Sends a request to the other process, which executes and answers it. `what`:
 *
 * - 'f': fill `length` bytes at `offset` of its memory with cma_fill();
 * - 'c': compare these bytes with the same data;
 * - 'e': return the sum of events that its calls of progress have returned;
 * - 'l' (look), 'a' (away): call progress, or block, until the next request;
 * - 'q': quit.
 *
 * Returns the answer: 'c': the result of cma_first_bad(); 'e': the number of
 * events; others: -1. */
long long cma_other_tell(const cma_other_t *other, char what, uint64_t seed,
                         uint64_t offset, uint64_t length);

/* Puts data from one buffer, gets them back into `pieces` buffers with gaps,
 * compares on both sides, and checks the bytes next to the data. */
void cma_other_round_trip(cma_other_t *other, cma_link_t *link, size_t length,
                          unsigned pieces);

#endif
