/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a worker sets aside for what its peers have sent.
 *
 * A call of the user's that finds no memory returns an error. A message that
 * arrives when memory is out cannot be rejected: its sender may have finished
 * with it. So whoever handles it returns the reserve to the heap and tries once
 * more. The next progress sets it aside again.
 *
 * If that does not help either, something is lost. The receive that wants it, or
 * all endpoints of the worker where nobody knows which one it came by, end with
 * UCS_ERR_NO_MEMORY: ucp_worker_lost().
 */
#ifndef UCP_RESERVE_H
#define UCP_RESERVE_H

#include <stddef.h>
#include <ucs/type/status.h>

#include "uct/base/worker.h"

struct ucp_worker;

typedef struct ucp_reserve {
    void          *memory;     /**< NULL: it is in use */
    int           is_refilling; /**< With the next progress */
    uct_oneshot_t refill;
} ucp_reserve_t;

/** UCS_ERR_NO_MEMORY: there is none to set aside. */
ucs_status_t ucp_reserve_init(struct ucp_worker *worker);

/** Nothing is called from progress any more. */
void ucp_reserve_cleanup(struct ucp_worker *worker);

/** Returns the reserve to the heap. Non-zero: try again what has failed; 0: it
 *  was used since the last progress, nothing helps. Worker's thread. */
int ucp_reserve_spend(struct ucp_worker *worker);

/** As malloc(), by the reserve if need be. Freed by free(). */
void *ucp_reserve_malloc(struct ucp_worker *worker, size_t size);

/** A message is lost that names no receive: tells the user by the error handlers
 *  of the worker's endpoints, and by its tagged receives, which end with
 *  UCS_ERR_NO_MEMORY. `what`: for the log. */
void ucp_worker_lost(struct ucp_worker *worker, const char *what,
                     size_t length);

#endif
