/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint with two lanes, one for messages and one for put and get
 * (two_lanes.h): a lane without send resources, flush, and lanes that fail.
 */
#include "lent.h"
#include "two_lanes.h"

#include "ucp/rma/rkey.h"
#include "ucp/wireup/failover.h"

START_TEST(what_waits_for_one_lane_goes_before_what_comes_later)
{
    ucs_status_ptr_t send, recv, later, recv_later;
    local_t local;

    open_two(&local, "put_zcopy");
    fill(50000);
    recv       = local_recv(&local, buffer2, 50000, 1);
    recv_later = local_recv(&local, buffer2 + 50000, 8, 2);
    far.refuse = 2;
    send       = local_send(&local, buffer, 50000, 1);
    settle(&local);
    ck_assert_uint_eq(far.pendings, 1);
    later = local_send(&local, "later..", 8, 2);
    ck_assert(UCS_PTR_IS_PTR(later));
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(recv_later), UCS_INPROGRESS);
    far_has_room(); /* the retry finds no send resources either */
    ck_assert_ptr_nonnull(far.waiting);
    ck_assert_int_eq(ucp_request_check_status(later), UCS_INPROGRESS);
    far_has_room();
    ck_assert_ptr_null(far.waiting);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, recv_later), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_int_eq(local_wait(&local, later), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    local_close(&local);
}
END_TEST

START_TEST(waiting_moves_from_lane_to_lane)
{
    ucs_status_ptr_t send[8], recv[8];
    local_t local;
    int i, round;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_two(&local, "put_zcopy");
    unsetenv("UCX_SELF_QUEUE_LEN");
    fill(50000);
    for (i = 0; i < 8; ++i) {
        recv[i] = local_recv(&local, buffer2 + i * 50000, 50000, (ucp_tag_t)i);
        send[i] = local_send(&local, buffer, (i % 2) ? 50000 : 100,
                             (ucp_tag_t)i);
    }
    for (round = 0; round < 200; ++round) {
        far.refuse = (round < 100) ? (unsigned)round % 3 : 0;
        ucp_worker_progress(local.worker);
        if (far.waiting != NULL) {
            far_has_room();
        }
    }
    ck_assert_uint_gt(far.pendings, 0);
    for (i = 0; i < 8; ++i) {
        ck_assert_int_eq(local_wait(&local, recv[i]), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send[i]), UCS_OK);
        ck_assert_mem_eq(buffer, buffer2 + i * 50000, (i % 2) ? 50000 : 100);
    }
    local_close(&local);
}
END_TEST

/* Neither lane has send resources when the lane for put fails: the put waits
 * for resources of the lane for messages. */
START_TEST(a_put_that_lost_its_lane_waits_for_that_of_messages)
{
    ucs_status_ptr_t put, send[2], recv[2];
    local_t local;
    lent_t lent;
    int i;

    setenv("UCX_SELF_QUEUE_LEN", "2", 1);
    open_two(&local, "auto");
    unsetenv("UCX_SELF_QUEUE_LEN");
    lend(&local, buffer2, sizeof(buffer2), &lent);
    fill(50000);
    for (i = 0; i < 2; ++i) {
        send[i] = local_send(&local, buffer, 100, (ucp_tag_t)i);
    }
    far.refuse = 1;
    put = ucp_put_nbx(local.ep, buffer, 50000, (uintptr_t)buffer2, lent.rkey,
                      &none);
    ck_assert_ptr_nonnull(far.waiting);
    ck_assert(ucp_failover(local.ep, ucp_ep_lane(local.ep, 1),
                           UCS_ERR_CONNECTION_RESET));
    ck_assert_int_eq(ucp_request_check_status(put), UCS_INPROGRESS);
    ck_assert_int_eq(local_wait(&local, put), UCS_OK);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 50000);
    for (i = 0; i < 2; ++i) {
        recv[i] = local_recv(&local, buffer2 + 100000, 100, (ucp_tag_t)i);
        ck_assert_int_eq(local_wait(&local, recv[i]), UCS_OK);
        ck_assert_int_eq(local_wait(&local, send[i]), UCS_OK);
    }
    ck_assert_uint_eq(far.puts, 0);
    take_back(&local, &lent);
    local_close(&local);
}
END_TEST

START_TEST(a_flush_goes_over_all_lanes_and_as_far_as_they_were_used)
{
    ucs_status_ptr_t flush;
    local_t local;

    open_two(&local, "auto");
    flush = ucp_ep_flush_nbx(local.ep, &none);
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    ck_assert_uint_eq(far.flushes, 1);
    ck_assert_uint_eq(far.remote_flushes, 0);

    local.ep->remote_lanes = 2;
    far.holds              = 1;
    flush                  = ucp_worker_flush_nbx(local.worker, &none);
    settle(&local);
    ck_assert_uint_eq(far.remote_flushes, 1);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    far.holds = 0;
    let_go(UCS_OK);
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);

    /* a flush that has no send resources waits, and continues when there are
     * some */
    far.refuse = 1;
    flush      = ucp_ep_flush_nbx(local.ep, &none);
    settle(&local);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    far_has_room();
    ck_assert_int_eq(local_wait(&local, flush), UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_goes_on_without_a_lane_that_has_failed)
{
    ucp_transport_entry_t entries[4];
    ucp_ep_attr_t attr = {
        .field_mask             = UCP_EP_ATTR_FIELD_TRANSPORTS,
        .transports.entries     = entries,
        .transports.num_entries = 4,
        .transports.entry_size  = sizeof(entries[0]),
    };
    ucs_status_ptr_t send, recv;
    uct_ep_h lane;
    local_t local;

    open_two(&local, "get_zcopy");
    fill(100000);
    lane = ucp_ep_lane(local.ep, 1);
    send = local_send(&local, buffer, 100000, 1);
    ck_assert_int_eq(uct_ep_invalidate(lane, 0), UCS_OK);
    settle(&local);
    ck_assert(!(local.ep->flags & UCP_EP_FLAG_FAILED));
    ck_assert(ucp_ep_lane(local.ep, 1) != lane);
    ck_assert_uint_eq(local.ep->config->lost, 2);
    ck_assert_uint_eq(local.ep->config->rndv_lane, UCP_NULL_LANE);
    ck_assert_ptr_ne(local.ep->config, local.ep->config->whole);
    ck_assert_int_eq(ucp_ep_query(local.ep, &attr), UCS_OK);
    ck_assert_uint_eq(attr.transports.num_entries, 1);

    /* receives the message that was announced before the lane failed */
    recv = local_recv(&local, buffer2, sizeof(buffer2), 1);
    ck_assert_int_eq(local_wait(&local, recv), UCS_OK);
    ck_assert_int_eq(local_wait(&local, send), UCS_OK);
    ck_assert_mem_eq(buffer, buffer2, 100000);
    send_and_check(&local, 250001);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

START_TEST(an_endpoint_fails_with_its_first_lane)
{
    ucs_status_ptr_t send;
    local_t local;

    open_two(&local, "get_zcopy");
    send = local_send(&local, buffer, 100000, 1);
    ck_assert_int_eq(uct_ep_invalidate(local.ep->am, 0), UCS_OK);
    settle(&local);
    ck_assert(local.ep->flags & UCP_EP_FLAG_FAILED);
    ck_assert_ptr_null(local.ep->am);
    ck_assert_ptr_null(ucp_ep_lane(local.ep, 1));
    ck_assert_int_ne(local_wait(&local, send), UCS_OK);
    ck_assert_ptr_null(ucp_ep_close_nbx(local.ep, &force));
    end(&local);
}
END_TEST

START_TEST(puts_that_went_with_a_lane_are_told_by_the_next_flush)
{
    local_t local;

    open_two(&local, "auto");
    ucp_rma_changes_by_lane(local.ep, 1);
    ck_assert_int_eq(uct_ep_invalidate(ucp_ep_lane(local.ep, 1), 0), UCS_OK);
    settle(&local);
    ck_assert(!(local.ep->flags & UCP_EP_FLAG_FAILED));
    ck_assert_int_ne(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    ck_assert_int_eq(local_wait(&local, ucp_ep_flush_nbx(local.ep, &none)),
                     UCS_OK);
    local_close(&local);
}
END_TEST

SUITE_MAIN("lane failures",
           what_waits_for_one_lane_goes_before_what_comes_later,
           waiting_moves_from_lane_to_lane,
           a_put_that_lost_its_lane_waits_for_that_of_messages,
           a_flush_goes_over_all_lanes_and_as_far_as_they_were_used,
           an_endpoint_goes_on_without_a_lane_that_has_failed,
           an_endpoint_fails_with_its_first_lane,
           puts_that_went_with_a_lane_are_told_by_the_next_flush)
