/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: parameters, attributes, estimates of performance, and the printed
 * form. */
#include "api.h"

static void open_all(local_t *local)
{
    local_open_mode(local,
                    UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 |
                        UCP_FEATURE_AM | UCP_FEATURE_STREAM,
                    UCS_THREAD_MODE_SINGLE);
}

START_TEST(an_endpoint_has_the_name_and_the_data_it_was_given)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_NAME | UCP_EP_PARAM_FIELD_USER_DATA,
        .name       = "mine",
        .user_data  = &params,
    };
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_NAME | UCP_EP_ATTR_FIELD_USER_DATA,
    };
    local_t local;
    ucp_ep_h ep;

    open_all(&local);
    ep = connect_self(local.worker, &params);
    ck_assert_int_eq(ucp_ep_query(ep, &attr), UCS_OK);
    ck_assert_str_eq(attr.name, "mine");
    ck_assert_ptr_eq(attr.user_data, &params);
    close_ep(&local, ep);

    params.name = "a name that is longer than any name of an entity may be";
    ep          = connect_self(local.worker, &params);
    ck_assert_int_eq(ucp_ep_query(ep, &attr), UCS_OK);
    ck_assert_uint_eq(strlen(attr.name), UCP_ENTITY_NAME_MAX - 1);
    close_ep(&local, ep);

    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_gt(strlen(attr.name), 0);
    ck_assert_ptr_null(attr.user_data);
    local_close(&local);
}
END_TEST

START_TEST(transports_are_listed_as_far_as_there_is_space)
{
    struct {
        ucp_transport_entry_t entry;
        /* Stands for a member that a newer header adds */
        long later;
    } wide[8];
    const char *narrow[2];
    ucp_transport_entry_t entries[8];
    ucp_transports_t space = {
        .entries     = entries,
        .num_entries = 8,
        .entry_size  = sizeof(entries[0]),
    };
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS};
    unsigned count, i;
    local_t local;

    open_all(&local);
    attr.transports = space;
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    count = attr.transports.num_entries;
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, 8);
    for (i = 0; i < count; ++i) {
        ck_assert_str_eq(entries[i].transport_name, "self");
        ck_assert_uint_gt(strlen(entries[i].device_name), 0);
    }

    memset(wide, 0x5a, sizeof(wide));
    attr.transports = (ucp_transports_t){
        .entries     = &wide[0].entry,
        .num_entries = 8,
        .entry_size  = sizeof(wide[0]),
    };
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, count);
    ck_assert_str_eq(wide[count - 1].entry.transport_name, "self");
    ck_assert_int_eq(((char *)&wide[0].later)[0], 0x5a);

    /* A program with an older header passes shorter entries, of i bytes here:
     * the library writes no member beyond them. */
    for (i = 0; i < sizeof(entries[0]); i += 4) {
        memset(narrow, 0x5a, sizeof(narrow));
        attr.transports = (ucp_transports_t){
            .entries     = (ucp_transport_entry_t *)narrow,
            .num_entries = 1,
            .entry_size  = i,
        };
        ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
        ck_assert_uint_eq(attr.transports.num_entries, 1);
        if (i >= sizeof(char *)) {
            ck_assert_str_eq(narrow[0], "self");
        } else {
            ck_assert_int_eq(((char *)narrow)[0], 0x5a);
        }
        ck_assert_int_eq(((char *)narrow)[sizeof(char *)], 0x5a);
    }

    attr.transports             = space;
    attr.transports.num_entries = 0;
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 0);
    local_close(&local);
}
END_TEST

START_TEST(socket_addresses_belong_to_endpoints_made_by_them)
{
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR};
    local_t local;

    open_all(&local);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_ERR_NOT_CONNECTED);
    attr.field_mask = UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_ERR_NOT_CONNECTED);
    local_close(&local);
}
END_TEST

static double estimate(ucp_ep_h ep, size_t size)
{
    ucp_ep_evaluate_perf_param_t param = {
        .field_mask   = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
        .message_size = size,
    };
    ucp_ep_evaluate_perf_attr_t attr = {
        .field_mask     = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
        .estimated_time = -1,
    };

    ck_assert_int_eq(ucp_ep_evaluate_perf(ep, &param, &attr), UCS_OK);
    return attr.estimated_time;
}

START_TEST(larger_messages_are_estimated_to_take_longer)
{
    double before, time;
    local_t local;
    size_t size;

    open_all(&local);
    before = estimate(local.ep, 0);
    ck_assert_double_gt(before, 0);
    ck_assert_double_lt(before, 1e-3);
    for (size = 1; size <= 1ul << 30; size *= 2) {
        time = estimate(local.ep, size);
        ck_assert_double_ge(time, before);
        before = time;
    }
    /* a plausible time in seconds for 1 GiB in memory */
    ck_assert_double_gt(before, 1e-3);
    ck_assert_double_lt(before, 10);
    local_close(&local);
}
END_TEST

START_TEST(an_estimate_needs_a_size_and_a_place_for_the_answer)
{
    ucp_ep_evaluate_perf_param_t param = {.message_size = 8};
    ucp_ep_evaluate_perf_attr_t attr   = {
          .field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME,
    };
    local_t local;

    open_all(&local);
    ck_assert_int_eq(ucp_ep_evaluate_perf(local.ep, &param, &attr),
                     UCS_ERR_INVALID_PARAM);
    param.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE;
    attr.field_mask  = 0;
    ck_assert_int_eq(ucp_ep_evaluate_perf(local.ep, &param, &attr),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_prints_its_lanes_and_thresholds)
{
    static const char *const lines[] = {
        "tag_send: 0..<egr/short>..",
        "tag_send_sync: 0..<egr/",
        "am_send: 0..<egr/short>..",
        "stream_send: 0..<egr/",
        "put[0]: 0..<",
        "get[0]: 0..<",
    };
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .err_mode   = UCP_ERR_HANDLING_MODE_PEER,
    };
    local_t local;
    print_t print;
    char *text;
    ucp_ep_h ep;
    size_t i;

    open_all(&local);
    ucp_ep_print_info(local.ep, print_begin(&print));
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, "# UCP endpoint\n"));
    ck_assert_ptr_nonnull(strstr(text, "lane[0]:  0:self/"));
    ck_assert_ptr_nonnull(strstr(text, "/self/sysdev["));
    ck_assert_ptr_nonnull(strstr(text, "<rndv>..(inf)\n"));
    ck_assert_ptr_null(strstr(text, "keepalive"));
    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
        if (strstr(text, lines[i]) == NULL) {
            ck_abort_msg("no line with \"%s\" in\n%s", lines[i], text);
        }
    }
    free(text);

    ep = connect_self(local.worker, &params);
    ucp_ep_print_info(ep, print_begin(&print));
    text = print_end(&print);
    ck_assert_ptr_nonnull(strstr(text, " keepalive\n"));
    free(text);
    close_ep(&local, ep);
    local_close(&local);
}
END_TEST

START_TEST(unknown_modes_and_missing_peers_are_refused)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .err_mode = (ucp_err_handling_mode_t)7,
    };
    local_t local;
    ucp_ep_h ep;

    open_all(&local);
    params.address = own_address(local.worker);
    ck_assert_int_eq(ucp_ep_create(local.worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params.field_mask = 0;
    ck_assert_int_eq(ucp_ep_create(local.worker, &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    ucp_worker_release_address(local.worker, (ucp_address_t *)params.address);
    local_close(&local);
}
END_TEST

SUITE_MAIN("endpoints", an_endpoint_has_the_name_and_the_data_it_was_given,
           transports_are_listed_as_far_as_there_is_space,
           socket_addresses_belong_to_endpoints_made_by_them,
           larger_messages_are_estimated_to_take_longer,
           an_estimate_needs_a_size_and_a_place_for_the_answer,
           an_endpoint_prints_its_lanes_and_thresholds,
           unknown_modes_and_missing_peers_are_refused)
