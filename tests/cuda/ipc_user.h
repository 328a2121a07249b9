/* SPDX-License-Identifier: BSD-3-Clause */
/* The test's side of the tests of IPC, which puts and gets. The other process
 * owns the memory (ipc_owner.h). */
#ifndef TEST_CUDA_IPC_USER_H
#define TEST_CUDA_IPC_USER_H

#include "ipc_owner.h"

typedef struct {
    uct_completion_t comp;
    int calls;
} done_t;

extern uct_ep_h ep; /* To the owner; NULL: the test has destroyed it */

/* Creates an endpoint of `iface` to the owner, and stores it in `ep`. */
void connect_ep(void);

/* Starts a put or get of one buffer. */
ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                   size_t offset, void *data, size_t length);
/* Waits for the operation; returns its status. */
ucs_status_t finish(done_t *done);
/* Starts a put or get, and waits for it; it must succeed. */
void copy(int is_put, const answer_t *memory, size_t offset, void *data,
          size_t length);
/* Gets the last byte of the memory. */
char last_byte(const answer_t *memory);

/* Runs each test in a separate process, each with its own owner. Returns the
 * exit status. */
int run_all_alone(const TTest *const *tests, size_t num);

#endif
