/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocol selection (ucp/proto/proto.h): the cheapest protocol by the cost
 * model, and the user's settings.
 */
#include "suite.h"

#include "ucp/proto/proto.h"
#include "ucp/rndv/rndv.h"

static ucp_ep_config_t config;

static void setup(void)
{
    ucp_lane_cost_t cost    = {1e-6, 0, 1e-6, 5e9, 2e-6};
    ucp_lane_config_t *lane = &config.lanes[0];

    memset(&config, 0, sizeof(config));
    config.num_lanes        = 1;
    config.rndv_lane        = 0;
    lane->md_flags          = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    lane->am.max_short      = 1024;
    lane->am.max_bcopy      = 65536;
    lane->am.max_zcopy      = 65536;
    lane->am.max_hdr        = 64;
    lane->am.max_iov        = 4;
    lane->am.cost_short     = cost;
    lane->am.cost_bcopy     = cost;
    lane->am.cost_zcopy     = cost;
    lane->am.cost_bcopy.pre = 1.2e-6;
    lane->am.cost_zcopy.pre = 1.5e-6;
    lane->put.max_zcopy     = 1 << 20;
    lane->put.max_iov       = 4;
    lane->put.cost_zcopy    = cost;
}

static const char *chosen(ucp_op_t op, ucp_dt_class_t dt_class, size_t length)
{
    return ucp_proto_find(&config.tables[op][dt_class], length)->name;
}

/* Returns the name of the protocol that transfers the data of a rendezvous. */
static const char *data(ucp_dt_class_t dt_class, size_t length)
{
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    return ucp_rndv_select(&config, dt_class, length)->name;
}

/* Checks that every size has a protocol, and that the rows of each table are in
 * ascending order of sizes. */
static void check_tables(void)
{
    unsigned op, dt_class, row;

    for (op = 0; op < UCP_OP_EP_LAST; ++op) {
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            const ucp_proto_step_t *steps = config.tables[op][dt_class].steps;

            for (row = 0; steps[row].max != SIZE_MAX; ++row) {
                ck_assert_uint_lt(row, UCP_PROTO_MAX_STEPS - 1);
                ck_assert_uint_lt(steps[row].max, steps[row + 1].max);
            }
        }
    }
}

START_TEST(small_goes_short_middle_copied_or_from_place_large_rendezvous)
{
    setup();
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    check_tables();
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 0),
                     "eager/short");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 8),
                     "eager/short");
    ck_assert_uint_gt(config.tag_short_end, 8);
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 16384),
                     "eager/zcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 1 << 22),
                     "rndv");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, SIZE_MAX),
                     "rndv");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_GENERIC, 100),
                     "eager/bcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND_SYNC, UCP_DT_CLASS_CONTIG, 0),
                     "eager/bcopy");
}
END_TEST

START_TEST(a_users_thresholds_replace_the_costs)
{
    setup();
    ck_assert_int_eq(ucp_proto_select(&config, 3000, 5000), UCS_OK);
    check_tables();
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 2999),
                     "eager/bcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 3000),
                     "eager/zcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 4999),
                     "eager/zcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 5000),
                     "rndv");
}
END_TEST

START_TEST(a_rendezvous_threshold_of_zero_leaves_nothing_eager)
{
    setup();
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, 0), UCS_OK);
    check_tables();
    ck_assert_uint_eq(config.tag_short_end, 0);
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 0), "rndv");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND_SYNC, UCP_DT_CLASS_IOV, 7), "rndv");
}
END_TEST

START_TEST(a_threshold_beyond_one_message_is_kept_to_the_byte)
{
    static const ucp_op_t ops[] = {UCP_OP_TAG_SEND, UCP_OP_TAG_SEND_SYNC,
                                   UCP_OP_AM_SEND, UCP_OP_AM_SEND_REPLY};
    unsigned i, dt_class;

    setup();
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, 200000), UCS_OK);
    check_tables();
    for (i = 0; i < 4; ++i) {
        int tag = (i < 2);

        ck_assert_str_eq(chosen(ops[i], UCP_DT_CLASS_CONTIG, 60000),
                         tag ? "eager/zcopy" : "am/zcopy");
        for (dt_class = 0; dt_class < UCP_DT_CLASS_LAST; ++dt_class) {
            ck_assert_str_eq(chosen(ops[i], dt_class, 65536),
                             tag ? "eager/multi" : "am/multi");
            ck_assert_str_eq(chosen(ops[i], dt_class, 199999),
                             tag ? "eager/multi" : "am/multi");
            ck_assert_str_eq(chosen(ops[i], dt_class, 200000),
                             tag ? "rndv" : "am/rndv");
        }
    }
}
END_TEST

START_TEST(an_infinite_threshold_leaves_everything_eager)
{
    setup();
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX,
                                      UCP_PROTO_THRESH_NEVER),
                     UCS_OK);
    check_tables();
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, SIZE_MAX),
                     "eager/multi");
    ck_assert_str_eq(chosen(UCP_OP_AM_SEND, UCP_DT_CLASS_GENERIC, 1 << 30),
                     "am/multi");
}
END_TEST

/* An eager message in fragments needs no announcement and no reply. For long
 * messages this saves little, and the receiver would have to store too much
 * unexpected data, so that rendezvous is selected. */
START_TEST(fragments_are_chosen_for_medium_sizes_where_that_costs_less)
{
    size_t length;

    setup();
    config.lanes[0].am.max_zcopy          = 0;
    config.lanes[0].am.cost_bcopy.latency = 20e-6;
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    check_tables();
    length = config.lanes[0].am.max_bcopy;
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_GENERIC, length),
                     "eager/multi");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_GENERIC, 1 << 24),
                     "rndv");

    config.lanes[0].am.cost_bcopy.latency = 0;
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_GENERIC, 1 << 19),
                     "rndv");
}
END_TEST

START_TEST(a_lane_with_the_bare_minimum_has_a_protocol_for_everything)
{
    setup();
    config.lanes[0].am.max_short  = 0;
    config.lanes[0].am.max_zcopy  = 0;
    config.lanes[0].put.max_zcopy = 0;
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    check_tables();
    ck_assert_uint_eq(config.tag_short_end, 0);
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 1),
                     "eager/bcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_IOV, 1 << 20),
                     "rndv");
}
END_TEST

START_TEST(large_data_goes_the_cheapest_way_or_the_one_asked_for)
{
    ucp_lane_config_t *far = &config.lanes[1];
    ucp_lane_cost_t cost   = {2e-6, 0, 0, 10e9, 1e-6};

    setup();
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 1 << 20), "rndv/put");
    ck_assert_str_eq(data(UCP_DT_CLASS_GENERIC, 1 << 20), "rndv/am");

    config.num_lanes    = 2;
    config.rndv_lane    = 1;
    far->md_flags       = UCT_MD_FLAG_REG | UCT_MD_FLAG_NEED_RKEY;
    far->get.max_zcopy  = SIZE_MAX;
    far->get.max_iov    = 4;
    far->get.cost_zcopy = cost;
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 1 << 20), "rndv/get");
    /* IOV data has several remote addresses, and a get has only one */
    ck_assert_str_eq(data(UCP_DT_CLASS_IOV, 1 << 20), "rndv/am");
    far->get.min_zcopy = 1000;
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 999), "rndv/am");

    config.rndv_prefer = UCP_PROTO_FLAG_MESSAGES;
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 1 << 20), "rndv/am");
    /* the lane does not support put */
    config.rndv_prefer = UCP_PROTO_FLAG_PUT;
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 1 << 20), "rndv/get");

    config.rndv_prefer = 0;
    /* the lane has no memory domain at the peer, and so no remote keys */
    far->remote_md     = UCP_NULL_MD;
    ck_assert_str_eq(data(UCP_DT_CLASS_CONTIG, 1 << 20), "rndv/am");
    far->remote_md = 0;
    far->md_flags  = UCT_MD_FLAG_ALLOC | UCT_MD_FLAG_NEED_RKEY;
    ucp_ep_config_assign(&config);
    ck_assert_uint_eq(config.rndv_lane, 0);
    /* The lane cannot access the user's memory, only memory that its domain has
     * allocated: it serves put and get, but not rendezvous. */
    ck_assert_uint_eq(config.rma_lanes, 3);
}
END_TEST

START_TEST(fragments_are_as_large_as_lane_and_user_allow)
{
    setup();
    ck_assert(!ucp_rndv_am_is_zcopy(&config, UCP_DT_CLASS_CONTIG));
    ck_assert_uint_eq(ucp_rndv_am_fragment(&config, UCP_DT_CLASS_CONTIG),
                      65536 - sizeof(ucp_rndv_data_t));
    config.lanes[0].am.max_zcopy = 1 << 20;
    ck_assert(ucp_rndv_am_is_zcopy(&config, UCP_DT_CLASS_CONTIG));
    ck_assert(!ucp_rndv_am_is_zcopy(&config, UCP_DT_CLASS_IOV));
    ck_assert_uint_eq(ucp_rndv_am_fragment(&config, UCP_DT_CLASS_CONTIG),
                      65536);
    config.rndv_frag_size = 100000;
    ck_assert_uint_eq(ucp_rndv_am_fragment(&config, UCP_DT_CLASS_CONTIG),
                      100000);
    config.rndv_frag_size = 5;
    ck_assert_uint_eq(ucp_rndv_am_fragment(&config, UCP_DT_CLASS_IOV), 5);
    config.lanes[0].md_flags |= UCT_MD_FLAG_NEED_MEMH;
    ck_assert(!ucp_rndv_am_is_zcopy(&config, UCP_DT_CLASS_CONTIG));
}
END_TEST

SUITE_MAIN("protocol choice",
           large_data_goes_the_cheapest_way_or_the_one_asked_for,
           fragments_are_as_large_as_lane_and_user_allow,
           small_goes_short_middle_copied_or_from_place_large_rendezvous,
           a_users_thresholds_replace_the_costs,
           a_rendezvous_threshold_of_zero_leaves_nothing_eager,
           a_threshold_beyond_one_message_is_kept_to_the_byte,
           an_infinite_threshold_leaves_everything_eager,
           fragments_are_chosen_for_medium_sizes_where_that_costs_less,
           a_lane_with_the_bare_minimum_has_a_protocol_for_everything)
