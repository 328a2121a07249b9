/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated functions that close and modify endpoints. */
#include "api.h"

/* the deprecated functions are under test */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static ucp_ep_h more_ep(local_t *local)
{
    ucp_ep_params_t params = {0};

    return connect_self(local->worker, &params);
}

START_TEST(closing_by_flush_completes_what_was_sent)
{
    ucp_request_param_t none = {0};
    ucs_status_ptr_t send, close;
    local_t local;
    char in[4];
    ucp_ep_h ep;
    int way;

    local_open(&local);
    for (way = 0; way < 3; ++way) {
        ep   = more_ep(&local);
        send = ucp_tag_send_nbx(ep, "abc", 4, 1, &none);
        if (way == 0) {
            ucp_ep_destroy(ep);
        } else {
            close = (way == 1) ? ucp_disconnect_nb(ep) :
                                 ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH);
            ck_assert_int_eq(local_wait(&local, close), UCS_OK);
        }
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, 1)),
                         UCS_OK);
        ck_assert_str_eq(in, "abc");
    }
    local_close(&local);
}
END_TEST

START_TEST(closing_by_force_cancels_what_waits_for_the_peer)
{
    ucp_request_param_t none = {0};
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;

    local_open(&local);
    ep   = more_ep(&local);
    send = ucp_tag_send_sync_nbx(ep, "abc", 4, 1, &none);
    ck_assert_int_eq(local_wait(&local,
                                ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FORCE)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    local_close(&local);
}
END_TEST

START_TEST(an_unknown_way_of_closing_closes_nothing)
{
    local_t local;
    char in[4];

    local_open(&local);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_ep_close_nb(local.ep, 2)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(local_wait(&local, local_send(&local, "abc", 4, 1)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, in, 4, 1)), UCS_OK);
    local_close(&local);
}
END_TEST

static ucs_status_t modify(ucp_ep_h ep, const ucp_ep_params_t *params)
{
    return UCS_PTR_RAW_STATUS(ucp_ep_modify_nb(ep, params));
}

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
}

START_TEST(what_is_the_users_in_an_endpoint_can_be_changed)
{
    int mark, mark2;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_USER_DATA | UCP_EP_PARAM_FIELD_NAME |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .user_data   = &mark,
        .name        = "changed",
        .err_mode    = UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = {.cb = on_error, .arg = &mark2},
    };
    ucp_ep_attr_t attr = {
        .field_mask = UCP_EP_ATTR_FIELD_NAME | UCP_EP_ATTR_FIELD_USER_DATA,
    };
    local_t local;

    local_open(&local);
    ck_assert_int_eq(modify(local.ep, &params), UCS_OK);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_str_eq(attr.name, "changed");
    ck_assert_ptr_eq(attr.user_data, &mark);

    /* Without the parameter user_data, the error handler's argument becomes the
     * endpoint's user data. */
    params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLER;
    ck_assert_int_eq(modify(local.ep, &params), UCS_OK);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_ptr_eq(attr.user_data, &mark2);
    ck_assert_str_eq(attr.name, "changed");
    local_close(&local);
}
END_TEST

START_TEST(whom_an_endpoint_leads_to_cannot_be_changed)
{
    static const uint64_t fixed[] = {
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,    UCP_EP_PARAM_FIELD_SOCK_ADDR,
        UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR,   UCP_EP_PARAM_FIELD_CONN_REQUEST,
        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
    };
    int mark;
    ucp_ep_params_t params = {
        .user_data = &mark,
        .err_mode  = UCP_ERR_HANDLING_MODE_PEER,
    };
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_USER_DATA};
    local_t local;
    size_t i;

    local_open(&local);
    params.address = own_address(local.worker);
    for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); ++i) {
        params.field_mask = fixed[i] | UCP_EP_PARAM_FIELD_USER_DATA;
        ck_assert_int_eq(modify(local.ep, &params), UCS_ERR_INVALID_PARAM);
        ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
        ck_assert_ptr_null(attr.user_data); /* no change */
    }
    ucp_worker_release_address(local.worker, (ucp_address_t *)params.address);
    local_close(&local);
}
END_TEST

SUITE_MAIN("old ways with endpoints", closing_by_flush_completes_what_was_sent,
           closing_by_force_cancels_what_waits_for_the_peer,
           an_unknown_way_of_closing_closes_nothing,
           what_is_the_users_in_an_endpoint_can_be_changed,
           whom_an_endpoint_leads_to_cannot_be_changed)
