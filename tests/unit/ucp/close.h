/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers for tests that close endpoints and workers with outstanding
 * operations, also from callbacks.
 */
#ifndef TESTS_UCP_CLOSE_H
#define TESTS_UCP_CLOSE_H

#include "local.h"

#include "ucp/proto/ep.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static char buffer[1 << 20], buffer2[1 << 20];

/* Record of the callbacks of a test: their number, the number of those with
 * UCS_ERR_CANCELED, and the last status. A callback can also close an
 * endpoint. */
typedef struct {
    /* Endpoint that the next callback closes by force; NULL: none */
    ucp_ep_h close;
    int calls;
    int cancelled;
    ucs_status_t status;
} seen_t;

static inline void note(seen_t *seen, ucs_status_t status)
{
    ucp_ep_h ep = seen->close;

    ++seen->calls;
    seen->cancelled += (status == UCS_ERR_CANCELED);
    seen->status = status;
    seen->close  = NULL;
    if (ep != NULL) {
        ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    }
}

static inline void on_send(void *request, ucs_status_t status, void *user_data)
{
    note(user_data, status);
    ucp_request_free(request);
}

static inline void on_recv(void *request, ucs_status_t status,
                           const ucp_tag_recv_info_t *info, void *user_data)
{
    note(user_data, status);
    ucp_request_free(request);
}

static inline ucp_request_param_t send_call(seen_t *seen)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = on_send,
        .user_data = seen,
    };
}

static inline ucp_request_param_t recv_call(seen_t *seen)
{
    ucp_request_param_t param = send_call(seen);

    param.cb.recv = on_recv;
    return param;
}

static inline void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    seen_t *seen = arg;

    ck_assert_ptr_eq(seen->close, ep);
    note(seen, status);
}

/* Creates another endpoint to the worker itself. `errors` is the argument of
 * its error handler; NULL: no error handler. `data` is the user data of the
 * endpoint; NULL: none. */
static inline ucp_ep_h new_ep_of(local_t *local, seen_t *errors, seen_t *data)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_mode        = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler.cb  = on_failure,
        .err_handler.arg = errors,
        .user_data       = data,
    };
    ucp_ep_h ep;

    if (errors == NULL) {
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    }
    if (data != NULL) {
        params.field_mask |= UCP_EP_PARAM_FIELD_USER_DATA;
    }
    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
    return ep;
}

static inline ucp_ep_h new_ep(local_t *local, seen_t *errors)
{
    return new_ep_of(local, errors, NULL);
}

/* Opens a worker to whose loopback interface `queue` messages can be sent
 * before it progresses. Further sends wait for send resources. Messages of less
 * than 7000 bytes are eager, others are sent by rendezvous, in fragments. */
static inline void open_narrow(local_t *local, const char *queue)
{
    setenv("UCX_SELF_QUEUE_LEN", queue, 1);
    setenv("UCX_RNDV_THRESH", "7000", 1);
    setenv("UCX_RNDV_SCHEME", "am", 1);
    local_open(local);
    unsetenv("UCX_RNDV_SCHEME");
    unsetenv("UCX_RNDV_THRESH");
    unsetenv("UCX_SELF_QUEUE_LEN");
}

static inline void settle(local_t *local)
{
    int i;

    for (i = 0; i < 1000; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static inline void drop_early(local_t *local)
{
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t request;

    while (ucp_tag_probe_nb(local->worker, 0, 0, 0, &info) != NULL) {
        request = ucp_tag_recv_nbx(local->worker, buffer2, sizeof(buffer2), 0,
                                   0, &none);
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
}

/* Posts `count` sends of `size` bytes. Those that exceed the queue of
 * open_narrow() wait for send resources. Returns the number of sends that did
 * not complete at once. */
static inline int post_sends(ucp_ep_h ep, seen_t *seen, int count, size_t size)
{
    ucp_request_param_t param = send_call(seen);
    int pending               = 0;
    int i;

    for (i = 0; i < count; ++i) {
        pending += UCS_PTR_IS_PTR(
            ucp_tag_send_nbx(ep, buffer, size, 1, &param));
    }
    return pending;
}

#endif
