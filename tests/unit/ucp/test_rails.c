/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Division of large transfers among several lanes ("rails"): which lanes are
 * used, and that every byte belongs to exactly one chunk within the limits of
 * its lane. Also thresholds with another value for peers on the same host.
 */
#include "suite.h"

#include "ucp/base/config_thresh.h"
#include "ucp/proto/proto.h"
#include "ucp/rndv/rndv.h"

static ucp_ep_config_t config;

static void set_lane(unsigned lane, double bandwidth)
{
    const ucp_lane_cost_t cost = {1e-6, 0, 1e-6, bandwidth, 10e-6};
    ucp_lane_config_t *own     = &config.lanes[lane];

    own->is_network     = 1;
    own->device         = (uint8_t)lane;
    own->remote_device  = (uint8_t)lane;
    own->md_flags       = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    own->put.max_zcopy  = SIZE_MAX / 2;
    own->put.max_iov    = 4;
    own->put.cost_zcopy = cost;
    own->get            = own->put;
}

/* Configures an endpoint with `num_lanes` lanes of these bandwidths, in
 * GB/s. */
static void setup(const double *bandwidths, unsigned num_lanes)
{
    unsigned i;

    memset(&config, 0, sizeof(config));
    config.num_lanes      = (uint8_t)num_lanes;
    config.max_rndv_lanes = 8;
    config.max_lane_ratio = 4;
    for (i = 0; i < num_lanes; ++i) {
        set_lane(i, bandwidths[i] * 1e9);
    }
    ucp_ep_config_assign(&config);
}

/* Goes through all chunks of a transfer and checks them; returns their number.
 * `lost`: lanes that have failed. parts[] receives the number of bytes of each
 * lane. */
static unsigned walk(const ucp_rails_t *rails, size_t length,
                     ucp_lane_map_t lost, size_t parts[UCP_MAX_LANES])
{
    unsigned count = 0;
    size_t offset;
    ucp_rails_chunk_t chunk;

    memset(parts, 0, UCP_MAX_LANES * sizeof(parts[0]));
    for (offset = 0; offset < length; offset += chunk.length, ++count) {
        chunk = ucp_rails_next(rails, length, offset, lost);
        ck_assert_ptr_nonnull(chunk.rail);
        ck_assert_uint_gt(chunk.length, 0);
        ck_assert_uint_le(chunk.length, length - offset);
        ck_assert_uint_le(chunk.length, chunk.rail->max);
        ck_assert_uint_ge(chunk.length, chunk.rail->min);
        ck_assert(!(lost & UCS_BIT(chunk.rail->lane)));
        parts[chunk.rail->lane] += chunk.length;
    }
    return count;
}

/* Checks that `part`, the number of bytes of a lane, is the fraction `share` of
 * `length`. Tolerance: one percent of the expected number, plus 16 units of
 * alignment, because chunks are aligned. */
static void check_share(size_t part, size_t length, double share)
{
    double wanted    = (double)length * share;
    double tolerance = wanted / 100 + 16 * UCP_RAILS_ALIGN;

    ck_assert_double_le((double)part, wanted + tolerance);
    ck_assert_double_ge((double)part, wanted - tolerance);
}

START_TEST(shares_follow_bandwidths)
{
    static const double two[] = {1, 1}, three[] = {3, 1.5, 1.5};
    static const double uneven[] = {1, 3};
    size_t parts[UCP_MAX_LANES];

    setup(two, 2);
    ck_assert_uint_eq(config.rndv_get.num, 2);
    ck_assert_uint_eq(config.rndv_get.num_slots, 1);
    ck_assert_double_eq(config.rndv_get.bandwidth, 2e9);
    ck_assert_uint_eq(walk(&config.rndv_get, 1 << 20, 0, parts), 2);
    check_share(parts[0], 1 << 20, 0.5);
    check_share(parts[1], 1 << 20, 0.5);

    setup(three, 3);
    ck_assert_uint_eq(walk(&config.rndv_put, 10000001, 0, parts), 3);
    check_share(parts[0], 10000001, 0.5);
    check_share(parts[1], 10000001, 0.25);
    check_share(parts[2], 10000001, 0.25);

    setup(uneven, 2);
    /* the lane with the highest bandwidth is the first rail */
    ck_assert_uint_eq(config.rndv_lane, 1);
    ck_assert_uint_eq(config.rndv_get.rail[0].lane, 1);
    walk(&config.rndv_get, 1 << 20, 0, parts);
    check_share(parts[1], 1 << 20, 0.75);
}
END_TEST

START_TEST(little_data_is_not_divided)
{
    static const double two[] = {1, 1};
    size_t parts[UCP_MAX_LANES];

    setup(two, 2);
    ck_assert_uint_eq(walk(&config.rndv_get, 2 * UCP_RAILS_MIN_PART - 1, 0,
                           parts),
                      1);
    ck_assert_uint_eq(parts[1], 0);
    ck_assert_uint_eq(walk(&config.rndv_get, 2 * UCP_RAILS_MIN_PART, 0, parts),
                      2);
    ck_assert_uint_eq(parts[1], UCP_RAILS_MIN_PART);
}
END_TEST

START_TEST(every_byte_is_in_one_piece_whatever_the_limits)
{
    static const double speeds[] = {2, 1, 0.7, 1.9};
    unsigned seed                = 1;
    size_t parts[UCP_MAX_LANES];
    size_t sum, length;
    unsigned i, lane, num;

    for (i = 0; i < 3000; ++i) {
        num = 1 + (unsigned)rand_r(&seed) % 4;
        setup(speeds, num);
        for (lane = 0; lane < num; ++lane) {
            config.lanes[lane].get.max_zcopy = UCP_RAILS_MIN_PART +
                                               (size_t)rand_r(&seed) % 300000;
            config.lanes[lane].get.min_zcopy = (size_t)rand_r(&seed) % 65;
        }
        ucp_ep_config_assign(&config);
        ck_assert_uint_eq(config.rndv_get.num, num);

        length = 64 + (size_t)rand_r(&seed) % 5000000;
        walk(&config.rndv_get, length, 0, parts);
        for (sum = 0, lane = 0; lane < num; ++lane) {
            sum += parts[lane];
            if (length >= ucp_rails_min(&config.rndv_get)) {
                check_share(parts[lane], length,
                            speeds[lane] * 1e9 / config.rndv_get.bandwidth);
            }
        }
        ck_assert_uint_eq(sum, length);
        walk(&config.rndv_get, length, (num > 1) ? UCS_BIT(0) : 0, parts);
    }
}
END_TEST

START_TEST(huge_lengths_do_not_overflow)
{
    static const double two[] = {1, 0.9};
    ucp_rails_chunk_t chunk;

    setup(two, 2);
    chunk = ucp_rails_next(&config.rndv_get, SIZE_MAX / 2, 0, 0);
    ck_assert_uint_eq(chunk.rail->lane, 0);
    ck_assert_uint_gt(chunk.length, SIZE_MAX / 16);
    chunk = ucp_rails_next(&config.rndv_get, SIZE_MAX / 2, SIZE_MAX / 2 - 1, 0);
    ck_assert_uint_eq(chunk.length, 1);
}
END_TEST

START_TEST(lanes_that_are_lost_are_replaced)
{
    static const double three[] = {1, 1, 1};
    size_t parts[UCP_MAX_LANES];
    ucp_rails_chunk_t chunk;

    setup(three, 3);
    walk(&config.rndv_get, 3 << 20, 2, parts);
    ck_assert_uint_eq(parts[1], 0);
    ck_assert_uint_eq(parts[0] + parts[2], 3 << 20);
    walk(&config.rndv_get, 3 << 20, 3, parts);
    ck_assert_uint_eq(parts[2], 3 << 20);
    chunk = ucp_rails_next(&config.rndv_get, 3 << 20, 0, 7);
    ck_assert_ptr_null(chunk.rail);
}
END_TEST

static unsigned rails_of_two(void)
{
    ucp_ep_config_assign(&config);
    return config.rndv_get.num;
}

START_TEST(lanes_go_together_if_that_gains_something)
{
    static const double two[] = {1, 1}, slow[] = {1, 0.24};

    setup(two, 2);
    ck_assert_uint_eq(rails_of_two(), 2);

    config.max_rndv_lanes = 1;
    ck_assert_uint_eq(rails_of_two(), 1);
    config.max_rndv_lanes = 2;
    /* the peer is on the same host: several lanes would use one processor */
    config.is_local       = 1;
    ck_assert_uint_eq(rails_of_two(), 1);
    config.is_local            = 0;
    config.lanes[1].is_network = 0;
    ck_assert_uint_eq(rails_of_two(), 1);
    config.lanes[1].is_network = 1;
    config.lanes[1].device     = 0; /* both lanes use the same device */
    ck_assert_uint_eq(rails_of_two(), 1);
    config.lanes[1].device        = 1;
    config.lanes[1].remote_device = 0;
    ck_assert_uint_eq(rails_of_two(), 1);
    config.lanes[1].remote_device = 1;
    config.lanes[1].get.max_zcopy = 1000;
    ck_assert_uint_eq(rails_of_two(), 1);
    ck_assert_uint_eq(config.rndv_put.num, 2);
    setup(slow, 2);
    ck_assert_uint_eq(rails_of_two(), 1);
    config.max_lane_ratio = 5;
    ck_assert_uint_eq(rails_of_two(), 2);
}
END_TEST

START_TEST(domains_of_their_own_have_slots_of_their_own)
{
    static const double three[] = {1, 1, 1};

    setup(three, 3);
    config.lanes[1].md_index = 5;
    ucp_ep_config_assign(&config);
    ck_assert_uint_eq(config.rndv_put.num_slots, 2);
    ck_assert_uint_eq(config.rndv_put.rail[0].slot, 0);
    ck_assert_uint_eq(config.rndv_put.rail[1].slot, 1);
    ck_assert_uint_eq(config.rndv_put.rail[2].slot, 0);
    ck_assert_uint_eq(ucp_rails_slot_lane(&config.rndv_put, 1), 1);
    config.lanes[2].remote_md = 3;
    ucp_ep_config_assign(&config);
    ck_assert_uint_eq(config.rndv_put.num_slots, 3);
}
END_TEST

/* Returns the name of the protocol for large data of a rendezvous. */
static const char *large_data(void)
{
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    return ucp_rndv_select(&config, UCP_DT_CLASS_CONTIG, 1 << 20)->name;
}

START_TEST(several_lanes_make_rendezvous_cheaper)
{
    static const double two[] = {1, 1};
    char text[64];

    setup(two, 2);
    config.lanes[0].am.max_bcopy  = 65536;
    config.lanes[0].am.cost_bcopy = config.lanes[0].put.cost_zcopy;
    config.max_rndv_lanes         = 1;
    ucp_ep_config_assign(&config);
    ck_assert_str_eq(large_data(), "rndv/get");
    /* two lanes that support put are faster than one that supports get */
    config.lanes[1].get.max_zcopy = 0;
    config.max_rndv_lanes         = 2;
    ucp_ep_config_assign(&config);
    ck_assert_str_eq(large_data(), "rndv/put");
    ucp_rails_describe(&config.rndv_put, text, sizeof(text));
    ck_assert_str_eq(text, "lanes 0 (50%), 1 (50%)");
    ucp_rails_describe(&config.rndv_get, text, sizeof(text));
    ck_assert_str_eq(text, "lane 0");
}
END_TEST

/* -------------------------------------------- thresholds with two values -- */

static ucs_status_t parse(const char *text, ucp_config_thresh_t *thresh)
{
    char why[UCS_CONFIG_WHY_MAX] = "";
    char printed[128];
    ucp_config_thresh_t again;
    ucs_status_t status;

    status = ucp_config_type_thresh.parse(text, thresh, NULL, why);
    if (status == UCS_OK) {
        ucp_config_type_thresh.print(printed, sizeof(printed), thresh, NULL);
        ck_assert_int_eq(ucp_config_type_thresh.parse(printed, &again, NULL,
                                                      why),
                         UCS_OK);
        ck_assert_uint_eq(again.intra, thresh->intra);
        ck_assert_uint_eq(again.inter, thresh->inter);
    }
    return status;
}

START_TEST(a_threshold_may_differ_for_peers_on_this_machine)
{
    static const char *const bad[] = {
        "",
        "x",
        "16q",
        "intra",
        "intra:",
        "intra:16q",
        "intra:1k,",
        "intra:1k,intra:2k",
        "between:1k",
        "1k,2k",
        "intra:1k;inter:2k",
        "inter:99999999999999999999999",
        ":",
        "intra:1k inter:2k",
    };
    ucp_config_thresh_t thresh;
    size_t i;

    ck_assert_int_eq(parse("16k", &thresh), UCS_OK);
    ck_assert_uint_eq(thresh.intra, 16384);
    ck_assert_uint_eq(thresh.inter, 16384);
    ck_assert_int_eq(parse("inf", &thresh), UCS_OK);
    ck_assert_uint_eq(thresh.inter, UCS_MEMUNITS_INF);
    ck_assert_int_eq(parse("intra:1k,inter:2m", &thresh), UCS_OK);
    ck_assert_uint_eq(thresh.intra, 1024);
    ck_assert_uint_eq(thresh.inter, 2 << 20);
    ck_assert_int_eq(parse(" inter:inf , intra: auto ", &thresh), UCS_OK);
    ck_assert_uint_eq(thresh.intra, UCS_MEMUNITS_AUTO);
    ck_assert_uint_eq(thresh.inter, UCS_MEMUNITS_INF);
    ck_assert_int_eq(parse("inter:5", &thresh), UCS_OK);
    ck_assert_uint_eq(thresh.intra, UCS_MEMUNITS_AUTO);
    ck_assert_uint_eq(thresh.inter, 5);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        ck_assert_msg(parse(bad[i], &thresh) == UCS_ERR_INVALID_PARAM,
                      "'%s' is taken", bad[i]);
    }
}
END_TEST

SUITE_MAIN("rails", shares_follow_bandwidths, little_data_is_not_divided,
           every_byte_is_in_one_piece_whatever_the_limits,
           huge_lengths_do_not_overflow, lanes_that_are_lost_are_replaced,
           lanes_go_together_if_that_gains_something,
           domains_of_their_own_have_slots_of_their_own,
           several_lanes_make_rendezvous_cheaper,
           a_threshold_may_differ_for_peers_on_this_machine)
