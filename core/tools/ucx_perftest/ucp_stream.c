/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte streams, divided into messages of the test's size: ping-pong and stream.
 * The receiver copies the data to its buffer, or reads it without a copy
 * (-r). */
#include "ucp_side.h"

#include "pattern.h"

static void took(struct ucp_slot *slot, size_t length)
{
    struct ucp_side *side = slot->side;

    ++side->received;
    if (perf_unlikely(length != side->size)) {
        side->failed = UCS_ERR_MESSAGE_TRUNCATED;
    } else if (perf_unlikely(side->checks)) {
        ucp_side_check(slot);
    }
}

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *arg)
{
    struct ucp_slot *slot = arg;

    if (perf_unlikely(status != UCS_OK)) {
        slot->side->failed = status;
    } else {
        took(slot, length);
    }
    ucp_request_free(request);
}

PERF_INLINE ucs_status_t send_message(struct ucp_side *side, uint64_t number)
{
    struct ucp_slot *slot;
    ucs_status_t status;

    status = ucp_side_send_slot(side, number, &slot);
    if (perf_unlikely(status != UCS_OK)) {
        return status;
    }
    return ucp_side_begun(side,
                          ucp_stream_send_nbx(side->ep, slot->buffer,
                                              slot->count, &side->send_param));
}

/* Reads received data until the message is complete. */
static ucs_status_t take_data(struct ucp_side *side, uint64_t number)
{
    size_t got = 0, length, good;
    ucs_status_ptr_t data;
    ucs_status_t status;

    while (got < side->size) {
        data = ucp_stream_recv_data_nb(side->ep, &length);
        if (data == NULL) {
            status = ucp_side_step(side);
            if (perf_unlikely(status != UCS_OK)) {
                return status;
            }
            continue;
        }
        if (perf_unlikely(UCS_PTR_IS_ERR(data))) {
            return UCS_PTR_STATUS(data);
        }
        if (perf_unlikely(side->checks)) {
            good = pattern_check(data, length, number, got);
            if (good < length) {
                perf_wrong(side->thread, number, got + good, side->size,
                           ((const uint8_t *)data)[good],
                           pattern_byte(number, got + good));
            }
        }
        got += length;
        ucp_stream_data_release(side->ep, data);
    }
    ++side->received;
    return (got == side->size) ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
}

PERF_INLINE ucs_status_t post_receive(struct ucp_side *side, uint64_t number)
{
    ucs_status_ptr_t request;
    struct ucp_slot *slot;
    ucs_status_t status;

    status = ucp_side_recv_slot(side, number, &slot);
    if (perf_unlikely(status != UCS_OK)) {
        return status;
    }
    side->recv_param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    side->recv_param.flags          = UCP_STREAM_RECV_FLAG_WAITALL;
    side->recv_param.cb.recv_stream = on_received;
    side->recv_param.user_data      = slot;
    request = ucp_stream_recv_nbx(side->ep, slot->buffer, slot->count,
                                  &slot->length, &side->recv_param);
    if (request == NULL) {
        took(slot, slot->length);
        return UCS_OK;
    }
    return perf_unlikely(UCS_PTR_IS_ERR(request)) ? UCS_PTR_STATUS(request) :
                                                    UCS_OK;
}

PERF_INLINE ucs_status_t take_message(struct ucp_side *side, uint64_t number)
{
    ucs_status_t status;

    if (side->thread->run->params.flags & PARAMS_STREAM_DATA) {
        return take_data(side, number);
    }
    status = post_receive(side, number);
    return perf_likely(status == UCS_OK) ?
               ucp_side_wait_received(side, number + 1) :
               status;
}

PERF_INLINE ucs_status_t latency(struct perf_thread *thread, uint64_t count,
                                 bool begins)
{
    struct ucp_side *side = thread->side;
    ucs_status_t status   = UCS_OK;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (!begins) {
            status = take_message(side, i);
        }
        status = perf_likely(status == UCS_OK) ? send_message(side, i) : status;
        if (begins && perf_likely(status == UCS_OK)) {
            status = take_message(side, i);
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
    return UCS_OK;
}

ucs_status_t ucp_stream_latency(struct perf_thread *thread, uint64_t count)
{
    return (thread->run->role & ROLE_CLIENT) ? latency(thread, count, true) :
                                               latency(thread, count, false);
}

static ucs_status_t take_all(struct ucp_side *side, uint64_t first,
                             uint64_t end)
{
    bool in_place       = side->thread->run->params.flags & PARAMS_STREAM_DATA;
    ucs_status_t status = UCS_OK;
    uint64_t posted     = first;

    while ((side->received < end) && perf_likely(status == UCS_OK)) {
        if (in_place) {
            status = take_data(side, side->received);
            continue;
        }
        while ((posted < end) && (status == UCS_OK) &&
               (posted - side->received < side->outstanding)) {
            status = post_receive(side, posted++);
        }
        if ((status == UCS_OK) && (side->received < end)) {
            status = ucp_side_step(side);
        }
    }
    return status;
}

/* Sends a byte back, which confirms that everything was received. */
static ucs_status_t finish(struct ucp_side *side)
{
    static const char byte = 1;
    ucs_status_t status;

    status = ucp_side_begun(side, ucp_stream_send_nbx(side->ep, &byte, 1,
                                                      &side->plain_param));
    return (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
}

static ucs_status_t wait_finish(struct ucp_side *side)
{
    ucs_status_ptr_t data;
    ucs_status_t status;
    size_t length;

    while ((data = ucp_stream_recv_data_nb(side->ep, &length)) == NULL) {
        status = ucp_side_step(side);
        if (status != UCS_OK) {
            return status;
        }
    }
    if (UCS_PTR_IS_ERR(data)) {
        return UCS_PTR_STATUS(data);
    }
    ucp_stream_data_release(side->ep, data);
    return UCS_OK;
}

/* Sends the messages. In loopback, also receives each message after it was
 * sent. */
static ucs_status_t send_stream(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    bool loop             = (thread->run->role == ROLE_LOOPBACK);
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        status = ucp_side_wait(side, side->outstanding - 1);
        status = perf_likely(status == UCS_OK) ? send_message(side, i) : status;
        if (loop && (status == UCS_OK)) {
            status = take_message(side, i);
        }
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    status = ucp_side_wait(side, 0);
    return ((status == UCS_OK) && !loop) ? wait_finish(side) : status;
}

ucs_status_t ucp_stream_stream(struct perf_thread *thread, uint64_t count)
{
    ucs_status_t status;

    if (thread->run->role & ROLE_CLIENT) {
        return send_stream(thread, count);
    }
    status = take_all(thread->side, thread->first, thread->first + count);
    return (status == UCS_OK) ? finish(thread->side) : status;
}
