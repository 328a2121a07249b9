/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages over an endpoint to the worker itself. The handler records
 * its arguments, checks the contents of the header and of eager data, and
 * returns the status that the test sets.
 */
#ifndef TESTS_UCP_AM_H
#define TESTS_UCP_AM_H

#include "local.h"

/* Argument of am_handler(). The test sets the first three members, which define
 * what the handler does. In the others it counts its calls and records the
 * arguments of the last one. */
typedef struct {
    ucs_status_t answer;
    /* The handler returns `answer` only if the message has one of these
     * receive flags (UCP_AM_RECV_ATTR_*), otherwise UCS_OK. 0: always
     * returns `answer` */
    uint64_t only_if;
    /* Called by the handler before it returns; NULL: no call. `seen` is this
     * structure, `data` is the handler's argument. */
    void (*act)(void *seen, void *data);
    unsigned calls;
    size_t header_length;
    size_t length;
    uint64_t attr;
    ucp_ep_h reply_ep;
    void *data;
    char header[8192];
    /* Address of the data, if the test's `act` records it */
    const void *address;
} am_seen_t;

static const ucp_request_param_t am_none = {0};

static inline void am_fill(char *bytes, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        bytes[i] = (char)(i * 7 + (i >> 8) + seed);
    }
}

static inline void am_check(const char *bytes, size_t length, unsigned seed)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != (char)(i * 7 + (i >> 8) + seed)) {
            ck_abort_msg("byte %zu of %zu is wrong", i, length);
        }
    }
}

static inline ucs_status_t am_handler(void *arg, const void *header,
                                      size_t header_length, void *data,
                                      size_t length,
                                      const ucp_am_recv_param_t *param)
{
    am_seen_t *seen = arg;

    ck_assert_uint_le(header_length, sizeof(seen->header));
    ++seen->calls;
    seen->header_length = header_length;
    seen->length        = length;
    seen->attr          = param->recv_attr;
    seen->reply_ep      = param->reply_ep;
    seen->data          = data;
    if (header_length > 0) {
        memcpy(seen->header, header, header_length);
        am_check(header, header_length, 1);
    }
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        am_check(data, length, 2);
    }
    if (seen->act != NULL) {
        seen->act(seen, data);
    }
    return ((seen->only_if == 0) || (param->recv_attr & seen->only_if)) ?
               seen->answer :
               UCS_OK;
}

static inline void am_set(local_t *local, unsigned id, uint32_t flags,
                          am_seen_t *seen)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id    = id,
        .flags = flags,
        .cb    = (seen != NULL) ? am_handler : NULL,
        .arg   = seen,
    };

    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local->worker, &param),
                     UCS_OK);
}

static inline void am_open(local_t *local)
{
    local_open_mode(local, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
}

static char am_header[1 << 16], am_data[(1 << 20) + 1];

/* A function instead of UCS_PTR_STATUS, which is a macro that evaluates its
 * argument more than once. */
static inline ucs_status_t am_status(ucs_status_ptr_t ptr)
{
    return UCS_PTR_STATUS(ptr);
}

/* Sends `header_length` and `length` bytes of the pattern that am_handler()
 * checks. */
static inline ucs_status_ptr_t am_send_on(ucp_ep_h ep, unsigned id,
                                          size_t header_length, size_t length,
                                          uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = flags,
    };

    am_fill(am_header, header_length, 1);
    am_fill(am_data, length, 2);
    return ucp_am_send_nbx(ep, id, am_header, header_length, am_data, length,
                           &param);
}

static inline ucs_status_ptr_t am_send(local_t *local, unsigned id,
                                       size_t header_length, size_t length,
                                       uint32_t flags)
{
    return am_send_on(local->ep, id, header_length, length, flags);
}

/* Progresses until seen->calls is `calls`; a larger number fails the test. */
static inline void am_await(local_t *local, const am_seen_t *seen,
                            unsigned calls)
{
    double start = local_now();

    while (seen->calls < calls) {
        local_progress(local, start);
    }
    ck_assert_uint_eq(seen->calls, calls);
}

/* Runs 100 rounds of progress, to show that an event does not occur. Tests wait
 * for expected events by am_await() or local_wait(), because those may take
 * longer. */
static inline void am_settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

#endif
