/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes (probe.h): a sender measures how fast data gets to the receiver. The
 * receiver answers a probe when it polls. Here an inbox and its sender are in
 * one process: the test decides when the inbox polls, and can write answers in
 * its place.
 */
#include "inbox.h"
#include "outbox.h"
#include "ring_stream.h"
#include "seg_suite.h"
#include "speed.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { NUM_SLOTS = 4, NUM_CELLS = 16, RING_MAX = 256 << 10, MAX_LENGTH = 8256 };
enum { PROBE_LINES = SHM_PROBE_LINES / SHM_CACHE_LINE };

/* Latencies of a cache line in ps, as between threads on the same core, between
 * cores that share a cache, and between cores that do not. */
enum { SAME = 2000, NEAR = 30000, FAR = 200000 };

/* Times of a copy in ps per KiB: 1 GB/s, and 10 GB/s */
enum { SLOW_COPY = 1024000, FAST_COPY = 102400 };

typedef struct {
    shm_space_t space;
    shm_inbox_t inbox;
    shm_outbox_t outbox;
    unsigned count; /* Number of messages that have arrived, in order */
} pair_t;

static ucs_status_t deliver(void *arg, unsigned slot, uint8_t id, void *data,
                            uint32_t length)
{
    pair_t *pair = arg;

    EXPECT_EQ(id, (uint8_t)pair->count);
    EXPECT_EQ(length, 8 + pair->count % 5 * 1000);
    EXPECT_EQ(((uint8_t *)data)[length - 1], (uint8_t)pair->count);
    ++pair->count;
    return UCS_OK;
}

/* Opens another outbox to the inbox. */
static void pair_another(pair_t *pair, shm_outbox_t *outbox)
{
    uint8_t address[SHM_ADDRESS_LENGTH];

    shm_seg_address(&pair->inbox.seg, address);
    EXPECT_EQ(shm_outbox_open(outbox, &pair->space, address, sizeof(address),
                              NULL, 0),
              UCS_OK);
}

static void pair_open_with(pair_t *pair, uint32_t ring_max)
{
    shm_inbox_params_t params = {
        .num_slots  = NUM_SLOTS,
        .num_cells  = NUM_CELLS,
        .ring_max   = ring_max,
        .max_length = MAX_LENGTH,
        .seg_flags  = SHM_SEG_EVENT,
        .deliver    = deliver,
        .arg        = pair,
    };

    memset(pair, 0, sizeof(*pair));
    seg_space_open(&pair->space, SEG_MEMFD, NULL);
    EXPECT_EQ(shm_inbox_open(&pair->inbox, &pair->space, &params), UCS_OK);
    pair_another(pair, &pair->outbox);
}

static void pair_open(pair_t *pair)
{
    pair_open_with(pair, RING_MAX);
}

static void pair_join(pair_t *pair)
{
    EXPECT_EQ(shm_outbox_join(&pair->outbox), UCS_OK);
    shm_inbox_progress(&pair->inbox, deliver);
}

static void pair_close(pair_t *pair)
{
    shm_outbox_close(&pair->outbox);
    shm_inbox_close(&pair->inbox);
    shm_space_close(&pair->space);
}

static void send_one(pair_t *pair, unsigned number)
{
    uint32_t length = 8 + number % 5 * 1000;
    shm_cell_t *cell;
    void *bytes = NULL;

    EXPECT_EQ(shm_outbox_reserve(&pair->outbox, length, length, &cell, &bytes),
              UCS_OK);
    ((uint8_t *)bytes)[length - 1] = (uint8_t)number;
    shm_outbox_commit(&pair->outbox, cell, (uint8_t)number, length);
}

/* Sends messages until no cell is free; returns their number. */
static unsigned fill_cells(pair_t *pair)
{
    unsigned number = 0;

    while (pair->outbox.next != pair->outbox.limit) {
        send_one(pair, number++);
    }
    return number;
}

/* Returns the bandwidth, and makes the last probe old before: so another probe
 * is sent if possible. */
static double ask(pair_t *pair)
{
    pair->outbox.probing.sent_at = 0;
    return shm_outbox_bandwidth(&pair->outbox);
}

/* Makes the last probe so recent that no other one is sent, even if the test is
 * delayed. */
static void keep_fresh(pair_t *pair)
{
    pair->outbox.probing.sent_at = seg_now() + 1000;
}

/* Answers the probe in flight in place of the receiver, and replaces the
 * measured time of the sender's copy. `latency`: in ps; `read`, `written`: in ps
 * per KiB. */
static void pretend_copies(pair_t *pair, uint32_t latency, uint32_t read,
                           uint32_t written)
{
    EXPECT_TRUE(pair->outbox.probing.awaited);
    shm_inbox_progress(&pair->inbox, deliver);
    atomic_store(&pair->outbox.slot->probed,
                 shm_probed((uint16_t)pair->outbox.probing.sent, latency,
                            read));
    pair->outbox.probing.written = written;
    keep_fresh(pair);
}

static void pretend(pair_t *pair, uint32_t latency)
{
    pretend_copies(pair, latency, SLOW_COPY, FAST_COPY);
}

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

/* Lets the sender get `count` answers. `plain`, `stream`: time of the sender's
 * copy with stores of this kind, ps per KiB. Returns the number of the answers
 * after which another probe was sent at once. */
static unsigned answer_copies(pair_t *pair, unsigned count, uint32_t latency,
                              uint32_t plain, uint32_t stream)
{
    unsigned undecided = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        if (!pair->outbox.probing.awaited) {
            ask(pair);
        }
        pair->outbox.probing.is_fresh = 0;
        pretend_copies(pair, latency, FAST_COPY,
                       (pair->outbox.probing.tried == SHM_WRITE_STREAM) ?
                           stream :
                           plain);
        shm_outbox_bandwidth(&pair->outbox);
        undecided += pair->outbox.probing.awaited;
    }
    return undecided;
}

/* After the first answer a probe with the other stores is sent at once, and its
 * result must be confirmed by another one. */
START_TEST(far_cores_get_the_stores_that_are_clearly_faster)
{
    const double least = shm_speed_line() * 1e12 /
                         ((SLOW_COPY - FAST_COPY) / 1024.0);
    pair_t pair;

    if (!SHM_HAS_STREAM) {
        printf("skipped: no non-temporal stores for this processor\n");
        return;
    }
    pair_open(&pair);
    pair_join(&pair);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    EXPECT_EQ(answer_copies(&pair, 2, FAR, SLOW_COPY, FAST_COPY), 2);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    ck_assert_double_eq_tol(shm_outbox_bandwidth(&pair.outbox), 1e9, 1);
    EXPECT_EQ(answer_copies(&pair, 1, FAR, SLOW_COPY, FAST_COPY), 0);
    ck_assert_double_eq_tol(pair.outbox.stream_min, least, 1);
    ck_assert_double_eq_tol(shm_outbox_bandwidth(&pair.outbox), 10e9, 10);

    /* One other answer changes nothing; two do */
    answer_copies(&pair, 1, FAR, SLOW_COPY, FAST_COPY);
    answer_copies(&pair, 4, FAR, SLOW_COPY, FAST_COPY);
    EXPECT_TRUE(pair.outbox.stream_min < UINT32_MAX);
    answer_copies(&pair, 4, FAR, FAST_COPY, SLOW_COPY);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    pair_close(&pair);
}
END_TEST

/* Probes in bytes that the receiver has not read before do not count, and
 * others follow until the ring begins again. */
START_TEST(stores_are_not_chosen_by_fresh_bytes)
{
    unsigned answers;
    pair_t pair;

    if (!SHM_HAS_STREAM) {
        printf("skipped: no non-temporal stores for this processor\n");
        return;
    }
    pair_open(&pair);
    pair_join(&pair);
    ask(&pair);
    for (answers = 0; pair.outbox.stream_min == UINT32_MAX; ++answers) {
        EXPECT_TRUE(pair.outbox.probing.awaited);
        pretend_copies(&pair, FAR, FAST_COPY,
                       (pair.outbox.probing.tried == SHM_WRITE_STREAM) ?
                           FAST_COPY :
                           SLOW_COPY);
        shm_outbox_bandwidth(&pair.outbox);
    }
    EXPECT_GE(answers * SHM_PROBE_SIZE, 1ul << pair.outbox.ring_log);
    EXPECT_GE((1ul << pair.outbox.ring_log) + 4 * SHM_PROBE_SIZE,
              answers * SHM_PROBE_SIZE);
    pair_close(&pair);
}
END_TEST

/* Lets the sender time `count` copies of messages. `took`: in ps per KiB. */
static void write_messages(pair_t *pair, unsigned count, uint32_t took)
{
    unsigned i;

    for (i = 0; i < count; ++i) {
        /* One in four is disturbed */
        shm_outbox_wrote(&pair->outbox, 8192,
                         8 * took * 1e-12 * ((i % 4 == 1) ? 100 : 1));
    }
}

/* Probes find lines that the receiver has not in its cache; messages do not. */
START_TEST(copies_of_messages_count_as_well_as_probes)
{
    pair_t pair;

    if (!SHM_HAS_STREAM) {
        printf("skipped: no non-temporal stores for this processor\n");
        return;
    }
    pair_open(&pair);
    pair_join(&pair);
    write_messages(&pair, 104, SLOW_COPY); /* There is no probe to compare */
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    answer_copies(&pair, 4, FAR, FAST_COPY, FAST_COPY);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    write_messages(&pair, 104, FAST_COPY);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    write_messages(&pair, 24, SLOW_COPY);
    EXPECT_TRUE(pair.outbox.stream_min < 1024);
    /* Probes alone would never have chosen it, and do not end it */
    answer_copies(&pair, 8, FAR, FAST_COPY, FAST_COPY);
    EXPECT_TRUE(pair.outbox.stream_min < 1024);
    answer_copies(&pair, 2, NEAR, FAST_COPY, FAST_COPY);
    write_messages(&pair, 104, SLOW_COPY);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
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

START_TEST(a_fixed_length_is_kept)
{
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    shm_outbox_fix_stream(&pair.outbox, 5000);
    answer_copies(&pair, 4, FAR, SLOW_COPY, FAST_COPY);
    EXPECT_EQ(pair.outbox.stream_min, 5000);
    answer_copies(&pair, 4, NEAR, SLOW_COPY, FAST_COPY);
    EXPECT_EQ(pair.outbox.stream_min, 5000);
    shm_outbox_fix_stream(&pair.outbox, SIZE_MAX);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    pair_close(&pair);
}
END_TEST

START_TEST(a_small_gain_does_not_change_the_stores)
{
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    answer_copies(&pair, 8, FAR, SLOW_COPY, SLOW_COPY * 7 / 10);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    pair_close(&pair);
}
END_TEST

START_TEST(near_cores_always_use_ordinary_stores)
{
    pair_t pair;

    pair_open(&pair);
    pair_join(&pair);
    answer_copies(&pair, 4, FAR, SLOW_COPY, FAST_COPY);
    EXPECT_TRUE(!SHM_HAS_STREAM || (pair.outbox.stream_min < UINT32_MAX));
    answer_copies(&pair, 2, NEAR, SLOW_COPY, FAST_COPY);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    EXPECT_EQ(answer_copies(&pair, 4, NEAR, SLOW_COPY, FAST_COPY), 0);
    EXPECT_EQ(pair.outbox.probing.tried, SHM_WRITE_PLAIN);
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
              far_cores_get_the_stores_that_are_clearly_faster,
              stores_are_not_chosen_by_fresh_bytes,
              copies_of_messages_count_as_well_as_probes,
              a_probe_is_sent_later_if_the_ring_is_full, a_fixed_length_is_kept,
              a_small_gain_does_not_change_the_stores,
              near_cores_always_use_ordinary_stores,
              only_a_ring_of_near_cores_exceeds_the_private_cache,
              a_probe_does_not_wake_a_sleeping_peer,
              a_malformed_probe_cuts_its_sender_off, any_answer_is_handled)
