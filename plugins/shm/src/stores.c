/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of stores: see stores.h.
 */
#include "stores.h"

#include "plugin.h"
#include "ring_stream.h"
#include "speed.h"

/* One kind of stores replaces the other one if that takes GAIN times as long,
 * in VOTES results in a row. */
#define GAIN 1.5
enum { VOTES = 2 };

/* Of this many timed copies of messages the shortest counts: the process may be
 * descheduled during the others. */
enum { NUM_TIMED = 8 };

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
        stores->write = (uint8_t)write;
        stores->votes = 0;
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

void shm_stores_wrote(shm_stores_t *stores, uint32_t took, int is_near)
{
    shm_copies_t *copies = &stores->copies[SHM_WRITE_PLAIN];

    if ((stores->timed == 0) || (took < stores->least)) {
        stores->least = took;
    }
    if (++stores->timed < NUM_TIMED) {
        return;
    }
    stores->timed = 0;
    if ((stores->write == SHM_WRITE_PLAIN) && (copies->read != 0)) {
        copies->both = sum(copies->read, stores->least);
        choose(stores, is_near);
    }
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
