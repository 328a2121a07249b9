/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint with three lanes: one for messages, and two over emulated network
 * devices for large transfers. The tests check how a transfer is divided
 * between the two, and what happens when one or both of them fail. Loopback
 * interfaces emulate the devices.
 */
#include "lent.h"
#include "local.h"

#include "ucp/proto/ep.h"
#include "ucp/rma/rkey.h"
#include "ucp/rndv/rndv.h"

enum { FAR = 2, LENGTH = 1 << 20 };

static const ucp_request_param_t none = {0};

static char buffer[LENGTH], buffer2[LENGTH];

/* An emulated network device: loopback operations that are counted, and that
 * the test can make fail or wait. Device i uses the worker's interface
 * 1 + i. */
typedef struct {
    uct_iface_h iface;
    ucx_iface_ops_t iface_ops;
    ucx_ep_ops_t usual, ops;
    size_t got, put; /* Bytes transferred by get, and by put */
    unsigned remote_flushes;
    ucs_status_t fails; /* Status of puts and gets; UCS_OK: they succeed */
    /* If not 0, puts and gets complete only when the test calls let_go() */
    int holds;
    uct_completion_t *held[64];
    unsigned num_held;
} far_t;

static far_t fars[FAR];

/* Replaces the library's function. Each call returns another id, so that UCP
 * treats every peer as a process of another host: it divides transfers only
 * between hosts. */
uint64_t ucs_get_system_id(void);
uint64_t ucs_get_system_id(void)
{
    static uint64_t number;

    return ++number;
}

static far_t *far_of(uct_ep_h ep)
{
    return (ep->iface == fars[0].iface) ? &fars[0] : &fars[1];
}

static ucs_status_t answer(far_t *far, ucs_status_t status,
                           uct_completion_t *comp)
{
    if ((status != UCS_OK) || !far->holds) {
        /* an operation over an invalid endpoint returns an error */
        return status;
    }
    ck_assert_uint_lt(far->num_held, 64);
    far->held[far->num_held++] = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t far_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    far_t *far = far_of(ep);

    if (far->fails != UCS_OK) {
        return far->fails;
    }
    ck_assert_ptr_ne(iov->memh, UCT_MEM_HANDLE_NULL);
    far->got += iov->length;
    return answer(far,
                  far->usual.get_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                       NULL),
                  comp);
}

static ucs_status_t far_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                            uint64_t remote_addr, uct_rkey_t rkey,
                            uct_completion_t *comp)
{
    far_t *far = far_of(ep);

    if (far->fails != UCS_OK) {
        return far->fails;
    }
    ck_assert_ptr_ne(iov->memh, UCT_MEM_HANDLE_NULL);
    far->put += iov->length;
    return answer(far,
                  far->usual.put_zcopy(ep, iov, iovcnt, remote_addr, rkey,
                                       NULL),
                  comp);
}

static ucs_status_t far_flush(uct_ep_h ep, unsigned flags,
                              uct_completion_t *comp)
{
    far_of(ep)->remote_flushes += !!(flags & UCT_FLUSH_FLAG_REMOTE);
    return UCS_OK;
}

static ucs_status_t far_address(uct_iface_h iface, uct_device_addr_t *addr)
{
    *(uint8_t *)addr = (iface == fars[0].iface) ? 1 : 2;
    return UCS_OK;
}

/* Completes the held operations of one device with `status`. */
static void let_go(far_t *far, ucs_status_t status)
{
    unsigned num = far->num_held;
    uct_completion_t *held[64];
    unsigned i;

    memcpy(held, far->held, sizeof(held));
    far->num_held = 0;
    for (i = 0; i < num; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
}

/* Replaces the context's only resource by three loopback resources: one for
 * messages, and two devices, each with its own memory domain. */
static void add_resources(ucp_context_h context)
{
    ucp_resource_t *resources;
    unsigned i;

    ck_assert_uint_eq(context->num_resources, 1);
    ck_assert_uint_eq(context->num_mds, 1);
    resources = realloc(context->resources, (1 + FAR) * sizeof(*resources));
    ck_assert_ptr_nonnull(resources);
    context->resources     = resources;
    context->num_resources = 1 + FAR;
    context->mds           = realloc(context->mds, FAR * sizeof(*context->mds));
    ck_assert_ptr_nonnull(context->mds);
    context->num_mds = FAR;
    ck_assert_int_eq(uct_md_open(context->mds[0].component, "self", NULL,
                                 &context->mds[1].md),
                     UCS_OK);
    context->mds[1].component = context->mds[0].component;
    strcpy(context->mds[1].name, "self2");
    for (i = 1; i <= FAR; ++i) {
        resources[i]          = resources[0];
        resources[i].dev_type = UCT_DEVICE_TYPE_NET;
        resources[i].md_index = (uint8_t)(i - 1);
    }
}

static void play(ucp_worker_iface_t *wiface, far_t *far)
{
    ucx_iface_attr_t *attr = (ucx_iface_attr_t *)wiface->attr;

    attr->base.device_addr_len        = 1;
    far->iface                        = wiface->iface;
    far->iface_ops                    = *wiface->iface->ops;
    far->iface_ops.get_device_address = far_address;
    wiface->iface->ops                = &far->iface_ops;
    far->usual                        = *wiface->iface->ep_ops;
    far->ops                          = far->usual;
    far->ops.get_zcopy                = far_get;
    far->ops.put_zcopy                = far_put;
    far->ops.flush                    = far_flush;
    wiface->iface->ep_ops             = &far->ops;

    memset(&wiface->lane.am, 0, sizeof(wiface->lane.am));
    wiface->lane.put.max_short = wiface->lane.get.max_short = 0;
    wiface->lane.put.max_bcopy = wiface->lane.get.max_bcopy = 0;
    wiface->lane.put.max_zcopy = wiface->lane.get.max_zcopy = 100000;
    wiface->lane.get.cost_zcopy.bandwidth                   = 1e12;
    wiface->lane.put.cost_zcopy.bandwidth                   = 1e12;
    wiface->lane.is_network                                 = 1;
    wiface->lane.device = (uint8_t)(1 + (far - fars));
    wiface->lane.md_flags |= UCT_MD_FLAG_NEED_RKEY | UCT_MD_FLAG_NEED_MEMH;
}

static void open_three(local_t *local, const char *scheme)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG | UCP_FEATURE_RMA,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_worker_iface_t *ifaces;
    unsigned i;

    memset(fars, 0, sizeof(fars));
    setenv("UCX_RNDV_SCHEME", scheme, 1);
    setenv("UCX_RNDV_THRESH", "intra:inf,inter:7000", 1);
    setenv("UCX_MAX_RMA_LANES", "2", 1);
    ck_assert_int_eq(ucp_init(&params, NULL, &local->context), UCS_OK);
    unsetenv("UCX_MAX_RMA_LANES");
    unsetenv("UCX_RNDV_THRESH");
    unsetenv("UCX_RNDV_SCHEME");

    add_resources(local->context);
    ck_assert_int_eq(ucp_worker_create(local->context, &worker_params,
                                       &local->worker),
                     UCS_OK);
    ifaces = local->worker->ifaces;
    ck_assert_uint_eq(local->worker->num_ifaces, 1 + FAR);
    memset(&ifaces[0].lane.put, 0, sizeof(ifaces[0].lane.put));
    memset(&ifaces[0].lane.get, 0, sizeof(ifaces[0].lane.get));
    /* UCP treats this lane as one to a peer on another host */
    ifaces[0].lane.is_network = 1;
    for (i = 0; i < FAR; ++i) {
        play(&ifaces[1 + i], &fars[i]);
    }

    local->ep = local_ep(local, UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
    ck_assert_uint_eq(local->ep->config->num_lanes, 1 + FAR);
    ck_assert_uint_eq(local->ep->config->is_local, 0);
}

static void settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

static void fill(unsigned seed)
{
    size_t i;

    for (i = 0; i < LENGTH; ++i) {
        buffer[i] = (char)(i * 7 + i / 251 + seed);
    }
    memset(buffer2, 0, LENGTH);
}

/* Returns the endpoint whose lanes transfer the data of a rendezvous. A put
 * uses the sender's endpoint, a get the receiver's reply endpoint. */
static ucp_ep_h mover(local_t *local, const char *scheme)
{
    ucp_ep_h ep;

    if (scheme[0] == 'p') {
        return local->ep;
    }
    ucs_list_for_each(ep, &local->worker->eps, link) {
        if (ep->flags & UCP_EP_FLAG_INTERNAL) {
            return ep;
        }
    }
    ck_abort_msg("nobody answers");
    return NULL;
}

static unsigned lane_over(ucp_ep_h ep, unsigned index)
{
    unsigned lane;

    for (lane = 0; ep->config->lanes[lane].iface_index != 1 + index; ++lane) {
    }
    return lane;
}

/* Checks that the endpoint works, and that of its lanes only the one over
 * device `index` is lost. */
static void check_lost(ucp_ep_h ep, unsigned index)
{
    ck_assert(!(ep->flags & UCP_EP_FLAG_FAILED));
    ck_assert_uint_eq(ep->config->lost, UCS_BIT(lane_over(ep, index)));
}

static void fail_lane(ucp_ep_h ep, unsigned index)
{
    ck_assert_int_eq(uct_ep_invalidate(ucp_ep_lane(ep, lane_over(ep, index)),
                                       0),
                     UCS_OK);
}

static void send_and_check(local_t *local, unsigned seed)
{
    ucs_status_ptr_t send, recv;

    fill(seed);
    recv = local_recv(local, buffer2, LENGTH, 1);
    send = local_send(local, buffer, LENGTH, 1);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
}

/* -------------------------------------------------------------- division -- */

static void check_halves(size_t a, size_t b)
{
    ck_assert_uint_eq(a + b, LENGTH);
    ck_assert_uint_le(a, LENGTH / 2);
    ck_assert_uint_ge(a, LENGTH / 2 - 1024); /* chunks are aligned */
}

START_TEST(large_messages_are_divided_each_way)
{
    local_t local;

    open_three(&local, "get_zcopy");
    ck_assert_uint_eq(local.ep->config->rndv_get.num, 2);
    ck_assert_uint_eq(local.ep->config->rndv_get.num_slots, 2);
    send_and_check(&local, 1);
    check_halves(fars[0].got, fars[1].got);
    local_close(&local);

    open_three(&local, "put_zcopy");
    send_and_check(&local, 2);
    check_halves(fars[0].put, fars[1].put);
    ck_assert_uint_eq(fars[0].got + fars[1].got, 0);
    ck_assert_uint_ge(fars[0].remote_flushes, 1);
    ck_assert_uint_ge(fars[1].remote_flushes, 1);
    local_close(&local);
}
END_TEST

static ucs_status_ptr_t put(local_t *local, lent_t *lent)
{
    return ucp_put_nbx(local->ep, buffer, LENGTH, (uintptr_t)buffer2,
                       lent->rkey, &none);
}

static ucs_status_ptr_t get(local_t *local, lent_t *lent)
{
    return ucp_get_nbx(local->ep, buffer, LENGTH, (uintptr_t)buffer2,
                       lent->rkey, &none);
}

static ucs_status_t flush(local_t *local)
{
    return local_wait(local, ucp_ep_flush_nbx(local->ep, &none));
}

START_TEST(puts_and_gets_are_divided)
{
    local_t local;
    lent_t lent;

    open_three(&local, "auto");
    lend(&local, buffer2, LENGTH, &lent);
    fill(3);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent)), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    check_halves(fars[0].put, fars[1].put);

    memset(buffer, 0, LENGTH);
    ck_assert_int_eq(local_wait(&local, get(&local, &lent)), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    check_halves(fars[0].got, fars[1].got);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

/* -------------------------------------------------------------- failures -- */

START_TEST(a_failing_lane_is_bypassed)
{
    static const char *const schemes[] = {"get_zcopy", "put_zcopy"};
    local_t local;
    unsigned i, far;

    for (i = 0; i < 4; ++i) {
        far = i / 2;
        open_three(&local, schemes[i % 2]);
        fars[far].fails = UCS_ERR_CONNECTION_RESET;
        send_and_check(&local, i);
        check_lost(mover(&local, schemes[i % 2]), far);
        ck_assert_uint_eq(fars[far].got + fars[far].put, 0);
        send_and_check(&local, i + 10);
        local_close(&local);
    }
}
END_TEST

/* A lane fails while transfers are in flight, before (i < 4) or after its
 * operations have ended with an error. The transfers restart over the other
 * lane. */
START_TEST(transfers_under_way_are_begun_again)
{
    static const char *const schemes[] = {"get_zcopy", "put_zcopy"};
    ucs_status_ptr_t send, recv;
    local_t local;
    unsigned i, failing;

    for (i = 0; i < 8; ++i) {
        failing = (i / 2) % 2;
        open_three(&local, schemes[i % 2]);
        fars[0].holds = fars[1].holds = 1;
        fill(i);
        recv = local_recv(&local, buffer2, LENGTH, 1);
        send = local_send(&local, buffer, LENGTH, 1);
        settle(&local);
        ck_assert_uint_gt(fars[0].num_held, 0);
        ck_assert_uint_gt(fars[1].num_held, 0);

        /* removes what was transferred, so that the restart must transfer it
         * again */
        memset(buffer2, 0, LENGTH);
        fars[0].holds = fars[1].holds = 0;
        let_go(&fars[1 - failing], UCS_OK);
        if (i < 4) {
            fail_lane(mover(&local, schemes[i % 2]), failing);
            settle(&local);
            let_go(&fars[failing], UCS_ERR_ENDPOINT_TIMEOUT);
        } else {
            let_go(&fars[failing], UCS_ERR_ENDPOINT_TIMEOUT);
            fail_lane(mover(&local, schemes[i % 2]), failing);
        }
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
        check_lost(mover(&local, schemes[i % 2]), failing);
        local_close(&local);
    }
}
END_TEST

START_TEST(gets_are_begun_again_and_puts_end_with_the_error)
{
    ucs_status_ptr_t request;
    local_t local;
    lent_t lent;

    open_three(&local, "auto");
    lend(&local, buffer2, LENGTH, &lent);
    fill(5);
    memcpy(buffer2, buffer, LENGTH);
    memset(buffer, 0, LENGTH);
    fars[0].holds = fars[1].holds = 1;
    request                       = get(&local, &lent);
    fars[0].holds = fars[1].holds = 0;
    memset(buffer, 0, LENGTH);
    let_go(&fars[0], UCS_OK);
    let_go(&fars[1], UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_INPROGRESS);
    fail_lane(local.ep, 1);
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    check_lost(local.ep, 1);
    /* no put was outstanding on the lost lane: the flush succeeds */
    ck_assert_int_eq(flush(&local), UCS_OK);
    take_back(&local, &lent);
    local_close(&local);

    open_three(&local, "auto");
    lend(&local, buffer2, LENGTH, &lent);
    fars[0].holds = fars[1].holds = 1;
    request                       = put(&local, &lent);
    fail_lane(local.ep, 0);
    settle(&local);
    let_go(&fars[0], UCS_ERR_CONNECTION_RESET);
    let_go(&fars[1], UCS_OK);
    ck_assert_int_eq(local_wait(&local, request), UCS_ERR_CONNECTION_RESET);
    check_lost(local.ep, 0);
    /* puts over the lost lane may be incomplete, which one flush reports */
    ck_assert_int_ne(flush(&local), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);

    /* a later put with the same key uses the remaining lane */
    fars[1].holds = 0;
    fars[1].put   = 0;
    fill(6);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent)), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    ck_assert_uint_eq(fars[1].put, LENGTH);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

START_TEST(messages_carry_transfers_without_lanes)
{
    local_t local;
    lent_t lent;

    open_three(&local, "get_zcopy");
    lend(&local, buffer2, LENGTH, &lent);
    fars[0].fails = fars[1].fails = UCS_ERR_CONNECTION_RESET;
    send_and_check(&local, 7);
    ck_assert_int_eq(__builtin_popcount(
                         mover(&local, "get_zcopy")->config->lost),
                     2);
    fill(8);
    /* the endpoint detects the lost lanes by this put, which fails */
    ck_assert_int_eq(local_wait(&local, put(&local, &lent)),
                     UCS_ERR_CONNECTION_RESET);
    settle(&local);
    ck_assert_int_eq(__builtin_popcount(local.ep->config->lost), 2);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent)), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

/* All lanes for put fail while a rendezvous puts its data: messages transfer
 * the data instead. In the first two rounds both lanes fail in the put. In the
 * others one of them is lost before, so that the put uses only the other, which
 * is reported as failed before its put ends with an error (i == 2), or not. */
START_TEST(messages_carry_a_put_whose_lanes_fail)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    unsigned i;

    for (i = 0; i < 4; ++i) {
        open_three(&local, "put_zcopy");
        fill(i);
        if (i < 2) {
            fars[0].fails = fars[1].fails = UCS_ERR_CONNECTION_RESET;
            send_and_check(&local, i);
        } else {
            fail_lane(local.ep, 0);
            settle(&local);
            fars[1].holds = 1;
            recv          = local_recv(&local, buffer2, LENGTH, 1);
            send          = local_send(&local, buffer, LENGTH, 1);
            settle(&local);
            ck_assert_uint_gt(fars[1].num_held, 0);
            memset(buffer2, 0, LENGTH);
            if (i == 2) {
                fail_lane(local.ep, 1);
                settle(&local);
            }
            let_go(&fars[1], UCS_ERR_CONNECTION_RESET);
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            ck_assert_mem_eq(buffer, buffer2, LENGTH);
        }
        local_close(&local);
    }
}
END_TEST

/* The lane for messages after fill_lane(): it has no send resources until the
 * test restores its operations. */
static struct {
    ucx_ep_ops_t ops;
    const ucx_ep_ops_t *usual;
    uct_pending_req_t *waiting;
} full;

static ssize_t full_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack,
                          void *arg, unsigned flags)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t full_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    return UCS_ERR_NO_RESOURCE;
}

static ucs_status_t full_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                     unsigned flags)
{
    full.waiting = req;
    return UCS_OK;
}

static void fill_lane(uct_ep_h am)
{
    full.usual           = am->ops;
    full.ops             = *am->ops;
    full.ops.am_bcopy    = full_bcopy;
    full.ops.am_zcopy    = full_zcopy;
    full.ops.pending_add = full_pending_add;
    full.waiting         = NULL;
    am->ops              = &full.ops;
}

/* A rendezvous whose lanes have failed continues by messages. It waits for send
 * resources of the lane for messages, not for those of a lost lane. */
START_TEST(messages_that_replace_a_put_wait_for_their_lane)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_three(&local, "put_zcopy");
    fill(1);
    fail_lane(local.ep, 0);
    settle(&local);
    fars[1].holds = 1;
    recv          = local_recv(&local, buffer2, LENGTH, 1);
    send          = local_send(&local, buffer, LENGTH, 1);
    settle(&local);
    ck_assert_uint_gt(fars[1].num_held, 0);
    memset(buffer2, 0, LENGTH);
    fill_lane(local.ep->am);
    fail_lane(local.ep, 1);
    settle(&local);
    let_go(&fars[1], UCS_ERR_CONNECTION_RESET);
    settle(&local);
    ck_assert_ptr_nonnull(full.waiting);
    local.ep->am->ops = full.usual;
    while (full.waiting->func(full.waiting) != UCS_OK) {
    }
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    local_close(&local);
}
END_TEST

/* The user closes the endpoint by force when its lanes have failed and the
 * transfers wait to be restarted. */
START_TEST(an_endpoint_may_be_closed_before_a_fresh_start)
{
    static const ucp_request_param_t force = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    static const char *const schemes[] = {"get_zcopy", "put_zcopy"};
    ucs_status_ptr_t send, recv, fetch;
    local_t local;
    lent_t lent;
    unsigned i;

    for (i = 0; i < 2; ++i) {
        open_three(&local, schemes[i]);
        lend(&local, buffer2, LENGTH, &lent);
        fars[0].holds = fars[1].holds = 1;
        recv                          = local_recv(&local, buffer2, LENGTH, 1);
        send                          = local_send(&local, buffer, LENGTH, 1);
        fetch                         = get(&local, &lent);
        settle(&local);
        let_go(&fars[0], UCS_ERR_CONNECTION_RESET);
        let_go(&fars[1], UCS_ERR_CONNECTION_RESET);
        ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        settle(&local);
        ck_assert_int_eq(local_wait(&local, fetch), UCS_ERR_CANCELED);
        ck_assert_int_ne(local_wait(&local, send), UCS_OK);
        ck_assert_int_ne(ucp_request_check_status(recv), UCS_OK);
        ucp_request_cancel(local.worker, recv);
        fars[0].holds = fars[1].holds = 0;
        let_go(&fars[0], UCS_ERR_CANCELED);
        let_go(&fars[1], UCS_ERR_CANCELED);
        ck_assert_int_ne(local_wait(&local, recv), UCS_OK);
        take_back(&local, &lent);
        ucp_worker_destroy(local.worker);
        ucp_cleanup(local.context);
    }
}
END_TEST

SUITE_MAIN("failover", large_messages_are_divided_each_way,
           puts_and_gets_are_divided, a_failing_lane_is_bypassed,
           transfers_under_way_are_begun_again,
           gets_are_begun_again_and_puts_end_with_the_error,
           messages_carry_transfers_without_lanes,
           messages_carry_a_put_whose_lanes_fail,
           messages_that_replace_a_put_wait_for_their_lane,
           an_endpoint_may_be_closed_before_a_fresh_start)
