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
 * also wait for the user's work in the default stream. `buffer` is the caller's
 * memory, which the processor can access: the driver is not asked about it, and
 * it is copied through the lane's own pinned memory. */
static ucs_status_t copy_short(cuda_copy_iface_t *iface, void *buffer,
                               uint64_t address, size_t length, int is_put)
{
    static const cuda_memory_t host = {.kind = CUDA_PAGEABLE, .device = -1};
    void *remote                    = (void *)(uintptr_t)address;
    cuda_memory_t memory;
    cuda_lane_t *lane;
    cuda_scope_t scope;
    CUresult result;

    result = cuda_memory_find(remote, &memory);
    if ((result == CUDA_SUCCESS) && cuda_is_host(memory.kind)) {
        memcpy(is_put ? remote : buffer, is_put ? buffer : remote, length);
        return UCS_OK;
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_copy_lane(iface, &memory, &host, &lane);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_lane_start(iface, lane, &scope);
    }
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }

    if (is_put) {
        memcpy(lane->short_bounce, buffer, length);
        result = cuda_lane_copy(lane, address, (uintptr_t)lane->short_bounce,
                                length);
    } else {
        result = cuda_lane_copy(lane, (uintptr_t)lane->short_bounce, address,
                                length);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_lane_signal(lane);
    }
    cuda_leave(&scope);
    if (result == CUDA_SUCCESS) {
        result = wait_for_last(lane);
    }
    if ((result == CUDA_SUCCESS) && !is_put) {
        memcpy(buffer, lane->short_bounce, length);
    }
    return cuda_status(result);
}

ucs_status_t cuda_copy_put_short(uct_ep_h ep, const void *buffer,
                                 unsigned length, uint64_t address,
                                 uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
           copy_short((cuda_copy_iface_t *)ep->iface, (void *)buffer, address,
                      length, 1);
}

ucs_status_t cuda_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                 uint64_t address, uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
           copy_short((cuda_copy_iface_t *)ep->iface, buffer, address, length,
                      0);
}
