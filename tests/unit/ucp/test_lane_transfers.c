/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rendezvous over an endpoint with two lanes, one for messages and one for put
 * and get (two_lanes.h), and eager messages in fragments.
 */
#include "two_lanes.h"

/* ------------------------------------------------------------ rendezvous -- */

START_TEST(large_messages_take_the_way_that_is_asked_for)
{
    local_t local;

    open_two(&local, "get_zcopy");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.gets, 3);
    send_and_check(&local, 100);
    ck_assert_uint_eq(far.gets, 3);
    ck_assert_uint_eq(far.puts, 0);
    local_close(&local);

    open_two(&local, "put_zcopy");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.puts, 3);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);

    open_two(&local, "am");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.puts + far.gets, 0);
    local_close(&local);

    open_two(&local, "auto");
    send_and_check(&local, 250001);
    ck_assert_uint_eq(far.gets, 3);
    local_close(&local);
}
END_TEST

START_TEST(early_announcements_keep_their_keys)
{
    ucs_status_ptr_t send;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(50000);
    send = local_send(&local, buffer, 50000, 9);
    settle(&local);
    ck_assert_uint_eq(far.gets, 0);
    ck_assert_int_eq(local_wait(&local, local_recv(&local, buffer2, 60000, 9)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_uint_eq(far.gets, 1);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    local_close(&local);
}
END_TEST

START_TEST(a_receive_that_is_too_small_fetches_nothing)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "get_zcopy");
    recv = local_recv(&local, buffer2, 49999, 1);
    send = local_send(&local, buffer, 50000, 1);
    ck_assert_int_eq(local_wait(&local, recv), UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);
}
END_TEST

START_TEST(what_cannot_be_fetched_comes_another_way)
{
    local_t local;

    open_two(&local, "get_zcopy");
    /* The get fails; then the lane works again. The receiver does not repeat
     * the get but asks the sender, which puts the data. */
    far.fails = UCS_ERR_UNREACHABLE;
    fill(100000);
    {
        ucs_status_ptr_t recv = local_recv(&local, buffer2, 100000, 1);
        ucs_status_ptr_t send = local_send(&local, buffer, 100000, 1);

        /* receives the rendezvous announcement */
        ucp_worker_progress(local.worker);
        far.fails = UCS_OK;
        ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    }
    ck_assert_mem_eq(buffer, buffer2, 100000);
    ck_assert_uint_eq(far.gets, 0);
    ck_assert_uint_eq(far.puts, 1);
    /* later messages do not use the scheme that has failed */
    send_and_check(&local, 100000);
    ck_assert_uint_eq(far.gets, 0);
    local_close(&local);
}
END_TEST

START_TEST(a_fetch_that_fails_in_the_middle_is_made_up_for)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(250000);
    far.holds = 1;
    recv      = local_recv(&local, buffer2, 250000, 1);
    send      = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_eq(far.num_held, 3);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    far.holds = 0;
    memset(buffer2, 0, sizeof(buffer2));
    let_go(UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

START_TEST(the_receiver_hears_of_puts_when_they_have_arrived)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(250000);
    far.holds = 1;
    recv      = local_recv(&local, buffer2, 250000, 1);
    send      = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_eq(far.puts, 3);
    ck_assert_uint_eq(far.remote_flushes, 1);
    ck_assert_uint_eq(far.num_held, 4);
    ck_assert_int_eq(ucp_request_check_status(recv), UCS_INPROGRESS);
    far.holds = 0;
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

START_TEST(a_put_that_fails_on_the_other_lane_is_sent_by_messages)
{
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(250000);
    far.holds = 1;
    recv      = local_recv(&local, buffer2, 250000, 1);
    send      = local_send(&local, buffer, 250000, 1);
    settle(&local);
    far.holds = 0;
    let_go(UCS_ERR_IO_ERROR);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 250000);
    local_close(&local);
}
END_TEST

/* Closes an endpoint by force while the lane still uses a buffer: the user's
 * operation must not complete before that of the lane. `status`: the final
 * status of the lane's operations. */
static void close_while_held(const char *scheme, ucs_status_t status)
{
    int fetching = !strcmp(scheme, "get_zcopy");
    ucs_status_ptr_t send, recv;
    local_t local;

    open_two(&local, scheme);
    far.holds = 1;
    recv      = local_recv(&local, buffer2, 250000, 1);
    send      = local_send(&local, buffer, 250000, 1);
    settle(&local);
    ck_assert_uint_gt(far.num_held, 0);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(fetching ? recv : send),
                     UCS_INPROGRESS);
    far.holds = 0;
    let_go(status);
    ck_assert_int_ne(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_ERR_CANCELED);
    end(&local);
}

START_TEST(a_close_waits_for_what_the_other_lane_holds)
{
    close_while_held("get_zcopy", UCS_ERR_CANCELED);
    close_while_held("get_zcopy", UCS_OK);
    close_while_held("put_zcopy", UCS_ERR_CANCELED);
    close_while_held("put_zcopy", UCS_OK);
}
END_TEST

/* ------------------------------------------------------------- fragments -- */

static unsigned num_zcopy;

static ucs_status_t count_zcopy(uct_ep_h ep, uint8_t id, const void *header,
                                unsigned header_length, const uct_iov_t *iov,
                                size_t iovcnt, unsigned flags,
                                uct_completion_t *comp)
{
    ++num_zcopy;
    return far.usual.am_zcopy(ep, id, header, header_length, iov, iovcnt, flags,
                              comp);
}

START_TEST(fragments_go_from_place_where_that_lets_them_be_larger)
{
    ucp_ep_config_t *config;
    ucx_ep_ops_t ops;
    local_t local;

    open_two(&local, "am");
    config                        = (ucp_ep_config_t *)local.ep->config;
    config->lanes[0].am.max_bcopy = 1000;
    config->rndv_frag_size        = 5000;
    ops                           = *local.ep->am->ops;
    ops.am_zcopy                  = count_zcopy;
    local.ep->am->ops             = &ops;
    num_zcopy                     = 0;
    send_and_check(&local, 23000);
    ck_assert_uint_eq(num_zcopy, 5);
    local_close(&local);
}
END_TEST

SUITE_MAIN("lane transfers", large_messages_take_the_way_that_is_asked_for,
           early_announcements_keep_their_keys,
           a_receive_that_is_too_small_fetches_nothing,
           what_cannot_be_fetched_comes_another_way,
           a_fetch_that_fails_in_the_middle_is_made_up_for,
           the_receiver_hears_of_puts_when_they_have_arrived,
           a_put_that_fails_on_the_other_lane_is_sent_by_messages,
           a_close_waits_for_what_the_other_lane_holds,
           fragments_go_from_place_where_that_lets_them_be_larger)
