/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of protocols: cheapest by the model, and what users override.
 */
#include "suite.h"

#include "ucp/proto/proto.h"

static ucp_ep_config_t config;

static void setup(void)
{
    ucp_lane_cost_t cost = {1e-6, 0, 1e-6, 5e9, 2e-6};

    memset(&config, 0, sizeof(config));
    config.max_short     = 1024;
    config.max_bcopy     = 65536;
    config.max_zcopy     = 65536;
    config.max_zcopy_hdr = 64;
    config.max_iov       = 4;
    config.max_put_zcopy = 1 << 20;
    config.max_put_iov   = 4;
    config.cost_short    = cost;
    config.cost_bcopy    = cost;
    config.cost_bcopy.pre = 1.2e-6;
    config.cost_zcopy     = cost;
    config.cost_zcopy.pre = 1.5e-6;
    config.cost_put       = cost;
}

static const char *chosen(ucp_op_t op, ucp_dt_class_t dt_class, size_t length)
{
    return ucp_proto_find(&config.tables[op][dt_class], length)->name;
}

/* Every size has a protocol, and the rows are in order. */
static void check_tables(void)
{
    unsigned op, dt_class, row;

    for (op = 0; op < UCP_OP_LAST; ++op) {
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
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND_SYNC, UCP_DT_CLASS_IOV, 7),
                     "rndv");
}
END_TEST

START_TEST(a_threshold_beyond_eager_still_leaves_no_gap)
{
    setup();
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX - 1), UCS_OK);
    check_tables();
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 60000),
                     "eager/zcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 65536),
                     "rndv");
}
END_TEST

START_TEST(a_lane_with_the_bare_minimum_has_a_protocol_for_everything)
{
    setup();
    config.max_short     = 0;
    config.max_zcopy     = 0;
    config.max_put_zcopy = 0;
    ck_assert_int_eq(ucp_proto_select(&config, SIZE_MAX, SIZE_MAX), UCS_OK);
    check_tables();
    ck_assert_uint_eq(config.tag_short_end, 0);
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_CONTIG, 1),
                     "eager/bcopy");
    ck_assert_str_eq(chosen(UCP_OP_TAG_SEND, UCP_DT_CLASS_IOV, 1 << 20),
                     "rndv");
}
END_TEST

SUITE_MAIN("protocol choice",
           small_goes_short_middle_copied_or_from_place_large_rendezvous,
           a_users_thresholds_replace_the_costs,
           a_rendezvous_threshold_of_zero_leaves_nothing_eager,
           a_threshold_beyond_eager_still_leaves_no_gap,
           a_lane_with_the_bare_minimum_has_a_protocol_for_everything)
