/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint with two lanes: the first for messages only, the second for put
 * and get only. Both are loopback interfaces. Get, put, flush and the pending
 * queue of the second lane are replaced by the functions far_*(), which record
 * calls and return what the test sets in `far`.
 */
#ifndef TESTS_UCP_TWO_LANES_H
#define TESTS_UCP_TWO_LANES_H

#include "local.h"

#include "ucp/proto/ep.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static char buffer[1 << 20], buffer2[1 << 20];

/* ----------------------------------------------- the lane of put and get -- */

static struct {
    ucx_ep_ops_t ops;
    ucx_ep_ops_t usual;
    unsigned gets, puts, flushes, remote_flushes, pendings;
    /* Number of gets, puts and flushes to fail with UCS_ERR_NO_RESOURCE;
     * counts down */
    unsigned refuse;
    /* Status that the others return; UCS_OK: they succeed */
    ucs_status_t fails;
    /* If not 0, operations complete only when the test calls let_go() */
    int holds;
    uct_completion_t *held[64];
    unsigned num_held;
    uct_pending_req_t *waiting;
} far;

/* The common part of get, put and flush of the second lane: returns the status
 * that the test has set, or keeps the completion if far.holds is set. */
static inline ucs_status_t far_answer(uct_completion_t *comp)
{
    if (far.refuse > 0) {
        --far.refuse;
        return UCS_ERR_NO_RESOURCE;
    }
    if (far.fails != UCS_OK) {
        return far.fails;
    }
    if (far.holds) {
        ck_assert_uint_lt(far.num_held, 64);
        far.held[far.num_held++] = comp;
        return UCS_INPROGRESS;
    }
    return UCS_OK;
}

static inline ucs_status_t far_get(uct_ep_h ep, const uct_iov_t *iov,
                                   size_t iovcnt, uint64_t remote_addr,
                                   uct_rkey_t rkey, uct_completion_t *comp)
{
    ucs_status_t status = far_answer(comp);

    if (!UCS_STATUS_IS_ERR(status)) {
        ++far.gets;
        ck_assert_int_eq(far.usual.get_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                             NULL),
                         UCS_OK);
    }
    return status;
}

static inline ucs_status_t far_put(uct_ep_h ep, const uct_iov_t *iov,
                                   size_t iovcnt, uint64_t remote_addr,
                                   uct_rkey_t rkey, uct_completion_t *comp)
{
    ucs_status_t status = far_answer(comp);

    if (!UCS_STATUS_IS_ERR(status)) {
        ++far.puts;
        ck_assert_int_eq(far.usual.put_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                             NULL),
                         UCS_OK);
    }
    return status;
}

static inline ucs_status_t far_flush(uct_ep_h ep, unsigned flags,
                                     uct_completion_t *comp)
{
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return UCS_OK;
    }
    if (comp == NULL) {
        return UCS_INPROGRESS; /* the caller flushes again */
    }
    ++far.flushes;
    far.remote_flushes += !!(flags & UCT_FLUSH_FLAG_REMOTE);
    return far_answer(comp);
}

static inline ucs_status_t far_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                           unsigned flags)
{
    ck_assert_ptr_null(far.waiting);
    ++far.pendings;
    far.waiting = req;
    return UCS_OK;
}

static inline void far_pending_purge(uct_ep_h ep,
                                     uct_pending_purge_callback_t cb, void *arg)
{
    uct_pending_req_t *req = far.waiting;

    far.waiting = NULL;
    if (req != NULL) {
        cb(req, arg);
    }
}

static inline void far_has_room(void)
{
    uct_pending_req_t *req = far.waiting;

    ck_assert_ptr_nonnull(req);
    if (req->func(req) == UCS_OK) {
        far.waiting = NULL;
    }
}

/* Completes all held operations with `status`. */
static inline void let_go(ucs_status_t status)
{
    unsigned num = far.num_held;
    uct_completion_t *held[64];
    unsigned i;

    memcpy(held, far.held, sizeof(held));
    far.num_held = 0;
    for (i = 0; i < num; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
}

static inline ssize_t no_am_bcopy(uct_ep_h ep, uint8_t id,
                                  uct_pack_callback_t pack_cb, void *arg,
                                  unsigned flags)
{
    ck_abort_msg("a message on the lane that has none");
    return UCS_ERR_UNSUPPORTED;
}

/* Opens a context with two loopback resources, and the endpoint. `scheme` is
 * the value of UCX_RNDV_SCHEME. */
static inline void open_two(local_t *local, const char *scheme)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_worker_iface_t *ifaces;
    ucp_context_h context;

    memset(&far, 0, sizeof(far));
    setenv("UCX_RNDV_SCHEME", scheme, 1);
    setenv("UCX_RNDV_THRESH", "7000", 1);
    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    unsetenv("UCX_RNDV_THRESH");
    unsetenv("UCX_RNDV_SCHEME");

    context = local->context;
    ck_assert_uint_eq(context->num_resources, 1);
    context->resources     = realloc(context->resources,
                                     2 * sizeof(*context->resources));
    context->resources[1]  = context->resources[0];
    context->num_resources = 2;

    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &local->worker),
                     UCS_OK);
    ifaces = local->worker->ifaces;
    ck_assert_uint_eq(local->worker->num_ifaces, 2);
    memset(&ifaces[0].lane.put, 0, sizeof(ifaces[0].lane.put));
    memset(&ifaces[0].lane.get, 0, sizeof(ifaces[0].lane.get));
    memset(&ifaces[1].lane.am, 0, sizeof(ifaces[1].lane.am));
    ifaces[1].lane.put.max_zcopy            = 100000;
    ifaces[1].lane.get.max_zcopy            = 100000;
    /* so high that UCP selects this lane for large messages */
    ifaces[1].lane.get.cost_zcopy.bandwidth = 1e12;
    ifaces[1].lane.put.cost_zcopy.bandwidth = 1e12;

    far.usual               = *ifaces[1].iface->ep_ops;
    far.ops                 = far.usual;
    far.ops.am_bcopy        = no_am_bcopy;
    far.ops.get_zcopy       = far_get;
    far.ops.put_zcopy       = far_put;
    far.ops.flush           = far_flush;
    far.ops.pending_add     = far_pending_add;
    far.ops.pending_purge   = far_pending_purge;
    ifaces[1].iface->ep_ops = &far.ops;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &ep_params, &local->ep),
                     UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
}

static inline void settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static inline void fill(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        buffer[i] = (char)(i * 7 + i / 251);
    }
    memset(buffer2, 0, sizeof(buffer2));
}

static inline void end(local_t *local)
{
    settle(local);
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

static inline void send_and_check(local_t *local, size_t length)
{
    ucs_status_ptr_t send, recv;

    fill(length);
    recv = local_recv(local, buffer2, sizeof(buffer2), 1);
    send = local_send(local, buffer, length, 1);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, length);
}

#endif
