/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get. The peer takes part only in the ping-pong: it waits until its
 * memory changes, and replies. */
#include "ucp_side.h"

#include "pattern.h"

#include <string.h>

#define LATE_SECONDS \
    30.0 /* timeout for data in flight, long enough if the
          * sender gets no processor time */

PERF_INLINE ucs_status_t put(struct ucp_side *side, const void *memory,
                             uint64_t remote)
{
    return ucp_side_begun(side,
                          ucp_put_nbx(side->ep, memory, side->size, remote,
                                      side->rkey, &side->send_param));
}

PERF_INLINE ucs_status_t get(struct ucp_side *side, void *memory,
                             uint64_t remote)
{
    return ucp_side_begun(side,
                          ucp_get_nbx(side->ep, memory, side->size, remote,
                                      side->rkey, &side->send_param));
}

/* Returns the value of a message's last byte, which distinguishes it from the
 * previous message. */
static uint8_t mark_of(uint64_t number)
{
    return number + 1;
}

static ucs_status_t put_marked(struct ucp_side *side, uint64_t number)
{
    char *memory = side->send.slots[0].memory;

    if (perf_unlikely(side->checks)) {
        pattern_fill(memory, side->size, number, 0);
    }
    memory[side->size - 1] = mark_of(number);
    return put(side, memory, side->remote);
}

/* Checks a message whose last byte has arrived. With some transports the other
 * bytes may arrive later, so this function waits for them for at most
 * LATE_SECONDS. */
static ucs_status_t check_marked(struct ucp_side *side, uint64_t number)
{
    const char *memory = side->recv.slots[0].memory;
    uint64_t start     = clock_ticks();
    size_t length      = side->size - 1, good;
    ucs_status_t status;

    while ((good = pattern_check(memory, length, number, 0)) < length) {
        if (clock_seconds(clock_ticks() - start) > LATE_SECONDS) {
            perf_check_bytes(side->thread, memory, length, number);
            return UCS_OK;
        }
        status = ucp_side_step(side);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

PERF_INLINE ucs_status_t wait_marked(struct ucp_side *side, uint64_t number)
{
    const volatile uint8_t *mark = (uint8_t *)side->recv.slots[0].memory +
                                   side->size - 1;
    ucs_status_t status;

    while (*mark != mark_of(number)) {
        status = ucp_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return perf_unlikely(side->checks) ? check_marked(side, number) : UCS_OK;
}

ucs_status_t ucp_put_latency(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    bool begins           = thread->run->role & ROLE_CLIENT;
    ucs_status_t status   = UCS_OK;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (!begins) {
            status = wait_marked(side, i);
        }
        status = perf_likely(status == UCS_OK) ? put_marked(side, i) : status;
        if (begins && perf_likely(status == UCS_OK)) {
            status = wait_marked(side, i);
        }
        status = perf_likely(status == UCS_OK) ? ucp_side_wait(side, 0) :
                                                 status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (begins) {
            meter_each(&thread->meter);
        }
    }
    /* no operation follows the last put, so flush it */
    return ucp_side_flush(side);
}

/* Reads the messages with the numbers `from` to `end` - 1 back from the peer's
 * memory, and checks them. Called before their slots are reused. */
static ucs_status_t check_back(struct ucp_side *side, uint64_t from,
                               uint64_t end)
{
    struct ucp_slot *slot;
    ucs_status_t status;
    uint64_t i;

    status = ucp_side_flush(side);
    for (i = from; (i < end) && (status == UCS_OK); ++i) {
        slot = &side->send.slots[i % side->send.slot_count];
        memset(slot->memory, 0, side->size);
        status = get(side, slot->memory,
                     side->remote +
                         ((i % side->send.slot_count) * side->send.extent));
        status = (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
        if (status == UCS_OK) {
            slot->number = i;
            ucp_side_check(slot);
        }
    }
    return status;
}

static ucs_status_t put_checked(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    uint64_t from = thread->first, end = from + count, i;
    struct ucp_slot *slot;
    ucs_status_t status = UCS_OK;

    for (i = from; (i < end) && (status == UCS_OK); ++i) {
        if ((i % side->send.slot_count == 0) && (i > from)) {
            status = check_back(side, from, i);
            from   = i;
        }
        status = (status == UCS_OK) ? ucp_side_fill(side, i, &slot) : status;
        if (status != UCS_OK) {
            return status;
        }
        status = put(side, slot->memory,
                     side->remote +
                         ((i % side->send.slot_count) * side->send.extent));
        meter_some(&thread->meter);
    }
    return (status == UCS_OK) ? check_back(side, from, end) : status;
}

ucs_status_t ucp_put_posts(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    const void *memory    = side->send.slots[0].memory;
    ucs_status_t status;
    uint64_t i;

    if (side->checks) {
        return put_checked(thread, count);
    }
    for (i = 0; i < count; ++i) {
        status = ucp_side_wait(side, side->outstanding - 1);
        status = perf_likely(status == UCS_OK) ?
                     put(side, memory, side->remote) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    return ucp_side_flush(side);
}

/* Checks the first `count` slots, into which gets have read. All of them
 * contain message 0. */
static void check_got(struct ucp_side *side, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        side->send.slots[i].number = 0;
        ucp_side_check(&side->send.slots[i]);
        memset(side->send.slots[i].memory, 0, side->size);
    }
}

static ucs_status_t get_checked(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    unsigned used         = 0;
    ucs_status_t status   = UCS_OK;
    uint64_t i;

    for (i = 0; (i < count) && (status == UCS_OK); ++i) {
        status = get(side, side->send.slots[used++].memory, side->remote);
        if ((status == UCS_OK) &&
            ((used == side->send.slot_count) || (i + 1 == count))) {
            status = ucp_side_wait(side, 0);
            if (status == UCS_OK) {
                check_got(side, used);
            }
            used = 0;
        }
        meter_each(&thread->meter);
    }
    return status;
}

ucs_status_t ucp_get_requests(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    void *memory          = side->send.slots[0].memory;
    ucs_status_t status;
    uint64_t i;

    if (side->checks) {
        return get_checked(thread, count);
    }
    for (i = 0; i < count; ++i) {
        status = get(side, memory, side->remote);
        status = perf_likely(status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_each(&thread->meter);
    }
    return ucp_side_wait(side, 0);
}
