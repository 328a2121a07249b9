/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints with two lanes: one for messages only, one for put and get only,
 * whose operations the test replaces. Both are loopback interfaces.
 */
#include "lent.h"
#include "local.h"

#include "ucp/order/queue.h"
#include "ucp/proto/ep.h"
#include "ucp/rma/rkey.h"
#include "ucp/rndv/rndv.h"
#include "ucp/tag/eager.h"
#include "ucp/tag/rndv.h"
#include "ucp/wireup/failover.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE
};

static char buffer[1 << 20], buffer2[1 << 20];

/* ----------------------------------------------- the lane of put and get -- */

static struct {
    ucx_ep_ops_t      ops;
    ucx_ep_ops_t      usual;
    unsigned          gets, puts, flushes, remote_flushes, pendings;
    /* This number of operations returns UCS_ERR_NO_RESOURCE */
    unsigned          refuse;
    ucs_status_t      fails;     /* Status of operations; UCS_OK: normal */
    int               holds;     /* Completions are held until let_go() */
    uct_completion_t  *held[64];
    unsigned          num_held;
    uct_pending_req_t *waiting;
} far;

/* The common part of all operations of the lane. */
static ucs_status_t far_answer(uct_completion_t *comp)
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

static ucs_status_t far_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    ucs_status_t status = far_answer(comp);

    if (!UCS_STATUS_IS_ERR(status)) {
        ++far.gets;
        ck_assert_int_eq(far.usual.get_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                             NULL), UCS_OK);
    }
    return status;
}

static ucs_status_t far_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    ucs_status_t status = far_answer(comp);

    if (!UCS_STATUS_IS_ERR(status)) {
        ++far.puts;
        ck_assert_int_eq(far.usual.put_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                             NULL), UCS_OK);
    }
    return status;
}

static ucs_status_t
far_flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        return UCS_OK;
    }
    ++far.flushes;
    far.remote_flushes += !!(flags & UCT_FLUSH_FLAG_REMOTE);
    return far_answer(comp);
}

static ucs_status_t
far_pending_add(uct_ep_h ep, uct_pending_req_t *req, unsigned flags)
{
    ck_assert_ptr_null(far.waiting);
    ++far.pendings;
    far.waiting = req;
    return UCS_OK;
}

static void
far_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb, void *arg)
{
    uct_pending_req_t *req = far.waiting;

    far.waiting = NULL;
    if (req != NULL) {
        cb(req, arg);
    }
}

static void far_has_room(void)
{
    uct_pending_req_t *req = far.waiting;

    ck_assert_ptr_nonnull(req);
    if (req->func(req) == UCS_OK) {
        far.waiting = NULL;
    }
}

/* Completes the held operations. */
static void let_go(ucs_status_t status)
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

static ssize_t no_am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                           void *arg, unsigned flags)
{
    ck_abort_msg("a message on the lane that has none");
    return UCS_ERR_UNSUPPORTED;
}

/* Opens a context with two loopback resources: the first for messages only, the
 * second without messages. */
static void open_two(local_t *local, const char *scheme)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_attr_t attr  = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
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
    context->resources = realloc(context->resources,
                                 2 * sizeof(*context->resources));
    context->resources[1]  = context->resources[0];
    context->num_resources = 2;

    ck_assert_int_eq(ucp_worker_create(context, &worker_params,
                                       &local->worker), UCS_OK);
    ifaces = local->worker->ifaces;
    ck_assert_uint_eq(local->worker->num_ifaces, 2);
    memset(&ifaces[0].lane.put, 0, sizeof(ifaces[0].lane.put));
    memset(&ifaces[0].lane.get, 0, sizeof(ifaces[0].lane.get));
    memset(&ifaces[1].lane.am, 0, sizeof(ifaces[1].lane.am));
    ifaces[1].lane.put.max_zcopy = 100000;
    ifaces[1].lane.get.max_zcopy = 100000;
    /* so that large messages use this lane */
    ifaces[1].lane.get.cost_zcopy.bandwidth = 1e12;
    ifaces[1].lane.put.cost_zcopy.bandwidth = 1e12;

    far.usual             = *ifaces[1].iface->ep_ops;
    far.ops               = far.usual;
    far.ops.am_bcopy      = no_am_bcopy;
    far.ops.get_zcopy     = far_get;
    far.ops.put_zcopy     = far_put;
    far.ops.flush         = far_flush;
    far.ops.pending_add   = far_pending_add;
    far.ops.pending_purge = far_pending_purge;
    ifaces[1].iface->ep_ops = &far.ops;

    ck_assert_int_eq(ucp_worker_query(local->worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local->worker, &ep_params, &local->ep),
                     UCS_OK);
    ucp_worker_release_address(local->worker, attr.address);
}

static void settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static void fill(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        buffer[i] = (char)(i * 7 + i / 251);
    }
    memset(buffer2, 0, sizeof(buffer2));
}

static void end(local_t *local)
{
    settle(local);
    ucp_worker_destroy(local->worker);
    ucp_cleanup(local->context);
}

/* ------------------------------------------------------------- selection -- */

START_TEST(what_messages_lack_gets_a_lane_of_its_own)
{
    ucp_transport_entry_t entries[4];
    ucp_ep_attr_t attr = {
        .field_mask             = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports.entries     = entries,
        .transports.num_entries = 4,
        .transports.entry_size  = sizeof(entries[0])
    };
    const ucp_ep_config_t *config;
    local_t local;

    open_two(&local, "auto");
    config = local.ep->config;
    ck_assert_uint_eq(config->num_lanes, 2);
    ck_assert_uint_eq(config->rndv_lane, 1);
    ck_assert_uint_eq(config->rma_lane, 1);
    ck_assert_uint_eq(config->rma_lanes, 2);
    ck_assert_ptr_eq(ucp_ep_lane(local.ep, 1)->ops, &far.ops);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 2);
    ck_assert_str_eq(entries[1].transport_name, "self");
    attr.transports.num_entries = 1;
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 1);
    local_close(&local);
}
END_TEST

/* Returns the protocol of a tagged send without a receive; cancels the send. */
static const ucp_proto_t *protocol_of(local_t *local, size_t length,
                                      uint32_t flags)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL | flags
    };
    const ucp_proto_t *proto;
    ucs_status_ptr_t request;

    ucp_ep_hold(local->ep);
    request = ucp_tag_send_nbx(local->ep, buffer, length, 1, &param);
    ck_assert(UCS_PTR_IS_PTR(request));
    proto = ucp_request_of(request)->send.proto;
    ucp_request_cancel(local->worker, request);
    ck_assert_int_eq(local_wait(local, request), UCS_ERR_CANCELED);
    ucp_ep_resume(local->ep);
    return proto;
}

/* With a long latency, an announcement is expensive for a single message. It
 * costs nothing for one of many, because the others fill the time. */
START_TEST(many_in_flight_do_not_count_the_latency)
{
    enum { LENGTH = 5000 };
    ucp_lane_am_t *am;
    ucp_ep_config_t *config;
    local_t local;

    local_open(&local);
    config = (ucp_ep_config_t *)local.ep->config;
    am     = &config->lanes[UCP_AM_LANE].am;
    ck_assert_uint_gt(am->max_bcopy, LENGTH);
    am->cost_bcopy.latency                         = 1e-3;
    am->cost_bcopy.bandwidth                       = 1e9;
    am->cost_zcopy                                 = am->cost_bcopy;
    config->lanes[UCP_AM_LANE].get.cost_zcopy      = am->cost_bcopy;
    config->lanes[UCP_AM_LANE].get.cost_zcopy.bandwidth = 1e12;
    ck_assert_int_eq(ucp_proto_select(config, SIZE_MAX, SIZE_MAX), UCS_OK);

    ck_assert_ptr_ne(protocol_of(&local, LENGTH, 0), &ucp_proto_tag_rndv);
    ck_assert_ptr_eq(protocol_of(&local, LENGTH, UCP_OP_ATTR_FLAG_MULTI_SEND),
                     &ucp_proto_tag_rndv);
    ck_assert_ptr_ne(protocol_of(&local, LENGTH, 0), &ucp_proto_tag_rndv);
    ck_assert_ptr_ne(protocol_of(&local, LENGTH,
                                 UCP_OP_ATTR_FLAG_MULTI_SEND |
                                 UCP_OP_ATTR_FLAG_FAST_CMPL),
                     &ucp_proto_tag_rndv);
    local_close(&local);
}
END_TEST

/* Opens a context with equally fast network devices; returns the index of the
 * device for an endpoint's messages. */
static unsigned device_taken(const char *local_id, unsigned near_cpus)
{
    enum { COUNT = 3 };
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_attr_t attr  = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
    };
    ucp_context_h context;
    ucp_worker_h worker;
    unsigned i, taken;
    ucp_ep_h ep;

    if (local_id != NULL) {
        setenv("UCX_LOCAL_NODE_ID", local_id, 1);
    }
    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
    unsetenv("UCX_LOCAL_NODE_ID");
    context->resources = realloc(context->resources,
                                 COUNT * sizeof(*context->resources));
    for (i = 0; i < COUNT; ++i) {
        context->resources[i]          = context->resources[0];
        context->resources[i].dev_type = UCT_DEVICE_TYPE_NET;
    }
    context->num_resources = COUNT;
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
    for (i = 0; i < COUNT; ++i) {
        worker->ifaces[i].cpu_distance = (near_cpus == i) ? 0 : 1e-7;
    }
    ck_assert_int_eq(ucp_worker_query(worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(worker, &ep_params, &ep), UCS_OK);
    ucp_worker_release_address(worker, attr.address);
    taken = ep->config->lanes[UCP_AM_LANE].iface_index;
    ucp_ep_close_nbx(ep, &force);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return taken;
}

START_TEST(processes_of_a_host_spread_over_equal_devices)
{
    enum { NONE = 99 };

    ck_assert_uint_eq(device_taken(NULL, NONE), 0);
    ck_assert_uint_eq(device_taken("0", NONE), 0);
    ck_assert_uint_eq(device_taken("1", NONE), 1);
    ck_assert_uint_eq(device_taken("2", NONE), 2);
    ck_assert_uint_eq(device_taken("3", NONE), 0);
    ck_assert_uint_eq(device_taken("301", NONE), 1);
}
END_TEST

START_TEST(of_equal_devices_that_near_the_workers_processors_is_taken)
{
    ck_assert_uint_eq(device_taken(NULL, 1), 1);
    ck_assert_uint_eq(device_taken(NULL, 2), 2);
    /* the costs of the others differ */
    ck_assert_uint_eq(device_taken("1", 2), 2);
}
END_TEST

static ucs_status_t
no_ep(uct_iface_h iface, const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    return UCS_ERR_NO_DEVICE;
}

START_TEST(a_lane_that_cannot_be_had_is_left_out)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
    };
    ucx_iface_ops_t iface_ops;
    local_t local;
    ucp_ep_h ep;

    open_two(&local, "auto");
    iface_ops           = *local.worker->ifaces[1].iface->ops;
    iface_ops.ep_create = no_ep;
    local.worker->ifaces[1].iface->ops = &iface_ops;
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local.worker, &params, &ep), UCS_OK);
    ucp_worker_release_address(local.worker, attr.address);
    ck_assert_uint_eq(ep->config->num_lanes, 1);
    ck_assert_uint_eq(ep->config->rndv_lane, UCP_NULL_LANE);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &force));
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------------ rendezvous -- */

static void send_and_check(local_t *local, size_t length)
{
    ucs_status_ptr_t send, recv;

    fill(length);
    recv = local_recv(local, buffer2, sizeof(buffer2), 1);
    send = local_send(local, buffer, length, 1);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, length);
}

START_TEST(large_messages_take_the_way_that_is_asked_for)
{
    local_t local;

    open_two(&local, "get_zcopy");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.gets, 3);
    send_and_check(&local, 100);
    ck_assert_uint_eq(far.gets, 3);
    ck_assert_uint_eq(far.puts, 0);
    local_close(&local);

    open_two(&local, "put_zcopy");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.puts, 3);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);

    open_two(&local, "am");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.puts + far.gets, 0);
    local_close(&local);

    open_two(&local, "auto");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.gets, 3);
    local_close(&local);
}
END_TEST

START_TEST(early_announcements_keep_their_keys)
{
    ucs_status_ptr_t send;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(50000);
    send = local_send(&local, buffer, 50000, 9);
    settle(&local);
    ck_assert_uint_eq(far.gets, 0);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, buffer2, 60000, 9)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_uint_eq(far.gets, 1);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_that_is_too_small_fetches_nothing)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "get_zcopy");
    recv = local_recv(&local, buffer2, 49999, 1);
    send = local_send(&local, buffer, 50000, 1);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);
}
END_TEST

START_TEST(what_cannot_be_fetched_comes_another_way)
{
    local_t local;

    open_two(&local, "get_zcopy");
    /* put fails, too: only one attempt, by get */
    far.fails = UCS_ERR_UNREACHABLE;
    fill(100000);
    {
        ucs_status_ptr_t recv = local_recv(&local, buffer2, 100000, 1);
        ucs_status_ptr_t send = local_send(&local, buffer, 100000, 1);

        ucp_worker_progress(local.worker); /* introduction and announcement */
        far.fails = UCS_OK;
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    }
    ck_assert_mem_eq(buffer, buffer2, 100000);
    ck_assert_uint_eq(far.gets, 0);
    ck_assert_uint_eq(far.puts, 1);
    /* the failed scheme is not tried again */
    send_and_check(&local, 100000);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);
}
END_TEST

START_TEST(a_fetch_that_fails_in_the_middle_is_made_up_for)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(250000);
    far.holds = 1;
    recv = local_recv(&local, buffer2, 250000, 1);
    send = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_eq(far.num_held, 3);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    far.holds = 0;
    memset(buffer2, 0, sizeof(buffer2));
    let_go(UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

START_TEST(the_receiver_hears_of_puts_when_they_have_arrived)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(250000);
    far.holds = 1;
    recv = local_recv(&local, buffer2, 250000, 1);
    send = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_eq(far.puts, 3);
    ck_assert_uint_eq(far.remote_flushes, 1);
    ck_assert_uint_eq(far.num_held, 4);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    far.holds = 0;
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

START_TEST(a_put_that_fails_on_the_other_lane_is_sent_by_messages)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(250000);
    far.holds = 1;
    recv = local_recv(&local, buffer2, 250000, 1);
    send = local_send(&local, buffer, 250000, 1);
    settle(&local);
    far.holds = 0;
    let_go(UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

/* The user must not get a buffer back while a transport uses it. */
static void close_while_held(const char *scheme, ucs_status_t status)
{
    int fetching = !strcmp(scheme, "get_zcopy");
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, scheme);
    far.holds = 1;
    recv = local_recv(&local, buffer2, 250000, 1);
    send = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_gt(far.num_held, 0);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(fetching ? recv : send),
                     UCS_INPROGRESS);
    far.holds = 0;
    let_go(status);
    ck_assert_int_ne(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    end(&local);
}

START_TEST(a_close_waits_for_what_the_other_lane_holds)
{
    close_while_held("get_zcopy", UCS_ERR_CANCELED);
    close_while_held("get_zcopy", UCS_OK);
    close_while_held("put_zcopy", UCS_ERR_CANCELED);
    close_while_held("put_zcopy", UCS_OK);
}
END_TEST

/* -------------------------------------------- send resources and failure -- */

START_TEST(what_waits_for_one_lane_goes_before_what_comes_later)
{
    ucs_status_ptr_t send, recv, later, recv_later;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(50000);
    recv       = local_recv(&local, buffer2, 50000, 1);
    recv_later = local_recv(&local, buffer2 + 50000, 8, 2);
    far.refuse = 2;
    send       = local_send(&local, buffer, 50000, 1);
    settle(&local);
    ck_assert_uint_eq(far.pendings, 1);
    later = local_send(&local, "later..", 8, 2);
    ck_assert(UCS_PTR_IS_PTR(later));
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(recv_later), UCS_INPROGRESS);
    far_has_room(); /* the attempt fails again */
    ck_assert_ptr_nonnull(far.waiting);
    ck_assert_int_eq(ucp_request_check_status(later), UCS_INPROGRESS);
    far_has_room();
    ck_assert_ptr_null(far.waiting);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv_later), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(local_wait(&local, later), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    local_close(&local);
}
END_TEST

START_TEST(waiting_moves_from_lane_to_lane)
{
    ucs_status_ptr_t send[8], recv[8];
    local_t local;
    int i, round;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_two(&local, "put_zcopy");
    unsetenv("UCX_SELF_QUEUE_LEN");
    fill(50000);
    for (i = 0; i < 8; ++i) {
        recv[i] = local_recv(&local, buffer2 + i * 50000, 50000,
                             (ucp_tag_t)i);
        send[i] = local_send(&local, buffer, (i % 2) ? 50000 : 100,
                             (ucp_tag_t)i);
    }
    for (round = 0; round < 200; ++round) {
        far.refuse = (round < 100) ? (unsigned)round % 3 : 0;
        ucp_worker_progress(local.worker);
        if (far.waiting != NULL) {
            far_has_room();
        }
    }
    ck_assert_uint_gt(far.pendings, 0);
    for (i = 0; i < 8; ++i) {
        ck_assert_int_eq(local_wait(&local, recv[i]), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send[i]), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2 + i * 50000, (i % 2) ? 50000 : 100);
    }
    local_close(&local);
}
END_TEST

/* Both lanes are full when one of them fails. */
START_TEST(a_put_that_lost_its_lane_waits_for_that_of_messages)
{
    ucs_status_ptr_t put, send[2], recv[2];
    local_t local;
    lent_t lent;
    int i;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_two(&local, "auto");
    unsetenv("UCX_SELF_QUEUE_LEN");
    lend(&local, buffer2, sizeof(buffer2), &lent);
    fill(50000);
    for (i = 0; i < 2; ++i) {
        send[i] = local_send(&local, buffer, 100, (ucp_tag_t)i);
    }
    far.refuse = 1;
    put        = ucp_put_nbx(local.ep, buffer, 50000, (uintptr_t)buffer2,
                             lent.rkey, &none);
    ck_assert_ptr_nonnull(far.waiting);
    ck_assert(ucp_failover(local.ep, ucp_ep_lane(local.ep, 1),
                           UCS_ERR_CONNECTION_RESET));
    ck_assert_int_eq(ucp_request_check_status(put), UCS_INPROGRESS);
    ck_assert_int_eq(local_wait(&local, put), UCS_OK);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    for (i = 0; i < 2; ++i) {
        recv[i] = local_recv(&local, buffer2 + 100000, 100, (ucp_tag_t)i);
        ck_assert_int_eq(local_wait(&local, recv[i]), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send[i]), UCS_OK);
    }
    ck_assert_uint_eq(far.puts, 0);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

START_TEST(a_flush_goes_over_all_lanes_and_as_far_as_they_were_used)
{
    ucs_status_ptr_t flush;
    local_t local;

    open_two(&local, "auto");
    flush = ucp_ep_flush_nbx(local.ep, &none);
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    ck_assert_uint_eq(far.flushes, 1);
    ck_assert_uint_eq(far.remote_flushes, 0);

    local.ep->remote_lanes = 2;
    far.holds              = 1;
    flush                  = ucp_worker_flush_nbx(local.worker, &none);
    settle(&local);
    ck_assert_uint_eq(far.remote_flushes, 1);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    far.holds = 0;
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);

    /* a flush that waits for send resources continues where it stopped */
    far.refuse = 1;
    flush      = ucp_ep_flush_nbx(local.ep, &none);
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    far_has_room();
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_goes_on_without_a_lane_that_has_failed)
{
    ucp_transport_entry_t entries[4];
    ucp_ep_attr_t attr = {
        .field_mask             = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports.entries     = entries,
        .transports.num_entries = 4,
        .transports.entry_size  = sizeof(entries[0])
    };
    ucs_status_ptr_t send, recv;
    uct_ep_h lane;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(100000);
    lane = ucp_ep_lane(local.ep, 1);
    send = local_send(&local, buffer, 100000, 1);
    ck_assert_int_eq(uct_ep_invalidate(lane, 0), UCS_OK);
    settle(&local);
    ck_assert(!(local.ep->flags & UCP_EP_FLAG_FAILED));
    ck_assert(ucp_ep_lane(local.ep, 1) != lane);
    ck_assert_uint_eq(local.ep->config->lost, 2);
    ck_assert_uint_eq(local.ep->config->rndv_lane, UCP_NULL_LANE);
    ck_assert_ptr_ne(local.ep->config, local.ep->config->whole);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 1);

    /* the announced message, and later ones */
    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 100000);
    send_and_check(&local, 250001);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_fails_with_its_first_lane)
{
    ucs_status_ptr_t send;
    local_t local;

    open_two(&local, "get_zcopy");
    send = local_send(&local, buffer, 100000, 1);
    ck_assert_int_eq(uct_ep_invalidate(local.ep->am, 0), UCS_OK);
    settle(&local);
    ck_assert(local.ep->flags & UCP_EP_FLAG_FAILED);
    ck_assert_ptr_null(local.ep->am);
    ck_assert_ptr_null(ucp_ep_lane(local.ep, 1));
    ck_assert_int_ne(local_wait(&local, send), UCS_OK);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    end(&local);
}
END_TEST

START_TEST(puts_that_went_with_a_lane_are_told_by_the_next_flush)
{
    local_t local;

    open_two(&local, "auto");
    ucp_rma_changes_by_lane(local.ep, 1);
    ck_assert_int_eq(uct_ep_invalidate(ucp_ep_lane(local.ep, 1), 0), UCS_OK);
    settle(&local);
    ck_assert(!(local.ep->flags & UCP_EP_FLAG_FAILED));
    ck_assert_int_ne(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------------- fragments -- */

static unsigned num_zcopy;

static ucs_status_t count_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                unsigned header_length, const uct_iov_t *iov,
                                size_t iovcnt, unsigned flags,
                                uct_completion_t *comp)
{
    ++num_zcopy;
    return far.usual.am_zcopy(ep, id, header, header_length, iov, iovcnt,
                              flags, comp);
}

START_TEST(fragments_go_from_place_where_that_lets_them_be_larger)
{
    ucp_ep_config_t *config;
    ucx_ep_ops_t ops;
    local_t local;

    open_two(&local, "am");
    config                    = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].am.max_bcopy = 1000;
    config->rndv_frag_size        = 5000;
    ops                           = *local.ep->am->ops;
    ops.am_zcopy                  = count_zcopy;
    local.ep->am->ops             = &ops;
    num_zcopy                     = 0;
    send_and_check(&local, 23000);
    ck_assert_uint_eq(num_zcopy, 5);
    local_close(&local);
}
END_TEST

SUITE_MAIN("lanes", many_in_flight_do_not_count_the_latency,
           processes_of_a_host_spread_over_equal_devices,
           of_equal_devices_that_near_the_workers_processors_is_taken,
           what_messages_lack_gets_a_lane_of_its_own,
           a_lane_that_cannot_be_had_is_left_out,
           large_messages_take_the_way_that_is_asked_for,
           early_announcements_keep_their_keys,
           a_receive_that_is_too_small_fetches_nothing,
           what_cannot_be_fetched_comes_another_way,
           a_fetch_that_fails_in_the_middle_is_made_up_for,
           the_receiver_hears_of_puts_when_they_have_arrived,
           a_put_that_fails_on_the_other_lane_is_sent_by_messages,
           a_close_waits_for_what_the_other_lane_holds,
           what_waits_for_one_lane_goes_before_what_comes_later,
           waiting_moves_from_lane_to_lane,
           a_put_that_lost_its_lane_waits_for_that_of_messages,
           a_flush_goes_over_all_lanes_and_as_far_as_they_were_used,
           an_endpoint_goes_on_without_a_lane_that_has_failed,
           an_endpoint_fails_with_its_first_lane,
           puts_that_went_with_a_lane_are_told_by_the_next_flush,
           fragments_go_from_place_where_that_lets_them_be_larger)
