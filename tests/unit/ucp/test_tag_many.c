/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large numbers of tagged messages, and the information that a receive returns,
 * for each way in which a message can arrive: expected, unexpected or probed;
 * eager or by rendezvous.
 */
#include "local.h"

enum { MANY = 100000 };

static const ucp_request_param_t none = {0};

static char out[200000], in[200000];

static ucp_tag_t tag_of(uint64_t i)
{
    return (i << 32) | 3;
}

/* Sends a number and calls progress, so that the transport's queue stays
 * short. */
static void send_number(local_t *local, uint32_t i)
{
    ck_assert_int_eq(local_wait(local,
                                local_send(local, &i, sizeof(i), tag_of(i))),
                     UCS_OK);
    ucp_worker_progress(local->worker);
}

static void settle(local_t *local)
{
    int i;

    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(local->worker);
    }
}

START_TEST(messages_find_their_receives_among_100000)
{
    void **recvs     = calloc(MANY, sizeof(*recvs));
    uint32_t *values = calloc(MANY, sizeof(*values));
    local_t local;
    uint32_t i;

    local_open(&local);
    for (i = 0; i < MANY; ++i) {
        recvs[i] = local_recv(&local, &values[i], sizeof(*values), tag_of(i));
        ck_assert(UCS_PTR_IS_PTR(recvs[i]));
    }
    for (i = MANY; i-- > 0;) {
        send_number(&local, i);
    }
    for (i = 0; i < MANY; ++i) {
        ck_assert_int_eq(local_wait(&local, recvs[i]), UCS_OK);
        ck_assert_uint_eq(values[i], i);
    }
    local_close(&local);
    free(values);
    free(recvs);
}
END_TEST

START_TEST(receives_find_their_messages_among_100000)
{
    uint32_t value;
    local_t local;
    uint32_t i;

    local_open(&local);
    for (i = 0; i < MANY; ++i) {
        send_number(&local, i);
    }
    settle(&local);
    for (i = MANY; i-- > 0;) {
        value = UINT32_MAX;
        ck_assert_int_eq(local_wait(&local,
                                    local_recv(&local, &value, sizeof(value),
                                               tag_of(i))),
                         UCS_OK);
        ck_assert_uint_eq(value, i);
    }
    local_close(&local);
}
END_TEST

static void count_cancelled(void *request, ucs_status_t status,
                            const ucp_tag_recv_info_t *info, void *user_data)
{
    ck_assert_int_eq(status, UCS_ERR_CANCELED);
    ++*(unsigned *)user_data;
    ucp_request_free(request);
}

START_TEST(cancelling_100000_receives_ends_each_once)
{
    unsigned cancelled        = 0;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = count_cancelled,
        .user_data = &cancelled,
    };
    void **recvs = calloc(MANY, sizeof(*recvs));
    local_t local;
    uint32_t i;

    local_open(&local);
    for (i = 0; i < MANY; ++i) {
        recvs[i] = ucp_tag_recv_nbx(local.worker, in, sizeof(in), tag_of(i),
                                    UINT64_MAX, &param);
        ck_assert(UCS_PTR_IS_PTR(recvs[i]));
    }
    /* the test cancels one half of the receives, the destruction of the worker
     * the other half */
    for (i = MANY; i-- > MANY / 2;) {
        ucp_request_cancel(local.worker, recvs[i]);
    }
    ck_assert_uint_eq(cancelled, MANY / 2);
    local_close(&local);
    ck_assert_uint_eq(cancelled, MANY);
    free(recvs);
}
END_TEST

/* ------------------------------------------------------------ truncation -- */

typedef enum { EXPECTED, EARLY, PROBED, WAYS } way_t;

static ucs_status_ptr_t receive(local_t *local, way_t way, size_t length,
                                const ucp_request_param_t *param)
{
    ucp_tag_message_h message;
    ucp_tag_recv_info_t info;

    if (way != PROBED) {
        return ucp_tag_recv_nbx(local->worker, in, length, 9, UINT64_MAX,
                                param);
    }
    message = ucp_tag_probe_nb(local->worker, 9, UINT64_MAX, 1, &info);
    ck_assert_ptr_nonnull(message);
    return ucp_tag_msg_recv_nbx(local->worker, in, length, message, param);
}

START_TEST(a_receive_that_is_too_small_fails_and_its_send_does_not)
{
    static const size_t sizes[]     = {1, 100, 5000, 200000};
    static const char *const ways[] = {"inf", "1"};
    ucs_status_ptr_t send, recv;
    unsigned size, rndv, sync;
    ucs_status_t status;
    local_t local;
    way_t way;

    for (rndv = 0; rndv < 2; ++rndv) {
        setenv("UCX_RNDV_THRESH", ways[rndv], 1);
        local_open(&local);
        unsetenv("UCX_RNDV_THRESH");
        for (size = 0; size < 4; ++size) {
            for (sync = 0; sync < 2; ++sync) {
                for (way = 0; way < WAYS; ++way) {
                    memset(in, 'x', sizeof(in));
                    recv = (way == EXPECTED) ?
                               receive(&local, way, sizes[size] - 1, &none) :
                               NULL;
                    send = sync ? ucp_tag_send_sync_nbx(local.ep, out,
                                                        sizes[size], 9, &none) :
                                  ucp_tag_send_nbx(local.ep, out, sizes[size],
                                                   9, &none);
                    settle(&local);
                    if (way != EXPECTED) {
                        recv = receive(&local, way, sizes[size] - 1, &none);
                    }
                    status = local_wait(&local, recv);
                    ck_assert_int_eq(status, UCS_ERR_MESSAGE_TRUNCATED);
                    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
                    ck_assert_int_eq(in[sizes[size] - 1], 'x');
                }
            }
        }
        local_close(&local);
    }
}
END_TEST

/* --------------------------------------------------- receive information -- */

START_TEST(the_information_is_told_in_every_way)
{
    ucp_tag_recv_info_t info;
    ucp_request_param_t param = {
        .op_attr_mask       = UCP_OP_ATTR_FIELD_RECV_INFO,
        .recv_info.tag_info = &info,
    };
    ucs_status_ptr_t recv;
    local_t local;
    way_t way;

    local_open(&local);
    for (way = 0; way < WAYS; ++way) {
        memset(&info, 0xff, sizeof(info));
        recv = (way == EXPECTED) ? receive(&local, way, 100, &param) : NULL;
        ck_assert_int_eq(local_wait(&local, local_send(&local, out, 70, 9)),
                         UCS_OK);
        settle(&local);
        if (way != EXPECTED) {
            recv = receive(&local, way, 100, &param);
        }
        if (UCS_PTR_IS_PTR(recv)) {
            while (ucp_tag_recv_request_test(recv, &info) == UCS_INPROGRESS) {
                ucp_worker_progress(local.worker);
            }
            ucp_request_free(recv);
        } else {
            ck_assert_ptr_null(recv);
            ck_assert_int_ne(way, EXPECTED);
        }
        ck_assert_uint_eq(info.length, 70);
        ck_assert_uint_eq(info.sender_tag, 9);
    }
    local_close(&local);
}
END_TEST

START_TEST(a_synchronous_send_does_not_end_by_itself)
{
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucp_request_param_t soon = {.op_attr_mask = UCP_OP_ATTR_FLAG_FAST_CMPL};
    ucs_status_ptr_t send;
    local_t local;

    local_open(&local);
    send = ucp_tag_send_sync_nbx(local.ep, out, 8, 9, &at_once);
    ck_assert_int_eq(UCS_PTR_STATUS(send), UCS_ERR_NO_RESOURCE);
    settle(&local);
    ck_assert_ptr_null(
        ucp_tag_probe_nb(local.worker, 0, 0, 0, &(ucp_tag_recv_info_t){0}));

    send = ucp_tag_send_sync_nbx(local.ep, out, 0, 9, &soon);
    ck_assert(UCS_PTR_IS_PTR(send));
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    ck_assert_int_eq(local_wait(&local, receive(&local, PROBED, 0, &none)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(a_message_outlives_a_receive_that_could_not_be_at_once)
{
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t send, recv;
    local_t local;

    setenv("UCX_RNDV_THRESH", "1", 1);
    local_open(&local);
    unsetenv("UCX_RNDV_THRESH");
    memset(out, 'm', 1000);
    send = local_send(&local, out, 1000, 9);
    settle(&local);
    message = ucp_tag_probe_nb(local.worker, 9, UINT64_MAX, 1, &info);
    ck_assert_ptr_nonnull(message);
    recv = ucp_tag_msg_recv_nbx(local.worker, in, 1000, message, &at_once);
    ck_assert_int_eq(UCS_PTR_STATUS(recv), UCS_ERR_NO_RESOURCE);
    recv = ucp_tag_msg_recv_nbx(local.worker, in, 1000, message, &none);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(memcmp(in, out, 1000), 0);
    local_close(&local);
}
END_TEST

SUITE_MAIN("many tags", messages_find_their_receives_among_100000,
           receives_find_their_messages_among_100000,
           cancelling_100000_receives_ends_each_once,
           a_receive_that_is_too_small_fails_and_its_send_does_not,
           the_information_is_told_in_every_way,
           a_synchronous_send_does_not_end_by_itself,
           a_message_outlives_a_receive_that_could_not_be_at_once)
