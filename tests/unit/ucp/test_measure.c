/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints that change their protocols with the bandwidths that their
 * transports measure (ucp/proto/measure.h). Measured bandwidths are divided
 * into classes: a bandwidth of another class changes the costs of the lanes,
 * and with them the protocols for large data. Two loopback interfaces emulate a
 * lane for messages and a lane for put and get, whose measurements the test
 * sets.
 */
#include "lent.h"
#include "direct_lane.h"

#include "ucp/proto/measure.h"
#include "ucp/rma/rkey.h"
#include "ucp/rndv/rndv.h"

#include <math.h>

enum { LENGTH = 1 << 20 };

/* Bandwidths of messages in bytes/s; that of put and get is 1e10 */
#define SLOW 2e9
#define FAST 6e10

static const ucp_request_param_t none = {0};

static char buffer[LENGTH], buffer2[LENGTH];

static struct {
    ucp_ep_h ep;
    double measured; /* Measured bandwidth of messages; 0: not measured */
    double copies;   /* The same of put and get */
    /* Numbers of queries of the two bandwidths for an endpoint */
    unsigned asked, asked_copies;
    /* Bytes that gets and puts have transferred over the second lane */
    size_t got, put;
    /* Set if a put over the second lane was started before the peer had
     * acknowledged earlier puts by messages */
    int put_early;
    ucx_iface_ops_t iface_ops, direct_iface_ops;
    ucx_ep_ops_t usual, ops;
} fake;

static ucs_status_t fake_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    if (perf->ep != NULL) {
        ck_assert_ptr_eq(perf->ep, fake.ep->am);
        ++fake.asked;
        perf->stream_bandwidth = fake.measured;
    }
    return UCS_OK;
}

static ucs_status_t fake_direct_estimate(uct_iface_h iface, ucx_perf_t *perf)
{
    if (perf->ep != NULL) {
        ck_assert_ptr_eq(perf->ep, fake.ep->more[0].uct);
        ++fake.asked_copies;
        if (fake.copies != 0) {
            perf->bandwidth.dedicated = 0;
            perf->bandwidth.shared    = fake.copies;
        }
    }
    return UCS_OK;
}

static ucs_status_t fake_get(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    fake.got += iov->length;
    return fake.usual.get_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

static ucs_status_t fake_put(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt,
                             uint64_t remote_addr, uct_rkey_t rkey,
                             uct_completion_t *comp)
{
    fake.put += iov->length;
    fake.put_early |= (fake.ep->rma_issued != fake.ep->rma_done);
    return fake.usual.put_zcopy(ep, iov, iovcnt, remote_addr, rkey, comp);
}

/* The first interface measures messages, the second one put and get. */
static void play(ucp_worker_iface_t *ifaces)
{
    direct_lane_limit_messages(&ifaces[0]);
    fake.iface_ops          = *ifaces[0].iface->ops;
    fake.iface_ops.estimate = fake_estimate;
    ifaces[0].iface->ops    = &fake.iface_ops;

    direct_lane_limit_direct(&ifaces[1], &fake.direct_iface_ops);
    fake.direct_iface_ops.estimate = fake_direct_estimate;
    fake.usual                     = *ifaces[1].iface->ep_ops;
    fake.ops                       = fake.usual;
    fake.ops.get_zcopy             = fake_get;
    fake.ops.put_zcopy             = fake_put;
    ifaces[1].iface->ep_ops        = &fake.ops;
}

static void open_two(local_t *local)
{
    memset(&fake, 0, sizeof(fake));
    direct_lane_open(local, 2, play);
    fake.ep = local->ep;
    ck_assert_uint_eq(local->ep->config->measured, 0);
    ck_assert_ptr_eq(local->ep->config->whole, local->ep->config);
}

/* Sets the measured bandwidth of messages and lets the endpoint query it.
 * Returns the endpoint's configuration. */
static const ucp_ep_config_t *measure(local_t *local, double bandwidth)
{
    fake.measured = bandwidth;
    ucp_ep_measure(local->ep, LENGTH);
    return local->ep->config;
}

static const ucp_ep_config_t *measure_both(local_t *local, double messages,
                                           double copies)
{
    fake.copies = copies;
    return measure(local, messages);
}

static const char *data(const ucp_ep_config_t *config, size_t length)
{
    return ucp_rndv_select(config, UCP_DT_CLASS_CONTIG, length)->name;
}

/* --------------------------------------------------------------- classes -- */

START_TEST(a_class_stays_while_it_is_about_right)
{
    unsigned class = ucp_measure_class(2.3e9, 0);
    double bandwidth;

    ck_assert_uint_eq(class, 31 * 4);
    for (bandwidth = 1.4e9; bandwidth < 3.5e9; bandwidth *= 1.05) {
        ck_assert_uint_eq(ucp_measure_class(bandwidth, class), class);
    }
    ck_assert_uint_eq(ucp_measure_class(28e9, class), 34 * 4 + 3);
    ck_assert_uint_eq(ucp_measure_class(2.3e9, 35 * 4), class);
    ck_assert_uint_eq(ucp_measure_class(1e9, class), 30 * 4);
}
END_TEST

START_TEST(no_bandwidth_is_no_class_and_strange_ones_have_limits)
{
    ck_assert_uint_eq(ucp_measure_class(0, 124), 0);
    ck_assert_uint_eq(ucp_measure_class(-1, 124), 0);
    ck_assert_uint_eq(ucp_measure_class(NAN, 124), 0);
    ck_assert_uint_eq(ucp_measure_class(1, 0), 80);
    ck_assert_uint_eq(ucp_measure_class(1e300, 0), 200);
    ck_assert_uint_eq(ucp_measure_class(INFINITY, 0), 200);
}
END_TEST

/* ------------------------------------------------------------- switching -- */

START_TEST(an_endpoint_follows_its_transport)
{
    const ucp_ep_config_t *whole, *slow, *fast;
    local_t local;

    open_two(&local);
    whole = local.ep->config;
    slow  = measure(&local, SLOW);
    ck_assert_ptr_ne(slow, whole);
    ck_assert_ptr_eq(slow->whole, whole);
    ck_assert_str_eq(data(slow, LENGTH), "rndv/get");

    fast = measure(&local, FAST);
    ck_assert_ptr_eq(fast->whole, whole);
    ck_assert_str_eq(data(fast, LENGTH), "rndv/am");
    /* configurations for earlier classes are kept and reused */
    ck_assert_ptr_eq(measure(&local, SLOW), slow);
    ck_assert_ptr_eq(measure(&local, SLOW * 1.3), slow);
    ck_assert_ptr_eq(measure(&local, 0), whole);
    local_close(&local);
}
END_TEST

START_TEST(only_costs_differ)
{
    const ucp_ep_config_t *whole, *fast;
    local_t local;
    unsigned i;

    open_two(&local);
    whole = local.ep->config;
    fast  = measure(&local, FAST);
    ck_assert_uint_eq(fast->num_lanes, whole->num_lanes);
    ck_assert_uint_eq(fast->rndv_lane, whole->rndv_lane);
    ck_assert_uint_eq(fast->rma_lane, whole->rma_lane);
    ck_assert_uint_eq(fast->amo_lane, whole->amo_lane);
    ck_assert_uint_eq(fast->rma_lanes, whole->rma_lanes);
    for (i = 0; i < whole->num_lanes; ++i) {
        ck_assert_uint_eq(fast->lanes[i].iface_index,
                          whole->lanes[i].iface_index);
        ck_assert_uint_eq(fast->lanes[i].am.max_bcopy,
                          whole->lanes[i].am.max_bcopy);
        ck_assert_uint_eq(fast->lanes[i].am.max_zcopy,
                          whole->lanes[i].am.max_zcopy);
        ck_assert_uint_eq(fast->lanes[i].put.max_zcopy,
                          whole->lanes[i].put.max_zcopy);
    }
    local_close(&local);
}
END_TEST

START_TEST(a_lane_is_lost_within_the_class)
{
    const ucp_ep_config_t *whole, *slow, *left;
    local_t local;

    open_two(&local);
    whole = local.ep->config;
    slow  = measure(&local, SLOW);
    left  = ucp_ep_config_without(local.worker, slow, 1);
    ck_assert_uint_eq(left->lost, UCS_BIT(1));
    ck_assert_uint_eq(left->measured, slow->measured);
    ck_assert_ptr_eq(left->whole, whole);
    ck_assert_ptr_ne(left, ucp_ep_config_without(local.worker, whole, 1));
    ck_assert_str_eq(data(left, LENGTH), "rndv/am");
    ck_assert_ptr_eq(ucp_ep_config_measured(local.worker, left, 0, 0),
                     ucp_ep_config_without(local.worker, whole, 1));
    local_close(&local);
}
END_TEST

START_TEST(new_endpoints_begin_with_nothing_measured)
{
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    const ucp_ep_config_t *whole;
    local_t local;
    ucp_ep_h other;

    open_two(&local);
    whole = local.ep->config;
    measure(&local, FAST);
    ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
    ep_params.address = attr.address;
    ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &other), UCS_OK);
    ucp_worker_release_address(local.worker, attr.address);
    ck_assert_ptr_eq(other->config, whole);
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(other, &none)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(small_messages_ask_nobody_and_large_ones_now_and_then)
{
    enum { QUERIES = 4, SENDS = QUERIES * UCP_MEASURE_EVERY / UCP_MEASURE_MIN };
    local_t local;
    int i;

    open_two(&local);
    for (i = 0; i < SENDS; ++i) {
        ck_assert_int_eq(local_wait(&local, local_send(&local, buffer,
                                                       UCP_MEASURE_MIN - 1, 1)),
                         UCS_OK);
    }
    ck_assert_uint_eq(fake.asked, 0);
    for (i = 0; i < SENDS; ++i) {
        local_wait(&local, local_recv(&local, buffer2, UCP_MEASURE_MIN, 1));
    }
    for (i = 0; i < SENDS; ++i) {
        local_wait(&local, local_send(&local, buffer, UCP_MEASURE_MIN, 2));
    }
    ck_assert_uint_eq(fake.asked, QUERIES);
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------------ processors -- */

/* Processors, with bandwidths in bytes/s. `ring`: messages through shared
 * memory; `alone`: a copy by the kernel that one process makes. Two processes
 * that share a copy are assumed to reach 1.5 times `alone`. `best` is the
 * protocol that is the fastest with these bandwidths. */
static const struct {
    const char *name;
    double ring, alone;
    const char *best;
} processors[] = {
    {"EPYC, same cache", 28e9, 13e9, "rndv/am"},
    {"EPYC, remote cache", 2.3e9, 13e9, "rndv/get"},
    {"Xeon, 2 cores", 17e9, 28e9, "rndv/get"},
    {"Xeon, 16 cores", 12e9, 17.7e9, "rndv/get"},
};

START_TEST(the_fastest_scheme_of_each_processor_is_selected)
{
    static const size_t sizes[] = {65536, 1048576, 16777216};
    const ucp_ep_config_t *config;
    local_t local;
    unsigned i, j;

    open_two(&local);
    for (i = 0; i < sizeof(processors) / sizeof(processors[0]); ++i) {
        config = measure_both(&local, processors[i].ring,
                              1.5 * processors[i].alone);
        for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); ++j) {
            ck_assert_msg(!strcmp(data(config, sizes[j]), processors[i].best),
                          "%s: %zu bytes", processors[i].name, sizes[j]);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(put_and_get_are_queried_for_large_data_only)
{
    const ucp_ep_config_t *whole;
    local_t local;
    char text[128];

    open_two(&local);
    whole         = local.ep->config;
    fake.measured = SLOW;
    fake.copies   = 4e10;
    ucp_ep_measure(local.ep, UCP_MEASURE_COPY_MIN - 1);
    ck_assert_uint_eq(fake.asked_copies, 0);
    ck_assert_uint_eq(local.ep->config->measured_copy, 0);
    ck_assert(ucp_measure_describe(local.ep->config, text, sizeof(text)));
    ck_assert_ptr_nonnull(strstr(text, "assumed"));

    ucp_ep_measure(local.ep, UCP_MEASURE_COPY_MIN);
    ck_assert_uint_gt(fake.asked_copies, 0);
    ck_assert_uint_ne(local.ep->config->measured_copy, 0);
    ck_assert(ucp_measure_describe(local.ep->config, text, sizeof(text)));
    ck_assert_ptr_null(strstr(text, "assumed"));
    ck_assert_double_gt(local.ep->config->lanes[1].get.cost_zcopy.bandwidth,
                        3e10);
    ck_assert_double_gt(local.ep->config->lanes[1].put.cost_zcopy.bandwidth,
                        3e10);

    ck_assert_ptr_eq(measure_both(&local, 0, 0), whole);
    local_close(&local);
}
END_TEST

START_TEST(the_variable_switches_measuring_off)
{
    local_t local;

    ck_assert_int_eq(setenv("UCX_PROTO_MEASURE", "n", 1), 0);
    open_two(&local);
    ck_assert_int_eq(unsetenv("UCX_PROTO_MEASURE"), 0);
    ck_assert_ptr_eq(measure_both(&local, SLOW, 4e10), local.ep->config->whole);
    ck_assert_uint_eq(fake.asked, 0);
    ck_assert_uint_eq(fake.asked_copies, 0);
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------------ large data -- */

static void send_and_check(local_t *local, char seed)
{
    ucs_status_ptr_t send, recv;

    memset(buffer, seed, LENGTH);
    memset(buffer2, 0, LENGTH);
    fake.got = fake.put = 0;
    recv                = local_recv(local, buffer2, LENGTH, 1);
    send                = local_send(local, buffer, LENGTH, 1);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
}

START_TEST(messages_go_as_is_quickest_and_change_under_way)
{
    ucs_status_ptr_t sends[4], recvs[4];
    local_t local;
    unsigned i;

    open_two(&local);
    fake.measured = FAST;
    send_and_check(&local, 1);
    ck_assert_uint_eq(fake.got, 0);
    fake.measured = SLOW;
    send_and_check(&local, 2);
    ck_assert_uint_eq(fake.got, LENGTH);

    /* messages 0 and 2 are announced when the bandwidth is in one class, and
     * transferred when it is in another */
    for (i = 0; i < 4; ++i) {
        fake.measured = (i % 2 == 0) ? FAST : SLOW;
        sends[i]      = local_send(&local, buffer, LENGTH, i);
    }
    for (i = 0; i < 4; ++i) {
        memset(buffer2, 0, LENGTH);
        recvs[i] = local_recv(&local, buffer2, LENGTH, i);
        ck_assert_int_eq(local_wait(&local, recvs[i]), UCS_OK);
        ck_assert_int_eq(local_wait(&local, sends[i]), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
    }
    local_close(&local);
}
END_TEST

static ucs_status_ptr_t put(local_t *local, lent_t *lent, size_t length)
{
    return ucp_put_nbx(local->ep, buffer, length, (uintptr_t)buffer2,
                       lent->rkey, &none);
}

static ucs_status_t flush(local_t *local)
{
    return local_wait(local, ucp_ep_flush_nbx(local->ep, &none));
}

START_TEST(puts_and_gets_follow_with_the_keys_that_there_are)
{
    lent_t lent, other;
    local_t local;
    int result;

    open_two(&local);
    lend(&local, buffer2, LENGTH, &lent);
    fake.measured = FAST;
    ck_assert_int_eq(local_wait(&local, put(&local, &lent, LENGTH)), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert_uint_eq(fake.put, 0);
    fake.measured = SLOW;
    memset(buffer, 3, LENGTH);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent, LENGTH)), UCS_OK);
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert_uint_eq(fake.put, LENGTH);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);

    /* the second put has given the key the endpoint's configuration */
    ck_assert_ptr_eq(lent.rkey->config->ep_config, local.ep->config);
    fake.measured = FAST;
    memset(buffer, 0, LENGTH);
    ck_assert_int_eq(local_wait(&local, ucp_get_nbx(local.ep, buffer, LENGTH,
                                                    (uintptr_t)buffer2,
                                                    lent.rkey, &none)),
                     UCS_OK);
    ck_assert_uint_eq(fake.got, 0);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);

    /* a key compares equal to itself in any class */
    fake.measured = 0;
    measure(&local, 0);
    lend(&local, buffer2, LENGTH, &other);
    ck_assert_int_eq(ucp_rkey_compare(local.worker, lent.rkey, lent.rkey,
                                      &(ucp_rkey_compare_params_t){0}, &result),
                     UCS_OK);
    ck_assert_int_eq(result, 0);
    take_back(&local, &other);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

/* A put by messages, a fence, and a put over the lane of put and get: the
 * second put must not overtake the first one. */
START_TEST(a_fence_holds_when_the_way_changes_behind_it)
{
    local_t local;
    lent_t lent;
    unsigned i;

    open_two(&local);
    lend(&local, buffer2, LENGTH, &lent);
    for (i = 0; i < 3; ++i) {
        measure(&local, FAST);
        fake.put = 0;
        memset(buffer, 1, LENGTH);
        ck_assert_int_eq(local_wait(&local, put(&local, &lent, LENGTH)),
                         UCS_OK);
        ck_assert_uint_eq(fake.put, 0);
        ck_assert_uint_ne(local.ep->rma_issued, local.ep->rma_done);
        ck_assert_int_eq(ucp_worker_fence(local.worker), UCS_OK);

        /* After the fence another put by messages needs no flush, as messages
         * arrive in order. */
        ck_assert_int_eq(local_wait(&local, put(&local, &lent, 100)), UCS_OK);
        ck_assert_int_eq(ucp_worker_fence(local.worker), UCS_OK);

        measure(&local, SLOW);
        memset(buffer, 2 + (int)i, LENGTH);
        ck_assert_int_eq(local_wait(&local, put(&local, &lent, LENGTH)),
                         UCS_OK);
        ck_assert_int_eq(flush(&local), UCS_OK);
        ck_assert_uint_eq(fake.put, LENGTH);
        ck_assert_int_eq(fake.put_early, 0);
        ck_assert_mem_eq(buffer, buffer2, LENGTH);
        ck_assert(
            !(local.ep->flags & (UCP_EP_FLAG_ORDERED | UCP_EP_FLAG_FENCING)));
    }
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

/* A put over the lane, a fence, which flushes the lane, a put by messages,
 * another fence, and a put that must complete at once. */
START_TEST(a_fence_behind_a_lane_holds_messages)
{
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucs_status_ptr_t request;
    local_t local;
    lent_t lent;

    open_two(&local);
    lend(&local, buffer2, LENGTH, &lent);
    measure(&local, SLOW);
    memset(buffer, 1, LENGTH);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent, LENGTH)), UCS_OK);
    ck_assert_uint_ne(local.ep->remote_lanes, 0);
    ck_assert_int_eq(ucp_worker_fence(local.worker), UCS_OK);
    /* the fence has flushed the lane */
    ck_assert_uint_eq(local.ep->remote_lanes, 0);

    measure(&local, FAST);
    memset(buffer, 5, 100);
    ck_assert_int_eq(local_wait(&local, put(&local, &lent, 100)), UCS_OK);
    ck_assert_int_eq(ucp_worker_fence(local.worker), UCS_OK);
    ck_assert(local.ep->flags & UCP_EP_FLAG_ORDERED);
    request = ucp_put_nbx(local.ep, buffer, 100, (uintptr_t)buffer2, lent.rkey,
                          &at_once);
    ck_assert_ptr_null(request); /* sent by messages, which arrive in order */
    ck_assert_int_eq(flush(&local), UCS_OK);
    ck_assert(!(local.ep->flags & UCP_EP_FLAG_ORDERED));
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

/* A process whose memory others only get sends data, too. Here it is the same
 * endpoint: each get causes one query when it starts, and one by the reply. */
START_TEST(the_owner_of_memory_asks_when_it_replies)
{
    lent_t lent;
    local_t local;

    open_two(&local);
    lend(&local, buffer2, LENGTH, &lent);
    measure(&local, FAST);
    fake.asked = 0;
    memset(buffer2, 7, LENGTH);
    ck_assert_int_eq(local_wait(&local, ucp_get_nbx(local.ep, buffer, LENGTH,
                                                    (uintptr_t)buffer2,
                                                    lent.rkey, &none)),
                     UCS_OK);
    ck_assert_uint_eq(fake.got, 0);
    ck_assert_uint_eq(fake.asked, 2);
    ck_assert_mem_eq(buffer, buffer2, LENGTH);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

SUITE_MAIN("measure", a_class_stays_while_it_is_about_right,
           no_bandwidth_is_no_class_and_strange_ones_have_limits,
           an_endpoint_follows_its_transport, only_costs_differ,
           a_lane_is_lost_within_the_class,
           new_endpoints_begin_with_nothing_measured,
           the_fastest_scheme_of_each_processor_is_selected,
           put_and_get_are_queried_for_large_data_only,
           the_variable_switches_measuring_off,
           small_messages_ask_nobody_and_large_ones_now_and_then,
           messages_go_as_is_quickest_and_change_under_way,
           puts_and_gets_follow_with_the_keys_that_there_are,
           a_fence_holds_when_the_way_changes_behind_it,
           a_fence_behind_a_lane_holds_messages,
           the_owner_of_memory_asks_when_it_replies)
