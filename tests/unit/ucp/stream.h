/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams in one process: an endpoint to oneself, or two endpoints of a worker
 * that belong together. Bytes follow a pattern by their place in the stream, so
 * that what is lost, doubled or out of order shows.
 */
#ifndef TESTS_UCP_STREAM_H
#define TESTS_UCP_STREAM_H

#include "local.h"

#include <time.h>

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

static inline double stream_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Progresses for as long as anything could still happen: with another transport
 * than the built-in one, which needs no time, until it has been quiet a while. */
static inline void stream_settle(local_t *local)
{
    double quiet = (getenv("UCX_TLS") == NULL) ? 0 : 0.003;
    double last  = stream_now();
    int i;

    for (i = 0; (i < 100) || (stream_now() - last < quiet); ++i) {
        if (ucp_worker_progress(local->worker) > 0) {
            last = stream_now();
        }
    }
}

/* Sends bytes of the pattern and waits until they are there. */
static inline void
stream_send_on(local_t *local, ucp_ep_h ep, size_t length, size_t place)
{
    stream_fill(stream_out, length, place);
    ck_assert_int_eq(local_wait(local, ucp_stream_send_nbx(ep, stream_out,
                                                           length,
                                                           &stream_none)),
                     UCS_OK);
    stream_settle(local);
}

static inline void stream_send(local_t *local, size_t length, size_t place)
{
    stream_send_on(local, local->ep, length, place);
}

static inline ucs_status_ptr_t
stream_post(ucp_ep_h ep, void *buffer, size_t count, uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags
    };
    size_t length             = SIZE_MAX;
    ucs_status_ptr_t ret;

    ret = ucp_stream_recv_nbx(ep, buffer, count, &length, &param);
    ck_assert_msg(UCS_PTR_IS_PTR(ret), "a receive did not wait");
    return ret;
}

/* Waits for a posted receive, which has to succeed; returns the length. */
static inline size_t stream_wait(local_t *local, ucs_status_ptr_t request)
{
    size_t length = SIZE_MAX;
    ucs_status_t status;

    while ((status = ucp_stream_recv_request_test(request, &length)) ==
           UCS_INPROGRESS) {
        ucp_worker_progress(local->worker);
    }
    ck_assert_int_eq(status, UCS_OK);
    ucp_request_free(request);
    return length;
}

/* Receives at once what must be there; returns the length. */
static inline size_t stream_take(ucp_ep_h ep, void *buffer, size_t count)
{
    size_t length = SIZE_MAX;

    ck_assert_ptr_null(ucp_stream_recv_nbx(ep, buffer, count, &length,
                                           &stream_none));
    return length;
}

/* UCS_PTR_STATUS is a macro that evaluates its argument more than once. */
static inline ucs_status_t stream_status(ucs_status_ptr_t ptr)
{
    return UCS_PTR_STATUS(ptr);
}

/* An endpoint that goes with the one made before or after it. */
static inline ucp_ep_h stream_half(local_t *local, void *user_data)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS |
                      UCP_EP_PARAM_FIELD_USER_DATA,
        .flags      = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK,
        .user_data  = user_data
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
        .flags        = flags
    };

    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(ep, &param)), UCS_OK);
}

#endif
