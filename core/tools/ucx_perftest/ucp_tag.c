/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged messages, standard and synchronous: ping-pong and stream. */
#include "ucp_side.h"

static ucp_tag_t tag_of(const struct ucp_side *side)
{
    return UCP_SIDE_TAG + side->thread->index;
}

static void took(struct ucp_slot *slot)
{
    ++slot->side->received;
    if (perf_unlikely(slot->side->checks)) {
        ucp_side_check(slot);
    }
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    struct ucp_slot *slot = arg;
    struct ucp_side *side = slot->side;

    if (perf_unlikely((status != UCS_OK) || (info->length != side->size))) {
        side->failed = (status != UCS_OK) ? status : UCS_ERR_MESSAGE_TRUNCATED;
        ++side->received;
    } else {
        took(slot);
    }
    ucp_request_free(request);
}

static void on_finish(void *request, ucs_status_t status,
                      const ucp_tag_recv_info_t *info, void *arg)
{
    struct ucp_side *side = arg;

    (void)info;
    ++side->finished;
    side->failed = (status == UCS_OK) ? side->failed : status;
    ucp_request_free(request);
}

PERF_INLINE ucs_status_t send_message(struct ucp_side *side, uint64_t number,
                                      bool sync)
{
    struct ucp_slot *slot;
    ucs_status_t status;

    status = ucp_side_send_slot(side, number, &slot);
    if (perf_unlikely(status != UCS_OK)) {
        return status;
    }
    return ucp_side_begun(
        side, sync ? ucp_tag_send_sync_nbx(side->ep, slot->buffer, slot->count,
                                           tag_of(side), &side->send_param) :
                     ucp_tag_send_nbx(side->ep, slot->buffer, slot->count,
                                      tag_of(side), &side->send_param));
}

/* -U: waits until the message has arrived as unexpected, then receives it. */
static ucs_status_t take_unexpected(struct ucp_side *side,
                                    struct ucp_slot *slot, ucp_tag_t mask)
{
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request;
    ucs_status_t status;

    while ((message = ucp_tag_probe_nb(side->worker, tag_of(side), mask, 1,
                                       &info)) == NULL) {
        status = ucp_side_step(side);
        if (status != UCS_OK) {
            return status;
        }
    }
    request = ucp_tag_msg_recv_nbx(side->worker, slot->buffer, slot->count,
                                   message, &side->recv_param);
    if (request == NULL) {
        took(slot);
    }
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

PERF_INLINE ucs_status_t post_receive(struct ucp_side *side, uint64_t number)
{
    unsigned flags = side->thread->run->params.flags;
    ucp_tag_t mask = (flags & PARAMS_WILDCARD) ? 0 : UINT64_MAX;
    ucs_status_ptr_t request;
    struct ucp_slot *slot;
    ucs_status_t status;

    status = ucp_side_recv_slot(side, number, &slot);
    if (perf_unlikely(status != UCS_OK)) {
        return status;
    }
    side->recv_param.cb.recv   = on_received;
    side->recv_param.user_data = slot;
    if (perf_unlikely(flags & PARAMS_PROBE)) {
        return take_unexpected(side, slot, mask);
    }
    request = ucp_tag_recv_nbx(side->worker, slot->buffer, slot->count,
                               tag_of(side), mask, &side->recv_param);
    if (request == NULL) {
        took(slot);
        return UCS_OK;
    }
    return perf_unlikely(UCS_PTR_IS_ERR(request)) ? UCS_PTR_STATUS(request) :
                                                    UCS_OK;
}

/* Sends one message and receives one. `begins`: sends first. */
PERF_INLINE ucs_status_t turn(struct ucp_side *side, uint64_t number,
                              bool begins, bool sync)
{
    bool probes = side->thread->run->params.flags & PARAMS_PROBE;
    ucs_status_t status;

    if (!begins || !probes) {
        status = post_receive(side, number);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    if (!begins) {
        status = ucp_side_wait_received(side, number + 1);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    status = send_message(side, number, sync);
    if (perf_unlikely(status != UCS_OK)) {
        return status;
    }
    if (begins) {
        status = probes ? post_receive(side, number) : UCS_OK;
        status = (status == UCS_OK) ? ucp_side_wait_received(side, number + 1) :
                                      status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    return ucp_side_wait(side, 0);
}

PERF_INLINE ucs_status_t latency(struct perf_thread *thread, uint64_t count,
                                 bool begins, bool sync)
{
    struct ucp_side *side = thread->side;
    ucs_status_t status;
    uint64_t i;

    for (i = thread->first; i < thread->first + count; ++i) {
        status = turn(side, i, begins, sync);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        if (begins) {
            meter_each(&thread->meter);
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_tag_latency(struct perf_thread *thread, uint64_t count)
{
    return (thread->run->role & ROLE_CLIENT) ?
               latency(thread, count, true, false) :
               latency(thread, count, false, false);
}

ucs_status_t ucp_tag_sync_latency(struct perf_thread *thread, uint64_t count)
{
    return (thread->run->role & ROLE_CLIENT) ?
               latency(thread, count, true, true) :
               latency(thread, count, false, true);
}

/* Posts receives ahead, so that messages find a posted receive. */
PERF_INLINE ucs_status_t post_ahead(struct ucp_side *side, uint64_t *posted,
                                    uint64_t end)
{
    ucs_status_t status = UCS_OK;

    while ((*posted < end) && (*posted - side->received < side->outstanding) &&
           (status == UCS_OK)) {
        status = post_receive(side, (*posted)++);
    }
    return status;
}

static ucs_status_t take_stream(struct ucp_side *side, uint64_t first,
                                uint64_t end)
{
    ucs_status_t status;
    uint64_t posted = first;

    while (side->received < end) {
        status = post_ahead(side, &posted, end);
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        status = (side->received < end) ? ucp_side_step(side) : UCS_OK;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
    }
    /* confirm that all messages have arrived: the client measures until it
     * receives this message */
    status = ucp_side_begun(side,
                            ucp_tag_send_nbx(side->ep, NULL, 0, tag_of(side),
                                             &side->plain_param));
    return (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
}

static ucs_status_t expect_finish(struct ucp_side *side)
{
    ucp_request_param_t param = side->plain_param;
    ucs_status_ptr_t request;

    param.cb.recv = on_finish;
    request = ucp_tag_recv_nbx(side->worker, NULL, 0, tag_of(side), UINT64_MAX,
                               &param);
    side->finished += (request == NULL);
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
}

static ucs_status_t send_stream(struct perf_thread *thread, uint64_t count,
                                bool sync)
{
    struct ucp_side *side = thread->side;
    uint64_t finished     = side->finished + 1, i;
    ucs_status_t status   = expect_finish(side);

    for (i = thread->first; i < thread->first + count; ++i) {
        status = (status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        status = (status == UCS_OK) ? send_message(side, i, sync) : status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    status = ucp_side_wait(side, 0);
    return (status == UCS_OK) ? ucp_side_wait_finished(side, finished) : status;
}

/* Sends to this process. The receive is posted before the send, or with -U
 * after it. */
static ucs_status_t loop_stream(struct perf_thread *thread, uint64_t count,
                                bool sync)
{
    struct ucp_side *side = thread->side;
    bool probes           = thread->run->params.flags & PARAMS_PROBE;
    uint64_t end = thread->first + count, posted = thread->first, i;
    ucs_status_t status = UCS_OK;

    for (i = thread->first; i < end; ++i) {
        status = probes ? UCS_OK : post_ahead(side, &posted, i + 1);
        status = (status == UCS_OK) ?
                     ucp_side_wait(side, side->outstanding - 1) :
                     status;
        status = (status == UCS_OK) ? send_message(side, i, sync) : status;
        status = (status == UCS_OK) && probes ?
                     post_ahead(side, &posted, i + 1) :
                     status;
        if (perf_unlikely(status != UCS_OK)) {
            return status;
        }
        meter_some(&thread->meter);
    }
    while ((side->received < end) && (status == UCS_OK)) {
        status = post_ahead(side, &posted, end);
        status = ((status == UCS_OK) && (side->received < end)) ?
                     ucp_side_step(side) :
                     status;
    }
    return (status == UCS_OK) ? ucp_side_wait(side, 0) : status;
}

PERF_INLINE ucs_status_t stream(struct perf_thread *thread, uint64_t count,
                                bool sync)
{
    if (thread->run->role == ROLE_CLIENT) {
        return send_stream(thread, count, sync);
    }
    if (thread->run->role == ROLE_SERVER) {
        return take_stream(thread->side, thread->first, thread->first + count);
    }
    return loop_stream(thread, count, sync);
}

ucs_status_t ucp_tag_stream(struct perf_thread *thread, uint64_t count)
{
    return stream(thread, count, false);
}

ucs_status_t ucp_tag_sync_stream(struct perf_thread *thread, uint64_t count)
{
    return stream(thread, count, true);
}
