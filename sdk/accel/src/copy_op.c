/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations (accel_op_t) of the copy and IPC transports: their list, and
 * their division into steps (copy.h). Hot path: no allocation and no lock. An
 * operation with one step takes two driver calls (queue_copy and queue_signal),
 * in addition to those that enter the context and find the kind of memory.
 */
#include "copy.h"

#include <string.h>

/* ---------------------------------------------------- list of operations -- */

accel_op_t *accel_op_take(accel_copy_iface_t *iface)
{
    accel_op_t *op = iface->free_ops;

    iface->free_ops = op->next;
    op->next        = NULL;
    op->prev        = iface->newest;
    if (op->prev != NULL) {
        op->prev->next = op;
    } else {
        iface->oldest = op;
    }
    iface->newest = op;
    op->status    = UCS_OK;
    op->steps     = 0;
    op->lane      = NULL;
    op->mapping   = NULL;
    return op;
}

void accel_op_put(accel_copy_iface_t *iface, accel_op_t *op)
{
    if (op->prev != NULL) {
        op->prev->next = op->next;
    } else {
        iface->oldest = op->next;
    }
    if (op->next != NULL) {
        op->next->prev = op->prev;
    } else {
        iface->newest = op->prev;
    }
    op->next        = iface->free_ops;
    iface->free_ops = op;
    if (op->mapping != NULL) {
        accel_mapping_put(op->mapping);
    }
}

void accel_op_complete(accel_copy_iface_t *iface, accel_op_t *op)
{
    uct_completion_t *comp = op->comp;
    ucs_status_t status    = op->status;

    accel_op_put(iface, op);
    ucx_complete(comp, status);
}

/* ---------------------------------------------------------------- steps -- */

static int needs_bounce(const accel_op_t *op)
{
    return (op->here == ACCEL_PAGEABLE) || (op->there == ACCEL_PAGEABLE);
}

/* Returns the number of bytes in the next step. */
static size_t step_length(const accel_op_t *op)
{
    size_t left = op->iov[op->index].length - op->offset;

    return (needs_bounce(op) && (left > ACCEL_BOUNCE_SIZE)) ?
               ACCEL_BOUNCE_SIZE :
               left;
}

/* Issues or gathers one step. The caller has checked has_space(). */
static int issue_step(accel_op_t *op, size_t length, int is_gathered)
{
    accel_lane_t *lane   = op->lane;
    const uct_iov_t *iov = &op->iov[op->index];
    char *here  = (char *)iov->buffer + op->block * iov->stride + op->offset;
    char *there = (char *)(uintptr_t)op->address;
    char *to    = op->is_put ? there : here;
    char *from  = op->is_put ? here : there;
    accel_step_t *step = &lane->steps[lane->tail % ACCEL_MAX_STEPS];
    int to_pageable    = (op->is_put ? op->there : op->here) == ACCEL_PAGEABLE;
    int result;

    step->op     = op;
    step->length = length;
    step->bounce = NULL;
    step->to     = NULL;
    if (needs_bounce(op)) {
        step->bounce = accel_lane_take_bounce(lane, length);
        if (to_pageable) {
            step->to = to;
            to       = step->bounce;
        } else {
            memcpy(step->bounce, from, length);
            from = step->bounce;
        }
    }
    result = is_gathered ?
                 accel_lane_gather(lane, (uintptr_t)to, (uintptr_t)from,
                                   length) :
                 accel_lane_copy(lane, (uintptr_t)to, (uintptr_t)from, length);
    if (result != UCS_OK) {
        if (step->bounce != NULL) {
            accel_lane_put_bounce(lane, step->bounce);
        }
        return result;
    }
    step->ticket = lane->ticket;
    ++lane->tail;
    ++op->steps;
    return UCS_OK;
}

int accel_op_find(const uct_iov_t *iov, accel_memory_t *memory)
{
    const accel_region_t *region = iov->memh;

    if ((region == NULL) || !region->is_pinned) {
        return accel_driver.find(iov->buffer, memory);
    }
    memory->kind   = ACCEL_PINNED;
    memory->device = region->device;
    return UCS_OK;
}

static int classify(accel_op_t *op)
{
    accel_memory_t memory;
    int result = accel_op_find(&op->iov[op->index], &memory);

    op->here = memory.kind;
    return result;
}

/* Advances by `length` bytes to the next byte to copy. */
static int advance(accel_op_t *op, size_t length)
{
    int result = UCS_OK;

    op->address += length;
    op->offset += length;
    while (!op->is_issued && (op->offset == op->iov[op->index].length)) {
        op->offset = 0;
        if (++op->block < op->iov[op->index].count) {
            continue;
        }
        op->block = 0;
        do {
            op->is_issued = (++op->index == op->iovcnt);
        } while (!op->is_issued && ((op->iov[op->index].count == 0) ||
                                    (op->iov[op->index].length == 0)));
        if (!op->is_issued) {
            result = classify(op);
        }
    }
    return result;
}

/* Returns whether the lane has a free entry of `steps`, and a bounce buffer if
 * the next step needs one. */
static int has_space(const accel_op_t *op)
{
    const accel_lane_t *lane = op->lane;

    return (lane->tail - lane->head < ACCEL_MAX_STEPS) &&
           (!needs_bounce(op) || accel_lane_has_bounce(lane, step_length(op)));
}

int accel_op_issue(accel_op_t *op, accel_scope_t *scope)
{
    unsigned before = op->steps;
    int result      = UCS_OK;
    int signalled;
    size_t length;

    while (!op->is_issued && (result == UCS_OK) && has_space(op)) {
        length = step_length(op);
        result = issue_step(op, length, 0);
        if (result == UCS_OK) {
            result = advance(op, length);
        }
    }
    if (op->steps > before) {
        signalled = accel_lane_signal(op->lane);
        result    = (result == UCS_OK) ? signalled : result;
    }
    accel_driver.leave(scope);
    return result;
}

int accel_op_gather(accel_op_t *op)
{
    op->is_issued = (op->iovcnt == 1) && (op->iov[0].count == 1) &&
                    has_space(op) &&
                    (issue_step(op, op->iov[0].length, 1) == UCS_OK);
    return op->is_issued;
}

void accel_op_stop(accel_copy_iface_t *iface, accel_op_t *op,
                   ucs_status_t status)
{
    if (op->status == UCS_OK) {
        op->status = status;
    }
    if (!op->is_issued) {
        op->is_issued = 1;
        --iface->num_waiting;
    }
}
