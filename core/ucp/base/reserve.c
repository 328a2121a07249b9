/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Implementation of reserve.h.
 */
#include "ucp/base/reserve.h"

#include "ucp/base/worker.h"
#include "ucs/debug/log.h"

#include <stdlib.h>

/* Larger than any single allocation for a message of common transports, and
 * small enough to be allocated from the heap, not by a mapping of its own. */
enum { SIZE = 96 * 1024 };

static void refill(void *arg)
{
    ucp_reserve_t *reserve = &((ucp_worker_h)arg)->reserve;

    reserve->is_refilling = 0;
    if (reserve->memory == NULL) {
        reserve->memory = malloc(SIZE);
    }
}

ucs_status_t ucp_reserve_init(ucp_worker_h worker)
{
    worker->reserve.memory = malloc(SIZE);
    return (worker->reserve.memory == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

void ucp_reserve_cleanup(ucp_worker_h worker)
{
    free(worker->reserve.memory);
}

int ucp_reserve_spend(ucp_worker_h worker)
{
    ucp_reserve_t *reserve = &worker->reserve;

    /* used once in a progress, so that a caller's retries terminate */
    if ((reserve->memory == NULL) && !reserve->is_refilling) {
        reserve->memory = malloc(SIZE);
    }
    if (reserve->memory == NULL) {
        return 0;
    }

    ucs_debug("worker %s: memory is out, the reserve is used", worker->name);
    free(reserve->memory);
    reserve->memory = NULL;
    if (!reserve->is_refilling) {
        reserve->is_refilling = 1;
        uct_worker_oneshot_post(worker->uct, &reserve->refill, refill, worker);
    }
    return 1;
}

void *ucp_reserve_malloc(ucp_worker_h worker, size_t size)
{
    void *memory = malloc(size);

    if (ucs_unlikely(memory == NULL) && ucp_reserve_spend(worker)) {
        memory = malloc(size);
    }
    return memory;
}
