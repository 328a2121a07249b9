/* SPDX-License-Identifier: BSD-3-Clause */
/* Message buffers of UCP. This program allocates host memory that only its own
 * operations use. The library allocates device memory, and memory that a peer
 * accesses. */
#include "ucp_side.h"

#include "pattern.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST_LENGTH = 4096, /* minimum size of an area, because messages may be
                          * empty; larger sizes are multiples of it */
};

static size_t round_up(size_t length, size_t to)
{
    return (length + to - 1) / to * to;
}

static ucs_status_t map(struct perf_thread *thread, ucp_context_h context,
                        struct ucp_area *area)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .length      = area->length,
        .memory_type = area->memory_type,
    };
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucs_status_t status;

    params.flags = (thread->run->params.flags & PARAMS_NONBLOCK) ?
                       UCP_MEM_MAP_NONBLOCK :
                       0;
    if (area->owned) {
        params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
        params.address = area->memory;
    } else {
        params.flags |= UCP_MEM_MAP_ALLOCATE;
    }
    status = ucp_mem_map(context, &params, &area->handle);
    if (status != UCS_OK) {
        area->handle = NULL;
        return perf_error(thread->run, status,
                          "cannot %s %zu bytes of %s "
                          "memory: %s",
                          area->owned ? "map" : "allocate", area->length,
                          params_memory_name(area->memory_type),
                          ucs_status_string(status));
    }
    status = ucp_mem_query(area->handle, &attr);
    if (status != UCS_OK) {
        return perf_error(thread->run, status, "ucp_mem_query: %s",
                          ucs_status_string(status));
    }
    area->memory = attr.address;
    return UCS_OK;
}

static ucs_status_t get_memory(struct perf_thread *thread,
                               ucp_context_h context, struct ucp_area *area,
                               bool exposed)
{
    bool host = (area->memory_type == UCS_MEMORY_TYPE_HOST);

    if (!exposed && host) {
        area->memory = aligned_alloc(sysconf(_SC_PAGESIZE), area->length);
        if (area->memory == NULL) {
            return perf_error(thread->run, UCS_ERR_NO_MEMORY,
                              "no memory: %zu "
                              "bytes for %u messages (-s, -O, -T)",
                              area->length, area->slot_count);
        }
        area->owned = true;
    }
    if (!area->owned || (thread->run->params.flags & PARAMS_HANDLES)) {
        return map(thread, context, area);
    }
    return UCS_OK;
}

static void cut(const struct params *params, char *memory, ucp_dt_iov_t *iov)
{
    size_t offset = 0;
    unsigned i;

    for (i = 0; i < params->size_count; ++i) {
        iov[i].buffer = memory + offset;
        iov[i].length = params->sizes[i];
        offset += (params->stride > 0) ? params->stride : params->sizes[i];
    }
}

static void lay_out(struct ucp_side *side, struct ucp_area *area,
                    const struct params *params)
{
    struct ucp_slot *slot;
    unsigned i;

    for (i = 0; i < area->slot_count; ++i) {
        slot         = &area->slots[i];
        slot->side   = side;
        slot->memory = area->memory + (i * area->extent);
        if (area->in_pieces) {
            slot->buffer = area->iov + (i * params->size_count);
            slot->count  = params->size_count;
            cut(params, slot->memory, slot->buffer);
        } else {
            slot->buffer = slot->memory;
            slot->count  = params_size(params);
        }
    }
}

/* Returns the number of buffers. One is enough for host memory whose contents
 * are not checked. Small messages to device memory that are in flight at the
 * same time are received into separate buffers: copies to the same memory are
 * ordered, so the device could not execute them concurrently. */
static unsigned slots_of(const struct perf_thread *thread,
                         const struct ucp_area *area)
{
    const struct ucp_side *side = thread->side;
    const struct perf_run *run  = thread->run;

    if ((area == &side->recv) && (area->memory_type != UCS_MEMORY_TYPE_HOST) &&
        (area->extent * run->outstanding <= PERF_DEVICE_MEMORY)) {
        return run->outstanding;
    }
    return perf_slots(run, params_extent(&run->params, true));
}

/* Allocates the memory of one direction; `in_pieces` and `memory_type` must be
 * set. All pages of host memory are touched, so that the measurement contains
 * no page faults. */
ucs_status_t ucp_area_open(struct perf_thread *thread, ucp_context_h context,
                           struct ucp_area *area, bool exposed)
{
    const struct params *params = &thread->run->params;
    struct ucp_side *side       = thread->side;
    ucs_status_t status;

    area->extent     = round_up(params_extent(params, area->in_pieces), 64);
    area->slot_count = slots_of(thread, area);
    area->length     = round_up(area->extent * area->slot_count, LEAST_LENGTH);
    area->length     = (area->length == 0) ? LEAST_LENGTH : area->length;
    area->slots      = calloc(area->slot_count, sizeof(*area->slots));
    area->iov        = calloc((size_t)area->slot_count * params->size_count,
                              sizeof(*area->iov));
    if ((area->slots == NULL) || (area->iov == NULL)) {
        return UCS_ERR_NO_MEMORY;
    }
    status = get_memory(thread, context, area, exposed);
    if (status != UCS_OK) {
        return status;
    }
    lay_out(side, area, params);
    if (area->memory_type == UCS_MEMORY_TYPE_HOST) {
        memset(area->memory, 0, area->length);
    }
    return UCS_OK;
}

void ucp_area_close(ucp_context_h context, struct ucp_area *area)
{
    if (area->handle != NULL) {
        ucp_mem_unmap(context, area->handle);
    }
    if (area->owned) {
        free(area->memory);
    }
    free(area->slots);
    free(area->iov);
}

static size_t check_part(struct ucp_slot *slot, const void *memory,
                         size_t length, size_t offset)
{
    size_t good = pattern_check(memory, length, slot->number, offset);

    if (good < length) {
        perf_wrong(slot->side->thread, slot->number, offset + good,
                   slot->side->size, ((const uint8_t *)memory)[good],
                   pattern_byte(slot->number, offset + good));
    }
    return good;
}

void ucp_side_check(struct ucp_slot *slot)
{
    const ucp_dt_iov_t *iov = slot->buffer;
    size_t offset           = 0, i;

    if (slot->memory == slot->buffer) {
        check_part(slot, slot->memory, slot->count, 0);
        return;
    }
    for (i = 0; i < slot->count; offset += iov[i++].length) {
        if (check_part(slot, iov[i].buffer, iov[i].length, offset) <
            iov[i].length) {
            return; /* the first wrong byte of a message is reported; one report
                     * for each message is sufficient */
        }
    }
}

ucs_status_t ucp_side_fill(struct ucp_side *side, uint64_t number,
                           struct ucp_slot **slot_p)
{
    unsigned index          = number % side->send.slot_count;
    struct ucp_slot *slot   = &side->send.slots[index];
    const ucp_dt_iov_t *iov = slot->buffer;
    size_t offset           = 0, i;
    ucs_status_t status;

    *slot_p      = slot;
    status       = (index == 0) ? ucp_side_wait(side, 0) : UCS_OK;
    slot->number = number;
    if (slot->memory == slot->buffer) {
        pattern_fill(slot->memory, slot->count, number, 0);
        return status;
    }
    for (i = 0; i < slot->count; offset += iov[i++].length) {
        pattern_fill(iov[i].buffer, iov[i].length, number, offset);
    }
    return status;
}

ucs_status_t ucp_side_empty(struct ucp_side *side, uint64_t number,
                            struct ucp_slot **slot_p)
{
    unsigned index      = number % side->recv.slot_count;
    ucs_status_t status = UCS_OK;

    *slot_p = &side->recv.slots[index];
    if (index == 0) {
        status = ucp_side_wait_received(side, number);
    }
    (*slot_p)->number = number;
    return status;
}
