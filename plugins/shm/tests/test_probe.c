/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes (probe.h): a sender measures how fast data gets to the receiver. The
 * receiver answers a probe when it polls. Here an inbox and its sender are in
 * one process: the test decides when the inbox polls, and can write answers in
 * its place.
 */
#include "probe_pair.h"
#include "speed.h"

#include <math.h>

enum { PROBE_LINES = SHM_PROBE_LINES / SHM_CACHE_LINE };

START_TEST(a_probe_is_answered_by_progress_without_a_callback)
{
    uint64_t answer;
    pair_t pair;

    pair_open(&pair);
    /* A sender that has sent nothing joins for the probe */
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == 0);
    EXPECT_TRUE(pair.outbox.slot != NULL);
    EXPECT_EQ(pair.outbox.probing.sent, 1);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == 0);
    EXPECT_EQ(pair.outbox.probing.sent, 1);
    shm_inbox_progress(&pair.inbox, deliver);
    EXPECT_EQ(pair.count, 0);
    answer = atomic_load(&pair.outbox.slot->probed);
    EXPECT_EQ(shm_probed_number(answer), 1);
    EXPECT_GE(shm_probed_latency(answer), 1); /* From this core to itself */
    EXPECT_GE(shm_probed_copy(answer), 1);

    pretend(&pair, NEAR); /* Under a sanitizer a line may take so long that
                           * another probe follows */
    shm_outbox_bandwidth(&pair.outbox);
    EXPECT_EQ(pair.outbox.probing.awaited, 0);
    EXPECT_EQ(pair.outbox.probing.latency, NEAR);
    EXPECT_EQ(pair.outbox.probing.sent, 1); /* The result is recent, so no
                                             * probe was sent */
    ask(&pair);
    EXPECT_EQ(pair.outbox.probing.sent, 2);
    pair_close(&pair);
}
END_TEST

START_TEST(no_probe_is_sent_after_joining_failed)
{
    shm_outbox_t others[NUM_SLOTS];
    unsigned i;
    pair_t pair;

    pair_open(&pair);
    for (i = 0; i < NUM_SLOTS; ++i) {
        pair_another(&pair, &others[i]);
        EXPECT_EQ(shm_outbox_join(&others[i]), UCS_OK);
    }
    EXPECT_TRUE(ask(&pair) == 0);
    EXPECT_TRUE(pair.outbox.slot == NULL);
    for (i = 0; i < NUM_SLOTS; ++i) {
        shm_outbox_close(&others[i]);
    }
    /* A slot is free now, but the sender does not try again to join for a
     * probe: one error message is enough */
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == 0);
    EXPECT_TRUE(pair.outbox.slot == NULL);
    pair_close(&pair);
}
END_TEST

START_TEST(no_probe_is_sent_over_a_small_ring)
{
    pair_t pair;

    pair_open(&pair);
    pair.outbox.ring_max = SHM_PROBE_SIZE / 2;
    EXPECT_TRUE(ask(&pair) == 0);
    EXPECT_TRUE(isinf(pair.outbox.probing.sent_at));
    EXPECT_EQ(pair.outbox.probing.sent, 0);
    pair_close(&pair);
}
END_TEST

/* Sends a probe and returns which of its cache lines were written, as bits. */
static void lines_of_next(pair_t *pair, uint64_t lines[PROBE_LINES / 64])
{
    char value = (char)pair->outbox.probing.sent;
    const char *bytes;
    unsigned i;

    ask(pair);
    bytes = pair->outbox.ring + pair->outbox.ring_at - SHM_PROBE_SIZE;
    memset(lines, 0, PROBE_LINES / 8);
    for (i = 0; i < PROBE_LINES; ++i) {
        lines[i / 64] |= (uint64_t)(bytes[i * SHM_CACHE_LINE] == value)
                         << i % 64;
    }
    pretend(pair, NEAR); /* The same answer to all probes, so that none is sent
                          * for confirmation */
    shm_outbox_bandwidth(&pair->outbox);
}

/* If the lines were adjacent, or the same as before, the processor could
 * prefetch them, and the measured latency would be too short. */
START_TEST(lines_of_a_probe_are_spread_and_differ_from_the_last_ones)
{
    uint64_t lines[PROBE_LINES / 64], last[PROBE_LINES / 64] = {0};
    unsigned number, i, count, common;
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    lines_of_next(&pair, last); /* The first probe writes zeros, so that all
                                 * lines look written: not compared below */
    for (number = 1; number < 100; ++number) {
        lines_of_next(&pair, lines);
        for (i = 0, count = 0, common = 0; i < PROBE_LINES / 64; ++i) {
            count += (unsigned)__builtin_popcountll(lines[i]);
            common += (unsigned)__builtin_popcountll(lines[i] & last[i]);
            EXPECT_GE(8, __builtin_popcountll(lines[i]));
        }
        EXPECT_EQ(count, 20);
        EXPECT_TRUE((number == 1) || (common <= 8));
        memcpy(last, lines, sizeof(last));
    }
    pair_close(&pair);
}
END_TEST

START_TEST(messages_between_probes_come_whole_and_in_order)
{
    unsigned number;
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    for (number = 0; number < 5000; ++number) {
        ask(&pair);
        send_one(&pair, number);
        if (number % 4 == 3) {
            shm_inbox_progress(&pair.inbox, deliver);
            EXPECT_EQ(pair.count, number + 1);
        }
    }
    EXPECT_GE(pair.outbox.probing.sent, 1000);
    EXPECT_EQ(pair.outbox.probing.sent,
              shm_probed_number(atomic_load(&pair.outbox.slot->probed)));
    pair_close(&pair);
}
END_TEST

START_TEST(a_full_ring_is_no_failure)
{
    unsigned number;
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    number = fill_cells(&pair);
    EXPECT_TRUE(ask(&pair) == 0);
    EXPECT_EQ(pair.outbox.probing.sent, 0);
    while (shm_inbox_progress(&pair.inbox, deliver) > 0) {
    }
    EXPECT_EQ(pair.count, number);
    pair_close(&pair);
}
END_TEST

START_TEST(a_peer_that_does_not_poll_gives_no_result)
{
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    ask(&pair);
    pretend(&pair, NEAR);
    EXPECT_TRUE(ask(&pair) > 0); /* The result is used, and another probe is
                                  * sent */
    EXPECT_TRUE(pair.outbox.probing.awaited);
    keep_fresh(&pair);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) > 0); /* The old result is
                                                          * still used,
                                                          * temporarily */
    EXPECT_TRUE(ask(&pair) == 0);
    EXPECT_EQ(pair.outbox.probing.sent, 2); /* One probe at a time */

    pretend(&pair, NEAR);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) > 0);
    pair_close(&pair);
}
END_TEST

START_TEST(a_different_result_must_be_confirmed)
{
    double near_bandwidth, far_bandwidth;
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    ask(&pair);
    pretend(&pair, NEAR);
    near_bandwidth = shm_outbox_bandwidth(&pair.outbox);
    ask(&pair);
    pretend(&pair, FAR);
    /* Another probe is sent at once to confirm the result */
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == near_bandwidth);
    pretend(&pair, FAR);
    far_bandwidth = shm_outbox_bandwidth(&pair.outbox);
    EXPECT_TRUE(far_bandwidth != near_bandwidth);   /* The confirmed result is
                                                   * used */
    ck_assert_double_eq_tol(far_bandwidth, 1e9, 1); /* SLOW_COPY */

    ask(&pair);
    pretend(&pair, NEAR);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == far_bandwidth);
    pretend(&pair, FAR);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == far_bandwidth);
    EXPECT_EQ(pair.outbox.probing.doubt, 0); /* The different result was a
                                              * disturbance */

    /* If both run on one core the bandwidth is unknown */
    ask(&pair);
    pretend(&pair, SAME);
    shm_outbox_bandwidth(&pair.outbox);
    pretend(&pair, SAME);
    EXPECT_TRUE(shm_outbox_bandwidth(&pair.outbox) == 0);
    pair_close(&pair);
}
END_TEST

/* Lets the sender get this latency twice in a row, so that it counts. */
static double ask_twice(pair_t *pair, uint32_t latency)
{
    ask(pair);
    pretend(pair, latency);
    shm_outbox_bandwidth(&pair->outbox);
    if (pair->outbox.probing.awaited) {
        pretend(pair, latency);
    }
    return shm_outbox_bandwidth(&pair->outbox);
}

START_TEST(a_latency_between_both_limits_changes_nothing)
{
    /* between half and two thirds of the latency of memory, and between the
     * limits of a threshold */
    const double between = 0.57e12 * shm_speed_line();
    pair_t pair;

    if ((between < 46e3) || (between > 99e3)) {
        printf("skipped: a line of memory takes %.0f ns here, so that both "
               "limits are equal\n",
               shm_speed_line() * 1e9);
        return;
    }
    pair_open(&pair);
    pair_join(&pair);
    ask_twice(&pair, (uint32_t)between);
    EXPECT_TRUE(!shm_outbox_is_near(&pair.outbox));
    ask_twice(&pair, NEAR);
    EXPECT_TRUE(shm_outbox_is_near(&pair.outbox));
    ask_twice(&pair, (uint32_t)between);
    EXPECT_TRUE(shm_outbox_is_near(&pair.outbox));
    ask_twice(&pair, FAR);
    EXPECT_TRUE(!shm_outbox_is_near(&pair.outbox));
    ask_twice(&pair, (uint32_t)between);
    EXPECT_TRUE(!shm_outbox_is_near(&pair.outbox));
    pair_close(&pair);
}
END_TEST

/* The bandwidth is that of the slower side's copy, in the faster one of the
 * last two probes. */
START_TEST(the_slower_copy_determines_the_bandwidth)
{
    static const uint32_t written[] = {2 * SLOW_COPY, FAST_COPY, 2 * SLOW_COPY};
    static const double expected[]  = {0.5e9, 1e9, 1e9};
    pair_t pair;
    size_t i;

    pair_open(&pair);
    pair_join(&pair);
    /* Only probes with ordinary stores */
    pair.outbox.probing.stores.copies[SHM_WRITE_STREAM].took = 1;
    for (i = 0; i < 3; ++i) {
        pair.outbox.probing.tried = SHM_WRITE_STREAM;
        ask(&pair);
        pair.outbox.probing.is_fresh = 0;
        pretend_copies(&pair, FAR, SLOW_COPY, written[i]);
        ck_assert_double_eq_tol(shm_outbox_bandwidth(&pair.outbox), expected[i],
                                1);
    }
    pair_close(&pair);
}
END_TEST

/* A probe that found no space is sent when there is some. */
START_TEST(a_probe_is_sent_later_if_the_ring_is_full)
{
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    fill_cells(&pair);
    EXPECT_TRUE(ask(&pair) == 0);
    EXPECT_EQ(pair.outbox.probing.is_due, 1);
    shm_outbox_probe_due(&pair.outbox);
    EXPECT_EQ(pair.outbox.probing.sent, 0);
    EXPECT_EQ(pair.outbox.probing.is_due, 1);
    while (shm_inbox_progress(&pair.inbox, deliver) > 0) {
    }
    shm_outbox_probe_due(&pair.outbox);
    EXPECT_EQ(pair.outbox.probing.sent, 1);
    EXPECT_EQ(pair.outbox.probing.is_due, 0);
    pair_close(&pair);
}
END_TEST

/* Returns the size of the ring after space for a large message was reserved. */
static size_t ring_for_large_messages(pair_t *pair)
{
    shm_cell_t *cell;
    void *bytes = NULL;

    EXPECT_EQ(shm_outbox_reserve(&pair->outbox, MAX_LENGTH, MAX_LENGTH, &cell,
                                 &bytes),
              UCS_OK);
    return 1ul << pair->outbox.ring_log;
}

START_TEST(only_a_ring_of_near_cores_exceeds_the_private_cache)
{
    size_t most = shm_private_cache() / 2;
    pair_t pair;

    if (most < 512 << 10) {
        most = 512 << 10; /* Every ring may have as much */
    }

    pair_open_with(&pair, 1u << 24);
    pair_join(&pair);
    ck_assert_uint_le(ring_for_large_messages(&pair), most);
    ask(&pair);
    pretend(&pair, FAR);
    shm_outbox_bandwidth(&pair.outbox);
    ck_assert_uint_le(ring_for_large_messages(&pair), most);

    ask(&pair);
    pretend(&pair, NEAR);
    shm_outbox_bandwidth(&pair.outbox);
    pretend(&pair, NEAR);
    shm_outbox_bandwidth(&pair.outbox);
    EXPECT_EQ(ring_for_large_messages(&pair), 1ul << 24);
    pair_close(&pair);
}
END_TEST

START_TEST(a_probe_does_not_wake_a_sleeping_peer)
{
    uint32_t bell;
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    ask(&pair);
    pretend(&pair, NEAR);
    shm_outbox_bandwidth(&pair.outbox);
    EXPECT_EQ(pair.outbox.probing.awaited, 0);

    EXPECT_EQ(shm_inbox_arm(&pair.inbox), UCS_OK);
    bell = atomic_load(&pair.inbox.head->bell);
    ask(&pair);
    EXPECT_EQ(pair.outbox.probing.sent, 1);
    EXPECT_EQ(atomic_load(&pair.inbox.head->bell), bell);
    EXPECT_EQ(atomic_load(&pair.inbox.head->armed), 1);
    shm_inbox_disarm(&pair.inbox);
    ask(&pair);
    EXPECT_EQ(pair.outbox.probing.sent, 2);
    EXPECT_EQ(shm_inbox_arm(&pair.inbox), UCS_ERR_BUSY);
    pair_close(&pair);
}
END_TEST

/* Writes control words of probes with an invalid ring size or length. */
START_TEST(a_malformed_probe_cuts_its_sender_off)
{
    static const struct {
        unsigned ring_log;
        uint32_t length;
    } bad[] = {
        {16, SHM_PROBE_SIZE - 1},
        {16, SHM_PROBE_SIZE + 1},
        {16, 0},
        {16, UINT32_MAX},
        {0, SHM_PROBE_SIZE},
        {15, SHM_PROBE_SIZE},
        {19, SHM_PROBE_SIZE},
        {31, SHM_PROBE_SIZE},
    };
    pair_t pair;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        pair_open(&pair);
        pair_join(&pair);
        atomic_store(&pair.outbox.cells[0].ctl,
                     shm_ctl(1, SHM_CELL_PROBE, bad[i].ring_log, 0,
                             bad[i].length));
        shm_inbox_progress(&pair.inbox, deliver);
        EXPECT_EQ(atomic_load(&pair.outbox.slot->wake), SHM_WAKE_CUT);
        EXPECT_EQ(atomic_load(&pair.outbox.slot->probed), 0);
        pair_close(&pair);
    }
}
END_TEST

/* A faulty receiver may write any value as the answer. */
START_TEST(any_answer_is_handled)
{
    static const uint32_t answers[] = {1, UINT32_MAX, 0, NEAR, FAR, 1};
    double bandwidth;
    pair_t pair;
    size_t i;

    pair_open(&pair);
    pair_join(&pair);
    for (i = 0; i < sizeof(answers) / sizeof(answers[0]); ++i) {
        pair.outbox.probing.doubt = 0;
        ask(&pair);
        if (pair.outbox.probing.awaited) {
            pretend(&pair, answers[i]);
        }
        bandwidth = shm_outbox_bandwidth(&pair.outbox);
        EXPECT_TRUE((bandwidth >= 0) && (bandwidth < 1e12));
        shm_inbox_progress(&pair.inbox, deliver);
    }
    for (i = 0; i < 2; ++i) {
        pair.outbox.probing.latency = 0;
        ask(&pair);
        atomic_store(&pair.outbox.slot->probed,
                     shm_probed((uint16_t)pair.outbox.probing.sent, FAR,
                                (i == 0) ? 0 : SHM_PROBED_MAX));
        bandwidth = shm_outbox_bandwidth(&pair.outbox);
        EXPECT_TRUE((bandwidth > 0) && (bandwidth < 1e12));
        shm_inbox_progress(&pair.inbox, deliver);
    }
    atomic_store(&pair.outbox.slot->probed, UINT64_MAX);
    EXPECT_TRUE(ask(&pair) >= 0);
    shm_outbox_kill(&pair.outbox);
    EXPECT_TRUE(ask(&pair) == 0);
    pair_close(&pair);
}
END_TEST

SEG_SUITE_RUN("probes", a_probe_is_answered_by_progress_without_a_callback,
              no_probe_is_sent_after_joining_failed,
              messages_between_probes_come_whole_and_in_order,
              a_full_ring_is_no_failure, no_probe_is_sent_over_a_small_ring,
              lines_of_a_probe_are_spread_and_differ_from_the_last_ones,
              a_peer_that_does_not_poll_gives_no_result,
              a_different_result_must_be_confirmed,
              a_latency_between_both_limits_changes_nothing,
              the_slower_copy_determines_the_bandwidth,
              a_probe_is_sent_later_if_the_ring_is_full,
              only_a_ring_of_near_cores_exceeds_the_private_cache,
              a_probe_does_not_wake_a_sleeping_peer,
              a_malformed_probe_cuts_its_sender_off, any_answer_is_handled)
