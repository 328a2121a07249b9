/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a worker reserves for received messages.
 *
 * If a user's call finds no memory, it returns an error. A message that arrives
 * when there is no memory cannot be rejected, because the sender may already
 * see the send as complete. The handler of the message therefore frees the
 * reserve and tries to allocate once more. The next progress allocates the
 * reserve again.
 *
 * If the second attempt also fails, data is lost. The receive of the message
 * ends with UCS_ERR_NO_MEMORY. If that receive is not known, ucp_worker_lost()
 * makes all endpoints of the worker fail.
 */
#ifndef UCP_RESERVE_H
#define UCP_RESERVE_H

#include <stddef.h>
#include <ucs/type/status.h>

#include "uct/base/worker.h"

struct ucp_worker;

typedef struct ucp_reserve {
    void *memory; /**< NULL after it was freed */
    /** 1: `refill` is posted, so the next progress allocates the reserve */
    int is_refilling;
    uct_oneshot_t refill;
} ucp_reserve_t;

/** Allocates the reserve. Returns UCS_ERR_NO_MEMORY if that fails. */
ucs_status_t ucp_reserve_init(struct ucp_worker *worker);

/** Frees the reserve. Called when progress will not run any more. */
void ucp_reserve_cleanup(struct ucp_worker *worker);

/** Frees the reserve. Returns non-zero if the caller shall retry the failed
 *  allocation; 0 if there is no reserve, because it was already freed since the
 *  last progress or could not be allocated again. Called with the worker's lock
 *  held. */
int ucp_reserve_spend(struct ucp_worker *worker);

/** malloc() that uses the reserve if necessary. Released by free(). */
void *ucp_reserve_malloc(struct ucp_worker *worker, size_t size);

#endif
