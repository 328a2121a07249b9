/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages over a lane whose operations the test replaces: they complete
 * later, fail, or are not supported. Also received messages: in a buffer that
 * is not aligned, or invalid, as a peer that violates the protocol could send
 * them.
 */
#include "am.h"

#include "ucp/am/am.h"
#include "ucp/am/desc.h"
#include "ucp/proto/ep.h"
#include "ucp/rndv/rndv.h"
#include "ucp/wireup/introduce.h"

enum { ID = 5 };

static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

/* --------------------------------------------------- replaced operations -- */

static ucx_ep_ops_t ops;
static uct_completion_t *held[8];
static unsigned num_held;
static size_t held_bytes;

static ucs_status_t hold_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    size_t i;

    held_bytes = header_length;
    for (i = 0; i < iovcnt; ++i) {
        held_bytes += iov[i].length;
    }
    held[num_held++] = comp;
    return UCS_INPROGRESS;
}

static ucs_status_t fail_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                               unsigned header_length, const uct_iov_t *iov,
                               size_t iovcnt, unsigned flags,
                               uct_completion_t *comp)
{
    return UCS_ERR_IO_ERROR;
}

static ucs_status_t no_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt)
{
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t (*real_short)(uct_ep_h ep, uint8_t id, uint64_t header,
                                  const void *payload, unsigned length);

/* Sends the message, but returns UCS_INPROGRESS, as a transport does that has
 * copied the message and completes it later. */
static ucs_status_t later_short(uct_ep_h ep, uint8_t id, uint64_t header,
                                const void *payload, unsigned length)
{
    ucs_status_t status = real_short(ep, id, header, payload, length);

    return (status == UCS_OK) ? UCS_INPROGRESS : status;
}

static void release_held(ucs_status_t status)
{
    unsigned i;

    for (i = 0; i < num_held; ++i) {
        uct_completion_update_status(held[i], status);
        if (--held[i]->count == 0) {
            held[i]->func(held[i]);
        }
    }
    num_held = 0;
}

static void open_playing(local_t *local)
{
    am_open(local);
    ops        = *local->ep->am->ops;
    real_short = ops.am_short;
    num_held   = 0;
}

START_TEST(a_send_completes_when_the_transport_releases_its_buffer)
{
    const uint32_t flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER |
                           UCP_AM_SEND_FLAG_COPY_HEADER;
    ucs_status_ptr_t send;
    local_t local;
    int closes;

    setenv("UCX_ZCOPY_THRESH", "1", 1);
    for (closes = 0; closes < 2; ++closes) {
        open_playing(&local);
        ops.am_zcopy      = hold_zcopy;
        local.ep->am->ops = &ops;
        send              = am_send(&local, ID, 100, 3000, flags);
        ck_assert_uint_eq(num_held, 1);
        ck_assert_uint_eq(held_bytes, 8 + 100 + 3000 + 16);
        if (closes) {
            ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
        }
        am_settle(&local);
        ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
        release_held(closes ? UCS_ERR_CANCELED : UCS_OK);
        ck_assert_int_eq(local_wait(&local, send),
                         closes ? UCS_ERR_CANCELED : UCS_OK);
        if (!closes) {
            ck_assert_int_eq(local_wait(&local,
                                        ucp_ep_close_nbx(local.ep, &am_none)),
                             UCS_OK);
        }
        am_settle(&local);
        ucp_worker_destroy(local.worker);
        ucp_cleanup(local.context);
    }

    open_playing(&local);
    ops.am_zcopy      = fail_zcopy;
    local.ep->am->ops = &ops;
    ck_assert_int_eq(local_wait(&local, am_send(&local, ID, 100, 3000, flags)),
                     UCS_ERR_IO_ERROR);
    local_close(&local);
    unsetenv("UCX_ZCOPY_THRESH");
}
END_TEST

START_TEST(a_lane_without_short_pieces_copies_them)
{
    am_seen_t seen = {0};
    local_t local;

    open_playing(&local);
    am_set(&local, ID, 0, &seen);
    ops.am_short_iov  = no_short_iov;
    local.ep->am->ops = &ops;
    ck_assert_int_eq(local_wait(&local, am_send(&local, ID, 10, 10, 0)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, am_send(&local, ID, 10, 10,
                                                UCP_AM_SEND_FLAG_REPLY)),
                     UCS_OK);
    am_await(&local, &seen, 2);
    local_close(&local);
}
END_TEST

START_TEST(a_deferred_send_completes_later)
{
    ucp_request_param_t at_once = {
        .op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    };
    am_seen_t seen = {0};
    ucs_status_ptr_t send;
    local_t local;

    open_playing(&local);
    am_set(&local, ID, 0, &seen);
    ops.am_short      = later_short;
    local.ep->am->ops = &ops;
    send              = am_send(&local, ID, 0, 8, 0);
    ck_assert(UCS_PTR_IS_PTR(send));
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_ptr_null(
        ucp_am_send_nbx(local.ep, ID, NULL, 0, am_data, 8, &at_once));
    am_await(&local, &seen, 2);
    local_close(&local);
}
END_TEST

/* ---------------------------------------------------- malformed messages -- */

typedef struct {
    ucp_am_head_t head;
    ucp_rndv_rts_t rts;
    char header[8];
} rts_t;

_Static_assert(sizeof(rts_t) == 56, "as it travels");

/* Delivers each proper prefix of a message, in memory of exactly its size, so
 * that sanitizers detect reads beyond the end. */
static void say_cut(local_t *local, uct_am_callback_t handler,
                    const void *message, size_t length)
{
    size_t cut;
    char *copy;

    for (cut = 0; cut < length; ++cut) {
        copy = malloc(cut);
        memcpy(copy, message, cut);
        ck_assert_int_eq(handler(local->worker, copy, cut, 0), UCS_OK);
        free(copy);
    }
}

static void say(local_t *local, uct_am_callback_t handler, const void *message,
                size_t length)
{
    char *copy = malloc(length);

    memcpy(copy, message, length);
    ck_assert_int_eq(handler(local->worker, copy, length, 0), UCS_OK);
    free(copy);
}

START_TEST(messages_that_are_cut_short_are_dropped)
{
    char message[8 + 5 + 16] = {0};
    ucp_am_head_t *head      = (ucp_am_head_t *)message;
    am_seen_t seen           = {0};
    rts_t rts                = {{{{0}}}};
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(ucp_wireup_introduce(local.ep), UCS_OK);
    am_settle(&local);

    head->word = ucp_le64(ucp_am_word(ID, 0, 5));
    say_cut(&local, ucp_am_handler, message, 8 + 5);
    say_cut(&local, ucp_am_reply_handler, message, sizeof(message));
    /* there is no request with the id in this reply */
    say(&local, ucp_am_reply_handler, message, sizeof(message));

    rts.head.word   = ucp_le64(ucp_am_word(ID, 0, sizeof(rts.header)));
    rts.rts.length  = ucp_le64(100000);
    rts.rts.sender  = ucp_ep_wire_end(local.ep);
    rts.rts.request = ucp_le32(77);
    say_cut(&local, ucp_am_rndv_handler, &rts, sizeof(rts));
    rts.rts.keys_size = ucp_le16(9);
    say(&local, ucp_am_rndv_handler, &rts, sizeof(rts));
    rts.rts.keys_size = ucp_le16(0);
    rts.rts.sender    = (ucp_wire_end_t){ucp_le64(1), ucp_le64(2)};
    say(&local, ucp_am_rndv_handler, &rts, sizeof(rts));
    ck_assert_uint_eq(seen.calls, 0);

    head->word = ucp_le64(ucp_am_word(ID, 0, UINT32_MAX));
    say(&local, ucp_am_handler, message, sizeof(message));
    ck_assert_uint_eq(seen.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(old_messages_are_not_announced)
{
    am_seen_t seen = {0};
    rts_t rts      = {{{{0}}}};
    local_t local;

    am_open(&local);
    am_set(&local, ID, 0, &seen);
    ck_assert_int_eq(ucp_wireup_introduce(local.ep), UCS_OK);
    am_settle(&local);
    rts.head.word = ucp_le64(
        ucp_am_word(ID, UCP_AM_WIRE_OLD, sizeof(rts.header)));
    rts.rts.sender  = ucp_ep_wire_end(local.ep);
    rts.rts.request = ucp_le32(77);
    rts.rts.length  = ucp_le64(UINT64_MAX);
    say(&local, ucp_am_rndv_handler, &rts, sizeof(rts));
    am_settle(&local);
    ck_assert_uint_eq(seen.calls, 0);
    local_close(&local);
}
END_TEST

START_TEST(a_buffer_that_is_not_aligned_is_not_kept_but_copied)
{
    char memory[UCP_RX_HEADROOM + 64] __attribute__((aligned(16)));
    char *message       = memory + UCP_RX_HEADROOM + 3;
    ucp_am_head_t *head = (ucp_am_head_t *)message;
    am_seen_t seen      = {.answer = UCS_INPROGRESS};
    local_t local;

    am_open(&local);
    am_set(&local, ID, UCP_AM_FLAG_PERSISTENT_DATA, &seen);
    head->word = ucp_le64(ucp_am_word(ID, 0, 0));
    am_fill(message + sizeof(*head), 10, 2);
    ck_assert_int_eq(ucp_am_handler(local.worker, message, sizeof(*head) + 10,
                                    UCT_CB_PARAM_FLAG_DESC),
                     UCS_OK);
    ck_assert_uint_eq(seen.calls, 1);
    memset(memory, 0, sizeof(memory));
    am_check(seen.data, 10, 2);
    ucp_am_data_release(local.worker, seen.data);
    local_close(&local);
}
END_TEST

SUITE_MAIN("active messages, lane and wire",
           a_send_completes_when_the_transport_releases_its_buffer,
           a_lane_without_short_pieces_copies_them,
           a_deferred_send_completes_later,
           messages_that_are_cut_short_are_dropped,
           old_messages_are_not_announced,
           a_buffer_that_is_not_aligned_is_not_kept_but_copied)
