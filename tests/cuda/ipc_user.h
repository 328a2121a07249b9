/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of the tests of IPC that puts and gets; the other process owns
 * the memory (ipc_owner.h). */
#ifndef TEST_CUDA_IPC_USER_H
#define TEST_CUDA_IPC_USER_H

#include "ipc_owner.h"

typedef struct {
    uct_completion_t comp;
    int calls;
} done_t;

extern uct_ep_h ep; /* To the owner; NULL: destroyed by the test */

/* Sets `ep` to a new endpoint of `iface` to the owner. */
void connect_ep(void);

/* Starts a put or get of one buffer. */
ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                   size_t offset, void *data, size_t length);
/* Waits for it; returns its status. */
ucs_status_t finish(done_t *done);
/* Both; must succeed. */
void copy(int is_put, const answer_t *memory, size_t offset, void *data,
          size_t length);
/* Gets the last byte. */
char last_byte(const answer_t *memory);

/* Runs each test in a process of its own, with an owner of its own. Returns the
 * exit status. */
int run_all_alone(const TTest *const *tests, size_t num);

#endif
