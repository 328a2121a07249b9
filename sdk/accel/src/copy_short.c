/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short operations of the copy transport. They are complete when they return.
 */
#include "copy.h"

#include <string.h>

/* Waits until the queue has written the ticket of the last copy. Earlier
 * operations are complete then, too, but only progress ends them. */
static int wait_for_last(accel_lane_t *lane)
{
    uint32_t ticket = lane->ticket;
    int result      = UCS_OK;
    unsigned polls  = 0;

    while (!accel_lane_reached(lane, ticket) && (result == UCS_OK)) {
        if (++polls % ACCEL_CHECK_POLLS == 0) {
            result = accel_lane_check(lane);
        }
    }
    return result;
}

int accel_copy_touch(void *buffer, void *remote, const accel_memory_t *memory,
                     size_t length, int is_put)
{
    if ((accel_driver.touch_limit == NULL) || (memory->kind != ACCEL_DEVICE) ||
        (length > accel_driver.touch_limit(memory->device, is_put))) {
        return 0;
    }
    memcpy(is_put ? remote : buffer, is_put ? buffer : remote, length);
    if (is_put) {
        accel_driver.touch_end(memory->device);
    }
    return 1;
}

/* Lets the processor copy if it can access the memory at `address`. Otherwise
 * copies on the lane's queue and waits for the queue. A blocking copy of the
 * driver is not used, because it would also wait for the program's work in the
 * default queue. `buffer` is host memory. The data is copied through the lane's
 * own pinned memory, so the driver is not queried about the kind of
 * `buffer`. */
static ucs_status_t copy_short(accel_copy_iface_t *iface, void *buffer,
                               uint64_t address, uct_rkey_t rkey, size_t length,
                               int is_put)
{
    static const accel_memory_t host = {.kind = ACCEL_PAGEABLE, .device = -1};
    void *remote                     = (void *)(uintptr_t)address;
    accel_memory_t memory;
    accel_lane_t *lane;
    accel_scope_t scope;
    int result;

    result = accel_find_at(remote, rkey, &memory);
    if ((result == UCS_OK) && accel_is_host(memory.kind)) {
        memcpy(is_put ? remote : buffer, is_put ? buffer : remote, length);
        return UCS_OK;
    }
    if ((result == UCS_OK) &&
        accel_copy_touch(buffer, remote, &memory, length, is_put)) {
        return UCS_OK;
    }
    if (result == UCS_OK) {
        result = accel_copy_lane(iface, &memory, &host, &lane);
    }
    if (result == UCS_OK) {
        result = accel_lane_start(iface, lane, &scope);
    }
    if (result != UCS_OK) {
        return accel_status(result);
    }

    if (is_put) {
        memcpy(lane->short_bounce, buffer, length);
        result = accel_lane_copy(lane, address, (uintptr_t)lane->short_bounce,
                                 length);
    } else {
        result = accel_lane_copy(lane, (uintptr_t)lane->short_bounce, address,
                                 length);
    }
    if (result == UCS_OK) {
        result = accel_lane_signal(lane);
    }
    accel_driver.leave(&scope);
    if (result == UCS_OK) {
        result = wait_for_last(lane);
    }
    if ((result == UCS_OK) && !is_put) {
        memcpy(buffer, lane->short_bounce, length);
    }
    return accel_status(result);
}

ucs_status_t accel_copy_put_short(uct_ep_h ep, const void *buffer,
                                  unsigned length, uint64_t address,
                                  uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
                           copy_short((accel_copy_iface_t *)ep->iface,
                                      (void *)buffer, address, rkey, length, 1);
}

ucs_status_t accel_copy_get_short(uct_ep_h ep, void *buffer, unsigned length,
                                  uint64_t address, uct_rkey_t rkey)
{
    return (length == 0) ? UCS_OK :
                           copy_short((accel_copy_iface_t *)ep->iface, buffer,
                                      address, rkey, length, 0);
}
