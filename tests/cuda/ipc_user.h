/* SPDX-License-Identifier: BSD-3-Clause */
/* The test process in the tests of IPC. It puts to and gets from memory of the
 * owner process (ipc_owner.h). */
#ifndef TEST_CUDA_IPC_USER_H
#define TEST_CUDA_IPC_USER_H

#include "ipc_owner.h"

/* Completion of one put or get. */
typedef struct {
    uct_completion_t comp;
    int calls; /* How often UCT has called the completion's function */
} done_t;

extern uct_ep_h ep; /* To the owner's interface; a test that has destroyed the
                     * endpoint sets this to NULL */

/* Creates an endpoint from `iface` to the owner's interface, and stores it in
 * `ep`. */
void connect_ep(void);

/* Posts a put (is_put) from `data` to the owner's memory at this offset, or a
 * get in the other direction. Returns the status of the post; `done` is used
 * only if that is UCS_INPROGRESS. */
ucs_status_t start(done_t *done, int is_put, const answer_t *memory,
                   size_t offset, void *data, size_t length);
/* Progresses until the operation is complete; returns its status. */
ucs_status_t finish(done_t *done);
/* Posts a put or get and waits until it is complete. Fails the test if the
 * operation fails. */
void copy(int is_put, const answer_t *memory, size_t offset, void *data,
          size_t length);
/* Gets the last byte of the owner's memory over `ep`. */
char last_byte(const answer_t *memory);

/* Runs each test in a separate process that forks its own owner. Returns the
 * exit status of the program. */
int run_all_alone(const TTest *const *tests, size_t num);

#endif
