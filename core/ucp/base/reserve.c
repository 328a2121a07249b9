/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a worker reserves for received messages when there is no
 * other memory (reserve.h).
 */
#include "ucp/base/reserve.h"

#include "ucp/base/worker.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Size of the reserve in bytes: more than common transports need in one
 * allocation for a message. */
enum { SIZE = 96 * 1024 };

/* Allocates with mmap(), because pages that are never written take no physical
 * memory. A block from malloc() would take address range in the heap, and
 * spread the small allocations around it over more pages. */
static void *map_reserve(void)
{
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return (memory == MAP_FAILED) ? NULL : memory;
}

static void refill(void *arg)
{
    ucp_reserve_t *reserve = &((ucp_worker_h)arg)->reserve;

    reserve->is_refilling = 0;
    if (reserve->memory == NULL) {
        reserve->memory = map_reserve();
    }
}

ucs_status_t ucp_reserve_init(ucp_worker_h worker)
{
    worker->reserve.memory = map_reserve();
    return (worker->reserve.memory == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

void ucp_reserve_cleanup(ucp_worker_h worker)
{
    if (worker->reserve.memory != NULL) {
        munmap(worker->reserve.memory, SIZE);
    }
}

int ucp_reserve_spend(ucp_worker_h worker)
{
    ucp_reserve_t *reserve = &worker->reserve;

    /* The last refill may have failed. Try to allocate the reserve here, but at
     * most once between two calls of progress: otherwise a caller that repeats
     * its allocation until this function returns 0 might never end. */
    if ((reserve->memory == NULL) && !reserve->is_refilling) {
        reserve->memory = map_reserve();
    }
    if (reserve->memory == NULL) {
        return 0;
    }

    ucs_debug("worker %s: out of memory, the reserve is used", worker->name);
    munmap(reserve->memory, SIZE);
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
