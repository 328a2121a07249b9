/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short operations of cuda_copy: complete when they return.
 */
#include "copy.h"

#include <string.h>

/* Waits for the last ticket. Earlier copies are completed by progress. */
static CUresult wait_for_last(cuda_lane_t *lane)
{
    uint32_t ticket = lane->ticket;
    CUresult result = CUDA_SUCCESS;
    unsigned polls  = 0;

    while (!cuda_lane_reached(lane, ticket) && (result == CUDA_SUCCESS)) {
        if (++polls % CUDA_CHECK_POLLS == 0) {
            result = cuda_lane_check(lane);
        }
    }
    return result;
}

/* Copies on the lane's stream and waits for it: a blocking driver call would
 * also wait for the user's work in the default stream. */
static ucs_status_t copy_short(cuda_copy_iface_t *iface, void *to,
                               const void *from, size_t length)
{
    cuda_memory_t to_memory, from_memory;
    cuda_lane_t *lane;
    cuda_scope_t scope;
    CUresult result;
    char *into;

    result = cuda_memory_find(to, &to_memory);
    if (result == CUDA_SUCCESS) {
        result = cuda_memory_find(from, &from_memory);
    }
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }
    if (cuda_is_host(to_memory.kind) && cuda_is_host(from_memory.kind)) {
        memcpy(to, from, length);
        return UCS_OK;
    }
    result = cuda_copy_lane(iface, &to_memory, &from_memory, &lane);
    if (result == CUDA_SUCCESS) {
        result = cuda_lane_start(iface, lane, &scope);
    }
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }

    into = to;
    if (to_memory.kind == CUDA_PAGEABLE) {
        into = lane->short_bounce;
    } else if (from_memory.kind == CUDA_PAGEABLE) {
        memcpy(lane->short_bounce, from, length);
        from = lane->short_bounce;
    }
    result = cuda_lane_copy(lane, (uintptr_t)into, (uintptr_t)from, length);
    if (result == CUDA_SUCCESS) {
        result = cuda_lane_signal(lane);
    }
    cuda_leave(&scope);
    if (result == CUDA_SUCCESS) {
        result = wait_for_last(lane);
    }
    if ((result == CUDA_SUCCESS) && (into != to)) {
        memcpy(to, into, length);
    }
    return cuda_status(result);
}

ucs_status_t cuda_copy_put_short(uct_ep_h ep, const void *buffer,
                                 unsigned length, uint64_t address,
                                 uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
           copy_short((cuda_copy_iface_t *)ep->iface,
                      (void *)(uintptr_t)address, buffer, length);
}

ucs_status_t cuda_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                 uint64_t address, uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
           copy_short((cuda_copy_iface_t *)ep->iface, buffer,
                      (void *)(uintptr_t)address, length);
}
