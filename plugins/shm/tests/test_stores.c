/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice between ordinary and non-temporal stores (stores.h), by the times
 * of probes and of messages that the test gives to a sender.
 */
#include "probe_pair.h"
#include "ring_stream.h"
#include "speed.h"

/* Opens and joins the pair. Returns 0, and says so, if this processor has no
 * non-temporal stores. */
static int has_stores(pair_t *pair)
{
    if (!SHM_HAS_STREAM) {
        printf("skipped: no non-temporal stores for this processor\n");
        return 0;
    }
    pair_open(pair);
    pair_join(pair);
    return 1;
}

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

    if (!has_stores(&pair)) {
        return;
    }
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

    if (!has_stores(&pair)) {
        return;
    }
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

/* Lets the sender time `count` copies of messages. `plain`, `stream`: time by
 * stores of this kind, in ps per KiB. Returns the number of messages by ordinary
 * stores. */
static unsigned write_both(pair_t *pair, unsigned count, uint32_t plain,
                           uint32_t stream)
{
    unsigned num_plain = 0;
    unsigned i;

    for (i = 0; i < count; ++i) {
        shm_write_t write = shm_stores_next(&pair->outbox.probing.stores);
        uint32_t took     = (write == SHM_WRITE_PLAIN) ? plain : stream;

        num_plain += (write == SHM_WRITE_PLAIN);
        /* One in four is disturbed */
        shm_outbox_wrote(&pair->outbox, write, 8192,
                         8 * took * 1e-12 * ((i % 4 == 1) ? 100 : 1));
    }
    return num_plain;
}

static void write_messages(pair_t *pair, unsigned count, uint32_t took)
{
    write_both(pair, count, took, took);
}

/* Probes find lines that the receiver has not in its cache; messages do not. */
START_TEST(copies_of_messages_count_as_well_as_probes)
{
    pair_t pair;

    if (!has_stores(&pair)) {
        return;
    }
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

/* Probes can be wrong: a few messages use ordinary stores, and end non-temporal
 * ones that take longer. */
START_TEST(messages_end_non_temporal_stores_that_are_slower)
{
    pair_t pair;

    if (!has_stores(&pair)) {
        return;
    }
    answer_copies(&pair, 4, FAR, SLOW_COPY, FAST_COPY);
    EXPECT_TRUE(pair.outbox.stream_min < UINT32_MAX);
    EXPECT_EQ(write_both(&pair, 6400, SLOW_COPY, FAST_COPY), 100);
    EXPECT_TRUE(pair.outbox.stream_min < UINT32_MAX);
    write_both(&pair, 640, FAST_COPY, FAST_COPY * 11 / 10);
    EXPECT_EQ(pair.outbox.stream_min, UINT32_MAX);
    EXPECT_EQ(write_both(&pair, 10, FAST_COPY, FAST_COPY), 10);
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

SEG_SUITE_RUN("stores", far_cores_get_the_stores_that_are_clearly_faster,
              stores_are_not_chosen_by_fresh_bytes,
              copies_of_messages_count_as_well_as_probes,
              messages_end_non_temporal_stores_that_are_slower,
              a_fixed_length_is_kept, a_small_gain_does_not_change_the_stores,
              near_cores_always_use_ordinary_stores)
