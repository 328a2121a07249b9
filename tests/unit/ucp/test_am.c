/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager active messages over an endpoint to the worker itself: handlers, data
 * that they keep, and replies. test_am_send.c tests sending, test_am_rndv.c
 * rendezvous.
 */
#include "am.h"

#include <ucp/api/ucp_compat.h>

enum { ID = 5, NOBODY = 77 };

static const size_t header_lengths[] = {0, 1, 8, 63, 1000};
static const size_t lengths[]        = {0, 1, 8, 100, 1000, 5000};

#define COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

static char am_in[2000];

/* -------------------------------------------------------------- handlers -- */

START_TEST(a_message_runs_the_handler_of_its_id)
{
    am_seen_t seen = {0}, other = {0};
    local_t local;
    size_t h, l;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    am_set(&local, ID + 1, 0, &other);
    for (h = 0; h < COUNT(header_lengths); ++h) {
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = 0;
            ck_assert_int_eq(
                local_wait(&local, am_send(&local, ID, header_lengths[h],
                                           lengths[l], UCP_AM_SEND_FLAG_EAGER)),
                UCS_OK);
            am_await(&local, &seen, 1);
            ck_assert_uint_eq(seen.header_length, header_lengths[h]);
            ck_assert_uint_eq(seen.length, lengths[l]);
            ck_assert_uint_eq(seen.attr & (UCP_AM_RECV_ATTR_FIELD_REPLY_EP |
                                           UCP_AM_RECV_ATTR_FLAG_RNDV),
                              0);
        }
    }
    ck_assert_uint_eq(other.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(messages_of_one_endpoint_come_in_order)
{
    static am_seen_t seen;
    local_t local;
    ucs_status_ptr_t sends[20];
    int i;

    setenv("UCX_SELF_QUEUE_LEN", "3", 1);
    memset(&seen, 0, sizeof(seen));
    am_open(&local);
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < 20; ++i) {
        sends[i] = am_send(&local, ID, (i % 3) * 10, (i % 2) * 100 + i, 0);
    }
    for (i = 0; i < 20; ++i) {
        ck_assert_int_eq(local_wait(&local, sends[i]), UCS_OK);
    }
    am_await(&local, &seen, 20);
    ck_assert_uint_eq(seen.length, 119);
    local_close(&local);
    unsetenv("UCX_SELF_QUEUE_LEN");
}
END_TEST

START_TEST(a_message_without_a_handler_is_dropped)
{
    am_seen_t seen = {0};
    local_t local;

    am_open(&local);
    ck_assert_int_eq(local_wait(&local, am_send(&local, NOBODY, 8, 8, 0)),
                     UCS_OK);
    am_settle(&local);
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(local_wait(&local, am_send(&local, NOBODY, 8, 8, 0)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, am_send(&local, UINT16_MAX, 8, 8, 0)),
                     UCS_OK);
    am_set(&local, ID, 0, NULL);
    ck_assert_int_eq(local_wait(&local, am_send(&local, ID, 8, 8, 0)), UCS_OK);
    am_settle(&local);
    ck_assert_uint_eq(seen.calls, 0);
    am_set(&local, NOBODY, 0, NULL); /* there is no handler to remove */
    local_close(&local);
}
END_TEST

static local_t *acting;
static am_seen_t acting_other;

static void sets_more_handlers(void *seen, void *data)
{
    unsigned id;

    for (id = 100; id < 2000; id += 100) {
        am_set(acting, id, 0, &acting_other);
    }
    am_set(acting, ID, 0, NULL);
}

START_TEST(a_handler_may_set_handlers_and_remove_itself)
{
    am_seen_t seen = {.act = sets_more_handlers};
    local_t local;

    am_open(&local);
    acting = &local;
    memset(&acting_other, 0, sizeof(acting_other));
    am_set(&local, ID, 0, &seen);
    am_send(&local, ID, 8, 8, 0);
    am_send(&local, ID, 8, 8, 0);
    am_send(&local, 1900, 8, 8, 0);
    am_await(&local, &acting_other, 1);
    ck_assert_uint_eq(seen.calls, 1);
    local_close(&local);
}
END_TEST

START_TEST(an_invalid_handler_is_rejected)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = UINT16_MAX,
        .cb = am_handler,
    };
    local_t local;

    am_open(&local);
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_OK);
    param.id = UINT16_MAX + 1;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_ERR_INVALID_PARAM);
    param.id         = 1;
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_ERR_INVALID_PARAM);
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_CB;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_ERR_INVALID_PARAM);
    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                       UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
    param.flags = 1 << 8;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, 1, NULL, NULL,
                                               UCP_AM_FLAG_PERSISTENT_DATA),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);

    local_open(&local); /* without UCP_FEATURE_AM */
    param.flags = 0;
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_set_am_handler(local.worker, 1, NULL, NULL, 0),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

/* ------------------------------------------------------- persistent data -- */

START_TEST(persistent_data_stays_until_it_is_released)
{
    am_seen_t seen = {
        .answer = UCS_INPROGRESS,
    };
    void *held[COUNT(lengths)];
    local_t local;
    size_t l;

    am_open(&local);
    am_set(&local, ID, UCP_AM_FLAG_PERSISTENT_DATA, &seen);
    for (l = 0; l < COUNT(lengths); ++l) {
        am_send(&local, ID, 16, lengths[l], UCP_AM_SEND_FLAG_EAGER);
        am_await(&local, &seen, (unsigned)l + 1);
        ck_assert_uint_eq(seen.attr, UCP_AM_RECV_ATTR_FLAG_DATA);
        held[l] = seen.data;
    }
    am_settle(&local);
    for (l = 0; l < COUNT(lengths); ++l) {
        am_check(held[l], lengths[l], 2);
        ucp_am_data_release(local.worker, held[l]);
    }
    /* when the worker is destroyed, it frees data that the user has not
     * released */
    for (l = 0; l < COUNT(lengths); ++l) {
        am_send(&local, ID, 16, lengths[l], UCP_AM_SEND_FLAG_EAGER);
        am_await(&local, &seen, (unsigned)(l + 1 + COUNT(lengths)));
    }
    local_close(&local);
}
END_TEST

static void releases(void *arg, void *data)
{
    ucp_am_data_release(acting->worker, data);
}

START_TEST(a_handler_may_release_what_it_is_given)
{
    am_seen_t seen = {.act = releases};
    local_t local;
    size_t l;
    int kept;

    am_open(&local);
    acting = &local;
    am_set(&local, ID, UCP_AM_FLAG_PERSISTENT_DATA, &seen);
    for (kept = 0; kept < 2; ++kept) {
        seen.answer = kept ? UCS_INPROGRESS : UCS_OK;
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = 0;
            am_send(&local, ID, 16, lengths[l], UCP_AM_SEND_FLAG_EAGER);
            am_await(&local, &seen, 1);
        }
    }
    local_close(&local);
}
END_TEST

static unsigned received;
static ucs_status_t received_status;
static size_t received_length;

static void on_received(void *request, ucs_status_t status, size_t length,
                        void *user_data)
{
    ck_assert_ptr_eq(user_data, &received);
    ++received;
    received_status = status;
    received_length = length;
}

START_TEST(persistent_data_is_received_into_any_place)
{
    am_seen_t seen = {.answer = UCS_INPROGRESS};
    ucp_dt_iov_t iov[3];
    size_t got                = 0;
    ucp_request_param_t param = {
        .op_attr_mask     = UCP_OP_ATTR_FIELD_RECV_INFO,
        .recv_info.length = &got,
    };
    ucs_status_ptr_t request;
    local_t local;

    am_open(&local);
    am_set(&local, ID, UCP_AM_FLAG_PERSISTENT_DATA, &seen);

    am_send(&local, ID, 0, 1000, 0);
    am_await(&local, &seen, 1);
    ck_assert_ptr_null(
        ucp_am_recv_data_nbx(local.worker, seen.data, am_in, 2000, &param));
    ck_assert_uint_eq(got, 1000);
    am_check(am_in, 1000, 2);

    am_send(&local, ID, 0, 1000, 0);
    am_await(&local, &seen, 2);
    iov[0] = (ucp_dt_iov_t){am_in, 1};
    iov[1] = (ucp_dt_iov_t){NULL, 0};
    iov[2] = (ucp_dt_iov_t){am_in + 1, 999};
    memset(am_in, 0, 1000);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE |
                          UCP_OP_ATTR_FIELD_CALLBACK |
                          UCP_OP_ATTR_FIELD_USER_DATA |
                          UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.datatype   = ucp_dt_make_iov();
    param.cb.recv_am = on_received;
    param.user_data  = &received;
    received         = 0;
    request = ucp_am_recv_data_nbx(local.worker, seen.data, iov, 3, &param);
    ck_assert_int_eq(local_wait(&local, request), UCS_OK);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(received_length, 1000);
    am_check(am_in, 1000, 2);

    /* Errors: the buffer is too small; the datatype is invalid. The library
     * releases the data in both cases. */
    am_send(&local, ID, 0, 1000, 0);
    am_await(&local, &seen, 3);
    ck_assert_int_eq(am_status(ucp_am_recv_data_nbx(local.worker, seen.data,
                                                    am_in, 999, &am_none)),
                     UCS_ERR_MESSAGE_TRUNCATED);
    am_send(&local, ID, 0, 1000, 0);
    am_await(&local, &seen, 4);
    param.datatype = 5; /* invalid class */
    ck_assert_int_eq(am_status(ucp_am_recv_data_nbx(local.worker, seen.data,
                                                    am_in, 1, &param)),
                     UCS_ERR_INVALID_PARAM);
    local_close(&local);
}
END_TEST

START_TEST(data_is_aligned_as_the_worker_wants)
{
    static const size_t alignments[] = {1, 2, 8, 16, 64, 512, 4096};
    ucp_worker_params_t params       = {
              .field_mask = UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT,
    };
    ucp_params_t ctx_params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_AM,
    };
    ucp_worker_attr_t attr    = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucp_ep_params_t ep_params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    am_seen_t seen = {0};
    size_t a, l;
    local_t local;

    ck_assert_int_eq(ucp_init(&ctx_params, NULL, &local.context), UCS_OK);
    for (a = 0; a < COUNT(alignments) * 2; ++a) {
        size_t alignment = alignments[a / 2];

        params.am_alignment = alignment;
        ck_assert_int_eq(ucp_worker_create(local.context, &params,
                                           &local.worker),
                         UCS_OK);
        ck_assert_int_eq(ucp_worker_query(local.worker, &attr), UCS_OK);
        ep_params.address = attr.address;
        ck_assert_int_eq(ucp_ep_create(local.worker, &ep_params, &local.ep),
                         UCS_OK);
        ucp_worker_release_address(local.worker, attr.address);

        am_set(&local, ID, (a & 1) ? UCP_AM_FLAG_PERSISTENT_DATA : 0, &seen);
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = 0;
            am_send(&local, ID, 3, lengths[l],
                    UCP_AM_SEND_FLAG_EAGER |
                        ((l & 1) ? UCP_AM_SEND_FLAG_REPLY : 0));
            am_await(&local, &seen, 1);
            ck_assert_uint_eq((uintptr_t)seen.data % alignment, 0);
        }
        ck_assert_int_eq(local_wait(&local,
                                    ucp_ep_close_nbx(local.ep, &am_none)),
                         UCS_OK);
        ucp_worker_destroy(local.worker);
    }
    params.am_alignment = 24;
    ck_assert_int_eq(ucp_worker_create(local.context, &params, &local.worker),
                     UCS_ERR_INVALID_PARAM);
    params.am_alignment = 0;
    ck_assert_int_eq(ucp_worker_create(local.context, &params, &local.worker),
                     UCS_ERR_INVALID_PARAM);
    ucp_cleanup(local.context);
}
END_TEST

/* --------------------------------------------------------------- replies -- */

START_TEST(a_reply_endpoint_leads_back)
{
    am_seen_t seen = {0}, answer = {0};
    ucp_request_param_t reply = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_REPLY,
    };
    ucp_ep_h first = NULL;
    local_t local;
    size_t h, l;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    am_set(&local, ID + 1, 0, &answer);
    for (h = 0; h < COUNT(header_lengths); ++h) {
        for (l = 0; l < COUNT(lengths); ++l) {
            seen.calls = answer.calls = 0;
            ck_assert_int_eq(local_wait(&local,
                                        am_send(&local, ID, header_lengths[h],
                                                lengths[l], reply.flags)),
                             UCS_OK);
            am_await(&local, &seen, 1);
            ck_assert_uint_eq(seen.header_length, header_lengths[h]);
            ck_assert_uint_eq(seen.length, lengths[l]);
            ck_assert(seen.attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
            first = (first == NULL) ? seen.reply_ep : first;
            ck_assert_ptr_eq(seen.reply_ep, first);
            am_fill(am_data, 10, 2);
            ck_assert_int_eq(
                local_wait(&local, ucp_am_send_nbx(seen.reply_ep, ID + 1, NULL,
                                                   0, am_data, 10, &reply)),
                UCS_OK);
            am_await(&local, &answer, 1);
            ck_assert_ptr_ne(answer.reply_ep, NULL);
        }
    }
    local_close(&local);
}
END_TEST

START_TEST(a_reply_endpoint_outlives_the_sender)
{
    am_seen_t seen = {0};
    local_t local;
    double start;
    ucp_ep_h ep;
    int closes;

    for (closes = 0; closes < 2; ++closes) {
        am_open(&local);
        am_set(&local, ID, 0, &seen);
        ep         = local_ep(&local, UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
        seen.calls = 0;
        am_send_on(ep, ID, 0, 8, UCP_AM_SEND_FLAG_REPLY);
        am_await(&local, &seen, 1);
        ck_assert_ptr_ne(seen.reply_ep, ep);
        ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &am_none)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local,
                                    ucp_ep_close_nbx(local.ep, &am_none)),
                         UCS_OK);
        am_settle(&local);
        /* sends succeed until the close notification from the sender arrives */
        for (start = local_now();
             local_wait(&local, ucp_am_send_nbx(seen.reply_ep, ID, NULL, 0,
                                                am_data, 8, &am_none)) >=
             UCS_OK;) {
            local_progress(&local, start);
        }
        if (closes) {
            ck_assert_int_eq(am_status(
                                 ucp_ep_close_nbx(seen.reply_ep, &am_none)),
                             UCS_OK);
            am_settle(&local);
        }
        ucp_worker_destroy(local.worker);
        ucp_cleanup(local.context);
    }
}
END_TEST

SUITE_MAIN("active messages", a_message_runs_the_handler_of_its_id,
           messages_of_one_endpoint_come_in_order,
           a_message_without_a_handler_is_dropped,
           a_handler_may_set_handlers_and_remove_itself,
           an_invalid_handler_is_rejected,
           persistent_data_stays_until_it_is_released,
           a_handler_may_release_what_it_is_given,
           persistent_data_is_received_into_any_place,
           data_is_aligned_as_the_worker_wants, a_reply_endpoint_leads_back,
           a_reply_endpoint_outlives_the_sender)
