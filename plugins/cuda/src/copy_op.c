/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of cuda_copy: division into steps, and completion in progress. Hot
 * path: no allocation and no lock; two driver calls for each copy, in addition
 * to those that query the kind of memory.
 */
#include "copy.h"

#include <string.h>

/* ---------------------------------------------------- list of operations -- */

static cuda_op_t *op_take(cuda_copy_iface_t *iface)
{
    cuda_op_t *op = iface->free_ops;

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

static void op_put(cuda_copy_iface_t *iface, cuda_op_t *op)
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
        cuda_mapping_put(op->mapping);
    }
}

static void op_complete(cuda_copy_iface_t *iface, cuda_op_t *op)
{
    uct_completion_t *comp = op->comp;
    ucs_status_t status    = op->status;

    op_put(iface, op);
    if (comp == NULL) {
        return;
    }
    if ((status != UCS_OK) && (comp->status == UCS_OK)) {
        comp->status = status;
    }
    if (--comp->count == 0) {
        comp->func(comp);
    }
}

/* ---------------------------------------------------------------- steps -- */

static int needs_bounce(const cuda_op_t *op)
{
    return (op->here == CUDA_PAGEABLE) || (op->there == CUDA_PAGEABLE);
}

/* Number of bytes in the next step. */
static size_t step_length(const cuda_op_t *op)
{
    size_t left = op->iov[op->index].length - op->offset;

    return (needs_bounce(op) && (left > CUDA_BOUNCE_SIZE)) ? CUDA_BOUNCE_SIZE :
                                                             left;
}

/* Issues one step. The caller has checked that the ring and buffers have
 * space. */
static CUresult issue_step(cuda_op_t *op, size_t length)
{
    cuda_lane_t *lane    = op->lane;
    const uct_iov_t *iov = &op->iov[op->index];
    char *here           = (char *)iov->buffer + op->block * iov->stride +
                           op->offset;
    char *there          = (char *)(uintptr_t)op->address;
    char *to             = op->is_put ? there : here;
    char *from           = op->is_put ? here : there;
    cuda_step_t *step    = &lane->steps[lane->tail % CUDA_MAX_STEPS];
    int to_pageable      = (op->is_put ? op->there : op->here) == CUDA_PAGEABLE;
    CUresult result;

    step->op     = op;
    step->length = length;
    step->bounce = NULL;
    step->to     = NULL;
    if (needs_bounce(op)) {
        step->bounce = lane->free[--lane->num_free];
        if (to_pageable) {
            step->to = to;
            to       = step->bounce;
        } else {
            memcpy(step->bounce, from, length);
            from = step->bounce;
        }
    }
    result = cuda_lane_copy(lane, (uintptr_t)to, (uintptr_t)from, length);
    if (result != CUDA_SUCCESS) {
        if (step->bounce != NULL) {
            lane->free[lane->num_free++] = step->bounce;
        }
        return result;
    }
    step->ticket = lane->ticket;
    ++lane->tail;
    ++op->steps;
    return CUDA_SUCCESS;
}

/* Determines the kind of an entry's memory. The driver is not asked about memory
 * that a registration has pinned. */
static CUresult find_local(const uct_iov_t *iov, cuda_memory_t *memory)
{
    const cuda_region_t *region = iov->memh;

    if ((region == NULL) || !region->is_pinned) {
        return cuda_memory_find(iov->buffer, memory);
    }
    memory->kind   = CUDA_PINNED;
    memory->device = region->device;
    return CUDA_SUCCESS;
}

static CUresult classify(cuda_op_t *op)
{
    cuda_memory_t memory;
    CUresult result = find_local(&op->iov[op->index], &memory);

    op->here = memory.kind;
    return result;
}

/* Advances by `length` bytes to the next byte to copy. */
static CUresult advance(cuda_op_t *op, size_t length)
{
    CUresult result = CUDA_SUCCESS;

    op->address += length;
    op->offset  += length;
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

static int has_space(const cuda_op_t *op)
{
    const cuda_lane_t *lane = op->lane;

    return (lane->tail - lane->head < CUDA_MAX_STEPS) &&
           (!needs_bounce(op) || (lane->num_free > 0));
}

/* Issues as many steps of an operation as the lane has space for. The caller has
 * entered the lane's context, which is left. */
static CUresult issue(cuda_op_t *op, cuda_scope_t *scope)
{
    unsigned before = op->steps;
    CUresult result = CUDA_SUCCESS;
    CUresult signalled;
    size_t length;

    while (!op->is_issued && (result == CUDA_SUCCESS) && has_space(op)) {
        length = step_length(op);
        result = issue_step(op, length);
        if (result == CUDA_SUCCESS) {
            result = advance(op, length);
        }
    }
    if (op->steps > before) {
        signalled = cuda_lane_signal(op->lane);
        result    = (result == CUDA_SUCCESS) ? signalled : result;
    }
    cuda_leave(scope);
    return result;
}

/* Issues no more steps of an operation; it completes after the issued ones. */
static void stop(cuda_copy_iface_t *iface, cuda_op_t *op, ucs_status_t status)
{
    if (op->status == UCS_OK) {
        op->status = status;
    }
    if (!op->is_issued) {
        op->is_issued = 1;
        --iface->num_waiting;
    }
}

/* ------------------------------------------------------------- posting -- */

CUresult cuda_copy_lane(cuda_copy_iface_t *iface,
                        const cuda_memory_t *to_memory,
                        const cuda_memory_t *from_memory, cuda_lane_t **lane_p)
{
    const cuda_memory_t *memory = cuda_is_host(to_memory->kind) ? from_memory :
                                                                  to_memory;

    return cuda_lane_get(iface, memory->device, lane_p);
}

/* Copies between host memory on both sides. */
static ucs_status_t copy_host(const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, int is_put)
{
    char *there = (char *)(uintptr_t)address;
    unsigned block;
    size_t i;

    for (i = 0; i < iovcnt; ++i) {
        for (block = 0; block < iov[i].count; ++block) {
            char *here = (char *)iov[i].buffer + block * iov[i].stride;

            memcpy(is_put ? there : here, is_put ? here : there,
                   iov[i].length);
            there += iov[i].length;
        }
    }
    return UCS_OK;
}

/* Takes an operation that has not been issued. */
static cuda_op_t *op_new(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                         const cuda_target_t *target, cuda_kind_t here,
                         int is_put, uct_completion_t *comp)
{
    cuda_op_t *op = op_take((cuda_copy_iface_t *)ep->iface);

    op->ep        = ep;
    op->comp      = comp;
    op->is_put    = is_put;
    op->is_flush  = 0;
    op->is_issued = 0;
    op->here      = here;
    op->there     = target->memory.kind;
    op->address   = target->address;
    op->iovcnt    = iovcnt;
    op->index     = 0;
    op->block     = 0;
    op->offset    = 0;
    memcpy(op->iov, iov, iovcnt * sizeof(*iov));
    if (target->mapping != NULL) {
        op->mapping = cuda_mapping_hold(target->mapping);
    }
    return op;
}

static int is_empty(const uct_iov_t *iov)
{
    return (iov->count == 0) || (iov->length == 0);
}

size_t cuda_copy_skip_empty(const uct_iov_t **iov_p, size_t iovcnt)
{
    while ((iovcnt > 0) && is_empty(*iov_p)) {
        ++*iov_p;
        --iovcnt;
    }
    return iovcnt;
}

ucs_status_t cuda_copy_post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            const cuda_target_t *target, int is_put,
                            uct_completion_t *comp)
{
    cuda_copy_iface_t *iface   = (cuda_copy_iface_t *)ep->iface;
    const cuda_memory_t *there = &target->memory;
    unsigned long long context_id = 0;
    cuda_memory_t here;
    cuda_scope_t scope;
    cuda_lane_t *lane;
    CUresult result;
    cuda_op_t *op;

    result = find_local(iov, &here);
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }
    if (cuda_is_host(here.kind) && cuda_is_host(there->kind)) {
        return copy_host(iov, iovcnt, target->address, is_put);
    }
    if (cuda_poll_start(iface) != UCS_OK) {
        return UCS_ERR_NO_MEMORY;
    }
    result = is_put ? cuda_copy_lane(iface, there, &here, &lane) :
                      cuda_copy_lane(iface, &here, there, &lane);
    if (result == CUDA_SUCCESS) {
        context_id = lane->context_id;
        result     = cuda_lane_start(iface, lane, &scope);
    }
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }
    if ((target->mapping != NULL) && (lane->context_id != context_id)) {
        cuda_leave(&scope); /* the mapping may be lost with the context */
        return UCS_ERR_IO_ERROR;
    }

    op       = op_new(ep, iov, iovcnt, target, here.kind, is_put, comp);
    op->lane = lane;
    result = issue(op, &scope);
    if ((result != CUDA_SUCCESS) && (op->steps == 0)) {
        op_put(iface, op);
        return cuda_status(result);
    }
    if (!op->is_issued) {
        ++iface->num_waiting;
        if (result != CUDA_SUCCESS) {
            stop(iface, op, cuda_status(result));
        }
    } else if (result != CUDA_SUCCESS) {
        op->status = cuda_status(result);
    }
    return UCS_INPROGRESS;
}

static ucs_status_t post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                         uint64_t address, int is_put, uct_completion_t *comp)
{
    cuda_target_t target = {.address = address};
    CUresult result;

    iovcnt = cuda_copy_skip_empty(&iov, iovcnt);
    if (iovcnt == 0) {
        return UCS_OK;
    }
    if (((cuda_copy_iface_t *)ep->iface)->free_ops == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    result = cuda_memory_find((void *)(uintptr_t)address, &target.memory);
    if (result != CUDA_SUCCESS) {
        return cuda_status(result);
    }
    return cuda_copy_post(ep, iov, iovcnt, &target, is_put, comp);
}

ucs_status_t cuda_copy_put_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                 size_t iovcnt, uint64_t address,
                                 uct_rkey_t rkey, uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, 1, comp);
}

ucs_status_t cuda_copy_get_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                 size_t iovcnt, uint64_t address,
                                 uct_rkey_t rkey, uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, 0, comp);
}

/* ------------------------------------------------------------- progress -- */

static void step_over(cuda_lane_t *lane, int is_good)
{
    cuda_step_t *step = &lane->steps[lane->head % CUDA_MAX_STEPS];

    ++lane->head;
    if (step->bounce != NULL) {
        if (is_good && (step->to != NULL)) {
            memcpy(step->to, step->bounce, step->length);
        }
        lane->free[lane->num_free++] = step->bounce;
    }
    --step->op->steps;
}

/* Completes all steps of a lane with an error. */
static void lane_failed(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                        CUresult result)
{
    ucs_status_t status = cuda_status(result);
    cuda_op_t *op;

    for (op = iface->oldest; op != NULL; op = op->next) {
        if (op->lane == lane) {
            stop(iface, op, status);
        }
    }
    while (lane->head != lane->tail) {
        step_over(lane, 0);
    }
    cuda_lane_fail(iface, lane, result);
    if (iface->lost != NULL) {
        iface->lost(iface, lane->device);
    }
}

CUresult cuda_lane_start(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                         cuda_scope_t *scope)
{
    CUresult result = cuda_lane_enter(lane, scope);

    if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        lane_failed(iface, lane, result);
        result = cuda_lane_get(iface, lane->device, &lane);
        if (result == CUDA_SUCCESS) {
            result = cuda_lane_enter(lane, scope);
        }
    }
    return result;
}

static unsigned lane_progress(cuda_copy_iface_t *iface, cuda_lane_t *lane)
{
    unsigned count = 0;
    CUresult result;

    while ((lane->head != lane->tail) &&
           cuda_lane_reached(
                   lane, lane->steps[lane->head % CUDA_MAX_STEPS].ticket)) {
        step_over(lane, 1);
        ++count;
    }
    if ((count > 0) || (lane->head == lane->tail)) {
        lane->polls = 0;
    } else if (++lane->polls >= CUDA_CHECK_POLLS) {
        result = cuda_lane_check(lane);
        if (result != CUDA_SUCCESS) {
            lane_failed(iface, lane, result);
            count = 1;
        }
    }
    return count;
}

/* Continues operations that wait for space, oldest first. */
static void issue_waiting(cuda_copy_iface_t *iface)
{
    cuda_scope_t scope;
    CUresult result;
    cuda_op_t *op;

    for (op = iface->oldest; (op != NULL) && (iface->num_waiting > 0);
         op = op->next) {
        if (op->is_issued || op->is_flush) {
            continue;
        }
        result = cuda_lane_enter(op->lane, &scope);
        if (result == CUDA_SUCCESS) {
            result = issue(op, &scope);
        }
        if (result != CUDA_SUCCESS) {
            stop(iface, op, cuda_status(result));
        } else if (op->is_issued) {
            --iface->num_waiting;
        }
    }
}

/* A flush is complete when it is the oldest operation. Callbacks may post and
 * destroy: the scan restarts after each. */
static unsigned complete_ops(cuda_copy_iface_t *iface)
{
    unsigned count = 0;
    cuda_op_t *op  = iface->oldest;

    while (op != NULL) {
        if (op->is_flush ? (op == iface->oldest) :
                           (op->is_issued && (op->steps == 0))) {
            op_complete(iface, op);
            ++count;
            op = iface->oldest;
        } else {
            op = op->next;
        }
    }
    return count;
}

static unsigned progress_ops(cuda_copy_iface_t *iface)
{
    unsigned count = 0;
    int i;

    if (iface->oldest != NULL) {
        for (i = 0; i < cuda_num_devices(); ++i) {
            if ((iface->lanes[i] != NULL) && iface->lanes[i]->is_open) {
                count += lane_progress(iface, iface->lanes[i]);
            }
        }
        if (iface->num_waiting > 0) {
            issue_waiting(iface);
        }
        count += complete_ops(iface);
    }
    if ((iface->free_ops != NULL) && !ucx_pending_is_empty(&iface->pending)) {
        count += ucx_pending_dispatch(&iface->pending);
    }
    return count;
}

unsigned cuda_copy_progress(uct_iface_h super)
{
    cuda_copy_iface_t *iface = (cuda_copy_iface_t *)super;
    unsigned count           = progress_ops(iface);

    if (cuda_copy_is_idle(iface)) {
        cuda_poll_stop(iface);
    }
    return count;
}

ucs_status_t cuda_copy_flush(cuda_copy_iface_t *iface, uct_ep_h ep,
                             unsigned flags, uct_completion_t *comp)
{
    cuda_op_t *op;

    if (iface->oldest == NULL) {
        return UCS_OK;
    }
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        for (op = iface->oldest; op != NULL; op = op->next) {
            if (((ep == NULL) || (op->ep == ep)) && !op->is_flush) {
                stop(iface, op, UCS_ERR_CANCELED);
            }
        }
    }
    if (iface->free_ops == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    op            = op_take(iface);
    op->ep        = ep;
    op->comp      = comp;
    op->is_flush  = 1;
    op->is_issued = 1;
    return UCS_INPROGRESS;
}

void cuda_copy_finish(cuda_copy_iface_t *iface)
{
    while (iface->oldest != NULL) {
        cuda_copy_progress(&iface->super);
    }
}
