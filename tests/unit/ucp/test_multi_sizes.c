/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sizes of fragments (ucp/proto/fragment.h): which size a message gets by
 * the costs, and that messages of a stream get the largest one.
 */
#include "multi_fragments.h"

#include "ucp/proto/fragment.h"
#include "ucp/tag/eager.h"

enum {
    LIMIT  = 32800,
    LENGTH = 20000,
};

static ucp_ep_config_t config;

/* Far cores: 15 GB/s, and 150 ns for a line. */
static void set_costs(ucp_lane_am_t *am)
{
    am->stream             = 15e9;
    am->cost_bcopy.latency = 150e-9;
}

static void setup(void)
{
    memset(&config, 0, sizeof(config));
    config.num_lanes = 1;
    config.rndv_lane = UCP_NULL_LANE;
    set_costs(&config.lanes[0].am);
}

static size_t best(size_t length)
{
    return ucp_fragment_best(&config, LIMIT, length);
}

/* ----------------------------------------------------------------- sizes -- */

START_TEST(long_messages_have_larger_fragments)
{
    setup();
    ck_assert_uint_eq(best(1), UCP_FRAGMENT_MIN);
    ck_assert_uint_eq(best(16384), 4096);
    ck_assert_uint_eq(best(65536), 8192);
    ck_assert_uint_eq(best(262144), 16384);
    ck_assert_uint_eq(best(1 << 20), 32768);
    ck_assert_uint_eq(best(1ul << 30), LIMIT);
    ck_assert_uint_eq(best(SIZE_MAX), LIMIT);
    /* a line that arrives sooner makes smaller fragments worthwhile */
    config.lanes[0].am.cost_bcopy.latency = 50e-9;
    ck_assert_uint_eq(best(65536), 4096);
}
END_TEST

START_TEST(they_are_as_large_as_possible_if_nothing_is_known_or_wanted)
{
    setup();
    config.rndv_frag_size = 20000;
    ck_assert_uint_eq(best(65536), LIMIT);
    setup();
    config.lanes[0].am.many = 1;
    ck_assert_uint_eq(best(65536), LIMIT);
    setup();
    config.lanes[0].am.stream = 0;
    ck_assert_uint_eq(best(65536), LIMIT);
    ck_assert_uint_eq(ucp_fragment_last(&config, LIMIT, 1), SIZE_MAX);
    /* an interface with messages of a few bytes */
    setup();
    ck_assert_uint_eq(ucp_fragment_best(&config, 100, 65536), 100);
    /* costs that make no sense */
    config.lanes[0].am.cost_bcopy.latency = 1e9;
    ck_assert_uint_eq(best(4096), LIMIT);
    config.lanes[0].am.cost_bcopy.latency = 0;
    ck_assert_uint_eq(best(4096), LIMIT);
}
END_TEST

START_TEST(the_last_length_of_a_size_is_exact)
{
    size_t length  = 1, last;
    unsigned sizes = 0;

    setup();
    for (; (last = ucp_fragment_last(&config, LIMIT, length)) != SIZE_MAX;
         length = last + 1) {
        ck_assert_uint_ge(last, length);
        ck_assert_uint_eq(best(last), best(length));
        ck_assert_uint_gt(best(last + 1), best(last));
        ++sizes;
    }
    ck_assert_uint_eq(best(length), LIMIT);
    ck_assert_uint_lt(sizes, UCP_PROTO_MAX_RANGES);
}
END_TEST

/* ------------------------------------------------------------- selection -- */

static const char *chosen(size_t length, size_t zcopy_thresh)
{
    ck_assert_int_eq(ucp_proto_select(&config, zcopy_thresh, SIZE_MAX), UCS_OK);
    return ucp_proto_find(&config.tables[UCP_OP_TAG_SEND][UCP_DT_CLASS_CONTIG],
                          length)
        ->name;
}

START_TEST(fragments_replace_one_long_message)
{
    ucp_lane_cost_t cost = {10e-9, 0, 10e-9, 10e9, 150e-9};
    ucp_lane_am_t *am    = &config.lanes[0].am;

    setup();
    am->max_bcopy  = 8256;
    am->max_zcopy  = LIMIT;
    am->max_hdr    = 64;
    am->max_iov    = 1;
    am->cost_bcopy = cost;
    am->cost_zcopy = cost;
    ck_assert_str_eq(chosen(8000, SIZE_MAX), "eager/bcopy");
    ck_assert_str_eq(chosen(16384, SIZE_MAX), "eager/multi");
    /* the user has set where zero-copy begins */
    ck_assert_str_eq(chosen(16384, 8000), "eager/zcopy");
    /* nothing is known of the peer's processor */
    am->stream = 0;
    ck_assert_str_eq(chosen(16384, SIZE_MAX), "eager/zcopy");
}
END_TEST

/* --------------------------------------------------------------- streams -- */

static struct {
    const ucx_ep_ops_t *usual;
    unsigned fragments;
} count;

static ssize_t count_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack,
                           void *arg, unsigned flags)
{
    count.fragments += (id == UCP_AM_ID_EAGER_FRAGMENT);
    return count.usual->am_bcopy(ep, id, pack, arg, flags);
}

static ucs_status_t count_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                unsigned header_length, const uct_iov_t *iov,
                                size_t iovcnt, unsigned flags,
                                uct_completion_t *comp)
{
    count.fragments += (id == UCP_AM_ID_EAGER_FRAGMENT);
    return count.usual->am_zcopy(ep, id, header, header_length, iov, iovcnt,
                                 flags, comp);
}

/* Sends a message and returns the number of its fragments. `stream`: the
 * bandwidth between the processors. If it is very low, the peer cannot have
 * received the last message yet. */
static unsigned fragments(local_t *local, double stream)
{
    ucp_lane_am_t *am = &((ucp_ep_config_t *)local->ep->config)->lanes[0].am;
    ucs_status_ptr_t recv;

    set_costs(am);
    am->stream             = stream;
    am->cost_bcopy.latency = 2000 / stream;
    count.fragments        = 0;
    recv                   = local_recv(local, target, sizeof(target), TAG);
    ck_assert_int_eq(local_wait(local, local_send(local, source, LENGTH, TAG)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(local, recv), UCS_OK);
    am_check(target, LENGTH, 2);
    return count.fragments;
}

START_TEST(a_stream_has_the_largest_ones)
{
    ucx_ep_ops_t ops;
    local_t local;

    open_with(&local, "inf");
    count.usual       = local.ep->am->ops;
    ops               = *count.usual;
    ops.am_bcopy      = count_bcopy;
    ops.am_zcopy      = count_zcopy;
    local.ep->am->ops = &ops;
    ck_assert_uint_eq(fragments(&local, 1e18), 5); /* of 4096 bytes */
    ck_assert_uint_eq(fragments(&local, 1e18), 5);
    ck_assert_uint_lt(fragments(&local, 1e3), 5);
    ck_assert_uint_lt(fragments(&local, 1e3), 5);
    ck_assert_uint_eq(fragments(&local, 1e18), 5);
    local.ep->am->ops = count.usual;
    close_clean(&local);
}
END_TEST

static struct {
    unsigned whole, fragments; /* Numbers of messages of each kind */
} refused;

static ucs_status_t refuse_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                 unsigned header_length, const uct_iov_t *iov,
                                 size_t iovcnt, unsigned flags,
                                 uct_completion_t *comp)
{
    refused.whole += (id == UCP_AM_ID_EAGER);
    refused.fragments += (id == UCP_AM_ID_EAGER_FRAGMENT);
    return UCS_ERR_IO_ERROR;
}

/* Sends two messages of a stream over a lane that supports long messages by
 * zero-copy, as far as the endpoint knows. */
static void send_refused(const char *zcopy_thresh)
{
    ucx_ep_ops_t ops;
    ucp_lane_am_t *am;
    local_t local;
    int i;

    memset(&refused, 0, sizeof(refused));
    setenv("UCX_ZCOPY_THRESH", zcopy_thresh, 1);
    open_with(&local, "inf");
    unsetenv("UCX_ZCOPY_THRESH");
    am                = &((ucp_ep_config_t *)local.ep->config)->lanes[0].am;
    am->stream        = 1e3;
    am->max_zcopy     = LIMIT;
    count.usual       = local.ep->am->ops;
    ops               = *count.usual;
    ops.am_zcopy      = refuse_zcopy;
    local.ep->am->ops = &ops;
    for (i = 0; i < 2; ++i) {
        ck_assert_int_eq(local_wait(&local,
                                    local_send(&local, source, LENGTH, TAG)),
                         UCS_ERR_IO_ERROR);
    }
    local.ep->am->ops = count.usual;
    close_clean(&local);
}

START_TEST(a_stream_keeps_to_the_users_threshold_of_zero_copy)
{
    send_refused("auto");
    ck_assert_uint_gt(refused.whole, 0);
    send_refused("inf");
    ck_assert_uint_eq(refused.whole, 0);
    ck_assert_uint_gt(refused.fragments, 0);
}
END_TEST

SUITE_MAIN("sizes of fragments", long_messages_have_larger_fragments,
           they_are_as_large_as_possible_if_nothing_is_known_or_wanted,
           the_last_length_of_a_size_is_exact,
           fragments_replace_one_long_message, a_stream_has_the_largest_ones,
           a_stream_keeps_to_the_users_threshold_of_zero_copy)
