/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One context and one worker with an endpoint to the worker itself, which is
 * sufficient to test the rules of the API. tests/integration uses two
 * processes.
 */
#ifndef TESTS_UCP_LOCAL_H
#define TESTS_UCP_LOCAL_H

#include "suite.h"

#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

/* Seconds after which local_progress() fails a test. Much longer than any
 * operation takes, because the process may not be scheduled for some
 * seconds. */
enum { LOCAL_LIMIT = 20 };

typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep; /* To the worker itself */
} local_t;

/* Creates an endpoint to the worker itself, with UCP_EP_PARAMS_FLAGS_*. */
static inline ucp_ep_h local_ep(local_t *local, unsigned flags)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS,
        .flags = flags,
    };
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

static inline void local_open_mode(local_t *local, uint64_t features,
                                   ucs_thread_mode_t mode)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = features,
    };
    ucp_worker_params_t worker_params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = mode,
    };

    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(local->context, &worker_params,
                                       &local->worker),
                     UCS_OK);
    local->ep = local_ep(local, 0);
}

/* Replaces `ep` by an endpoint with the flag NO_LOOPBACK: UCP treats it like an
 * endpoint to another process, although it leads to the same worker. */
static inline void local_play_peer(local_t *local)
{
    ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };

    ck_assert(ucp_ep_close_nbx(local->ep, &force) == NULL);
    ucp_worker_progress(local->worker); /* frees the closed endpoint */
    local->ep = local_ep(local, UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
}

static inline void local_open(local_t *local)
{
    local_open_mode(local, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
                    UCS_THREAD_MODE_SINGLE);
}

static inline double local_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Runs one round of progress in a wait that began at `start`; fails the test
 * after LOCAL_LIMIT seconds. The caller checks its condition after each round,
 * so that a wait whose condition is met does not fail. */
static inline void local_progress(local_t *local, double start)
{
    ck_assert_msg(local_now() - start < LOCAL_LIMIT,
                  "nothing came for %d seconds", (int)LOCAL_LIMIT);
    ucp_worker_progress(local->worker);
}

/* Progresses until the request has ended, frees it and returns its status. */
static inline ucs_status_t local_wait(local_t *local, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(local->worker);
    }
    ucp_request_free(request);
    return status;
}

static inline void local_close(local_t *local)
{
    ucp_request_param_t none = {0};

    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(local->ep, &none)),
                     UCS_OK);
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

static inline ucs_status_ptr_t local_send(local_t *local, const void *data,
                                          size_t length, ucp_tag_t tag)
{
    ucp_request_param_t none = {0};

    return ucp_tag_send_nbx(local->ep, data, length, tag, &none);
}

static inline ucs_status_ptr_t local_recv(local_t *local, void *data,
                                          size_t length, ucp_tag_t tag)
{
    ucp_request_param_t none = {0};

    return ucp_tag_recv_nbx(local->worker, data, length, tag, UINT64_MAX,
                            &none);
}

/* Progresses until an unexpected message with this tag has arrived. */
static inline void local_await(local_t *local, ucp_tag_t tag)
{
    double start = local_now();
    ucp_tag_recv_info_t info;

    do {
        local_progress(local, start);
    } while (ucp_tag_probe_nb(local->worker, tag, UINT64_MAX, 0, &info) ==
             NULL);
}

#endif
