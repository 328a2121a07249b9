/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager messages in several fragments (ucp/tag/multi.h): messages of any
 * length, and single fragments that the test delivers, with other events
 * between two of them.
 */
#include "multi_fragments.h"

/* --------------------------------------------------------- of any length -- */

static const size_t lengths[] = {1,     8192,  8193,   10000,
                                 20000, 65536, 300001, 1 << 20};

enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

START_TEST(messages_of_any_length_need_no_receiver)
{
    ucs_status_ptr_t request;
    local_t local;
    int i;

    open_with(&local, "inf");
    for (i = 0; i < LENGTHS; ++i) {
        memset(target, 0, sizeof(target));
        request = local_send(&local, source, lengths[i], TAG);
        ck_assert_int_eq(local_wait(&local, request), UCS_OK);
        local_await(&local, TAG);
        request = local_recv(&local, target, lengths[i], TAG);
        ck_assert_int_eq(local_wait(&local, request), UCS_OK);
        am_check(target, lengths[i], 2);

        memset(target, 0, sizeof(target));
        request = local_recv(&local, target, lengths[i], TAG);
        ck_assert_int_eq(local_wait(&local, local_send(&local, source,
                                                       lengths[i], TAG)),
                         UCS_OK);
        ck_assert_int_eq(local_wait(&local, request), UCS_OK);
        am_check(target, lengths[i], 2);
    }
    close_clean(&local);
}
END_TEST

START_TEST(a_wish_for_quick_completion_is_stronger_than_the_threshold)
{
    ucp_request_param_t fast = {.op_attr_mask = UCP_OP_ATTR_FLAG_FAST_CMPL};
    am_seen_t seen           = {.answer = UCS_OK};
    char *buffer             = malloc(100000);
    local_t local;

    open_with(&local, "0");
    am_set(&local, ID, 0, &seen);
    memcpy(buffer, source, 100000);
    ck_assert_int_eq(local_wait(&local, ucp_tag_send_nbx(local.ep, buffer,
                                                         100000, TAG, &fast)),
                     UCS_OK);
    /* the send is complete: the source must not be read any more */
    memset(buffer, 0xff, 100000);
    free(buffer);
    local_await(&local, TAG);
    ck_assert_int_eq(local_wait(&local,
                                local_recv(&local, target, 100000, TAG)),
                     UCS_OK);
    am_check(target, 100000, 2);

    ck_assert_int_eq(local_wait(&local, ucp_am_send_nbx(local.ep, ID, NULL, 0,
                                                        source, 100000, &fast)),
                     UCS_OK);
    am_await(&local, &seen, 1);
    ck_assert_uint_eq(seen.attr & UCP_AM_RECV_ATTR_FLAG_RNDV, 0);
    ck_assert_uint_eq(seen.length, 100000);

    /* only a message of one fragment can be forced to complete at once */
    fast.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    ck_assert_int_eq(am_status(ucp_tag_send_nbx(local.ep, source, 100000, TAG,
                                                &fast)),
                     UCS_ERR_NO_RESOURCE);
    close_clean(&local);
}
END_TEST

START_TEST(a_large_one_waits_for_its_receiver_in_spite_of_that_wish)
{
    ucp_request_param_t fast = {.op_attr_mask = UCP_OP_ATTR_FLAG_FAST_CMPL};
    am_seen_t seen           = {.answer = UCS_OK};
    ucs_status_ptr_t send, recv;
    local_t local;

    setenv("UCX_RNDV_SEND_NBR_THRESH", "100000", 1);
    open_with(&local, "0");
    unsetenv("UCX_RNDV_SEND_NBR_THRESH");
    am_set(&local, ID, 0, &seen);
    send = ucp_tag_send_nbx(local.ep, source, 100000, TAG, &fast);
    ck_assert(UCS_PTR_IS_PTR(send));
    local_await(&local, TAG);
    am_settle(&local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    recv = local_recv(&local, target, 100000, TAG);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    am_check(target, 100000, 2);

    send = ucp_am_send_nbx(local.ep, ID, NULL, 0, source, 100000, &fast);
    am_await(&local, &seen, 1);
    ck_assert_uint_ne(seen.attr & UCP_AM_RECV_ATTR_FLAG_RNDV, 0);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    close_clean(&local);
}
END_TEST

START_TEST(a_synchronous_one_waits_for_its_receive)
{
    ucs_status_ptr_t send, recv;
    local_t local;
    int i;

    open_with(&local, "inf");
    for (i = 0; i < LENGTHS; ++i) {
        send = ucp_tag_send_sync_nbx(local.ep, source, lengths[i], TAG,
                                     &am_none);
        ck_assert(UCS_PTR_IS_PTR(send));
        local_await(&local, TAG);
        am_settle(&local);
        ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
        memset(target, 0, sizeof(target));
        recv = local_recv(&local, target, lengths[i], TAG);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
        am_check(target, lengths[i], 2);
    }
    close_clean(&local);
}
END_TEST

/* ----------------------------------------- active messages of any length -- */

static size_t order[8];
static unsigned num_seen;

static ucs_status_t note_length(void *arg, const void *header,
                                size_t header_length, void *data, size_t length,
                                const ucp_am_recv_param_t *param)
{
    order[num_seen++] = length;
    return UCS_OK;
}

START_TEST(active_messages_below_the_threshold_stay_in_order)
{
    static const size_t sent[]   = {65536, 8, 16, 300000, 8192, 1, 100000, 0};
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id = ID,
        .cb = note_length,
    };
    ucs_status_ptr_t requests[8];
    local_t local;
    double start;
    int i;

    open_with(&local, "1m");
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(local.worker, &param),
                     UCS_OK);
    num_seen = 0;
    for (i = 0; i < 8; ++i) {
        requests[i] = ucp_am_send_nbx(local.ep, ID, NULL, 0, source, sent[i],
                                      &am_none);
    }
    start = local_now();
    while (num_seen < 8) {
        local_progress(&local, start);
    }
    for (i = 0; i < 8; ++i) {
        ck_assert_uint_eq(order[i], sent[i]);
        ck_assert_int_eq(local_wait(&local, requests[i]), UCS_OK);
    }
    close_clean(&local);
}
END_TEST

START_TEST(an_active_message_in_fragments_is_like_one_that_is_whole)
{
    static const size_t headers[] = {0, 1, 40, 300, 4000};
    const uint32_t eager          = UCP_AM_SEND_FLAG_EAGER;
    am_seen_t seen                = {.answer = UCS_INPROGRESS};
    ucs_status_ptr_t request;
    local_t local;
    int i;

    open_with(&local, "0");
    am_set(&local, ID, 0, &seen);
    for (i = 0; i < 5; ++i) {
        request = am_send(&local, ID, headers[i], 50000,
                          eager | UCP_AM_SEND_FLAG_REPLY |
                              UCP_AM_SEND_FLAG_COPY_HEADER);
        memset(am_header, 0, headers[i]);
        am_await(&local, &seen, (unsigned)i + 1);
        ck_assert_int_eq(local_wait(&local, request), UCS_OK);
        ck_assert_uint_eq(seen.header_length, headers[i]);
        ck_assert_uint_eq(seen.length, 50000);
        ck_assert_uint_eq(seen.attr, UCP_AM_RECV_ATTR_FLAG_DATA |
                                         UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
        ck_assert_ptr_nonnull(seen.reply_ep);
        memset(target, 0, 50000);
        if (i % 2) {
            am_check(seen.data, 50000, 2);
            ucp_am_data_release(local.worker, seen.data);
        } else {
            ck_assert_ptr_null(ucp_am_recv_data_nbx(local.worker, seen.data,
                                                    target, 50000, &am_none));
            am_check(target, 50000, 2);
        }
    }
    close_clean(&local);
}
END_TEST

/* ------------------------------------------------- between two fragments -- */

START_TEST(a_probe_sees_the_whole_length_from_the_first_fragment_on)
{
    ucp_tag_recv_info_t info    = {0};
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucp_tag_message_h message;
    ucs_status_ptr_t recv;
    local_t local;
    int taken;

    for (taken = 0; taken < 3; ++taken) {
        open_introduced(&local);
        say_first(&local, 1, TOTAL, PART, 0);
        message = ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, taken, &info);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(info.length, TOTAL);
        ck_assert_uint_eq(info.sender_tag, TAG);
        if (taken == 2) {
            /* the message is complete before its receive is posted */
            say_rest(&local, 1, PART);
        } else {
            recv = taken ? ucp_tag_msg_recv_nbx(local.worker, target, TOTAL,
                                                message, &at_once) :
                           ucp_tag_recv_nbx(local.worker, target, TOTAL, TAG,
                                            UINT64_MAX, &at_once);
            ck_assert_int_eq(am_status(recv), UCS_ERR_NO_RESOURCE);
        }
        recv = taken ? ucp_tag_msg_recv_nbx(local.worker, target, TOTAL,
                                            message, &am_none) :
                       local_recv(&local, target, TOTAL, TAG);
        if (taken < 2) {
            ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
            say_rest(&local, 1, PART);
        }
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        am_check(target, TOTAL, 2);
        close_clean(&local);
    }
}
END_TEST

START_TEST(messages_may_alternate_fragment_by_fragment)
{
    static char other[TOTAL];
    ucs_status_ptr_t recv, second;
    size_t offset;
    local_t local;

    open_introduced(&local);
    recv = local_recv(&local, target, TOTAL, TAG);
    say_first(&local, 1, TOTAL, 0, 0);
    say_first(&local, 2, TOTAL, 0, 0);
    second = local_recv(&local, other, TOTAL, TAG);
    for (offset = 0; offset < TOTAL; offset += PART) {
        say_next(&local, 2, offset, PART);
        ck_assert_ptr_null(local_send(&local, source, 8, TAG + 1));
        say_next(&local, 1, offset, PART);
    }
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, second), UCS_OK);
    am_check(target, TOTAL, 2);
    am_check(other, TOTAL, 2);
    for (offset = 0; offset < TOTAL; offset += PART) {
        local_await(&local, TAG + 1);
        ck_assert_ptr_null(local_recv(&local, target, 8, TAG + 1));
    }
    close_clean(&local);
}
END_TEST

static unsigned unpacked, finished;

static void *generic_start(void *context, const void *buffer, size_t count)
{
    return (void *)buffer;
}

static void *generic_start_unpack(void *context, void *buffer, size_t count)
{
    return buffer;
}

static size_t generic_size(void *state)
{
    return TOTAL;
}

static size_t generic_pack(void *state, size_t offset, void *dest, size_t max)
{
    return 0; /* packs nothing, which is an error */
}

static ucs_status_t generic_unpack(void *state, size_t offset, const void *src,
                                   size_t length)
{
    memcpy((char *)state + offset, src, length);
    ++unpacked;
    return UCS_OK;
}

static void generic_finish(void *state)
{
    ++finished;
}

static const ucp_generic_dt_ops_t generic_ops = {
    generic_start, generic_start_unpack, generic_size,
    generic_pack,  generic_unpack,       generic_finish,
};

START_TEST(any_datatype_receives_it_early_and_late)
{
    ucp_dt_iov_t iov[] = {
        {target, 1},
        {target + 1, 1500},
        {NULL, 0},
        {target + 1501, TOTAL - 1501},
    };
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    ucp_datatype_t generic;
    ucs_status_ptr_t recv;
    local_t local;
    int late, list;

    ck_assert_int_eq(ucp_dt_create_generic(&generic_ops, NULL, &generic),
                     UCS_OK);
    for (late = 0; late < 4; ++late) {
        for (list = 0; list < 2; ++list) {
            open_introduced(&local);
            unpacked = finished = 0;
            if (late > 0) {
                say_first(&local, 1, TOTAL, PART, 0);
            }
            if (late > 1) {
                say_next(&local, 1, PART, PART);
            }
            if (late > 2) {
                say_next(&local, 1, 2 * PART, PART);
            }
            param.datatype = list ? ucp_dt_make_iov() : generic;
            recv = ucp_tag_recv_nbx(local.worker, list ? (void *)iov : target,
                                    list ? 4 : 1, TAG, UINT64_MAX, &param);
            if (late == 0) {
                say_first(&local, 1, TOTAL, PART, 0);
            }
            say_rest(&local, 1, (late > 1) ? 2 * PART : PART);
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            am_check(target, TOTAL, 2);
            /* a generic datatype is unpacked by one call, not in parts */
            ck_assert_uint_eq(unpacked, list ? 0 : 1);
            ck_assert_uint_eq(finished, list ? 0 : 1);
            close_clean(&local);
        }
    }
    ucp_dt_destroy(generic);
}
END_TEST

START_TEST(a_receive_that_is_too_small_ends_and_costs_no_other)
{
    ucs_status_ptr_t recv;
    local_t local;
    int early;

    for (early = 0; early < 2; ++early) {
        open_introduced(&local);
        if (early) {
            say_first(&local, 1, TOTAL, PART, 0);
        }
        recv = local_recv(&local, target, TOTAL - 1, TAG);
        if (!early) {
            say_first(&local, 1, TOTAL, PART, 0);
        }
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_MESSAGE_TRUNCATED);
        recv = local_recv(&local, target, TOTAL, TAG);
        say_rest(&local, 1, PART);
        ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
        say_first(&local, 2, TOTAL, PART, 0);
        say_rest(&local, 2, PART);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        am_check(target, TOTAL, 2);
        close_clean(&local);
    }
}
END_TEST

START_TEST(a_matched_receive_is_not_cancelled)
{
    ucs_status_ptr_t recv;
    local_t local;
    int early;

    for (early = 0; early < 2; ++early) {
        open_introduced(&local);
        if (early) {
            say_first(&local, 1, TOTAL, PART, 0);
        }
        recv = local_recv(&local, target, TOTAL, TAG);
        if (!early) {
            say_first(&local, 1, TOTAL, PART, 0);
        }
        ucp_request_cancel(local.worker, recv);
        ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
        say_rest(&local, 1, PART);
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        am_check(target, TOTAL, 2);
        close_clean(&local);
    }
}
END_TEST

START_TEST(a_synchronous_one_is_acknowledged_when_it_is_matched)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_with(&local, "inf");
    send = ucp_tag_send_sync_nbx(local.ep, source, 1, TAG + 1, &am_none);
    am_settle(&local);
    say_first(&local, 1000, TOTAL, PART, ucp_request_of(send)->id);
    am_settle(&local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    recv = local_recv(&local, target, TOTAL, TAG);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    say_rest(&local, 1000, PART);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, target, 1, TAG + 1)),
                     UCS_OK);
    close_clean(&local);
}
END_TEST

START_TEST(a_send_that_fails_in_the_middle_tells_the_receiver)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_AM_SEND_FLAG_EAGER,
    };
    am_seen_t seen = {0};
    ucs_status_ptr_t recv;
    local_t local;

    setenv("UCX_SELF_SEG_SIZE", "1k", 1);
    open_with(&local, "inf");
    unsetenv("UCX_SELF_SEG_SIZE");
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(ucp_dt_create_generic(&generic_ops, NULL, &param.datatype),
                     UCS_OK);
    recv = local_recv(&local, target, TOTAL, TAG);
    ck_assert_int_eq(local_wait(&local, ucp_tag_send_nbx(local.ep, source, 1,
                                                         TAG, &param)),
                     UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, ucp_am_send_nbx(local.ep, ID, NULL, 0,
                                                        source, 1, &param)),
                     UCS_ERR_IO_ERROR);
    am_settle(&local);
    /* the active message is shorter: it contains the packed bytes only, as it
     * does with a single fragment */
    ck_assert_uint_eq(seen.calls, 1);
    ck_assert_uint_lt(seen.length, TOTAL);
    ucp_dt_destroy(param.datatype);
    close_clean(&local);
}
END_TEST

SUITE_MAIN("eager messages in fragments",
           messages_of_any_length_need_no_receiver,
           a_wish_for_quick_completion_is_stronger_than_the_threshold,
           a_large_one_waits_for_its_receiver_in_spite_of_that_wish,
           a_synchronous_one_waits_for_its_receive,
           active_messages_below_the_threshold_stay_in_order,
           an_active_message_in_fragments_is_like_one_that_is_whole,
           a_probe_sees_the_whole_length_from_the_first_fragment_on,
           messages_may_alternate_fragment_by_fragment,
           any_datatype_receives_it_early_and_late,
           a_receive_that_is_too_small_ends_and_costs_no_other,
           a_matched_receive_is_not_cancelled,
           a_synchronous_one_is_acknowledged_when_it_is_matched,
           a_send_that_fails_in_the_middle_tells_the_receiver)
