/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generic datatypes, correct and faulty, with every protocol: each pack or
 * unpack state that is started is finished once, and both sides get errors.
 * Also messages without data, with each kind of datatype.
 */
#include "local.h"

static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static char out[200000], in[200000];

/* Behaviour of the datatype, which behave() sets, and call counts. */
static struct {
    size_t most;         /* Most bytes that one call packs */
    size_t end;          /* Offset from which on nothing is packed */
    ucs_status_t unpack; /* Result of unpacking bytes after the 50th */
    int started;
    int finished;
    int unpacked; /* Number of calls of unpack */
} dt;

static void *start_pack(void *context, const void *buffer, size_t count)
{
    ++dt.started;
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    ++dt.started;
    return buffer;
}

static size_t packed_size(void *state)
{
    return *(size_t *)state;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t length = (max < dt.most) ? max : dt.most;

    if (offset + length > dt.end) {
        length = (offset < dt.end) ? dt.end - offset : 0;
    }
    memcpy(dest, (char *)state + sizeof(size_t) + offset, length);
    return length;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    ++dt.unpacked;
    memcpy((char *)state + sizeof(size_t) + offset, src, length);
    return (offset + length > 50) ? dt.unpack : UCS_OK;
}

static void finish(void *state)
{
    ++dt.finished;
}

static void open_generic(local_t *local, ucp_request_param_t *param)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };

    local_open(local);
    memset(param, 0, sizeof(*param));
    param->op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &param->datatype),
                     UCS_OK);
}

static void close_generic(local_t *local, ucp_request_param_t *param)
{
    local_close(local);
    ck_assert_int_eq(dt.started, dt.finished);
    ucp_dt_destroy(param->datatype);
}

/* Sets the behaviour of the datatype for messages of `size` bytes. `most`,
 * `end`, `status`: as the members most, end and unpack of `dt`. */
static void behave(size_t size, size_t most, size_t end, ucs_status_t status)
{
    *(size_t *)out = size;
    *(size_t *)in  = size;
    dt.most        = most;
    dt.end         = end;
    dt.unpack      = status;
}

/* Sends one message and stores the final status of both sides. With `early` the
 * message is sent before its receive is posted. */
static void exchange(local_t *local, const ucp_request_param_t *param,
                     int early, int sync, ucs_status_t *sent,
                     ucs_status_t *received)
{
    ucs_status_ptr_t send, recv = NULL;

    if (!early) {
        recv = ucp_tag_recv_nbx(local->worker, in, 1, 1, UINT64_MAX, param);
    }
    send = (sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx)(local->ep, out, 1,
                                                             1, param);
    if (early) {
        local_await(local, 1);
        recv = ucp_tag_recv_nbx(local->worker, in, 1, 1, UINT64_MAX, param);
    }
    *received = local_wait(local, recv);
    *sent     = local_wait(local, send);
}

START_TEST(data_packed_in_small_pieces_arrives_whole)
{
    static const size_t sizes[] = {0, 1, 100, 5000, 9000, 150000};
    static const size_t most[]  = {1000, 7000, SIZE_MAX};
    ucp_request_param_t param;
    ucs_status_t sent, received;
    local_t local;
    size_t i, j;
    int k;

    open_generic(&local, &param);
    for (i = 0; i < sizeof(out); ++i) {
        out[i] = (char)(i * 13);
    }
    for (i = 0; i < 6; ++i) {
        for (j = 0; j < 3; ++j) {
            for (k = 0; k < 4; ++k) {
                memset(in, 0, sizeof(in));
                behave(sizes[i], most[j], SIZE_MAX, UCS_OK);
                exchange(&local, &param, k & 1, k & 2, &sent, &received);
                ck_assert_int_eq(sent, UCS_OK);
                ck_assert_int_eq(received, UCS_OK);
                ck_assert_mem_eq(in, out, sizeof(size_t) + sizes[i]);
            }
        }
    }
    close_generic(&local, &param);
}
END_TEST

/* Unpack functions may not support a part of an element: every message, also
 * one in fragments, must be unpacked by one call. */
START_TEST(every_message_is_unpacked_at_once)
{
    static const size_t sizes[]     = {1, 5000, 70001, 199990};
    const ucp_request_param_t bytes = {0};
    ucs_status_ptr_t send, recv;
    ucp_request_param_t param;
    ucs_status_t status;
    local_t local;
    size_t i;
    int early;

    open_generic(&local, &param);
    for (i = 0; i < sizeof(out); ++i) {
        out[i] = (char)(i * 17);
    }
    for (i = 0; i < 4; ++i) {
        for (early = 0; early < 2; ++early) {
            behave(sizes[i], SIZE_MAX, SIZE_MAX, UCS_OK);
            dt.unpacked = 0;
            recv        = NULL;
            if (!early) {
                recv = ucp_tag_recv_nbx(local.worker, in, 1, 1, UINT64_MAX,
                                        &param);
            }
            send = ucp_tag_send_nbx(local.ep, out + sizeof(size_t), sizes[i], 1,
                                    &bytes);
            if (early) {
                local_await(&local, 1);
                recv = ucp_tag_recv_nbx(local.worker, in, 1, 1, UINT64_MAX,
                                        &param);
            }
            status = local_wait(&local, recv);
            ck_assert_int_eq(status, UCS_OK);
            status = local_wait(&local, send);
            ck_assert_int_eq(status, UCS_OK);
            ck_assert_int_eq(dt.unpacked, 1);
            ck_assert_mem_eq(in + sizeof(size_t), out + sizeof(size_t),
                             sizes[i]);
        }
    }
    close_generic(&local, &param);
}
END_TEST

START_TEST(a_datatype_that_stops_packing_is_an_error)
{
    static const size_t sizes[] = {100, 5000, 150000};
    ucp_request_param_t param;
    ucs_status_t sent, received;
    local_t local;
    size_t i;
    int k;

    open_generic(&local, &param);
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 4; ++k) {
            behave(sizes[i], SIZE_MAX, sizes[i] / 2, UCS_OK);
            exchange(&local, &param, k & 1, k & 2, &sent, &received);
            ck_assert_int_eq(sent, UCS_ERR_IO_ERROR);
            /* an eager message is shorter: it contains the packed bytes only */
            ck_assert_int_eq(received,
                             (sizes[i] > 8192) ? UCS_ERR_IO_ERROR : UCS_OK);
        }
    }
    close_generic(&local, &param);
}
END_TEST

START_TEST(a_failing_unpack_is_the_status_of_the_receive)
{
    static const size_t sizes[] = {100, 5000, 150000};
    ucp_request_param_t param;
    ucs_status_t sent, received;
    local_t local;
    size_t i;
    int k;

    open_generic(&local, &param);
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 4; ++k) {
            behave(sizes[i], SIZE_MAX, SIZE_MAX, UCS_ERR_NO_ELEM);
            exchange(&local, &param, k & 1, k & 2, &sent, &received);
            ck_assert_int_eq(sent, UCS_OK);
            ck_assert_int_eq(received, UCS_ERR_NO_ELEM);
        }
    }
    close_generic(&local, &param);
}
END_TEST

START_TEST(a_receive_that_is_too_small_finishes_its_datatype)
{
    static const size_t sizes[] = {100, 5000, 150000};
    ucp_request_param_t param;
    ucs_status_t sent, received;
    local_t local;
    size_t i;
    int k;

    open_generic(&local, &param);
    for (i = 0; i < 3; ++i) {
        for (k = 0; k < 4; ++k) {
            behave(sizes[i], SIZE_MAX, SIZE_MAX, UCS_OK);
            *(size_t *)in = 60;
            exchange(&local, &param, k & 1, k & 2, &sent, &received);
            ck_assert_int_eq(sent, UCS_OK);
            ck_assert_int_eq(received, UCS_ERR_MESSAGE_TRUNCATED);
        }
    }
    close_generic(&local, &param);
}
END_TEST

START_TEST(what_is_cancelled_refused_or_left_finishes_its_datatype)
{
    ucp_request_param_t param, forced;
    ucs_status_ptr_t send[3], recv;
    local_t local;
    int i;

    open_generic(&local, &param);
    behave(150000, SIZE_MAX, SIZE_MAX, UCS_OK);
    forced = param;
    forced.op_attr_mask |= UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_tag_send_nbx(local.ep, out, 1, 1, &forced)),
                     UCS_ERR_NO_RESOURCE);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_tag_recv_nbx(local.worker, in, 1, 1, 0, &forced)),
                     UCS_ERR_NO_RESOURCE);
    recv = ucp_tag_recv_nbx(local.worker, in, 1, 1, 0, &param);
    ucp_request_cancel(local.worker, recv);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CANCELED);
    ck_assert_int_eq(dt.started, dt.finished);

    /* Receives that are posted and sends that are in flight when the endpoint
     * is closed by force and the worker is destroyed. */
    ucp_request_free(
        ucp_tag_recv_nbx(local.worker, in, 1, 99, UINT64_MAX, &param));
    for (i = 0; i < 3; ++i) {
        send[i] = ucp_tag_send_nbx(local.ep, out, 1, 1, &param);
    }
    ucp_request_free(ucp_tag_recv_nbx(local.worker, in, 1, 1, 0, &param));
    ucp_worker_progress(local.worker);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(ucp_request_check_status(send[i]), UCS_ERR_CANCELED);
        ucp_request_free(send[i]);
    }
    ucp_worker_destroy(local.worker);
    ucp_cleanup(local.context);
    ck_assert_int_eq(dt.started, dt.finished);
    ucp_dt_destroy(param.datatype);
}
END_TEST

START_TEST(nothing_at_all_is_sent_by_every_class_and_protocol)
{
    static const char *const thresholds[] = {"auto", "0", "inf"};
    ucp_dt_iov_t empty[2]                 = {{NULL, 0}, {NULL, 0}};
    ucp_request_param_t generic, param[5];
    ucs_status_ptr_t send, recv;
    void *buffers[5] = {NULL, NULL, NULL, empty, out};
    size_t counts[5] = {0, 0, 0, 2, 1};
    local_t local;
    int t, i, k;

    for (t = 0; t < 3; ++t) {
        setenv("UCX_RNDV_THRESH", thresholds[t], 1);
        open_generic(&local, &generic);
        behave(0, SIZE_MAX, SIZE_MAX, UCS_OK);
        for (i = 0; i < 5; ++i) {
            param[i] = generic;
        }
        param[0].op_attr_mask = 0;
        param[1].datatype     = ucp_dt_make_contig(8);
        param[2].datatype     = ucp_dt_make_iov();
        param[3].datatype     = ucp_dt_make_iov();
        for (i = 0; i < 5; ++i) {
            for (k = 0; k < 4; ++k) {
                recv = NULL;
                if (k & 1) {
                    recv = ucp_tag_recv_nbx(local.worker, buffers[i], counts[i],
                                            1, 0, &param[i]);
                }
                send = ((k & 2) ? ucp_tag_send_sync_nbx :
                                  ucp_tag_send_nbx)(local.ep, buffers[i],
                                                    counts[i], 1, &param[i]);
                if (!(k & 1)) {
                    local_await(&local, 1);
                    recv = ucp_tag_recv_nbx(local.worker, buffers[i], counts[i],
                                            1, 0, &param[i]);
                }
                ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
                ck_assert_int_eq(local_wait(&local, send), UCS_OK);
            }
        }
        close_generic(&local, &generic);
    }
    unsetenv("UCX_RNDV_THRESH");
}
END_TEST

SUITE_MAIN("generic datatypes", data_packed_in_small_pieces_arrives_whole,
           every_message_is_unpacked_at_once,
           a_datatype_that_stops_packing_is_an_error,
           a_failing_unpack_is_the_status_of_the_receive,
           a_receive_that_is_too_small_finishes_its_datatype,
           what_is_cancelled_refused_or_left_finishes_its_datatype,
           nothing_at_all_is_sent_by_every_class_and_protocol)
