/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small messages of device memory in flight. Their copies between host and
 * device memory are executed in the background, and several of them are
 * submitted to the emulated driver (tests/emulated) together. Such sends must
 * also keep their order, and be completed when they are cancelled or the
 * endpoint is closed. UCX_TLS, which meson.build sets, contains tcp and the
 * copier, which is the transport of the UCX plugin (plugins/cuda, rocm or ze)
 * that makes these copies.
 */
#include "sides.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /** Messages in flight at the same time, which form one window */
    WINDOW          = 64,
    /** Windows that are sent and counted, one after the other */
    ROUNDS          = 20,
    /** Maximum number of submissions of copies by one side, in percent of the
     * number of messages. 10 % is about 6 submissions for each window. */
    MAX_SUBMISSIONS = 10,
    /** Id of the active messages */
    AM_ID           = 5,
};

/* Returns the number of submissions of copies to the driver so far. With a
 * driver without DEVICE_BATCH, each submission of one or more copies ends with
 * one DEVICE_SIGNAL, so that call is counted. */
static unsigned long count_submissions(void)
{
#ifdef DEVICE_BATCH
    return emulated_calls(DEVICE_COPY) + emulated_calls(DEVICE_BATCH);
#else
    return emulated_calls(DEVICE_SIGNAL);
#endif
}

/* Sends one window of tagged messages. is_expected: the receives are posted
 * before the sends; otherwise they are posted after all messages have
 * arrived. */
static void run_window(char *from, char *to, int is_expected)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t sends[WINDOW], recvs[WINDOW];
    ucp_tag_recv_info_t info;
    int i;

    for (i = 0; is_expected && (i < WINDOW); ++i) {
        recvs[i] = ucp_tag_recv_nbx(sides[1].worker, to + i * SIDE_LENGTH,
                                    SIDE_LENGTH, i, UINT64_MAX, &param);
    }
    for (i = 0; i < WINDOW; ++i) {
        sends[i] = ucp_tag_send_nbx(sides[0].ep, from + i * SIDE_LENGTH,
                                    SIDE_LENGTH, i, &param);
    }
    for (i = 0; i < WINDOW; ++i) {
        finish(sends[i]);
    }
    while (!is_expected && (ucp_tag_probe_nb(sides[1].worker, WINDOW - 1,
                                             UINT64_MAX, 0, &info) == NULL)) {
        progress();
    }
    for (i = 0; !is_expected && (i < WINDOW); ++i) {
        recvs[i] = ucp_tag_recv_nbx(sides[1].worker, to + i * SIDE_LENGTH,
                                    SIDE_LENGTH, i, UINT64_MAX, &param);
    }
    for (i = 0; i < WINDOW; ++i) {
        finish(recvs[i]);
    }
}

/* State of the handler of active messages. */
static struct {
    char *to;                       /* Memory for the data of one window */
    int count;                      /* Messages of the window so far */
    ucs_status_ptr_t recvs[WINDOW]; /* Receive requests of these messages */
} arrived;

static ucs_status_t am_handler(void *arg, const void *header,
                               size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t none = {0};

    ck_assert_uint_eq(length, SIDE_LENGTH);
    ck_assert_int_lt(arrived.count, WINDOW);
    arrived.recvs[arrived.count] = ucp_am_recv_data_nbx(
        sides[1].worker, data, arrived.to + arrived.count * SIDE_LENGTH, length,
        &none);
    ++arrived.count;
    return UCS_OK;
}

/* Sends one window of active messages. */
static void run_am_window(char *from, char *to)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t sends[WINDOW];
    int i;

    arrived.to    = to;
    arrived.count = 0;
    for (i = 0; i < WINDOW; ++i) {
        sends[i] = ucp_am_send_nbx(sides[0].ep, AM_ID, NULL, 0,
                                   from + i * SIDE_LENGTH, SIDE_LENGTH, &param);
    }
    for (i = 0; i < WINDOW; ++i) {
        finish(sends[i]);
    }
    while (arrived.count < WINDOW) {
        progress();
    }
    for (i = 0; i < WINDOW; ++i) {
        finish(arrived.recvs[i]);
    }
}

/* Sends one window of messages on a stream. They are received into host memory,
 * because for streams only the copies of the sender are submitted together.
 * Then the data is copied to `to`, where the caller checks it. */
static void run_stream_window(char *from, char *to)
{
    ucp_request_param_t param = {0},
                        whole = {
                            .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                            .flags        = UCP_STREAM_RECV_FLAG_WAITALL,
                        };
    static char host[WINDOW * SIDE_LENGTH];
    ucs_status_ptr_t sends[WINDOW], recv;
    size_t length;
    int i;

    recv = ucp_stream_recv_nbx(sides[1].ep, host, sizeof(host), &length,
                               &whole);
    for (i = 0; i < WINDOW; ++i) {
        sends[i] = ucp_stream_send_nbx(sides[0].ep, from + i * SIDE_LENGTH,
                                       SIDE_LENGTH, &param);
    }
    for (i = 0; i < WINDOW; ++i) {
        finish(sends[i]);
    }
    finish(recv);
    memcpy(emulated_view(to, sizeof(host)), host, sizeof(host));
}

enum { UNEXPECTED, EXPECTED, ACTIVE, STREAM, NUM_KINDS };
static const char *const kinds[] = {"tag, unexpected", "tag, expected",
                                    "active messages", "stream, to host"};

/* Sends windows of messages and counts the submissions of their copies. The
 * first window is not counted. _i: the kind of messages, an index of
 * `kinds`. */
START_TEST(many_small_messages_share_submissions)
{
    char *from                = sides_allocate(WINDOW * SIDE_LENGTH);
    char *to                  = sides_allocate(WINDOW * SIDE_LENGTH);
    unsigned long submissions = 0, all = 0, made = 0;
    double messages = WINDOW * ROUNDS;
    unsigned char *view;
    int round, i;

    for (round = -1; round < ROUNDS; ++round) {
        if (round == 0) {
            submissions = count_submissions();
            all         = count_all();
            made        = count_costly();
        }
        view = emulated_view(from, WINDOW * SIDE_LENGTH);
        for (i = 0; i < WINDOW * SIDE_LENGTH; ++i) {
            view[i] = (unsigned char)(i * 7 + round);
        }
        if (_i == ACTIVE) {
            run_am_window(from, to);
        } else if (_i == STREAM) {
            run_stream_window(from, to);
        } else {
            run_window(from, to, _i == EXPECTED);
        }
        view = emulated_view(to, WINDOW * SIDE_LENGTH);
        for (i = 0; i < WINDOW * SIDE_LENGTH; ++i) {
            ck_assert_int_eq(view[i], (unsigned char)(i * 7 + round));
        }
    }
    submissions = count_submissions() - submissions;
    all         = count_all() - all;
    made        = count_costly() - made;
    printf("%d in flight, %s: %4.2f calls of the driver for a message on both"
           " sides, %5.3f submissions\n",
           WINDOW, kinds[_i], (double)all / messages,
           (double)submissions / messages);
    ck_assert_uint_eq(made, 0);
    ck_assert_uint_le(all * 10, CALLS_IN_A_WINDOW * WINDOW * ROUNDS);
    ck_assert_uint_le(submissions * 100, 2 * MAX_SUBMISSIONS * WINDOW * ROUNDS);
    sides_free(from);
    sides_free(to);
}
END_TEST

/* Sends a message whose copy is complete when the send returns. While the
 * message is in flight, the copies of the next sends are made in the
 * background: those sends return before their copies are complete. */
static void send_first(void)
{
    ucp_request_param_t param = {0};

    ck_assert_ptr_null(
        ucp_tag_send_nbx(sides[0].ep, sides[0].device, 1, 0, &param));
}

START_TEST(a_send_that_waits_for_its_copy_is_cancelled)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t cancelled, behind;
    ucp_tag_recv_info_t info;

    emulated_set_delay(20000);
    send_first();
    cancelled = ucp_tag_send_nbx(sides[0].ep, sides[0].device, SIDE_LENGTH, 1,
                                 &param);
    behind    = ucp_tag_send_nbx(sides[0].ep, sides[0].host, SIDE_LENGTH, 2,
                                 &param);
    ck_assert(UCS_PTR_IS_PTR(cancelled));
    ck_assert(UCS_PTR_IS_PTR(behind));
    ucp_request_cancel(sides[0].worker, cancelled);
    ck_assert_int_eq(result_of(cancelled), UCS_ERR_CANCELED);
    finish(behind);
    while (ucp_tag_probe_nb(sides[1].worker, 2, UINT64_MAX, 0, &info) == NULL) {
        progress();
    }
    ck_assert_ptr_null(
        ucp_tag_probe_nb(sides[1].worker, 1, UINT64_MAX, 0, &info));
    emulated_set_delay(0);
}
END_TEST

START_TEST(an_endpoint_is_closed_while_its_messages_are_copied)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags        = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucp_request_param_t none = {0};
    ucs_status_ptr_t sends[3];
    int i;

    emulated_set_delay(20000);
    send_first();
    for (i = 0; i < 3; ++i) {
        sends[i] = ucp_tag_send_nbx(sides[0].ep, sides[0].device, SIDE_LENGTH,
                                    1, &none);
        ck_assert(UCS_PTR_IS_PTR(sends[i]));
    }
    finish(ucp_ep_close_nbx(sides[0].ep, &param));
    sides[0].ep = NULL;
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(result_of(sends[i]), UCS_ERR_CANCELED);
    }
    emulated_set_delay(0);
}
END_TEST

/* Sends ordinary and synchronous messages in turn. Both are copied in the
 * background. */
START_TEST(synchronous_sends_keep_their_order)
{
    ucp_request_param_t param = {0};
    unsigned char *from       = emulated_view(sides[0].device, SIDE_LENGTH);
    unsigned char *to         = emulated_view(sides[1].device, SIDE_LENGTH);
    ucs_status_ptr_t sends[SIDE_LENGTH], recvs[SIDE_LENGTH];
    char *source = sides[0].device, *target = sides[1].device;
    int i;

    for (i = 0; i < SIDE_LENGTH; ++i) {
        from[i]  = (unsigned char)(i + 1);
        recvs[i] = ucp_tag_recv_nbx(sides[1].worker, target + i, 1, 7,
                                    UINT64_MAX, &param);
    }
    for (i = 0; i < SIDE_LENGTH; ++i) {
        sends[i] = (i % 2) ?
                       ucp_tag_send_sync_nbx(sides[0].ep, source + i, 1, 7,
                                             &param) :
                       ucp_tag_send_nbx(sides[0].ep, source + i, 1, 7, &param);
    }
    for (i = 0; i < SIDE_LENGTH; ++i) {
        finish(sends[i]);
        finish(recvs[i]);
        ck_assert_int_eq(to[i], i + 1);
    }
}
END_TEST

static void setup(void)
{
    ucp_am_handler_param_t am = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id    = AM_ID,
        .cb    = am_handler,
        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
    };

    sides_open(SIDE_LENGTH);
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(sides[1].worker, &am),
                     UCS_OK);
}

int main(void)
{
    Suite *suite = suite_create(DEVICE_SUITE " messages");
    TCase *tcase = tcase_create(DEVICE_SUITE " messages");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, sides_close);
    tcase_add_loop_test(tcase, many_small_messages_share_submissions, 0,
                        NUM_KINDS);
    tcase_add_test(tcase, a_send_that_waits_for_its_copy_is_cancelled);
    tcase_add_test(tcase, an_endpoint_is_closed_while_its_messages_are_copied);
    tcase_add_test(tcase, synchronous_sends_keep_their_order);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
