/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager messages of several fragments: of any length, and fragment by fragment,
 * with other events between two of them.
 */
#include "am.h"

#include "ucp/am/am.h"
#include "ucp/proto/ep.h"
#include "ucp/tag/multi.h"
#include "ucp/wireup/introduce.h"

#include <ucx/am.h>

enum {
    ID    = 5,
    TAG   = 7,
    TOTAL = 3000,
    PART  = 1000
};

static char source[1 << 20], target[1 << 20];

static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE
};

static void open_with(local_t *local, const char *rndv_thresh)
{
    setenv("UCX_RNDV_THRESH", rndv_thresh, 1);
    local_open_mode(local, UCP_FEATURE_TAG | UCP_FEATURE_AM,
                    UCS_THREAD_MODE_SINGLE);
    unsetenv("UCX_RNDV_THRESH");
    local_play_peer(local);
    am_fill(source, sizeof(source), 2);
    memset(target, 0, sizeof(target));
}

/* ---------------------------------------------------- injected fragments -- */

/* Delivers a message as if a peer had sent it, in memory of exactly its size:
 * sanitizers detect reads beyond the end. */
static void say(local_t *local, const void *data, size_t length)
{
    void *exact = malloc(length);

    memcpy(exact, data, length);
    ck_assert_int_eq(ucx_iface_deliver_am(local->worker->ifaces[0].iface,
                                          UCP_AM_ID_EAGER_FRAGMENT, exact,
                                          (unsigned)length, 0), UCS_OK);
    free(exact);
}

static ucp_multi_fragment_t
fragment_of(local_t *local, uint8_t kind, uint32_t message, uint64_t position)
{
    return (ucp_multi_fragment_t){
        .sender   = ucp_ep_wire_end(local->ep),
        .message  = ucp_le32(message),
        .kind     = kind,
        .position = ucp_le64(position)
    };
}

static void say_first(local_t *local, uint32_t message, uint64_t total,
                      size_t length, uint32_t request)
{
    struct {
        ucp_multi_fragment_t  fragment;
        ucp_tag_multi_first_t first;
        char                  payload[8192];
    } said = {
        .fragment = fragment_of(local, UCP_MULTI_FIRST_TAG, message, total),
        .first    = {ucp_le64(TAG), ucp_le32(request)}
    };

    memcpy(said.payload, source, length);
    say(local, &said, offsetof(typeof(said), payload) + length);
}

static void say_next(local_t *local, uint32_t message, uint64_t offset,
                     size_t length)
{
    struct {
        ucp_multi_fragment_t fragment;
        char                 payload[8192];
    } said = {
        .fragment = fragment_of(local, UCP_MULTI_NEXT, message, offset)
    };

    memcpy(said.payload,
           source + offset % (sizeof(source) - sizeof(said.payload)), length);
    say(local, &said, offsetof(typeof(said), payload) + length);
}

static void say_rest(local_t *local, uint32_t message, size_t from)
{
    for (; from < TOTAL; from += PART) {
        say_next(local, message, from, PART);
    }
}

/* Opens an endpoint that the worker handles as one of a known peer. */
static void open_introduced(local_t *local)
{
    open_with(local, "auto");
    ck_assert_int_eq(ucp_wireup_introduce(local->ep), UCS_OK);
    am_settle(local);
}

static ucp_ep_h reply_ep(local_t *local)
{
    ucp_wire_end_t end = ucp_ep_wire_end(local->ep);

    return ucp_wireup_reply_ep(local->worker, &end);
}

/* Checks that no message is left, and that the worker still receives. */
static void close_clean(local_t *local)
{
    ucp_tag_recv_info_t info;
    ucs_status_ptr_t send;

    if (reply_ep(local) != NULL) {
        ck_assert_ptr_null(ucp_ep_multi(reply_ep(local))->arriving);
        ck_assert_uint_eq(ucp_ep_multi(reply_ep(local))->num_arriving, 0);
    }
    ck_assert_ptr_null(ucp_tag_probe_nb(local->worker, 0, 0, 0, &info));
    memset(target, 0, TOTAL);
    send = local_send(local, source, 8, TAG);
    local_await(local, TAG);
    ck_assert_int_eq(local_wait(local, local_recv(local, target, TOTAL, TAG)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(local, send), UCS_OK);
    am_check(target, 8, 2);
    local_close(local);
}

/* --------------------------------------------------------- of any length -- */

static const size_t lengths[] = {1, 8192, 8193, 10000, 20000, 65536, 300001,
                                 1 << 20};

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
    memset(buffer, 0xff, 100000); /* nobody reads it any more */
    free(buffer);
    local_await(&local, TAG);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, target, 100000,
                                                   TAG)), UCS_OK);
    am_check(target, 100000, 2);

    ck_assert_int_eq(local_wait(&local, ucp_am_send_nbx(local.ep, ID, NULL, 0,
                                                        source, 100000,
                                                        &fast)), UCS_OK);
    am_await(&local, &seen, 1);
    ck_assert_uint_eq(seen.attr & UCP_AM_RECV_ATTR_FLAG_RNDV, 0);
    ck_assert_uint_eq(seen.length, 100000);

    /* forced completion requires a single fragment */
    fast.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    ck_assert_int_eq(am_status(ucp_tag_send_nbx(local.ep, source, 100000, TAG,
                                                &fast)), UCS_ERR_NO_RESOURCE);
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
    static const size_t sent[] = {65536, 8, 16, 300000, 8192, 1, 100000, 0};
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                      UCP_AM_HANDLER_PARAM_FIELD_CB,
        .id         = ID,
        .cb         = note_length
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
    ucp_tag_recv_info_t info = {0};
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL
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
            say_rest(&local, 1, PART); /* complete before it is received */
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
    return 0; /* an error */
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
    generic_start, generic_start_unpack, generic_size, generic_pack,
    generic_unpack, generic_finish
};

START_TEST(any_datatype_receives_it_early_and_late)
{
    ucp_dt_iov_t iov[] = {{target, 1}, {target + 1, 1500}, {NULL, 0},
                          {target + 1501, TOTAL - 1501}};
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
            recv = ucp_tag_recv_nbx(local.worker,
                                    list ? (void *)iov : target, list ? 4 : 1,
                                    TAG, UINT64_MAX, &param);
            if (late == 0) {
                say_first(&local, 1, TOTAL, PART, 0);
            }
            say_rest(&local, 1, (late > 1) ? 2 * PART : PART);
            ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
            am_check(target, TOTAL, 2);
            /* a generic datatype is not unpacked in parts */
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

START_TEST(a_receive_can_be_cancelled_in_the_middle)
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
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CANCELED);
        memset(target, 0, TOTAL);
        say_rest(&local, 1, PART);
        ck_assert_int_eq(target[PART], 0);
        ck_assert_int_eq(target[TOTAL - 1], 0);
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

/* --------------------------------------------------- the peer has closed -- */

static void leave(local_t *local)
{
    ucp_wire_end_t end = ucp_ep_wire_end(local->ep);

    ck_assert_int_eq(ucx_iface_deliver_am(local->worker->ifaces[0].iface,
                                          UCP_AM_ID_FAREWELL, &end, sizeof(end),
                                          0), UCS_OK);
    am_settle(local);
}

START_TEST(the_end_of_its_sender_ends_a_message)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t recv;
    local_t local;

    open_introduced(&local);
    recv = local_recv(&local, target, TOTAL, TAG);
    say_first(&local, 1, TOTAL, PART, 0);
    say_first(&local, 2, TOTAL, PART, 0);
    message = ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, 1, &info);
    ck_assert_ptr_nonnull(message);
    say_first(&local, 3, TOTAL, PART, 0);
    ck_assert_ptr_nonnull(ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, 0,
                                           &info));
    leave(&local);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CONNECTION_RESET);
    /* a probe must not return a message whose rest will not arrive */
    ck_assert_ptr_null(ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, 0,
                                        &info));
    ck_assert_int_eq(local_wait(&local, ucp_tag_msg_recv_nbx(
                                        local.worker, target, TOTAL, message,
                                        &am_none)), UCS_ERR_CONNECTION_RESET);
    say_rest(&local, 1, PART);
    close_clean(&local);
}
END_TEST

START_TEST(a_message_that_is_complete_outlives_its_sender)
{
    local_t local;

    open_introduced(&local);
    say_first(&local, 1, TOTAL, PART, 0);
    say_rest(&local, 1, PART);
    leave(&local);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, target, TOTAL, TAG)),
                     UCS_OK);
    am_check(target, TOTAL, 2);
    close_clean(&local);
}
END_TEST

START_TEST(a_worker_may_end_in_the_middle_of_messages)
{
    am_seen_t seen = {0};
    ucp_request_param_t keep = {.op_attr_mask = 0};
    ucs_status_ptr_t recv;
    local_t local;

    open_introduced(&local);
    am_set(&local, ID, 0, &seen);
    recv = ucp_tag_recv_nbx(local.worker, target, TOTAL, TAG, UINT64_MAX,
                            &keep);
    say_first(&local, 1, TOTAL, PART, 0);
    say_first(&local, 2, TOTAL, PART, 0);
    ucp_request_free(recv);
    local_close(&local);
    ck_assert_uint_eq(seen.calls, 0);
}
END_TEST

START_TEST(a_send_that_fails_in_the_middle_tells_the_receiver)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_AM_SEND_FLAG_EAGER};
    am_seen_t seen            = {0};
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
    /* an active message is shorter then, like one with a single fragment */
    ck_assert_uint_eq(seen.calls, 1);
    ck_assert_uint_lt(seen.length, TOTAL);
    ucp_dt_destroy(param.datatype);
    close_clean(&local);
}
END_TEST

/* ---------------------------------------- a lane that delays completions -- */

static ucx_ep_ops_t ops;
static uct_completion_t *held[64];
static unsigned num_held;

static ucs_status_t hold_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    ck_assert_uint_eq(id, UCP_AM_ID_EAGER_FRAGMENT);
    ck_assert_uint_eq(iovcnt, 1);
    /* the user's buffer, without a copy */
    ck_assert((char *)iov[0].buffer >= source);
    ck_assert((char *)iov[0].buffer + iov[0].length <=
              source + sizeof(source));
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

static void release_held(ucs_status_t status)
{
    while (num_held > 0) {
        uct_completion_t *comp = held[--num_held];

        uct_completion_update_status(comp, status);
        if (--comp->count == 0) {
            comp->func(comp);
        }
    }
}

START_TEST(the_buffer_is_the_transports_until_it_has_let_go_of_all_fragments)
{
    ucs_status_ptr_t tag, am, sync;
    ucp_lane_am_t *lane;
    local_t local;
    int closes;

    for (closes = 0; closes < 2; ++closes) {
        open_with(&local, "inf");
        lane              = (ucp_lane_am_t *)ucp_ep_config_am(local.ep->config);
        lane->max_zcopy   = 2 * lane->max_bcopy;
        ops               = *local.ep->am->ops;
        ops.am_zcopy      = hold_zcopy;
        local.ep->am->ops = &ops;
        tag  = local_send(&local, source, 100000, TAG);
        am   = ucp_am_send_nbx(local.ep, ID, "12", 2, source, 100000, &am_none);
        sync = ucp_tag_send_sync_nbx(local.ep, source, 100000, TAG, &am_none);
        ck_assert_uint_gt(num_held, 3 * 100000 / (2 * lane->max_bcopy));
        if (closes) {
            ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        }
        am_settle(&local);
        ck_assert_int_eq(ucp_request_check_status(tag), UCS_INPROGRESS);
        ck_assert_int_eq(ucp_request_check_status(am), UCS_INPROGRESS);
        ck_assert_int_eq(ucp_request_check_status(sync), UCS_INPROGRESS);
        release_held(closes ? UCS_ERR_CANCELED : UCS_OK);
        ck_assert_int_eq(local_wait(&local, tag),
                         closes ? UCS_ERR_CANCELED : UCS_OK);
        ck_assert_int_eq(local_wait(&local, am),
                         closes ? UCS_ERR_CANCELED : UCS_OK);
        if (!closes) { /* no acknowledgement arrives */
            ck_assert_int_eq(ucp_request_check_status(sync), UCS_INPROGRESS);
            ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        }
        ck_assert_int_eq(local_wait(&local, sync), UCS_ERR_CANCELED);
        am_settle(&local);
        ucp_worker_destroy(local.worker);
        ucp_cleanup(local.context);
    }
}
END_TEST

/* ----------------------------------------------------- invalid fragments -- */

START_TEST(fragments_that_make_no_sense_end_the_message_or_nothing)
{
    ucp_multi_fragment_t fragment;
    ucs_status_ptr_t recv;
    local_t local;
    int i;

    open_introduced(&local);
    for (i = 0; i < 4; ++i) {
        recv = local_recv(&local, target, TOTAL, TAG);
        say_first(&local, 1, TOTAL, PART, 0);
        say_next(&local, 2, PART, PART); /* of another message: dropped */
        ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
        switch (i) {
        case 0:
            say_next(&local, 1, PART + 1, PART);       /* a gap */
            break;
        case 1:
            say_next(&local, 1, 0, PART);              /* a duplicate */
            break;
        case 2:
            say_next(&local, 1, PART, TOTAL - PART + 1); /* beyond the end */
            break;
        default:
            /* cancelled by the sender */
            say_next(&local, 1, PART, 0);
        }
        ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_IO_ERROR);
        say_next(&local, 1, PART, PART);
    }

    say_first(&local, 1, PART - 1, PART, 0);
    say_first(&local, 1, 0, 0, 0);
    say_first(&local, 1, UINT64_MAX, PART, 0);
    fragment = fragment_of(&local, UCP_MULTI_NEXT + 1, 1, TOTAL);
    say(&local, &fragment, sizeof(fragment));
    fragment = fragment_of(&local, UCP_MULTI_FIRST_AM, 1, TOTAL);
    say(&local, &fragment, sizeof(fragment));
    fragment = fragment_of(&local, UCP_MULTI_FIRST_TAG, 1, TOTAL);
    say(&local, &fragment, sizeof(fragment));
    say(&local, &fragment, sizeof(fragment) - 1);
    say(&local, &fragment, 0);
    fragment.sender.ep_id.bytes[0] ^= 1; /* an unknown sender */
    say(&local, &fragment, sizeof(fragment));
    close_clean(&local);
}
END_TEST

START_TEST(a_first_active_fragment_is_checked)
{
    struct {
        ucp_multi_fragment_t fragment;
        ucp_am_head_t        head;
        char                 rest[100];
    } said = {{{{{0}}}}};
    am_seen_t seen = {0};
    local_t local;

    open_introduced(&local);
    am_set(&local, ID, 0, &seen);
    said.fragment  = fragment_of(&local, UCP_MULTI_FIRST_AM, 1, 100);
    said.head.word = ucp_le64(ucp_am_word(ID, 0, sizeof(said.rest) + 1));
    say(&local, &said, sizeof(said));
    said.head.word = ucp_le64(ucp_am_word(ID, 0, UINT32_MAX));
    say(&local, &said, sizeof(said));
    said.head.word = ucp_le64(ucp_am_word(ID + 1, 0, 0)); /* no handler */
    say(&local, &said, sizeof(said));
    ck_assert_uint_eq(seen.calls, 0);

    said.head.word = ucp_le64(ucp_am_word(ID, 0, 0));
    am_fill(said.rest, sizeof(said.rest), 2);
    say(&local, &said, sizeof(said));
    ck_assert_uint_eq(seen.calls, 1);
    ck_assert_uint_eq(seen.length, 100);
    close_clean(&local);
}
END_TEST

START_TEST(memory_follows_what_has_come_and_not_what_was_claimed)
{
    const uint64_t claimed = (uint64_t)1 << 45;
    size_t received        = 0;
    uint32_t message;
    local_t local;

    ck_assert_uint_eq(ucp_multi_capacity(1000, 10), 1000);
    ck_assert_uint_le(ucp_multi_capacity(SIZE_MAX, 10), 1 << 20);
    ck_assert_uint_le(ucp_multi_capacity(SIZE_MAX, 1 << 30), (size_t)8 << 30);
    ck_assert_uint_eq(ucp_multi_capacity(SIZE_MAX, SIZE_MAX / 2), SIZE_MAX);

    open_introduced(&local);
    say_first(&local, 0, claimed, PART, 0);
    for (received = PART; received < (2 << 20); received += 8000) {
        say_next(&local, 0, received, 8000);
    }
    /* more messages than the limit */
    for (message = 1; message < 200; ++message) {
        say_first(&local, message, claimed, 1, 0);
    }
    ck_assert_uint_le(ucp_ep_multi(reply_ep(&local))->num_arriving, 64);
    leave(&local);
    close_clean(&local);
}
END_TEST

SUITE_MAIN("eager messages in fragments",
           messages_of_any_length_need_no_receiver,
           a_wish_for_quick_completion_is_stronger_than_the_threshold,
           a_synchronous_one_waits_for_its_receive,
           active_messages_below_the_threshold_stay_in_order,
           an_active_message_in_fragments_is_like_one_that_is_whole,
           a_probe_sees_the_whole_length_from_the_first_fragment_on,
           messages_may_alternate_fragment_by_fragment,
           any_datatype_receives_it_early_and_late,
           a_receive_that_is_too_small_ends_and_costs_no_other,
           a_receive_can_be_cancelled_in_the_middle,
           a_synchronous_one_is_acknowledged_when_it_is_matched,
           the_end_of_its_sender_ends_a_message,
           a_message_that_is_complete_outlives_its_sender,
           a_worker_may_end_in_the_middle_of_messages,
           a_send_that_fails_in_the_middle_tells_the_receiver,
           the_buffer_is_the_transports_until_it_has_let_go_of_all_fragments,
           fragments_that_make_no_sense_end_the_message_or_nothing,
           a_first_active_fragment_is_checked,
           memory_follows_what_has_come_and_not_what_was_claimed)
