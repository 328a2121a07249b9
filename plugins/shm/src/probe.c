/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes, the sender's and the receiver's side. Memory ordering is the same as
 * for messages: inbox_inl.h.
 */
#include "inbox.h"
#include "outbox.h"
#include "probe.h"
#include "ring_stream.h"
#include "speed.h"

#include <math.h>
#include <string.h>

/* Lower limit in picoseconds of the latency of a cache line that another core
 * has just written. If a measured latency is lower, no other core has written
 * the line: both processes take turns on the same core. */
#define SAME_LATENCY 8000u

/* Two cores count as near if a line from the other core takes clearly less time
 * than a line from memory. On an EPYC a line takes 128 ns from memory, 20 to 80
 * ns from the same chip, and 120 ns or more from another chip; on a Xeon whose
 * cores have no cache in common but the one of the whole socket, 140 ns from
 * memory and 90 to 130 ns from another core. Lines of a ring that is larger
 * than a private cache are in the shared cache of near cores when they are
 * read: the copy in a probe, whose lines are in the private cache of the
 * sender, would be slower than messages, and is not used for near cores.
 * NEAR_PART, FAR_PART: thresholds as parts of the memory latency, the latter
 * for cores that count as near. With one threshold of 0.6, cores whose lines
 * take 0.53 to 0.59 of it (80 to 88 of 150 ns, on a Xeon) were near in half of
 * the processes. NEAR_LEAST, NEAR_MOST: limits of a threshold in ns, because
 * the measurement of memory may be disturbed. NEAR_ASSUMED: threshold in ns if
 * memory cannot be measured. */
#define NEAR_PART    0.5
#define FAR_PART     0.65
#define NEAR_LEAST   40.0
#define NEAR_MOST    100.0
#define NEAR_ASSUMED 80.0

/* The copy in a probe is done and timed in blocks, by the sender and by the
 * receiver. As with lines, the second slowest block is the result. */
enum { BLOCK = 8192, NUM_BLOCKS = SHM_PROBE_COPY / BLOCK };

/* Smallest size of a page: one byte in each is accessed before the copy, so
 * that no page fault is timed. */
enum { PAGE = 4096 };

/* The lines of a probe are read one after the other, in groups; the second
 * slowest group is the result. The slowest is ignored, because the process may
 * be descheduled while it reads that group; of the others the slowest counts,
 * because a successful prefetch makes some groups too fast. */
enum { NUM_GROUPS = 5, GROUP = 4, NUM_LINES = NUM_GROUPS * GROUP };

/* Returns the offset of a line. A prefetcher would make the measured latency
 * too short: it recognizes sequential reads, constant strides, and lines that
 * were read together before. Therefore a probe reads only one line in each part
 * of the region, at offsets and in an order that differ in each probe. */
static SHM_INLINE size_t line_offset(uint16_t probe, unsigned number)
{
    enum { PART_LINES = SHM_PROBE_LINES / SHM_CACHE_LINE / NUM_LINES };
    uint32_t part = (number * 7 + probe) % NUM_LINES;
    uint32_t hash = ((probe * NUM_LINES + part) * 2654435761u) >> 16;

    return (size_t)(part * PART_LINES + hash % PART_LINES) * SHM_CACHE_LINE;
}

static void sort(uint64_t *values, unsigned count)
{
    uint64_t value;
    unsigned i, j;

    for (i = 1; i < count; ++i) {
        value = values[i];
        for (j = i; (j > 0) && (values[j - 1] > value); --j) {
            values[j] = values[j - 1];
        }
        values[j] = value;
    }
}

/* Returns a time in picoseconds as an integer of at least 1. */
static uint32_t picoseconds(double seconds)
{
    double value = seconds * 1e12;

    return !(value > 1)         ? 1 :
           (value > UINT32_MAX) ? UINT32_MAX :
                                  (uint32_t)value;
}

/* Copies of one block of a probe, which is at `bytes` in the ring. */
typedef void (*copy_block_t)(char *bytes, char *block);

static void write_plain(char *bytes, char *block)
{
    memcpy(bytes, block, BLOCK);
}

static void write_stream(char *bytes, char *block)
{
    shm_stream_t stream;

    shm_stream_begin(&stream, bytes);
    shm_stream_put(&stream, block, BLOCK);
    shm_stream_end(&stream);
}

static void read_block(char *bytes, char *block)
{
    memcpy(block, bytes, BLOCK);
}

/* Copies the second part of a probe, at `bytes`. Returns the time per KiB in
 * picoseconds, at least 1. */
static uint32_t time_copy(const ucx_host_t *host, char *bytes,
                          copy_block_t copy)
{
    char block[BLOCK] = "";
    uint64_t took[NUM_BLOCKS];
    double begin = host->time();
    double end;
    unsigned i;

    for (i = 0; i < NUM_BLOCKS; ++i, bytes += BLOCK) {
        copy(bytes, block);
        /* The compiler must not remove or move a copy */
        __asm__ volatile("" : : "r"(block) : "memory");
        end     = host->time();
        took[i] = picoseconds((end - begin) / (BLOCK / 1024.0));
        begin   = end;
    }
    sort(took, NUM_BLOCKS);
    return (uint32_t)took[NUM_BLOCKS - 2];
}

/* ------------------------------------------------------------- receiver -- */

/* Reads a counter after all previous loads are complete. Its unit, the tick, is
 * unknown; time_lines() determines it. */
static SHM_INLINE uint64_t ticks_now(const ucx_host_t *host)
{
#if defined(__x86_64__)
    uint64_t ticks;

    __builtin_ia32_lfence();
    ticks = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
#else
    return (uint64_t)(host->time() * 1e9);
#endif
}

void shm_inbox_clock_init(shm_inbox_t *inbox)
{
    inbox->clock.time  = inbox->host->time();
    inbox->clock.ticks = ticks_now(inbox->host);
}

/* Reads the lines of probe number `probe`. Returns the time per line in
 * picoseconds, at least 1. */
static uint32_t time_lines(const shm_inbox_t *inbox, uint16_t probe,
                           const char *bytes)
{
    const ucx_host_t *host = inbox->host;
    unsigned number        = 0;
    uint64_t took[NUM_GROUPS];
    uint64_t begin, end;
    double tick;
    unsigned i, j;
    size_t at;

    begin = ticks_now(host);
    for (i = 0; i < NUM_GROUPS; ++i) {
        at = 0;
        for (j = 0; j < GROUP; ++j) {
            /* `at >> 8` is always 0, because a byte is at most 255. The
             * compiler must not know this, so that the next address depends on
             * this load. */
            at = *(volatile const uint8_t *)(bytes + (at >> 8) +
                                             line_offset(probe, number));
            __asm__ volatile("" : "+r"(at));
            ++number;
        }
        end     = ticks_now(host);
        took[i] = end - begin;
        begin   = end;
    }
    tick = (host->time() - inbox->clock.time) /
           (double)(end - inbox->clock.ticks + 1);

    sort(took, NUM_GROUPS);
    return picoseconds(tick * (double)took[NUM_GROUPS - 2] / GROUP);
}

/* Handles a probe. Returns zero if the cell is not a valid probe. */
int shm_inbox_take_probe(shm_inbox_t *inbox, shm_sender_t *sender, uint64_t ctl)
{
    uint32_t ring_log = shm_ctl_ring_log(ctl);
    shm_slot_t *slot  = sender->slot;
    uint32_t latency, copy;
    uint16_t answered;
    char *bytes;
    size_t at;

    if ((shm_ctl_kind(ctl) != SHM_CELL_PROBE) ||
        (shm_ctl_length(ctl) != SHM_PROBE_SIZE) ||
        (ring_log < sender->ring_log) || ((1ul << ring_log) < SHM_PROBE_SIZE) ||
        ((1ul << ring_log) > inbox->params.ring_max)) {
        return 0;
    }

    bytes    = shm_sender_ring_take(sender, ring_log, SHM_PROBE_SIZE);
    answered = shm_probed_number(
        atomic_load_explicit(&slot->probed, memory_order_relaxed));
    latency = time_lines(inbox, answered, bytes);
    for (at = SHM_PROBE_LINES; at < SHM_PROBE_SIZE; at += PAGE) {
        (void)*(volatile const char *)(bytes + at);
    }
    copy = time_copy(inbox->host, bytes + SHM_PROBE_LINES, read_block);
    atomic_store_explicit(&slot->probed,
                          shm_probed(answered + 1, latency, copy),
                          memory_order_relaxed);
    return 1;
}

/* --------------------------------------------------------------- sender -- */

/* Returns how the next probe is written. */
static shm_write_t next_write(const shm_probing_t *probing)
{
    return (SHM_HAS_STREAM && (probing->latency != 0) && !probing->is_near &&
            (probing->tried == SHM_WRITE_PLAIN)) ?
               SHM_WRITE_STREAM :
               SHM_WRITE_PLAIN;
}

/* Sends a probe if there is space and the receiver polls. */
static void probe(shm_outbox_t *outbox)
{
    shm_probing_t *probing = &outbox->probing;
    ucs_status_t status;
    shm_cell_t *cell;
    void *bytes = NULL;
    size_t at;
    unsigned i;

    /* No probe is sent any more if the ring cannot hold one, or if taking a
     * slot fails, so that the error is logged only once. (An outbox that has
     * not sent a message yet has no slot.) */
    if ((outbox->ring_max < SHM_PROBE_SIZE) ||
        ((outbox->slot == NULL) && (shm_outbox_join(outbox) != UCS_OK))) {
        probing->sent_at = INFINITY;
        return;
    }
    probing->is_due = 0;
    if (atomic_load_explicit(&outbox->slot->wake, memory_order_relaxed) != 0) {
        return;
    }
    status = shm_outbox_reserve(outbox, SHM_PROBE_SIZE, SHM_CACHE_LINE, &cell,
                                &bytes);
    if (status != UCS_OK) {
        probing->is_due = (status == UCS_ERR_NO_RESOURCE);
        return;
    }

    for (i = 0; i < NUM_LINES; ++i) {
        *((volatile char *)bytes +
          line_offset((uint16_t)probing->sent, i)) = (char)probing->sent;
    }
    for (at = SHM_PROBE_LINES; at < SHM_PROBE_SIZE; at += PAGE) {
        *((volatile char *)bytes + at) = 0;
    }
    probing->tried    = (uint8_t)next_write(probing);
    probing->is_fresh = (outbox->bytes_used < (1ul << outbox->ring_log));
    probing->written  = time_copy(outbox->host, (char *)bytes + SHM_PROBE_LINES,
                                 (probing->tried == SHM_WRITE_STREAM) ?
                                      write_stream :
                                      write_plain);
    shm_outbox_take_ring(outbox, SHM_PROBE_SIZE);
    shm_outbox_hand_over(outbox, cell, SHM_CELL_PROBE, 0, SHM_PROBE_SIZE);
    probing->sent_at = outbox->host->time();
    probing->awaited = 1;
    ++probing->sent;
}

void shm_outbox_probe_due(shm_outbox_t *outbox)
{
    if (!outbox->dead && !outbox->probing.awaited) {
        probe(outbox);
    }
}

/* Returns the bandwidth between near cores. Both cores copy at the same time
 * and share the bandwidth of one cache: half of the bandwidth of one core that
 * copies alone. */
static double near_bandwidth(void)
{
    return shm_speed()->memory / 2;
}

/* Limits a measured value; returns `assumed` if it was not measured (0). */
static double within(double value, double least, double most, double assumed)
{
    return (value <= 0)    ? assumed :
           (value < least) ? least :
           (value > most)  ? most :
                             value;
}

/* Returns whether cores with this latency count as near, after the results so
 * far. */
static int is_near(const shm_probing_t *probing, uint32_t latency)
{
    double part = probing->is_near ? FAR_PART : NEAR_PART;

    return latency * 1e-3 < within(part * shm_speed_line() * 1e9, NEAR_LEAST,
                                   NEAR_MOST, NEAR_ASSUMED);
}

/* Returns the bandwidth between cores that are not near. The faster one of the
 * last two probes counts, because a single probe may be disturbed. */
static double far_bandwidth(const shm_probing_t *probing)
{
    const shm_copies_t *copies = &probing->stores.copies[probing->stores.write];

    return 1024 / (shm_min(copies->took, copies->before) * 1e-12);
}

/* Records an answer. If is_near() has another result for it than for the
 * current value, the new value is used only after the next probe has confirmed
 * that result, because a single probe may be disturbed. */
static void take_answer(shm_probing_t *probing, uint64_t answer)
{
    uint32_t latency = shm_probed_latency(answer);
    int near         = is_near(probing, latency);

    if ((probing->latency == 0) || (near == probing->is_near) ||
        ((probing->doubt != 0) && (near == is_near(probing, probing->doubt)))) {
        probing->latency = latency;
        probing->is_near = (uint8_t)near;
        probing->doubt   = 0;
        shm_stores_probed(&probing->stores, probing->tried, probing->written,
                          shm_probed_copy(answer), near, probing->is_fresh);
    } else {
        probing->doubt = latency;
    }
}

/* Returns whether the next probe is sent at once, for a decision. */
static int is_undecided(const shm_probing_t *probing)
{
    return (probing->doubt != 0) ||
           ((probing->latency != 0) && !probing->is_near &&
            shm_stores_is_undecided(&probing->stores));
}

static void set_stream_min(shm_outbox_t *outbox)
{
    if (!outbox->is_fixed) {
        outbox->stream_min = shm_stores_min(&outbox->probing.stores);
    }
}

void shm_outbox_wrote(shm_outbox_t *outbox, shm_write_t write, size_t length,
                      double seconds)
{
    shm_stores_wrote(&outbox->probing.stores, write,
                     picoseconds(seconds / ((double)length / 1024)),
                     outbox->probing.is_near);
    set_stream_min(outbox);
}

int shm_outbox_is_near(const shm_outbox_t *outbox)
{
    return (outbox->probing.latency >= SAME_LATENCY) && outbox->probing.is_near;
}

double shm_outbox_bandwidth(shm_outbox_t *outbox)
{
    shm_probing_t *probing = &outbox->probing;
    double now             = outbox->host->time();
    double age             = now - probing->sent_at;
    uint64_t probed;

    if (outbox->dead) {
        return 0;
    }

    if (probing->awaited) {
        probed = atomic_load_explicit(&outbox->slot->probed,
                                      memory_order_relaxed);
        if (shm_probed_number(probed) == (uint16_t)probing->sent) {
            probing->awaited = 0;
            take_answer(probing, probed);
            set_stream_min(outbox);
            outbox->ring_good = 0; /* The next message in the ring checks
                                    * whether it must grow */
        } else if (age > SHM_PROBE_PATIENCE) {
            return 0;
        }
    }
    if (!probing->awaited && ((age > SHM_PROBE_AGE) || is_undecided(probing))) {
        probe(outbox);
    }
    return (probing->latency < SAME_LATENCY) ? 0 :
           shm_outbox_is_near(outbox)        ? near_bandwidth() :
                                               far_bandwidth(probing);
}
