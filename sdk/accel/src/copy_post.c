/* SPDX-License-Identifier: BSD-3-Clause */
/* put_zcopy and get_zcopy of the copy transport, and their common part with the
 * IPC transport: select a lane (copy.h) and start the copy. Hot path. */
#include "copy.h"

#include <string.h>

int accel_copy_lane(accel_copy_iface_t *iface, const accel_memory_t *to_memory,
                    const accel_memory_t *from_memory, accel_lane_t **lane_p)
{
    const accel_memory_t *memory = accel_is_host(to_memory->kind) ?
                                       from_memory :
                                       to_memory;

    return accel_lane_get(iface, memory->device, lane_p);
}

/* Copies from host memory to host memory. */
static ucs_status_t copy_host(const uct_iov_t *iov, size_t iovcnt,
                              uint64_t address, int is_put)
{
    char *there = (char *)(uintptr_t)address;
    unsigned block;
    size_t i;

    for (i = 0; i < iovcnt; ++i) {
        for (block = 0; block < iov[i].count; ++block) {
            char *here = (char *)iov[i].buffer + block * iov[i].stride;

            memcpy(is_put ? there : here, is_put ? here : there, iov[i].length);
            there += iov[i].length;
        }
    }
    return UCS_OK;
}

/* Takes and initializes an operation, of which no step is issued yet. */
static accel_op_t *op_new(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                          const accel_target_t *target, accel_kind_t here,
                          int is_put, uct_completion_t *comp)
{
    accel_op_t *op = accel_op_take((accel_copy_iface_t *)ep->iface);

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
        op->mapping = accel_mapping_hold(target->mapping);
    }
    return op;
}

static int is_empty(const uct_iov_t *iov)
{
    return (iov->count == 0) || (iov->length == 0);
}

size_t accel_copy_skip_empty(const uct_iov_t **iov_p, size_t iovcnt)
{
    while ((iovcnt > 0) && is_empty(*iov_p)) {
        ++*iov_p;
        --iovcnt;
    }
    return iovcnt;
}

/* Lets the processor copy if that is possible and fast. Does not do so while
 * copies are in flight, because they may access the same memory. Returns
 * whether it has copied. */
static int touch(const accel_copy_iface_t *iface, const uct_iov_t *iov,
                 size_t iovcnt, accel_kind_t here, const accel_target_t *target,
                 int is_put)
{
    return (iface->oldest == NULL) && accel_is_host(here) &&
           (target->mapping == NULL) && (iovcnt == 1) && (iov->count == 1) &&
           accel_copy_touch(iov->buffer, (void *)(uintptr_t)target->address,
                            &target->memory, iov->length, is_put);
}

/* Issues the first steps of an operation. The caller has entered the lane's
 * context; this function leaves it. */
static ucs_status_t issue(accel_copy_iface_t *iface, accel_op_t *op,
                          accel_scope_t *scope)
{
    int result = accel_op_issue(op, scope);

    if ((result != UCS_OK) && (op->steps == 0)) {
        accel_op_put(iface, op);
        return accel_status(result);
    }
    if (!op->is_issued) {
        ++iface->num_waiting;
        if (result != UCS_OK) {
            accel_op_stop(iface, op, accel_status(result));
        }
    } else if (result != UCS_OK) {
        op->status = accel_status(result);
    }
    return UCS_INPROGRESS;
}

ucs_status_t accel_copy_post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             const accel_target_t *target, int is_put,
                             uct_completion_t *comp)
{
    accel_copy_iface_t *iface   = (accel_copy_iface_t *)ep->iface;
    const accel_memory_t *there = &target->memory;
    unsigned num_opens          = 0;
    accel_memory_t here;
    accel_scope_t scope;
    accel_lane_t *lane;
    int result;
    accel_op_t *op;

    result = accel_op_find(iov, &here);
    if (result != UCS_OK) {
        return accel_status(result);
    }
    if (accel_is_host(here.kind) && accel_is_host(there->kind)) {
        return copy_host(iov, iovcnt, target->address, is_put);
    }
    if (touch(iface, iov, iovcnt, here.kind, target, is_put)) {
        return UCS_OK;
    }
    if (accel_poll_start(iface) != UCS_OK) {
        return UCS_ERR_NO_MEMORY;
    }
    result = is_put ? accel_copy_lane(iface, there, &here, &lane) :
                      accel_copy_lane(iface, &here, there, &lane);
    if ((result == UCS_OK) && accel_lane_gathers(lane, iov->length)) {
        op       = op_new(ep, iov, iovcnt, target, here.kind, is_put, comp);
        op->lane = lane;
        if (accel_op_gather(op)) {
            return UCS_INPROGRESS;
        }
        accel_op_put(iface, op);
    }
    if (result == UCS_OK) {
        num_opens = lane->num_opens;
        result    = accel_lane_start(iface, lane, &scope);
    }
    if (result != UCS_OK) {
        return accel_status(result);
    }
    if ((target->mapping != NULL) && (lane->num_opens != num_opens)) {
        /* accel_lane_start() has opened the lane again after a reset of the
         * device, which may have closed the mapping. */
        accel_driver.leave(&scope);
        return UCS_ERR_IO_ERROR;
    }

    op       = op_new(ep, iov, iovcnt, target, here.kind, is_put, comp);
    op->lane = lane;
    return issue(iface, op, &scope);
}

static ucs_status_t post(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                         uint64_t address, uct_rkey_t rkey, int is_put,
                         uct_completion_t *comp)
{
    accel_target_t target = {.address = address};
    int result;

    iovcnt = accel_copy_skip_empty(&iov, iovcnt);
    if (iovcnt == 0) {
        return UCS_OK;
    }
    if (((accel_copy_iface_t *)ep->iface)->free_ops == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    result = accel_find_at((void *)(uintptr_t)address, rkey, &target.memory);
    if (result != UCS_OK) {
        return accel_status(result);
    }
    return accel_copy_post(ep, iov, iovcnt, &target, is_put, comp);
}

ucs_status_t accel_copy_put_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                  size_t iovcnt, uint64_t address,
                                  uct_rkey_t rkey, uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, rkey, 1, comp);
}

ucs_status_t accel_copy_get_zcopy(uct_ep_h ep, const uct_iov_t *iov,
                                  size_t iovcnt, uint64_t address,
                                  uct_rkey_t rkey, uct_completion_t *comp)
{
    return post(ep, iov, iovcnt, address, rkey, 0, comp);
}
