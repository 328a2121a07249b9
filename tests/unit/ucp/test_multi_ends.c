/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager messages in several fragments (ucp/tag/multi.h) that end early: the
 * peer closes its endpoint, the worker is destroyed, or fragments are invalid.
 * Also zero-copy fragments that the transport completes later.
 */
#include "multi_fragments.h"

/* --------------------------------------------------- the peer has closed -- */

static void leave(local_t *local)
{
    ucp_wire_end_t end = ucp_ep_wire_end(local->ep);

    ck_assert_int_eq(ucx_iface_deliver_am(local->worker->ifaces[0].iface,
                                          UCP_AM_ID_FAREWELL, &end, sizeof(end),
                                          0),
                     UCS_OK);
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
    ck_assert_ptr_nonnull(
        ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, 0, &info));
    leave(&local);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_CONNECTION_RESET);
    /* the message is incomplete, and its other fragments will not arrive: a
     * probe must not return it */
    ck_assert_ptr_null(
        ucp_tag_probe_nb(local.worker, TAG, UINT64_MAX, 0, &info));
    ck_assert_int_eq(local_wait(&local,
                                ucp_tag_msg_recv_nbx(local.worker, target,
                                                     TOTAL, message, &am_none)),
                     UCS_ERR_CONNECTION_RESET);
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
    am_seen_t seen           = {0};
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
    /* the fragment is sent from the user's buffer, without a copy */
    ck_assert((char *)iov[0].buffer >= source);
    ck_assert((char *)iov[0].buffer + iov[0].length <= source + sizeof(source));
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
        tag               = local_send(&local, source, 100000, TAG);
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
        if (!closes) { /* the peer does not acknowledge the synchronous send */
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
        /* a fragment of an unknown message: dropped */
        say_next(&local, 2, PART, PART);
        ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
        switch (i) {
        case 0:
            say_next(&local, 1, PART + 1, PART); /* a gap */
            break;
        case 1:
            say_next(&local, 1, 0, PART); /* a duplicate */
            break;
        case 2:
            /* beyond the end of the message */
            say_next(&local, 1, PART, TOTAL - PART + 1);
            break;
        default:
            /* a fragment without data: the sender has cancelled the message */
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
        ucp_am_head_t head;
        char rest[100];
    } said         = {{{{{0}}}}};
    am_seen_t seen = {0};
    local_t local;

    open_introduced(&local);
    am_set(&local, ID, 0, &seen);
    said.fragment  = fragment_of(&local, UCP_MULTI_FIRST_AM, 1, 100);
    said.head.word = ucp_le64(ucp_am_word(ID, 0, sizeof(said.rest) + 1));
    say(&local, &said, sizeof(said));
    said.head.word = ucp_le64(ucp_am_word(ID, 0, UINT32_MAX));
    say(&local, &said, sizeof(said));
    /* there is no handler for this id */
    said.head.word = ucp_le64(ucp_am_word(ID + 1, 0, 0));
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
    /* a sender may have a limited number of incomplete messages only */
    for (message = 1; message < 200; ++message) {
        say_first(&local, message, claimed, 1, 0);
    }
    ck_assert_uint_le(ucp_ep_multi(reply_ep(&local))->num_arriving, 64);
    leave(&local);
    close_clean(&local);
}
END_TEST

SUITE_MAIN("eager messages that end early",
           the_end_of_its_sender_ends_a_message,
           a_message_that_is_complete_outlives_its_sender,
           a_worker_may_end_in_the_middle_of_messages,
           the_buffer_is_the_transports_until_it_has_let_go_of_all_fragments,
           fragments_that_make_no_sense_end_the_message_or_nothing,
           a_first_active_fragment_is_checked,
           memory_follows_what_has_come_and_not_what_was_claimed)
