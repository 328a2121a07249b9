/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages of a transport: ping-pong, and a stream with flow control:
 * the receiver acknowledges each half of the window. */
#include "uct_side.h"

#include "pattern.h"

#include <string.h>

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    struct uct_side *side = arg;

    (void)flags;
    if (perf_unlikely(side->checks)) {
        if (length != side->size) {
            perf_wrong(side->thread, side->arrived, length, side->size, 0, 0);
        } else {
            perf_check_bytes(side->thread, data, length, side->arrived);
        }
    }
    ++side->arrived;
    return UCS_OK;
}

static ucs_status_t on_answer(void *arg, void *data, size_t length,
                              unsigned flags)
{
    struct uct_side *side = arg;

    (void)flags;
    if (length >= sizeof(side->acknowledged)) {
        memcpy(&side->acknowledged, data, sizeof(side->acknowledged));
    }
    return UCS_OK;
}

ucs_status_t uct_am_prepare(struct uct_side *side)
{
    ucs_status_t status;

    status = uct_iface_set_am_handler(side->iface, UCT_SIDE_AM, on_message,
                                      side, 0);
    if (status == UCS_OK) {
        status = uct_iface_set_am_handler(side->iface, UCT_SIDE_AM_ACK,
                                          on_answer, side, 0);
    }
    return (status == UCS_OK) ? UCS_OK :
                                perf_error(side->thread->run, status,
                                           "uct_iface_set_am_handler: %s",
                                           ucs_status_string(status));
}

static size_t pack_answer(void *dest, void *arg)
{
    struct uct_side *side = arg;

    memcpy(dest, &side->arrived, sizeof(side->arrived));
    return sizeof(side->arrived);
}

static ucs_status_t send_answer(struct uct_side *side, uint64_t number)
{
    ssize_t packed;

    (void)number;
    if (side->attr.cap.flags & UCT_IFACE_FLAG_AM_SHORT) {
        return uct_ep_am_short(side->ep, UCT_SIDE_AM_ACK, side->arrived, NULL,
                               0);
    }
    packed = uct_ep_am_bcopy(side->ep, UCT_SIDE_AM_ACK, pack_answer, side, 0);
    return (packed >= 0) ? UCS_OK : (ucs_status_t)packed;
}

PERF_INLINE ucs_status_t send_short(struct uct_side *side, uint64_t number)
{
    const char *memory = uct_side_memory(side, number);
    uint64_t header;

    memcpy(&header, memory, sizeof(header));
    return uct_ep_am_short(side->ep, UCT_SIDE_AM, header,
                           memory + sizeof(header),
                           side->size - sizeof(header));
}

PERF_INLINE ucs_status_t send_short_iov(struct uct_side *side, uint64_t number)
{
    const uct_iov_t iov = {
        .buffer = uct_side_memory(side, number),
        .length = side->size,
        .memh   = UCT_MEM_HANDLE_NULL,
        .count  = 1,
    };

    return uct_ep_am_short_iov(side->ep, UCT_SIDE_AM, &iov, 1);
}

PERF_INLINE ucs_status_t send_bcopy(struct uct_side *side, uint64_t number)
{
    struct uct_packed arg = {
        .memory = uct_side_memory(side, number),
        .length = side->size,
    };
    ssize_t packed;

    packed = uct_ep_am_bcopy(side->ep, UCT_SIDE_AM, uct_side_pack, &arg, 0);
    return perf_likely(packed >= 0) ? UCS_OK : (ucs_status_t)packed;
}

PERF_INLINE ucs_status_t send_zcopy(struct uct_side *side, uint64_t number)
{
    char *memory        = uct_side_memory(side, number);
    const uct_iov_t iov = {
        .buffer = memory + side->header,
        .length = side->size - side->header,
        .memh   = side->send.handle,
        .count  = 1,
    };

    return uct_ep_am_zcopy(side->ep, UCT_SIDE_AM, memory, side->header, &iov, 1,
                           0, &side->completion);
}

PERF_INLINE ucs_status_t send_message(struct uct_side *side, uint64_t number,
                                      uct_operate_t send)
{
    ucs_status_t status;

    if (perf_unlikely(side->checks)) {
        status = uct_side_fill(side, number);
        if (status != UCS_OK) {
            return status;
        }
    }
    return uct_side_try(side, send, number);
}

PERF_INLINE ucs_status_t wait_arrived(struct uct_side *side, uint64_t number)
{
    ucs_status_t status;

    while (side->arrived <= number) {
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t uct_am_latency(struct perf_thread *thread, uint64_t count)
{
    switch (thread->run->params.layout) {
    case LAYOUT_SHORT:
        return uct_side_turns(thread, count, wait_arrived, send_message,
                              send_short);
    case LAYOUT_SHORT_IOV:
        return uct_side_turns(thread, count, wait_arrived, send_message,
                              send_short_iov);
    case LAYOUT_BCOPY:
        return uct_side_turns(thread, count, wait_arrived, send_message,
                              send_bcopy);
    default:
        return uct_side_turns(thread, count, wait_arrived, send_message,
                              send_zcopy);
    }
}

static ucs_status_t answer(struct uct_side *side)
{
    side->answered = side->arrived;
    return uct_side_try(side, send_answer, 0);
}

static ucs_status_t take_stream(struct uct_side *side, uint64_t end)
{
    unsigned half       = (side->window + 1) / 2;
    ucs_status_t status = UCS_OK;

    while ((side->arrived < end) && perf_likely(status == UCS_OK)) {
        status = uct_side_step(side);
        if ((side->arrived - side->answered >= half) && (status == UCS_OK)) {
            status = answer(side);
        }
    }
    status = ((status == UCS_OK) && (side->answered < end)) ? answer(side) :
                                                              status;
    return (status == UCS_OK) ? uct_side_flush(side) : status;
}

/* Waits until `count` messages were acknowledged. In loopback, waits until they
 * have arrived in this process. */
PERF_INLINE ucs_status_t wait_window(struct uct_side *side, bool loop,
                                     uint64_t count)
{
    ucs_status_t status;

    while ((loop ? side->arrived : side->acknowledged) < count) {
        status = uct_side_step(side);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return UCS_OK;
}

PERF_INLINE ucs_status_t send_stream(struct perf_thread *thread, uint64_t count,
                                     uct_operate_t send)
{
    struct uct_side *side = thread->side;
    bool loop             = (thread->run->role == ROLE_LOOPBACK);
    uint64_t end          = thread->first + count, i;
    ucs_status_t status;

    for (i = thread->first; i < end; ++i) {
        status = (i + 1 > side->window) ?
                     wait_window(side, loop, i + 1 - side->window) :
                     UCS_OK;
        status = perf_likely(status == UCS_OK) ?
                     uct_side_wait(side, side->outstanding - 1) :
                     status;
        status = perf_likely(status == UCS_OK) ? send_message(side, i, send) :
                                                 status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    status = wait_window(side, loop, end);
    return (status == UCS_OK) ? uct_side_flush(side) : status;
}

ucs_status_t uct_am_stream(struct perf_thread *thread, uint64_t count)
{
    if (thread->run->role == ROLE_SERVER) {
        return take_stream(thread->side, thread->first + count);
    }
    switch (thread->run->params.layout) {
    case LAYOUT_SHORT:
        return send_stream(thread, count, send_short);
    case LAYOUT_SHORT_IOV:
        return send_stream(thread, count, send_short_iov);
    case LAYOUT_BCOPY:
        return send_stream(thread, count, send_bcopy);
    default:
        return send_stream(thread, count, send_zcopy);
    }
}
