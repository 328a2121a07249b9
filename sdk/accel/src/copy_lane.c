/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes (accel_lane_t in copy.h): a device's queue, its pinned memory, and the
 * flag that the queue writes.
 */
#include "copy.h"

#include <stdlib.h>

#define COPY_NAME accel_driver.names.copy_transport

/* Layout of a lane's memory, as offsets in bytes: large bounce buffers, small
 * bounce buffers, the buffer for short operations, a page for the flag. */
enum {
    SMALL_AT  = ACCEL_BOUNCES * ACCEL_BOUNCE_SIZE,
    SHORT_AT  = SMALL_AT + ACCEL_SMALL_BOUNCES * ACCEL_SMALL_BOUNCE,
    FLAG_AT   = SHORT_AT + ACCEL_MAX_SHORT,
    FLAG_ROOM = 4096,
    ALL       = FLAG_AT + FLAG_ROOM,
};

static int queue_open(accel_copy_iface_t *iface, accel_lane_t *lane)
{
    accel_scope_t scope;
    void *context;
    int result;

    result = accel_md_context(iface->md, lane->device, &context);
    if ((result == UCS_OK) && (lane->num_opens > 0) &&
        (accel_driver.revive != NULL)) {
        result = accel_driver.revive(lane->device);
    }
    if (result == UCS_OK) {
        result = accel_driver.enter(context, &scope);
    }
    if (result == UCS_OK) {
        result = accel_driver.queue_open(lane->device, context, lane->memory,
                                         ALL, lane->flag, &lane->queue);
        accel_driver.leave(&scope);
    }
    return result;
}

static int lane_open(accel_copy_iface_t *iface, accel_lane_t *lane)
{
    int result;
    unsigned i;

    *lane->flag          = 0;
    lane->ticket         = 0;
    lane->head           = lane->tail;
    lane->polls          = 0;
    lane->num_free       = ACCEL_BOUNCES;
    lane->gathered.count = 0;
    for (i = 0; i < ACCEL_BOUNCES; ++i) {
        lane->free[i] = lane->memory + i * ACCEL_BOUNCE_SIZE;
    }
    lane->num_free_small = ACCEL_SMALL_BOUNCES;
    for (i = 0; i < ACCEL_SMALL_BOUNCES; ++i) {
        lane->free_small[i] = lane->memory + SMALL_AT + i * ACCEL_SMALL_BOUNCE;
    }
    result = queue_open(iface, lane);
    if (result == UCS_OK) {
        lane->is_open = 1;
        ++lane->num_opens;
    }
    return result;
}

static accel_lane_t *lane_new(int device)
{
    accel_lane_t *lane = calloc(1, sizeof(*lane));

    if (lane == NULL) {
        return NULL;
    }
    lane->memory = accel_driver.staging_new(device, ALL);
    if (lane->memory == NULL) {
        free(lane);
        return NULL;
    }
    lane->device       = device;
    lane->short_bounce = lane->memory + SHORT_AT;
    lane->flag         = (uint32_t *)(void *)(lane->memory + FLAG_AT);
    return lane;
}

int accel_lane_get(accel_copy_iface_t *iface, int device, accel_lane_t **lane_p)
{
    const ucx_host_t *host = iface->host;
    accel_lane_t *lane;
    int result = UCS_OK;

    if ((device < 0) || (device >= accel_driver.num_devices())) {
        return UCS_ERR_NO_DEVICE;
    }
    if (iface->lanes[device] == NULL) {
        iface->lanes[device] = lane_new(device);
        if (iface->lanes[device] == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }
    lane = iface->lanes[device];
    if (accel_unlikely(!lane->is_open)) {
        result = lane_open(iface, lane);
        if (result != UCS_OK) {
            ucx_diag("%s: no queue on device %d: %s", COPY_NAME, device,
                     accel_error(result));
        }
    }
    *lane_p = lane;
    return result;
}

void accel_lane_free(accel_lane_t *lane)
{
    if (lane->is_open) {
        accel_driver.queue_close(lane->queue, 0);
    }
    accel_driver.staging_free(lane->memory);
    free(lane);
}

int accel_lane_has_bounce(const accel_lane_t *lane, size_t length)
{
    return (lane->num_free > 0) ||
           ((length <= ACCEL_SMALL_BOUNCE) && (lane->num_free_small > 0));
}

char *accel_lane_take_bounce(accel_lane_t *lane, size_t length)
{
    if ((length <= ACCEL_SMALL_BOUNCE) && (lane->num_free_small > 0)) {
        return lane->free_small[--lane->num_free_small];
    }
    return (lane->num_free > 0) ? lane->free[--lane->num_free] : NULL;
}

void accel_lane_put_bounce(accel_lane_t *lane, char *bounce)
{
    if (bounce < lane->memory + SMALL_AT) {
        lane->free[lane->num_free++] = bounce;
    } else {
        lane->free_small[lane->num_free_small++] = bounce;
    }
}

int accel_lane_copy(accel_lane_t *lane, uint64_t to, uint64_t from,
                    size_t length)
{
    int result = accel_driver.queue_copy(lane->queue, to, from, length);

    lane->ticket += (result == UCS_OK);
    return result;
}

/* Returns the ticket of the last issued copy; gathered copies are later. */
static uint32_t issued_ticket(const accel_lane_t *lane)
{
    return lane->ticket - lane->gathered.count;
}

int accel_lane_signal(accel_lane_t *lane)
{
    lane->polls = 0;
    return accel_driver.queue_signal(lane->queue, issued_ticket(lane));
}

static int overlap(uint64_t a, size_t a_length, uint64_t b, size_t b_length)
{
    return (a < b + b_length) && (b < a + a_length);
}

int accel_lane_gather(accel_lane_t *lane, uint64_t to, uint64_t from,
                      size_t length)
{
    accel_batch_t *batch = &lane->gathered;
    unsigned i;

    for (i = 0; i < batch->count; ++i) {
        if (overlap(to, length, batch->to[i], batch->length[i]) ||
            overlap(from, length, batch->to[i], batch->length[i]) ||
            overlap(to, length, batch->from[i], batch->length[i])) {
            return UCS_ERR_BUSY;
        }
    }
    batch->to[batch->count]     = to;
    batch->from[batch->count]   = from;
    batch->length[batch->count] = length;
    ++batch->count;
    ++lane->ticket;
    return UCS_OK;
}

/* Issues the gathered copies one by one. Stores errors in the status of their
 * operations. */
static void issue_each(accel_lane_t *lane)
{
    const accel_batch_t *batch = &lane->gathered;
    accel_op_t *op;
    unsigned i;
    int result;

    for (i = 0; i < batch->count; ++i) {
        result = accel_driver.queue_copy(lane->queue, batch->to[i],
                                         batch->from[i], batch->length[i]);
        op = lane->steps[(lane->tail - batch->count + i) % ACCEL_MAX_STEPS].op;
        if ((result != UCS_OK) && (op->status == UCS_OK)) {
            op->status = accel_status(result);
        }
    }
}

void accel_lane_issue_gathered(accel_lane_t *lane)
{
    if (lane->gathered.count == 0) {
        return;
    }
    if ((lane->gathered.count == 1) ||
        (accel_driver.queue_copy_batch == NULL) ||
        (accel_driver.queue_copy_batch(lane->queue, &lane->gathered) !=
         UCS_OK)) {
        issue_each(lane);
    }
    lane->gathered.count = 0;
    /* If this fails, accel_lane_check() signals again. */
    (void)accel_lane_signal(lane);
}

int accel_lane_check(accel_lane_t *lane)
{
    accel_scope_t scope;
    int result = accel_driver.queue_enter(lane->queue, &scope);

    lane->polls = 0;
    if (result == UCS_OK) {
        result = accel_driver.queue_query(lane->queue);
        if ((result == UCS_OK) &&
            !accel_lane_reached(lane, issued_ticket(lane))) {
            result = accel_lane_signal(lane); /* A previous write of the ticket
                                               * failed: write it again */
        }
        accel_driver.leave(&scope);
    }
    return (result == ACCEL_BUSY) ? UCS_OK : result;
}

void accel_lane_fail(accel_copy_iface_t *iface, accel_lane_t *lane, int result)
{
    const ucx_host_t *host = iface->host;

    if (result == ACCEL_RESET) {
        ucx_diag("%s: device %d was reset: copies under way have failed",
                 COPY_NAME, lane->device);
    } else {
        ucx_error("%s: copies on device %d have failed: %s", COPY_NAME,
                  lane->device, accel_error(result));
    }
    lane->is_open        = 0;
    lane->gathered.count = 0;
    accel_driver.queue_close(lane->queue, 1);
}
