/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes that can send only after their endpoint is connected to an endpoint of
 * the peer (fake_pairs.h). The messages for that go over another transport, the
 * auxiliary one. The tests are about operations that wait for the connection,
 * the selection of both transports, connections that fail or are closed early,
 * and invalid messages.
 */
#include "wireup.h"

static const ucp_request_param_t none  = {0};
static const ucp_request_param_t force = {
    .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
    .flags        = UCP_EP_CLOSE_FLAG_FORCE,
};

static void close_by(local_t *local, ucp_ep_h ep,
                     const ucp_request_param_t *param)
{
    ck_assert_int_eq(local_wait(local, ucp_ep_close_nbx(ep, param)), UCS_OK);
}

static ucs_status_ptr_t send_tag(ucp_ep_h ep, const uint64_t *value,
                                 ucp_tag_t tag)
{
    return ucp_tag_send_nbx(ep, value, sizeof(*value), tag, &none);
}

static uint64_t receive(local_t *local, ucp_tag_t tag)
{
    uint64_t value = 0;

    ck_assert_int_eq(local_wait(local,
                                local_recv(local, &value, sizeof(value), tag)),
                     UCS_OK);
    return value;
}

/* ------------------------------------------------------------ connecting -- */

START_TEST(two_halves_are_joined_before_anything_goes)
{
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    ck_assert_uint_eq(pairs.created, 1);
    ck_assert_uint_eq(pairs.connects, 0);
    ck_assert_ptr_nonnull(ucp_ep_wireup(ep)->handshake);
    wireup_settle(&local);
    ck_assert_uint_eq(pairs.created, 2);
    ck_assert_uint_eq(pairs.connects, 2);
    ck_assert_uint_eq(half_of(ep->am)->peer, (half_of(ep->am) == pairs.halves) ?
                                                 pairs.halves->next->id :
                                                 pairs.halves->id);
    /* the memory of the handshake is freed */
    ck_assert_ptr_null(ucp_ep_wireup(ep)->handshake);
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

START_TEST(what_was_sent_early_arrives_in_order)
{
    enum { COUNT = 500 };
    ucs_status_ptr_t sends[COUNT];
    uint64_t values[COUNT], i;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    for (i = 0; i < COUNT; ++i) {
        values[i] = i;
        sends[i]  = send_tag(ep, &values[i], 7);
        /* some messages are sent before the connection is established, some
         * after */
        if (i % 50 == 49) {
            ucp_worker_progress(local.worker);
        }
    }
    ck_assert(UCS_PTR_IS_PTR(sends[0]));
    for (i = 0; i < COUNT; ++i) {
        ck_assert_uint_eq(receive(&local, 7), i);
        ck_assert_int_eq(local_wait(&local, sends[i]), UCS_OK);
    }
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

START_TEST(synchronous_and_large_messages_find_their_way_back)
{
    static char from[100000], to[100000];
    ucs_status_ptr_t send, sync, recv;
    uint64_t value = 5;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    memset(from, 'x', sizeof(from));
    send = ucp_tag_send_nbx(ep, from, sizeof(from), 1, &none);
    sync = ucp_tag_send_sync_nbx(ep, &value, sizeof(value), 2, &none);
    recv = local_recv(&local, to, sizeof(to), 1);
    ck_assert_uint_eq(receive(&local, 2), 5);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(local_wait(&local, sync), UCS_OK);
    ck_assert_mem_eq(from, to, sizeof(to));
    /* The wire-up request also introduced the sender: the responder has created
     * one endpoint, not two. */
    ck_assert_uint_eq(pairs.created, 2);
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

START_TEST(each_endpoint_has_a_pair_of_its_own)
{
    ucp_ep_h eps[5];
    local_t local;
    uint64_t i;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    for (i = 0; i < 5; ++i) {
        ck_assert_int_eq(wireup_connect(&local, &eps[i]), UCS_OK);
    }
    for (i = 0; i < 5; ++i) {
        ck_assert_int_eq(local_wait(&local, send_tag(eps[i], &i, i)), UCS_OK);
    }
    ck_assert_uint_eq(pairs.created, 10);
    ck_assert_uint_eq(pairs.connects, 10);
    close_by(&local, eps[1], &none);
    close_by(&local, eps[3], &force);
    for (i = 0; i < 5; ++i) {
        ck_assert_uint_eq(receive(&local, i), i);
    }
    close_by(&local, eps[0], &force);
    close_by(&local, eps[2], &none);
    close_by(&local, eps[4], &none);
    wireup_end(&local);
}
END_TEST

START_TEST(a_further_lane_is_connected_over_the_first)
{
    uint64_t target = 0, value = 77;
    ucp_mem_map_params_t map = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = &target,
        .length  = sizeof(target),
    };
    ucs_status_ptr_t put;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t size;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG | UCP_FEATURE_RMA, 0, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    ck_assert_uint_eq(ep->config->num_lanes, 2);
    ck_assert_ptr_null(ucp_ep_wireup(ep)->handshake->link.uct);
    ck_assert_int_eq(ucp_mem_map(local.context, &map, &memh), UCS_OK);
    ck_assert_int_eq(ucp_rkey_pack(local.context, memh, &packed, &size),
                     UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(ep, packed, &rkey), UCS_OK);
    put = ucp_put_nbx(ep, &value, sizeof(value), (uintptr_t)&target, rkey,
                      &none);
    ck_assert(UCS_PTR_IS_PTR(put));
    ck_assert_uint_eq(pairs.puts, 0);
    ck_assert_int_eq(local_wait(&local, put), UCS_OK);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(ep, &none)), UCS_OK);
    ck_assert_uint_eq(pairs.puts, 1);
    ck_assert_uint_eq(target, 77);
    wireup_settle(&local);
    ck_assert_ptr_null(ucp_ep_wireup(ep)->handshake);
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(packed);
    ck_assert_int_eq(ucp_mem_unmap(local.context, memh), UCS_OK);
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

/* Wire-up requests and addresses are sent over the auxiliary transport. If they
 * are longer than one of its messages, they are sent in several. */
START_TEST(short_messages_of_the_other_transport_will_do)
{
    uint64_t value = 3;
    local_t local;
    ucp_ep_h ep;

    setenv("UCX_SELF_QUEUE_LEN", "1", 1);
    wireup_open(&local, UCP_FEATURE_TAG, 1, 64);
    unsetenv("UCX_SELF_QUEUE_LEN");
    uct_iface_state(local.worker->ifaces[0].iface)->attr.base.cap.am.max_bcopy =
        /* the shortest size that a transport may have; the lane keeps 64 */
        UCP_MIN_AM_BCOPY;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    ck_assert_uint_eq(ucp_ep_wireup(ep)->handshake->link.max, 64);
    ck_assert(!ucp_wireup_link_is_idle(&ucp_ep_wireup(ep)->handshake->link));
    ck_assert_int_eq(local_wait(&local, send_tag(ep, &value, 1)), UCS_OK);
    ck_assert_uint_eq(receive(&local, 1), 3);
    wireup_settle(&local);
    ck_assert_uint_eq(ucp_worker_wireup(local.worker)->num_partial, 0);
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

/* ------------------------------------------------------------- selection -- */

START_TEST(no_lane_is_connected_without_an_auxiliary_transport)
{
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    uct_iface_state(local.worker->ifaces[0].iface)->attr.base.cap.flags &=
        ~UCT_IFACE_FLAG_PENDING;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_ERR_UNREACHABLE);
    wireup_end(&local);
}
END_TEST

START_TEST(transports_with_short_messages_are_not_auxiliary)
{
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, UCP_MIN_AM_BCOPY - 1);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_ERR_UNREACHABLE);
    wireup_end(&local);
}
END_TEST

START_TEST(a_sleeping_worker_needs_a_transport_with_events)
{
    local_t local;
    ucp_ep_h ep;
    unsigned i;

    wireup_open(&local, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, 1, 0);
    for (i = 0; i < 2; ++i) {
        uct_iface_state(local.worker->ifaces[i].iface)
            ->attr.base.cap.event_flags = 0;
    }
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_ERR_UNREACHABLE);
    wireup_end(&local);
}
END_TEST

/* --------------------------------------------------------------- failing -- */

static void check_failed(local_t *local, ucp_ep_h ep, ucs_status_ptr_t send)
{
    wireup_settle(local);
    ck_assert(ep->flags & UCP_EP_FLAG_FAILED);
    ck_assert_int_ne(local_wait(local, send), UCS_OK);
    close_by(local, ep, &force);
    wireup_end(local);
}

START_TEST(a_peer_that_cannot_answer_says_so)
{
    uint64_t value = 0;
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    pairs.fail_create = 2;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    send = send_tag(ep, &value, 1);
    wireup_settle(&local);
    ck_assert_int_eq(ep->fail_status, UCS_ERR_NO_RESOURCE);
    check_failed(&local, ep, send);

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    pairs.fail_connect = 1;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    send = send_tag(ep, &value, 1);
    check_failed(&local, ep, send);
}
END_TEST

START_TEST(a_connection_that_fails_on_this_side_takes_both_halves)
{
    uint64_t value = 0;
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    pairs.fail_connect = 2;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    send = send_tag(ep, &value, 1);
    check_failed(&local, ep, send);
}
END_TEST

START_TEST(the_first_endpoint_that_cannot_be_had_is_an_error_at_once)
{
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    pairs.fail_create = 1;
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_ERR_NO_RESOURCE);
    wireup_end(&local);
}
END_TEST

static ucs_status_t tell_failure(local_t *local, unsigned iface, uct_ep_h uct)
{
    uct_iface_state_t *state = uct_iface_state(
        local->worker->ifaces[iface].iface);

    return state->err_handler(state->err_handler_arg, uct,
                              UCS_ERR_ENDPOINT_TIMEOUT);
}

static ucs_status_t lost(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    return UCS_ERR_ENDPOINT_TIMEOUT;
}

START_TEST(a_lost_auxiliary_connection_fails_the_endpoint)
{
    uint64_t value = 0;
    ucs_status_ptr_t send;
    local_t local;
    ucp_ep_h ep;
    int i;

    for (i = 0; i < 2; ++i) {
        wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
        ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
        send = send_tag(ep, &value, 1);
        ck_assert_int_eq(
            tell_failure(&local, (unsigned)i,
                         (i == 0) ?
                             ucp_ep_wireup(ep)->handshake->link.uct :
                             ucp_ep_wireup(ep)->handshake->stubs[0].real),
            UCS_OK);
        ck_assert_int_eq(ep->fail_status, UCS_ERR_ENDPOINT_TIMEOUT);
        check_failed(&local, ep, send);
    }
}
END_TEST

START_TEST(keepalive_checks_the_handshake_connection)
{
    ucx_ep_ops_t aux_ops;
    local_t local;
    uct_ep_h aux;
    ucp_ep_h ep;
    int i;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    aux           = ucp_ep_wireup(ep)->handshake->link.uct;
    aux_ops       = *aux->ops;
    aux_ops.check = lost;
    aux->ops      = &aux_ops;
    ck_assert_int_eq(uct_ep_check(ep->am, 0, NULL), UCS_ERR_ENDPOINT_TIMEOUT);
    /* if the transport has no such operation, UCP sends a message instead */
    uct_iface_state(aux->iface)->attr.base.cap.flags &=
        ~UCT_IFACE_FLAG_EP_CHECK;
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(uct_ep_check(ep->am, 0, NULL), UCS_OK);
    }
    wireup_settle(&local);
    ck_assert_ptr_null(ucp_ep_wireup(ep)->handshake);
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

/* --------------------------------------------------------------- closing -- */

START_TEST(closing_early_leaves_nothing)
{
    const ucp_request_param_t *params[] = {&none, &force};
    uint64_t value                      = 1;
    int rounds, i, p, sent;
    local_t local;
    ucp_ep_h ep;

    /* The endpoint is closed after 0 to 3 rounds of progress, by force or not,
     * with and without a message. */
    for (i = 0; i < 16; ++i) {
        p      = i & 1;
        sent   = (i & 2) != 0;
        rounds = i / 4;
        wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
        ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
        if (sent) {
            ucs_status_ptr_t send = send_tag(ep, &value, 1);

            if (UCS_PTR_IS_PTR(send)) {
                ucp_request_free(send);
            }
        }
        for (; rounds > 0; --rounds) {
            ucp_worker_progress(local.worker);
        }
        close_by(&local, ep, params[p]);
        if (sent && (p == 0)) {
            ck_assert_uint_eq(receive(&local, 1), 1);
        }
        wireup_end(&local);
    }
}
END_TEST

START_TEST(a_worker_ends_in_the_middle)
{
    local_t local;
    ucp_ep_h ep;
    int rounds;

    for (rounds = 0; rounds < 4; ++rounds) {
        int i;

        wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
        ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
        for (i = 0; i < rounds; ++i) {
            ucp_worker_progress(local.worker);
        }
        ucp_worker_destroy(local.worker);
        ck_assert_ptr_null(pairs.halves);
        ucp_cleanup(local.context);
    }
}
END_TEST

/* ------------------------------------------------------- untrusted peers -- */

START_TEST(answers_of_third_parties_are_dropped)
{
    char message[UCP_WIREUP_MAX_HEAD];
    ucp_wireup_reply_t reply = {.status = UCS_ERR_REJECTED};
    ucp_wire_end_t end;
    local_t local;
    ucp_ep_h ep;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    ck_assert_int_eq(wireup_connect(&local, &ep), UCS_OK);
    reply.requester = ucp_ep_wire_end(ep);
    /* the part of the id that makes it hard to guess is wrong */
    reply.requester.ep_id.bytes[7] ^= 1;
    wireup_say(&local, UCP_AM_ID_WIREUP_REPLY, message,
               ucp_wireup_reply_pack(&reply, message));
    reply.requester             = ucp_ep_wire_end(ep);
    reply.requester.worker_uuid = ucp_le64(1);
    wireup_say(&local, UCP_AM_ID_WIREUP_REPLY, message,
               ucp_wireup_reply_pack(&reply, message));
    /* Only the side that replied expects an acknowledgement. This endpoint has
     * sent the request: the acknowledgement is dropped. */
    end = ucp_ep_wire_end(ep);
    wireup_say(&local, UCP_AM_ID_WIREUP_ACK, &end, sizeof(end));
    wireup_say(&local, UCP_AM_ID_WIREUP_ACK, &end, sizeof(end) - 1);
    ck_assert_uint_eq(pairs.connects, 0);
    ck_assert(!(ep->flags & UCP_EP_FLAG_FAILED));
    wireup_settle(&local);
    ck_assert_uint_eq(pairs.connects, 2);
    /* a reply after the handshake is complete is dropped */
    reply.requester = ucp_ep_wire_end(ep);
    wireup_say(&local, UCP_AM_ID_WIREUP_REPLY, message,
               ucp_wireup_reply_pack(&reply, message));
    ck_assert(!(ep->flags & UCP_EP_FLAG_FAILED));
    close_by(&local, ep, &none);
    wireup_end(&local);
}
END_TEST

/* Packs a wire-up request as a peer would send it; returns its length. `lane`:
 * the lane to connect. `iface`, `sender_iface`: indices of the worker's and of
 * the peer's interface; the peer's address is that of the worker. */
static size_t make_request(local_t *local, char *message, unsigned lane,
                           unsigned iface, unsigned sender_iface)
{
    static const uint64_t address = 4711;
    ucp_wireup_request_t request  = {
         .sender    = {ucp_le64(77), ucp_le64(78)},
         .num_lanes = 1,
         .lanes =
             {
                 {
                     .lane           = (uint8_t)lane,
                     .receiver_iface = (uint8_t)iface,
                     .sender_iface   = (uint8_t)sender_iface,
                     .ep_addr        = (const uint8_t *)&address,
                     .ep_addr_length = sizeof(address),
                },
            },
    };
    ucp_address_t *packed;
    size_t head, length;

    head = ucp_wireup_request_pack(&request, message);
    ck_assert_int_eq(ucp_worker_get_address(local->worker, &packed, &length),
                     UCS_OK);
    memcpy(message + head, packed, length);
    ucp_worker_release_address(local->worker, packed);
    return head + length;
}

/* Delivers a valid request, checks that there is one endpoint then, also if the
 * request was delivered before, and closes everything. */
static void end_with_request(local_t *local, const char *message, size_t length)
{
    const ucp_wire_end_t end = {ucp_le64(77), ucp_le64(78)};

    wireup_say(local, UCP_AM_ID_WIREUP_REQUEST, message, length);
    ck_assert_uint_eq(pairs.created, 1);
    wireup_settle(local); /* the reply to this request finds no endpoint */
    wireup_say(local, UCP_AM_ID_FAREWELL, &end, sizeof(end));
    wireup_end(local);
}

START_TEST(requests_that_are_cut_or_repeated_are_dropped)
{
    char message[UCP_WIREUP_MAX_HEAD + 4096];
    size_t length, i;
    local_t local;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    length = make_request(&local, message, 0, 1, 1);
    for (i = 0; i < length; ++i) {
        wireup_say(&local, UCP_AM_ID_WIREUP_REQUEST, message, i);
    }
    ck_assert_uint_eq(pairs.created, 0);
    wireup_say(&local, UCP_AM_ID_WIREUP_REQUEST, message, length);
    end_with_request(&local, message, length);
}
END_TEST

START_TEST(lanes_over_interfaces_that_do_not_exist_are_refused)
{
    char message[UCP_WIREUP_MAX_HEAD + 4096];
    local_t local;
    size_t length;
    int i;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    for (i = 0; i < 300; ++i) {
        length = make_request(&local, message, 0, (i % 2) ? 0 : 2 + i / 2, 1);
        wireup_say(&local, UCP_AM_ID_WIREUP_REQUEST, message, length);
        length = make_request(&local, message, UCP_MAX_LANES + i % 100, 1, 1);
        wireup_say(&local, UCP_AM_ID_WIREUP_REQUEST, message, length);
    }
    ck_assert_uint_eq(pairs.created, 0);
    ck_assert_uint_le(ucp_worker_wireup(local.worker)->num_rejections, 64);
    wireup_end(&local);
}
END_TEST

/* The peer's interface 0 exists, but is not one that our interface 1 reaches.
 * The others are not in the peer's address. */
START_TEST(lanes_from_interfaces_that_the_peer_does_not_have_are_refused)
{
    char message[UCP_WIREUP_MAX_HEAD + 4096];
    local_t local;
    size_t length;
    unsigned i;

    wireup_open(&local, UCP_FEATURE_TAG, 1, 0);
    for (i = 0; i <= UINT8_MAX; ++i) {
        if (i != 1) {
            length = make_request(&local, message, 0, 1, i);
            wireup_say(&local, UCP_AM_ID_WIREUP_REQUEST, message, length);
            ck_assert_uint_eq(pairs.created, 0);
        }
    }
    length = make_request(&local, message, 0, 1, 1);
    end_with_request(&local, message, length);
}
END_TEST

SUITE_MAIN("wireup", two_halves_are_joined_before_anything_goes,
           what_was_sent_early_arrives_in_order,
           synchronous_and_large_messages_find_their_way_back,
           each_endpoint_has_a_pair_of_its_own,
           a_further_lane_is_connected_over_the_first,
           short_messages_of_the_other_transport_will_do,
           no_lane_is_connected_without_an_auxiliary_transport,
           transports_with_short_messages_are_not_auxiliary,
           a_sleeping_worker_needs_a_transport_with_events,
           a_peer_that_cannot_answer_says_so,
           a_connection_that_fails_on_this_side_takes_both_halves,
           the_first_endpoint_that_cannot_be_had_is_an_error_at_once,
           a_lost_auxiliary_connection_fails_the_endpoint,
           keepalive_checks_the_handshake_connection,
           closing_early_leaves_nothing, a_worker_ends_in_the_middle,
           answers_of_third_parties_are_dropped,
           requests_that_are_cut_or_repeated_are_dropped,
           lanes_over_interfaces_that_do_not_exist_are_refused,
           lanes_from_interfaces_that_the_peer_does_not_have_are_refused)
