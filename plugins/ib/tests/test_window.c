/* SPDX-License-Identifier: BSD-3-Clause */
/* <ucx/window.h>: packets are delivered once and in order over a simulated
 * network (simulation.h). Further tests check the rules for retransmissions,
 * the window size, acknowledgements, and packets that are kept or out of
 * order. */
#include "simulation.h"
#include "suite.h"

START_TEST(delivers_in_order_without_loss)
{
    setup(1, 0, 5);
    run(MAX_PACKETS, 0, 1);
    ck_assert_uint_eq(world.ends[0].window.num_resends, 0);
    /* The window has grown to its limit, although the receiver has sent few
     * acknowledgements. */
    ck_assert_uint_eq(world.ends[0].window.window, world.params.max_window);
    ck_assert_uint_lt(world.num_acks, MAX_PACKETS / 10);
}
END_TEST

/* Each side sends a packet when it has received one. These packets carry the
 * acknowledgements, so no acknowledgement is sent without data. */
START_TEST(answers_replace_requests_for_acknowledgements)
{
    end_t *end;

    setup(1, 0, 0);
    for (unsigned i = 1; i <= MAX_PACKETS / 2; ++i) {
        for (int from = 0; from < 2; ++from) {
            end = &world.ends[1 - from];
            send_all(from, i);
            while (end->num_delivered < i) {
                step();
            }
        }
    }
    ck_assert_uint_eq(world.num_acks, 0);
}
END_TEST

START_TEST(delivers_once_in_order_with_loss)
{
    static const unsigned losses[] = {1, 10, 100, 300};

    for (unsigned i = 0; i < 4; ++i) {
        for (uint64_t seed = 1; seed <= 8; ++seed) {
            setup(seed, losses[i], (uint32_t)(seed * 77777777));
            run(1000, 700, 300);
        }
    }
}
END_TEST

START_TEST(delivers_once_in_order_with_everything)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        setup(seed, 50, (uint32_t)seed);
        world.network.repeat  = 100;
        world.network.reorder = 200;
        run(1000, 500, 100);
        ck_assert_uint_gt(world.ends[1].window.num_duplicates, 0);
    }
}
END_TEST

START_TEST(sequence_numbers_wrap)
{
    for (uint32_t before = 0; before < 300; before += 17) {
        setup(before + 1, 100, UINT32_MAX - before);
        world.network.repeat  = 50;
        world.network.reorder = 100;
        run(500, 500, 100);
    }
}
END_TEST

/* If later packets are acknowledged first, a packet is retransmitted before its
 * deadline. */
START_TEST(gap_is_filled_without_a_timeout)
{
    end_t *end;

    setup(1, 0, 0);
    end = &world.ends[0];
    send_all(0, 20);
    for (unsigned i = 0; i < world.num_events; ++i) {
        if (world.events[i].psn == 4) {
            world.events[i] = world.events[--world.num_events];
        }
    }
    run(20, 0, world.params.min_rto / 2);
    ck_assert_uint_eq(end->window.num_resends, 1);
    ck_assert_uint_lt(end->window.window, UCX_WINDOW_INITIAL);
}
END_TEST

START_TEST(time_out_backs_off_and_expires)
{
    end_t *end;
    double rto, last = 0;

    setup(1, 1000, 0);
    end = &world.ends[0];
    send_all(0, 10);
    ck_assert(!ucx_window_has_expired(&end->window, world.now));
    for (int i = 0; i < 4; ++i) {
        world.now = end->window.deadline;
        ucx_window_time_out(&end->window, world.now);
        rto = end->window.deadline - world.now;
        ck_assert_msg(rto > last, "%g s after %g s", rto, last);
        ck_assert_double_le(rto, world.params.max_rto);
        ck_assert_uint_eq(end->window.window, UCX_WINDOW_MIN);
        last = rto;
        send_all(0, 20);
        ck_assert_uint_eq(end->window.in_flight, UCX_WINDOW_MIN);
        ck_assert_uint_eq(end->num_sent, 10); /* Only the lost packets were sent
                                               * again */
    }
    ck_assert(!ucx_window_has_expired(&end->window, 1 + 4.9));
    ck_assert(ucx_window_has_expired(&end->window, 1 + 5.1));
    ck_assert_ptr_eq(ucx_window_abandon(&end->window), &end->packets[0].tx);
    ck_assert(ucx_window_is_idle(&end->window));
}
END_TEST

/* If the receiving process is stopped for a while, packets are late but not
 * lost. The sender then has its former window again, and has retransmitted few
 * packets. */
START_TEST(early_time_out_is_undone)
{
    const ucx_window_t *window = &world.ends[0].window;
    unsigned stops             = 0;

    setup(1, 0, 0);
    run(1000, 0, 1);
    ck_assert_uint_eq(window->window, world.params.max_window);
    while (world.ends[0].num_done < MAX_PACKETS) {
        send_all(0, MAX_PACKETS);
        if (world.ends[0].num_done >= 1000 + (stops * 200)) {
            ++stops;
            stop_second(0.05);
        }
        step();
        if (world.now >= world.stopped_until + (2 * world.network.delay)) {
            ck_assert_uint_eq(window->window, world.params.max_window);
        }
    }
    ck_assert_uint_ge(stops, 10);
    ck_assert_uint_gt(window->num_resends, 0);
    ck_assert_uint_le(window->num_resends, 3 * stops * UCX_WINDOW_MIN);
    ck_assert_uint_eq(world.ends[1].num_delivered, MAX_PACKETS);
}
END_TEST

/* The timeout counts from the last acknowledgement, not from the first
 * packet. */
START_TEST(progress_defers_expiry)
{
    setup(1, 0, 0);
    send_all(0, 10);
    (void)ucx_window_take_ack(&world.ends[0].window, 3, 0, 5);
    ck_assert(!ucx_window_has_expired(&world.ends[0].window, 9));
    ck_assert(ucx_window_has_expired(&world.ends[0].window, 10));
}
END_TEST

/* Packets that were queued before the connection was established are sent in
 * order afterwards. */
START_TEST(kept_packets_are_sent_when_connected)
{
    packet_t packets[3];
    ucx_window_t window;

    setup(1, 0, 0);
    ucx_window_init(&window, &world.params, 7);
    for (int i = 0; i < 3; ++i) {
        ucx_window_keep(&window, &packets[i].tx, 1);
    }
    ck_assert(!ucx_window_is_open(&window));
    ucx_window_connected(&window, 40, 5);
    ck_assert_uint_eq(window.rx_psn, 40);
    ck_assert_double_ge(window.deadline, 5);
    for (uint32_t i = 0; i < 3; ++i) {
        ck_assert_ptr_eq(ucx_window_resend(&window, 5), &packets[i].tx);
        ck_assert_uint_eq(packets[i].tx.psn, 7 + i);
    }
    ck_assert_ptr_null(ucx_window_resend(&window, 5));
    ck_assert(ucx_window_is_open(&window));
    ck_assert_ptr_eq(ucx_window_take_ack(&window, 10, 0, 6), &packets[0].tx);
    ck_assert(ucx_window_is_idle(&window));
}
END_TEST

/* A busy peer does not call progress and drops packets, but it sends
 * acknowledgements. The connection does not fail meanwhile. */
START_TEST(busy_peer_defers_expiry)
{
    ucx_window_t *window;

    setup(1, 0, 0);
    window = &world.ends[0].window;
    send_all(0, 10);
    ck_assert(!ucx_window_hold(window, 0, 2)); /* The window was not held */
    for (int now = 2; now < 20; ++now) {
        ck_assert(ucx_window_hold(window, 1, now));
        ck_assert(!ucx_window_has_expired(window, now + 1));
        ck_assert_double_eq(window->deadline, now + world.params.max_rto);
    }
    ck_assert(ucx_window_hold(window, 0, 20));
    ck_assert_double_eq(window->deadline, 20); /* Retransmit now: the peer may
                                                * have dropped packets */
    ck_assert(!ucx_window_hold(window, 0, 21));
    ck_assert(ucx_window_has_expired(window, 20 + world.params.timeout));
}
END_TEST

START_TEST(impossible_acknowledgements_are_ignored)
{
    static const uint32_t wrong[] = {99, 111, 0x80000000, UINT32_MAX, 5000};
    ucx_window_t *window;

    setup(1, 0, 100);
    window = &world.ends[0].window;
    send_all(0, 10);
    for (unsigned i = 0; i < 5; ++i) {
        ck_assert_ptr_null(
            ucx_window_take_ack(window, wrong[i], UINT64_MAX, world.now));
        ck_assert_uint_eq(window->in_flight, 10);
    }
    /* The bits of `sack` include packets that were never sent. */
    ck_assert_ptr_null(ucx_window_take_ack(window, 100, UINT64_MAX, world.now));
    ck_assert_uint_eq(window->in_flight + window->num_lost, 1);
    ck_assert_ptr_nonnull(
        ucx_window_take_ack(window, 110, UINT64_MAX, world.now));
    ck_assert(ucx_window_is_idle(window));
    ck_assert_uint_eq(window->in_flight + window->num_lost, 0);
}
END_TEST

START_TEST(few_packets_out_of_order_are_kept)
{
    buffer_t *buffers = world.ends[1].buffers;
    ucx_window_t *window;

    setup(1, 0, 0);
    world.params.max_kept = 8;
    window                = &world.ends[1].window;
    for (unsigned i = 0; i < 8; ++i) {
        ck_assert_int_eq(ucx_window_arrived(window, &buffers[i].rx, 8 - i, 1),
                         UCX_WINDOW_RX_KEPT);
    }
    ck_assert_uint_eq(ucx_window_sack(window), 0xff);
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[8].rx, 9, 1),
                     UCX_WINDOW_RX_DROPPED);
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[8].rx, 5, 1),
                     UCX_WINDOW_RX_DROPPED);
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[8].rx, 0, 1),
                     UCX_WINDOW_RX_IN_ORDER);
    for (uint32_t psn = 1; psn <= 8; ++psn) {
        /* The handler of packet psn - 1 may send an acknowledgement: packet psn
         * is next in order, and `sack` begins behind it */
        ck_assert_uint_eq(ucx_window_sack(window), 0xffu >> psn);
        ck_assert_uint_eq(ucx_window_next(window)->psn, psn);
    }
    ck_assert_ptr_null(ucx_window_next(window));
    /* A packet that is too far ahead for a bit of `sack`, and one that is far
     * behind, are dropped */
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[0].rx,
                                        9 + UCX_WINDOW_SACK_BITS + 1, 1),
                     UCX_WINDOW_RX_DROPPED);
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[0].rx, 0xf0000000, 1),
                     UCX_WINDOW_RX_DROPPED);
    ck_assert_int_eq(ucx_window_arrived(window, &buffers[0].rx,
                                        9 + UCX_WINDOW_SACK_BITS, 1),
                     UCX_WINDOW_RX_KEPT);
    ck_assert_uint_eq(ucx_window_sack(window), (uint64_t)1 << 63);
    ck_assert_ptr_eq(ucx_window_drop_kept(window), &buffers[0].rx);
    ck_assert_ptr_null(ucx_window_drop_kept(window));
}
END_TEST

/* Acknowledgements are delayed, so that the next packet in the other direction
 * can carry them. */
START_TEST(acknowledgements_wait_for_company)
{
    setup(1, 0, 0);
    for (unsigned i = 0; i < 100; ++i) {
        send_all(0, i + 1);
        while (world.ends[1].num_delivered <= i) {
            step();
        }
        send_all(1, i + 1);
        while (world.ends[0].num_delivered <= i) {
            step();
        }
    }
    ck_assert_uint_lt(world.num_acks, 30);
    ck_assert_uint_eq(world.ends[0].window.num_resends, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        delivers_in_order_without_loss,
        answers_replace_requests_for_acknowledgements,
        delivers_once_in_order_with_loss,
        delivers_once_in_order_with_everything,
        sequence_numbers_wrap,
        gap_is_filled_without_a_timeout,
        time_out_backs_off_and_expires,
        early_time_out_is_undone,
        progress_defers_expiry,
        kept_packets_are_sent_when_connected,
        busy_peer_defers_expiry,
        impossible_acknowledgements_are_ignored,
        few_packets_out_of_order_are_kept,
        acknowledgements_wait_for_company,
    };

    return suite_run("ud_window", tests, sizeof(tests) / sizeof(tests[0]), 120);
}
