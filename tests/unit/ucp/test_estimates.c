/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program tells a context in advance: the numbers of endpoints and of
 * processes of a host, the number of this process on its host, and the mask of
 * the sender in tags. The user's variables UCX_NUM_EPS, UCX_NUM_PPN and
 * UCX_LOCAL_NODE_ID have priority over the program's parameters. The defaults
 * are one endpoint, one process, and no number or mask.
 */
#include "api.h"

#include "ucp/base/context.h"
#include "ucp/base/worker.h"
#include "ucp/tag/match.h"

static ucp_context_h open_with(const ucp_params_t *params)
{
    ucp_context_h context;

    ck_assert_int_eq(ucp_init(params, NULL, &context), UCS_OK);
    return context;
}

START_TEST(a_context_uses_the_estimates_of_the_program)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_PPN |
                      UCP_PARAM_FIELD_NODE_LOCAL_ID |
                      UCP_PARAM_FIELD_TAG_SENDER_MASK,
        .features          = UCP_FEATURE_TAG,
        .estimated_num_eps = 100,
        .estimated_num_ppn = 10,
        .node_local_id     = 3,
        .tag_sender_mask   = 0xff00,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_context_h context             = open_with(&params);
    ucp_worker_h worker;

    ck_assert_uint_eq(context->estimated_num_eps, 100);
    ck_assert_uint_eq(context->estimated_num_ppn, 10);
    ck_assert_uint_eq(context->node_local_id, 3);
    ck_assert_uint_eq(context->tag_sender_mask, 0xff00);
    ck_assert_int_eq(ucp_worker_create(context, &worker_params, &worker),
                     UCS_OK);
    ck_assert_uint_eq(ucp_worker_tag(worker)->keys[1], 0xff00);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);

    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    context           = open_with(&params);
    ck_assert_uint_eq(context->estimated_num_eps, 1);
    ck_assert_uint_eq(context->estimated_num_ppn, 1);
    ck_assert_uint_eq(context->node_local_id, SIZE_MAX);
    ck_assert_uint_eq(context->tag_sender_mask, 0);
    ucp_cleanup(context);
}
END_TEST

START_TEST(settings_of_the_user_override_estimates)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_PPN |
                      UCP_PARAM_FIELD_NODE_LOCAL_ID,
        .features          = UCP_FEATURE_TAG,
        .estimated_num_eps = 100,
        .estimated_num_ppn = 10,
        .node_local_id     = 3,
    };
    ucp_context_h context;

    setenv("UCX_NUM_EPS", "2000", 1);
    setenv("UCX_NUM_PPN", "64", 1);
    setenv("UCX_LOCAL_NODE_ID", "63", 1);
    context = open_with(&params);
    unsetenv("UCX_NUM_EPS");
    unsetenv("UCX_NUM_PPN");
    unsetenv("UCX_LOCAL_NODE_ID");
    ck_assert_uint_eq(context->estimated_num_eps, 2000);
    ck_assert_uint_eq(context->estimated_num_ppn, 64);
    ck_assert_uint_eq(context->node_local_id, 63);
    ucp_cleanup(context);
}
END_TEST

SUITE_MAIN("estimates", a_context_uses_the_estimates_of_the_program,
           settings_of_the_user_override_estimates)
