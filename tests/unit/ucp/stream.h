/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams in one process: over an endpoint to the worker itself, or over two
 * connected endpoints of one worker. Each byte depends on its position in the
 * stream, so that stream_check() detects lost, duplicate and out-of-order data.
 */
#ifndef TESTS_UCP_STREAM_H
#define TESTS_UCP_STREAM_H

#include "local.h"

static const ucp_request_param_t stream_none = {0};

static char stream_out[1 << 21], stream_in[1 << 21] __attribute__((unused));

static inline char stream_byte(size_t place)
{
    return (char)(place * 7 + (place >> 8) + (place >> 16));
}

static inline void stream_fill(char *bytes, size_t length, size_t place)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        bytes[i] = stream_byte(place + i);
    }
}

static inline void stream_check(const char *bytes, size_t length, size_t place)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != stream_byte(place + i)) {
            ck_abort_msg("byte %zu of %zu at %zu of the stream is wrong", i,
                         length, place);
        }
    }
}

static inline void stream_open(local_t *local)
{
    local_open_mode(local, UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
}

/* Returns whether sent data is available at once: that is so with the built-in
 * transport `self`, which is used unless UCX_TLS is set. */
static inline int stream_is_at_once(void)
{
    return getenv("UCX_TLS") == NULL;
}

/* Runs at least 100 rounds of progress, to show that an event does not occur;
 * with `self` these are enough. With other transports, continues until there
 * was no event for 3 ms. A round counts as at most 0.1 ms, because a longer one
 * means that the process was not scheduled. Tests wait for expected events
 * separately. */
static inline void stream_settle(local_t *local)
{
    double quiet = 0, last = local_now(), now;
    int i;

    for (i = 0; (i < 100) || (!stream_is_at_once() && (quiet < 0.003)); ++i) {
        if (ucp_worker_progress(local->worker) > 0) {
            quiet = 0;
        }
        now = local_now();
        quiet += (now - last < 0.0001) ? now - last : 0.0001;
        last = now;
    }
}

/* Progresses until `counter` has reached `value`. */
static inline void stream_await(local_t *local, const int *counter, int value)
{
    double start = local_now();

    while (*counter < value) {
        local_progress(local, start);
    }
    ck_assert_int_eq(*counter, value);
}

/* Progresses until an endpoint has unread data. */
static inline ucp_stream_poll_ep_t stream_await_poll(local_t *local)
{
    double start = local_now();
    ucp_stream_poll_ep_t poll;
    ssize_t num;

    while ((num = ucp_stream_worker_poll(local->worker, &poll, 1, 0)) == 0) {
        local_progress(local, start);
    }
    ck_assert_int_eq(num, 1);
    return poll;
}

/* Sends `length` bytes of the pattern from position `place` on. When it
 * returns, the bytes have arrived if the transport is `self`. With another
 * transport they usually have, but a test must still wait for them. */
static inline void stream_send_on(local_t *local, ucp_ep_h ep, size_t length,
                                  size_t place)
{
    stream_fill(stream_out, length, place);
    ck_assert_int_eq(local_wait(local,
                                ucp_stream_send_nbx(ep, stream_out, length,
                                                    &stream_none)),
                     UCS_OK);
    stream_settle(local);
}

static inline void stream_send(local_t *local, size_t length, size_t place)
{
    stream_send_on(local, local->ep, length, place);
}

static inline ucs_status_ptr_t stream_post(ucp_ep_h ep, void *buffer,
                                           size_t count, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };
    size_t length = SIZE_MAX;
    ucs_status_ptr_t ret;

    ret = ucp_stream_recv_nbx(ep, buffer, count, &length, &param);
    ck_assert_msg(UCS_PTR_IS_PTR(ret), "a receive did not wait");
    return ret;
}

/* Waits for a posted receive, which must succeed, and frees it; returns the
 * length. */
static inline size_t stream_wait(local_t *local, ucs_status_ptr_t request)
{
    double start  = local_now();
    size_t length = SIZE_MAX;
    ucs_status_t status;

    while ((status = ucp_stream_recv_request_test(request, &length)) ==
           UCS_INPROGRESS) {
        local_progress(local, start);
    }
    ck_assert_int_eq(status, UCS_OK);
    ucp_request_free(request);
    return length;
}

/* Receives data that was already sent, by one call; returns the length. With
 * `self` the data must be available at once; with other transports this
 * function waits for it. */
static inline size_t stream_recv(local_t *local, ucp_ep_h ep, void *buffer,
                                 size_t count, const ucp_request_param_t *param)
{
    size_t length        = SIZE_MAX;
    ucs_status_ptr_t ret = ucp_stream_recv_nbx(ep, buffer, count, &length,
                                               param);

    if (ret == NULL) {
        return length;
    }
    ck_assert_msg(UCS_PTR_IS_PTR(ret) && !stream_is_at_once(),
                  "what was sent is not there");
    return stream_wait(local, ret);
}

/* Receives all `length` bytes that were sent, into a buffer of `count` bytes,
 * by several receives if not all bytes have arrived. */
static inline void stream_take(local_t *local, ucp_ep_h ep, void *buffer,
                               size_t count, size_t length)
{
    size_t got = 0;

    while (got < length) {
        got += stream_recv(local, ep, (char *)buffer + got, count - got,
                           &stream_none);
        ck_assert(!stream_is_at_once() || (got == length));
    }
    ck_assert_uint_eq(got, length);
}

/* Waits for data in a buffer of the library and returns the buffer. */
static inline void *stream_take_data(local_t *local, ucp_ep_h ep,
                                     size_t *length)
{
    double start = local_now();
    void *data;

    while ((data = ucp_stream_recv_data_nb(ep, length)) == NULL) {
        local_progress(local, start);
    }
    ck_assert(UCS_PTR_IS_PTR(data));
    return data;
}

/* A function instead of UCS_PTR_STATUS, which is a macro that evaluates its
 * argument more than once. */
static inline ucs_status_t stream_status(ucs_status_ptr_t ptr)
{
    return UCS_PTR_STATUS(ptr);
}

/* Creates one endpoint of a pair: UCP connects the endpoints of two successive
 * calls to each other. */
static inline ucp_ep_h stream_half(local_t *local, void *user_data)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_USER_DATA,
        .flags     = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK,
        .user_data = user_data,
    };
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

static inline void stream_close(local_t *local, ucp_ep_h ep, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };

    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(ep, &param)), UCS_OK);
}

#endif
