/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire-up messages that are sent in fragments (ucp/wireup/fragments.h). A
 * message is assembled if its fragments arrive in order and from one sender;
 * otherwise it is dropped. If too many messages are incomplete, the oldest one
 * is dropped.
 */
#include "wireup.h"

#include "ucp/tag/eager.h"
#include "ucp/wireup/fragments.h"

static const ucp_wire_end_t someone = {{{1}}, {{2}}};
static const ucp_wire_end_t another = {{{1}}, {{3}}};

/* Packs the message by which an endpoint introduces its worker
 * (ucp/wireup/introduce.h), with `end` as the endpoint. Returns its length. */
static size_t make_introduction(local_t *local, const ucp_wire_end_t *end,
                                char *message)
{
    ucp_introduce_t introduce = {*end, 0};
    ucp_address_t *address;
    size_t length;

    ck_assert_int_eq(ucp_worker_get_address(local->worker, &address, &length),
                     UCS_OK);
    memcpy(message, &introduce, sizeof(introduce));
    memcpy(message + sizeof(introduce), address, length);
    ucp_worker_release_address(local->worker, address);
    return sizeof(introduce) + length;
}

static void say_fragment(local_t *local, const ucp_wire_end_t *end, uint8_t id,
                         const char *message, size_t total, size_t offset,
                         size_t length)
{
    char bytes[4096];
    ucp_wireup_fragment_t fragment = {*end, id, ucp_le32((uint32_t)total),
                                      ucp_le32((uint32_t)offset)};

    memcpy(bytes, &fragment, sizeof(fragment));
    memcpy(bytes + sizeof(fragment), message + offset, length);
    wireup_say(local, UCP_AM_ID_WIREUP_FRAGMENT, bytes,
               sizeof(fragment) + length);
}

static void open_plain(local_t *local)
{
    wireup_open(local, UCP_FEATURE_TAG, 0, 0);
}

static void end(local_t *local)
{
    wireup_say(local, UCP_AM_ID_FAREWELL, &someone, sizeof(someone));
    wireup_say(local, UCP_AM_ID_FAREWELL, &another, sizeof(another));
    wireup_end(local);
}

START_TEST(fragments_of_several_senders_are_put_together)
{
    char first[4096], second[4096];
    size_t length, other, offset;
    local_t local;

    open_plain(&local);
    length = make_introduction(&local, &someone, first);
    other  = make_introduction(&local, &another, second);
    ck_assert_uint_eq(length, other);
    for (offset = 0; offset + 7 < length; offset += 7) {
        say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, first, length,
                     offset, 7);
        say_fragment(&local, &another, UCP_AM_ID_INTRODUCE, second, length,
                     offset, 7);
    }
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 2);
    ck_assert_ptr_null(ucp_wireup_reply_ep(local.worker, &someone));
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, first, length, offset,
                 length - offset);
    ck_assert_ptr_nonnull(ucp_wireup_reply_ep(local.worker, &someone));
    ck_assert_ptr_null(ucp_wireup_reply_ep(local.worker, &another));
    say_fragment(&local, &another, UCP_AM_ID_INTRODUCE, second, length, offset,
                 length - offset);
    ck_assert_ptr_nonnull(ucp_wireup_reply_ep(local.worker, &another));
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    end(&local);
}
END_TEST

START_TEST(a_fragment_that_does_not_follow_ends_the_message)
{
    char message[4096];
    local_t local;
    size_t length;

    open_plain(&local);
    length = make_introduction(&local, &someone, message);
    /* Each group drops the message: a gap between fragments; a missing first
     * fragment; a fragment of another message; another total length. */
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 11,
                 10);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 10,
                 10);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_WIREUP_REQUEST, message, length,
                 10, 10);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length - 1, 10,
                 10);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    /* a first fragment starts the message again, also while it is
     * incomplete */
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 0, 20);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 1);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, length, 20,
                 length - 20);
    ck_assert_ptr_nonnull(ucp_wireup_reply_ep(local.worker, &someone));
    end(&local);
}
END_TEST

START_TEST(impossible_fragments_are_dropped)
{
    char message[4096]             = "";
    ucp_wireup_fragment_t fragment = {someone, UCP_AM_ID_INTRODUCE,
                                      ucp_le32(100), ucp_le32(0)};
    local_t local;

    open_plain(&local);
    wireup_say(&local, UCP_AM_ID_WIREUP_FRAGMENT, &fragment, sizeof(fragment));
    wireup_say(&local, UCP_AM_ID_WIREUP_FRAGMENT, &fragment, 3);
    say_fragment(&local, &someone, UCP_AM_ID_EAGER, message, 100, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_WIREUP_FRAGMENT, message, 100, 0,
                 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, 9, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message,
                 UCP_WIREUP_MAX_MESSAGE + 1, 0, 10);
    say_fragment(&local, &someone, UCP_AM_ID_INTRODUCE, message, 100, 91, 10);
    fragment.offset = ucp_le32(UINT32_MAX);
    wireup_say(&local, UCP_AM_ID_WIREUP_FRAGMENT, &fragment, sizeof(fragment));
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    end(&local);
}
END_TEST

START_TEST(a_message_that_the_receiver_would_drop_is_not_sent)
{
    static const ucp_request_param_t none                 = {0};
    static const char message[UCP_WIREUP_MAX_MESSAGE + 1] = "";
    local_t local;
    ucp_ep_h ep;

    open_plain(&local);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    ck_assert_int_eq(ucp_wireup_send(ep, NULL, UCP_AM_ID_INTRODUCE, message,
                                     sizeof(message)),
                     UCS_ERR_EXCEEDS_LIMIT);
    wireup_settle(&local);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    end(&local);
}
END_TEST

START_TEST(of_too_many_the_oldest_gives_way)
{
    char message[4096] = "";
    ucp_wire_end_t who;
    local_t local;
    unsigned i;

    open_plain(&local);
    for (i = 1; i <= 2000; ++i) {
        who = (ucp_wire_end_t){ucp_le64(9), ucp_le64(i)};
        say_fragment(&local, &who, UCP_AM_ID_INTRODUCE, message, 100, 0, 10);
    }
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 1024);
    who = (ucp_wire_end_t){ucp_le64(9), ucp_le64(2000)};
    wireup_say(&local, UCP_AM_ID_FAREWELL, &who, sizeof(who));
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 1023);
    end(&local);
}
END_TEST

START_TEST(introductions_go_over_short_messages)
{
    static const ucp_request_param_t none = {0};
    uint64_t value                        = 12;
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;

    open_plain(&local);
    play_aux(local.worker, 100);
    uct_iface_state(local.worker->ifaces[0].iface)->attr.base.cap.am.max_bcopy =
        UCP_MIN_AM_BCOPY;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    send  = ucp_tag_send_sync_nbx(ep, &value, sizeof(value), 1, &none);
    value = 0;
    ck_assert_int_eq(local_wait(&local,
                                local_recv(&local, &value, sizeof(value), 1)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_uint_eq(value, 12);
    ck_assert_int_eq(local_wait(&local, ucp_ep_close_nbx(ep, &none)), UCS_OK);
    end(&local);
}
END_TEST

SUITE_MAIN("fragments", fragments_of_several_senders_are_put_together,
           a_fragment_that_does_not_follow_ends_the_message,
           impossible_fragments_are_dropped,
           a_message_that_the_receiver_would_drop_is_not_sent,
           of_too_many_the_oldest_gives_way,
           introductions_go_over_short_messages)
