/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of stores: see stores.h.
 */
#include "stores.h"

#include "plugin.h"
#include "ring_stream.h"
#include "speed.h"

#include <string.h>

/* One kind of stores replaces the other one if that takes GAIN times as long,
 * in VOTES results in a row. */
#define GAIN 1.5
enum { VOTES = 2 };

/* Of this many timed copies of messages the shortest counts: the process may be
 * descheduled during the others. While messages use non-temporal stores, one in
 * TRY_EVERY timed ones uses ordinary stores, and NUM_TRIED of these are a
 * result: they may take several times as long. */
enum { NUM_TIMED = 8, NUM_TRIED = 4, TRY_EVERY = 64 };

static uint32_t sum(uint32_t a, uint32_t b)
{
    return (a < UINT32_MAX - b) ? a + b : UINT32_MAX;
}

/* Near cores keep ordinary stores: README.md explains why. */
static shm_write_t better(const shm_stores_t *stores, int is_near)
{
    shm_write_t now   = stores->write;
    shm_write_t other = (now == SHM_WRITE_PLAIN) ? SHM_WRITE_STREAM :
                                                   SHM_WRITE_PLAIN;
    double time       = stores->copies[now].both;
    double other_time = stores->copies[other].both;

    if (is_near) {
        return SHM_WRITE_PLAIN;
    }
    return ((other_time > 0) && (other_time * GAIN < time)) ? other : now;
}

static void set_write(shm_stores_t *stores, shm_write_t write)
{
    stores->write  = (uint8_t)write;
    stores->votes  = 0;
    stores->slower = 0;
    memset(stores->timed, 0, sizeof(stores->timed));
}

/* Changes the stores if enough results in a row speak for it. Near cores change
 * them at once, because their distance has been confirmed. */
static void choose(shm_stores_t *stores, int is_near)
{
    shm_write_t write = better(stores, is_near);
    double plain      = stores->copies[SHM_WRITE_PLAIN].both;
    double stream     = stores->copies[SHM_WRITE_STREAM].both;

    if (stores->is_fresh && !is_near) {
        return;
    }
    if ((stream > 0) && (plain > GAIN * stream)) {
        stores->gain = (uint32_t)(plain - stream);
    }
    if (write == stores->write) {
        stores->votes = 0;
    } else if ((++stores->votes == VOTES) || is_near) {
        set_write(stores, write);
    }
}

void shm_stores_probed(shm_stores_t *stores, shm_write_t write,
                       uint32_t written, uint32_t read, int is_near,
                       int is_fresh)
{
    shm_copies_t *copies = &stores->copies[write];

    copies->before = (copies->took == 0) ? UINT32_MAX : copies->took;
    /* Sender and receiver copy at the same time, so that the slower one
     * determines the bandwidth */
    copies->took   = (read > written) ? read : written;
    copies->read   = read;
    copies->both   = sum(read, written);
    if (write == SHM_WRITE_PLAIN) {
        stores->is_fresh = (uint8_t)is_fresh;
    }
    choose(stores, is_near);
}

/* Returns to ordinary stores if messages by these take less time, in VOTES
 * results in a row. Probes have selected non-temporal stores, and a disturbed
 * probe may be wrong. */
static void compare_messages(shm_stores_t *stores)
{
    uint32_t plain  = sum(stores->copies[SHM_WRITE_PLAIN].read,
                          stores->least[SHM_WRITE_PLAIN]);
    uint32_t stream = sum(stores->copies[SHM_WRITE_STREAM].read,
                          stores->least[SHM_WRITE_STREAM]);

    if (plain >= stream) {
        stores->slower = 0;
    } else if (++stores->slower == VOTES) {
        set_write(stores, SHM_WRITE_PLAIN);
    }
}

/* Adds the time of a message; returns how many there are. */
static unsigned add_time(shm_stores_t *stores, shm_write_t write, uint32_t took)
{
    if ((stores->timed[write] == 0) || (took < stores->least[write])) {
        stores->least[write] = took;
    }
    if (stores->timed[write] < NUM_TIMED) {
        ++stores->timed[write];
    }
    return stores->timed[write];
}

void shm_stores_wrote(shm_stores_t *stores, shm_write_t write, uint32_t took,
                      int is_near)
{
    shm_copies_t *plain = &stores->copies[SHM_WRITE_PLAIN];
    unsigned count      = add_time(stores, write, took);

    if (write == SHM_WRITE_STREAM) {
        return; /* waits for messages by ordinary stores */
    }
    if (stores->write == SHM_WRITE_STREAM) {
        if (count < NUM_TRIED) {
            return;
        }
        if (stores->timed[SHM_WRITE_STREAM] == NUM_TIMED) {
            compare_messages(stores);
        }
    } else if (count < NUM_TIMED) {
        return;
    } else if (plain->read != 0) {
        plain->both = sum(plain->read, stores->least[SHM_WRITE_PLAIN]);
        choose(stores, is_near);
    }
    memset(stores->timed, 0, sizeof(stores->timed));
}

shm_write_t shm_stores_next(shm_stores_t *stores)
{
    if ((stores->write == SHM_WRITE_PLAIN) || (++stores->untried < TRY_EVERY)) {
        return stores->write;
    }
    stores->untried = 0;
    return SHM_WRITE_PLAIN;
}

int shm_stores_is_undecided(const shm_stores_t *stores)
{
    return SHM_HAS_STREAM && ((stores->votes != 0) || stores->is_fresh ||
                              (stores->copies[SHM_WRITE_STREAM].took == 0));
}

/* The length at which non-temporal stores have won the latency of a line from
 * memory, because the receiver finds the first line in no cache. On an EPYC with
 * cores on different chips, non-temporal stores took 0.53 us instead of 0.61 for
 * a message of 512 B, and 0.57 instead of 0.90 for 1 KiB. */
uint32_t shm_stores_min(const shm_stores_t *stores)
{
    double loss = shm_speed_line() * 1e12;
    double length;

    if (stores->write == SHM_WRITE_PLAIN) {
        return UINT32_MAX;
    }
    length = 1024 * loss / stores->gain;
    return (length < UINT32_MAX) ? (uint32_t)length : UINT32_MAX;
}
