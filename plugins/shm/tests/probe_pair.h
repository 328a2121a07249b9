/* SPDX-License-Identifier: BSD-3-Clause */
/* An inbox and its sender in one process: the test decides when the inbox
 * polls, and can answer probes (probe.h) in its place. */
#ifndef SHM_TEST_PROBE_PAIR_H
#define SHM_TEST_PROBE_PAIR_H

#include "inbox.h"
#include "outbox.h"
#include "seg_suite.h"

#include <string.h>

enum { NUM_SLOTS = 4, NUM_CELLS = 16, RING_MAX = 256 << 10, MAX_LENGTH = 8256 };

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

static inline ucs_status_t deliver(void *arg, unsigned slot, uint8_t id,
                                   void *data, uint32_t length)
{
    pair_t *pair = arg;

    EXPECT_EQ(id, (uint8_t)pair->count);
    EXPECT_EQ(length, 8 + pair->count % 5 * 1000);
    EXPECT_EQ(((uint8_t *)data)[length - 1], (uint8_t)pair->count);
    ++pair->count;
    return UCS_OK;
}

/* Opens another outbox to the inbox. */
static inline void pair_another(pair_t *pair, shm_outbox_t *outbox)
{
    uint8_t address[SHM_ADDRESS_LENGTH];

    shm_seg_address(&pair->inbox.seg, address);
    EXPECT_EQ(shm_outbox_open(outbox, &pair->space, address, sizeof(address),
                              NULL, 0),
              UCS_OK);
}

static inline void pair_open_with(pair_t *pair, uint32_t ring_max)
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

static inline void pair_open(pair_t *pair)
{
    pair_open_with(pair, RING_MAX);
}

static inline void pair_join(pair_t *pair)
{
    EXPECT_EQ(shm_outbox_join(&pair->outbox), UCS_OK);
    shm_inbox_progress(&pair->inbox, deliver);
}

static inline void pair_close(pair_t *pair)
{
    shm_outbox_close(&pair->outbox);
    shm_inbox_close(&pair->inbox);
    shm_space_close(&pair->space);
}

static inline void send_one(pair_t *pair, unsigned number)
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
static inline unsigned fill_cells(pair_t *pair)
{
    unsigned number = 0;

    while (pair->outbox.next != pair->outbox.limit) {
        send_one(pair, number++);
    }
    return number;
}

/* Returns the bandwidth, and makes the last probe old before: so another probe
 * is sent if possible. */
static inline double ask(pair_t *pair)
{
    pair->outbox.probing.sent_at = 0;
    return shm_outbox_bandwidth(&pair->outbox);
}

/* Makes the last probe so recent that no other one is sent, even if the test is
 * delayed. */
static inline void keep_fresh(pair_t *pair)
{
    pair->outbox.probing.sent_at = seg_now() + 1000;
}

/* Answers the probe in flight in place of the receiver, and replaces the
 * measured time of the sender's copy. `latency`: in ps; `read`, `written`: in ps
 * per KiB. */
static inline void pretend_copies(pair_t *pair, uint32_t latency, uint32_t read,
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

static inline void pretend(pair_t *pair, uint32_t latency)
{
    pretend_copies(pair, latency, SLOW_COPY, FAST_COPY);
}

#endif
