/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages: ping-pong and stream. A long message is announced to the
 * handler, which fetches the data (rendezvous). The handler gets the data of a
 * short message and does not copy it. */
#include "ucp_side.h"

#include "pattern.h"

#include <string.h>

static void on_fetched(void *request, ucs_status_t status, size_t length,
                       void *arg)
{
    struct ucp_slot *slot = arg;
    struct ucp_side *side = slot->side;

    ++side->received;
    if (perf_unlikely((status != UCS_OK) || (length != side->size))) {
        side->failed = (status != UCS_OK) ? status : UCS_ERR_MESSAGE_TRUNCATED;
    } else if (perf_unlikely(side->checks)) {
        ucp_side_check(slot);
    }
    ucp_request_free(request);
}

static void check_message(struct ucp_side *side, const void *header,
                          size_t header_length, const void *data, size_t length)
{
    if ((header_length != side->header_length) ||
        ((header_length > 0) &&
         (pattern_check(header, header_length, 0, 0) < header_length))) {
        perf_wrong(side->thread, side->arrived, 0, header_length, 0, 0);
    } else if (data != NULL) {
        perf_check_bytes(side->thread, data, length, side->arrived);
    }
}

/* Handles the announcement of a long message: fetches the data into the receive
 * memory. */
static ucs_status_t fetch(struct ucp_side *side, void *descriptor)
{
    struct ucp_slot *slot = ucp_side_next_recv(side, side->arrived);
    ucs_status_ptr_t request;

    slot->number               = side->arrived;
    side->recv_param.user_data = slot;
    request = ucp_am_recv_data_nbx(side->worker, descriptor, slot->buffer,
                                   slot->count, &side->recv_param);
    if (request == NULL) {
        ++side->received;
        if (side->checks) {
            ucp_side_check(slot);
        }
    } else if (UCS_PTR_IS_ERR(request)) {
        side->failed = UCS_PTR_STATUS(request);
    }
    return UCS_INPROGRESS;
}

static ucs_status_t on_message(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    struct ucp_side *side = arg;
    bool announced        = param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV;
    ucs_status_t status   = UCS_OK;

    if (perf_unlikely(length != side->size)) {
        side->failed = UCS_ERR_MESSAGE_TRUNCATED;
        return UCS_OK;
    }
    if (perf_unlikely(side->checks)) {
        check_message(side, header, header_length, announced ? NULL : data,
                      length);
    }
    if (announced) {
        status = fetch(side, data);
    } else {
        ++side->received;
    }
    ++side->arrived;
    return status;
}

static ucs_status_t on_finish(void *arg, const void *header,
                              size_t header_length, void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    struct ucp_side *side = arg;

    (void)header;
    (void)header_length;
    (void)data;
    (void)length;
    (void)param;
    ++side->finished;
    return UCS_OK;
}

static ucs_status_t set_handler(struct ucp_side *side, unsigned id,
                                ucp_am_recv_callback_t callback)
{
    const ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id  = id,
        .cb  = callback,
        .arg = side,
    };

    return ucp_worker_set_am_recv_handler(side->worker, &param);
}

ucs_status_t ucp_am_prepare(struct ucp_side *side)
{
    ucs_status_t status = set_handler(side, UCP_SIDE_AM, on_message);

    side->recv_param.cb.recv_am = on_fetched;
    if (status == UCS_OK) {
        status = set_handler(side, UCP_SIDE_AM_FINISH, on_finish);
    }
    return (status == UCS_OK) ? UCS_OK :
                                perf_error(side->thread->run, status,
                                           "ucp_worker_set_am_recv_handler: %s",
                                           ucs_status_string(status));
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
                          ucp_am_send_nbx(side->ep, UCP_SIDE_AM, side->header,
                                          side->header_length, slot->buffer,
                                          slot->count, &side->send_param));
}

PERF_INLINE ucs_status_t latency(struct perf_thread *thread, uint64_t count,
                                 bool begins)
{
    struct ucp_side *side = thread->side;
    ucs_status_t status   = UCS_OK;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        if (!begins) {
            status = ucp_side_wait_received(side, i + 1);
            if (perf_unlikely(status != UCS_OK)) {
                return status;
            }
        }
        status = send_message(side, i);
        if (begins && perf_likely(status == UCS_OK)) {
            status = ucp_side_wait_received(side, i + 1);
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

ucs_status_t ucp_am_latency(struct perf_thread *thread, uint64_t count)
{
    return (thread->run->role & ROLE_CLIENT) ? latency(thread, count, true) :
                                               latency(thread, count, false);
}

static ucs_status_t take_stream(struct ucp_side *side, uint64_t end)
{
    ucs_status_t status = ucp_side_wait_received(side, end);

    if (status == UCS_OK) {
        status = ucp_side_begun(side,
                                ucp_am_send_nbx(side->ep, UCP_SIDE_AM_FINISH,
                                                NULL, 0, NULL, 0,
                                                &side->plain_param));
    }
    return (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
}

static ucs_status_t send_stream(struct perf_thread *thread, uint64_t count)
{
    struct ucp_side *side = thread->side;
    uint64_t end          = thread->first + count;
    uint64_t finished     = side->finished + 1, i;
    ucs_status_t status;

    for (i = thread->first; i < end; ++i) {
        status = ucp_side_wait(side, side->outstanding - 1);
        status = perf_likely(status == UCS_OK) ? send_message(side, i) : status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    status = ucp_side_wait(side, 0);
    if (status != UCS_OK) {
        return status;
    }
    return (thread->run->role == ROLE_LOOPBACK) ?
               ucp_side_wait_received(side, end) :
               ucp_side_wait_finished(side, finished);
}

ucs_status_t ucp_am_stream(struct perf_thread *thread, uint64_t count)
{
    return (thread->run->role & ROLE_CLIENT) ?
               send_stream(thread, count) :
               take_stream(thread->side, thread->first + count);
}
