/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get of a transport. The server checks what a stream of puts has
 * written, because not every transport can read it back. */
#include "uct_side.h"

#include "pattern.h"

#include <string.h>

#define LATE_SECONDS \
    30.0 /* timeout for data in flight, long enough if the
          * sender gets no processor time */

static void unpack(void *arg, const void *data, size_t length)
{
    memcpy(arg, data, length);
}

PERF_INLINE ucs_status_t put_short(struct uct_side *side, uint64_t number)
{
    return uct_ep_put_short(side->ep, uct_side_memory(side, number), side->size,
                            uct_side_remote(side, number), side->rkey.rkey);
}

PERF_INLINE ucs_status_t put_bcopy(struct uct_side *side, uint64_t number)
{
    struct uct_packed arg = {
        .memory = uct_side_memory(side, number),
        .length = side->size,
    };
    ssize_t packed;

    packed = uct_ep_put_bcopy(side->ep, uct_side_pack, &arg,
                              uct_side_remote(side, number), side->rkey.rkey);
    return perf_likely(packed >= 0) ? UCS_OK : (ucs_status_t)packed;
}

PERF_INLINE uct_iov_t iov_of(struct uct_side *side, uint64_t number)
{
    return (uct_iov_t){
        .buffer = uct_side_memory(side, number),
        .length = side->size,
        .memh   = side->send.handle,
        .count  = 1,
    };
}

PERF_INLINE ucs_status_t put_zcopy(struct uct_side *side, uint64_t number)
{
    const uct_iov_t iov = iov_of(side, number);

    return uct_ep_put_zcopy(side->ep, &iov, 1, uct_side_remote(side, number),
                            side->rkey.rkey, &side->completion);
}

/* Gets read the only message in the remote memory, so the remote address does
 * not depend on `number`, unlike that of puts. */
PERF_INLINE ucs_status_t get_short(struct uct_side *side, uint64_t number)
{
    return uct_ep_get_short(side->ep, uct_side_memory(side, number), side->size,
                            side->remote, side->rkey.rkey);
}

PERF_INLINE ucs_status_t get_bcopy(struct uct_side *side, uint64_t number)
{
    return uct_ep_get_bcopy(side->ep, unpack, uct_side_memory(side, number),
                            side->size, side->remote, side->rkey.rkey,
                            &side->completion);
}

PERF_INLINE ucs_status_t get_zcopy(struct uct_side *side, uint64_t number)
{
    const uct_iov_t iov = iov_of(side, number);

    return uct_ep_get_zcopy(side->ep, &iov, 1, side->remote, side->rkey.rkey,
                            &side->completion);
}

/* Returns the value of a message's last byte, which distinguishes it from the
 * previous message. */
static uint8_t mark_of(uint64_t number)
{
    return number + 1;
}

static ucs_status_t check_marked(struct uct_side *side, uint64_t number)
{
    uint64_t start = clock_ticks();
    size_t length  = side->size - 1;
    ucs_status_t status;

    while (pattern_check(side->recv.memory, length, number, 0) < length) {
        if (clock_seconds(clock_ticks() - start) > LATE_SECONDS) {
            perf_check_bytes(side->thread, side->recv.memory, length, number);
            return UCS_OK;
        }
        status = uct_side_step(side);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

PERF_INLINE ucs_status_t wait_marked(struct uct_side *side, uint64_t number)
{
    const volatile uint8_t *mark = (uint8_t *)side->recv.memory + side->size -
                                   1;
    ucs_status_t status;

    while (*mark != mark_of(number)) {
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return perf_unlikely(side->checks) ? check_marked(side, number) : UCS_OK;
}

/* Puts one message at a time, from the only slot. */
PERF_INLINE ucs_status_t put_marked(struct uct_side *side, uint64_t number,
                                    uct_operate_t put)
{
    if (perf_unlikely(side->checks)) {
        pattern_fill(side->send.memory, side->size, number, 0);
    }
    side->send.memory[side->size - 1] = mark_of(number);
    return uct_side_try(side, put, number);
}

ucs_status_t uct_put_latency(struct perf_thread *thread, uint64_t count)
{
    switch (thread->run->params.layout) {
    case LAYOUT_SHORT:
        return uct_side_turns(thread, count, wait_marked, put_marked,
                              put_short);
    case LAYOUT_BCOPY:
        return uct_side_turns(thread, count, wait_marked, put_marked,
                              put_bcopy);
    default:
        return uct_side_turns(thread, count, wait_marked, put_marked,
                              put_zcopy);
    }
}

PERF_INLINE ucs_status_t posts(struct perf_thread *thread, uint64_t count,
                               uct_operate_t put)
{
    struct uct_side *side = thread->side;
    ucs_status_t status   = UCS_OK;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (perf_unlikely(side->checks)) {
            status = uct_side_fill(side, i);
        }
        status = perf_likely(status == UCS_OK) ?
                     uct_side_wait(side, side->outstanding - 1) :
                     status;
        status = perf_likely(status == UCS_OK) ? uct_side_try(side, put, i) :
                                                 status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    return uct_side_flush(side);
}

ucs_status_t uct_put_posts(struct perf_thread *thread, uint64_t count)
{
    switch (thread->run->params.layout) {
    case LAYOUT_SHORT:
        return posts(thread, count, put_short);
    case LAYOUT_BCOPY:
        return posts(thread, count, put_bcopy);
    default:
        return posts(thread, count, put_zcopy);
    }
}

/* Checks the slots, which contain the last messages of a pass. */
void uct_verify_puts(struct perf_thread *thread, uint64_t count)
{
    struct uct_side *side = thread->side;
    uint64_t left         = (count < side->slots) ? count : side->slots, i;

    for (i = thread->first - left; i < thread->first; ++i) {
        perf_check_bytes(thread,
                         side->recv.memory + ((i % side->slots) * side->extent),
                         side->size, i);
    }
}

PERF_INLINE ucs_status_t requests(struct perf_thread *thread, uint64_t count,
                                  uct_operate_t get)
{
    struct uct_side *side = thread->side;
    bool checks           = side->checks && (side->outstanding == 1);
    ucs_status_t status;
    uint64_t i;

    for (i = 0; i < count; ++i) {
        status = uct_side_try(side, get, i);
        status = perf_likely(status == UCS_OK) ?
                     uct_side_wait(side, side->outstanding - 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (perf_unlikely(checks)) {
            perf_check_bytes(thread, side->send.memory, side->size, 0);
            memset(side->send.memory, 0, side->size);
        }
        meter_each(&thread->meter);
    }
    return uct_side_wait(side, 0);
}

static ucs_status_t get_all(struct perf_thread *thread, uint64_t count)
{
    switch (thread->run->params.layout) {
    case LAYOUT_SHORT:
        return requests(thread, count, get_short);
    case LAYOUT_BCOPY:
        return requests(thread, count, get_bcopy);
    default:
        return requests(thread, count, get_zcopy);
    }
}

/* If several gets are outstanding at once, checks only the final contents of
 * the slots. */
ucs_status_t uct_get_requests(struct perf_thread *thread, uint64_t count)
{
    struct uct_side *side = thread->side;
    unsigned used         = (count < side->slots) ? count : side->slots, i;
    ucs_status_t status   = get_all(thread, count);

    if (side->checks && (side->outstanding > 1) && (status == UCS_OK)) {
        for (i = 0; i < used; ++i) {
            perf_check_bytes(thread, side->send.memory + (i * side->extent),
                             side->size, 0);
        }
    }
    return status;
}
