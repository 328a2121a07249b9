/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes, both ends. The order of accesses is that of messages: inbox_inl.h.
 */
#include "inbox.h"
#include "outbox.h"
#include "probe.h"

#include <math.h>

/* Picoseconds until a line comes that the other core has just written. Less than
 * this is less than any other core can do: the two processes take turns on one,
 * and copies by one of them alone are better. */
#define SAME_LATENCY 8000u

/* Answers that differ by this factor are from another distance: cores of one
 * chip differ by less, those of another chip by more. */
#define OTHER_DISTANCE 2

/* Lines of a probe are waited for one after the other, in groups; the slowest but
 * one counts. A process that is off its processor meanwhile spoils one group, and
 * a prefetcher that guesses right makes some faster. */
enum { NUM_GROUPS = 5, GROUP = 4, NUM_LINES = NUM_GROUPS * GROUP };

/* Prefetchers follow the data that streams by before a probe, strides, and the
 * places in a piece of memory that were read together the last time, and bring
 * lines from far away before they are asked for. So the lines are few for the room
 * that they lie in, one in each part of it, and where, and in which order, is
 * another matter in each probe. */
static SHM_INLINE size_t line_offset(uint32_t probe, unsigned number)
{
    enum { PART_LINES = SHM_PROBE_SIZE / SHM_CACHE_LINE / NUM_LINES };
    uint32_t part = (number * 7 + probe) % NUM_LINES;
    uint32_t hash = ((probe * NUM_LINES + part) * 2654435761u) >> 16;

    return (size_t)(part * PART_LINES + hash % PART_LINES) * SHM_CACHE_LINE;
}

/* ------------------------------------------------------------- receiver -- */

uint64_t shm_ticks_now(const ucx_host_t *host)
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

/* Seconds a tick. */
static double tick_length(const shm_ticks_t *clock, const ucx_host_t *host)
{
    return (host->time() - clock->time) /
           (double)(shm_ticks_now(host) - clock->ticks + 1);
}

void shm_inbox_clock_init(shm_inbox_t *inbox)
{
    inbox->clock.time  = inbox->host->time();
    inbox->clock.ticks = shm_ticks_now(inbox->host);
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

/* Picoseconds a line of the probe of this number, never 0. */
static uint32_t time_lines(const shm_inbox_t *inbox, uint32_t probe,
                           const char *bytes)
{
    const ucx_host_t *host = inbox->host;
    unsigned number        = 0;
    uint64_t took[NUM_GROUPS];
    uint64_t begin, end;
    double tick, latency;
    unsigned i, j;
    size_t at;

    begin = shm_ticks_now(host);
    for (i = 0; i < NUM_GROUPS; ++i) {
        at = 0;
        for (j = 0; j < GROUP; ++j) {
            /* a byte is at most 255, which the compiler is not to know: the
             * next address waits for this one, and is the right one */
            at = *(volatile const uint8_t *)(bytes + (at >> 8) +
                                             line_offset(probe, number));
            __asm__ volatile("" : "+r"(at));
            ++number;
        }
        end     = shm_ticks_now(host);
        took[i] = end - begin;
        begin   = end;
    }
    tick    = tick_length(&inbox->clock, host);

    sort(took, NUM_GROUPS);
    latency = tick * (double)took[NUM_GROUPS - 2] / GROUP * 1e12;
    return !(latency > 1)         ? 1 :
           (latency > UINT32_MAX) ? UINT32_MAX : (uint32_t)latency;
}

static int take_probe(shm_inbox_t *inbox, shm_sender_t *sender, uint64_t ctl)
{
    uint32_t ring_log = shm_ctl_ring_log(ctl);
    shm_slot_t *slot  = sender->slot;
    uint32_t answered, latency;

    if ((shm_ctl_length(ctl) != SHM_PROBE_SIZE) ||
        (ring_log < sender->ring_log) ||
        ((1ul << ring_log) < SHM_PROBE_SIZE) ||
        ((1ul << ring_log) > inbox->params.ring_max)) {
        return 0;
    }

    answered = (uint32_t)(atomic_load_explicit(&slot->probed,
                                               memory_order_relaxed) >> 32);
    latency  = time_lines(inbox, answered,
                          shm_sender_ring_take(sender, ring_log,
                                               SHM_PROBE_SIZE));
    atomic_store_explicit(&slot->probed,
                          ((uint64_t)(answered + 1) << 32) | latency,
                          memory_order_relaxed);
    return 1;
}

/* A message, and how long its delivery takes. */
static int take_timed(shm_inbox_t *inbox, shm_sender_t *sender, uint64_t ctl,
                      shm_deliver_t deliver)
{
    const ucx_host_t *host = inbox->host;
    uint32_t ring_log      = shm_ctl_ring_log(ctl);
    uint32_t length        = shm_ctl_length(ctl);
    shm_slot_t *slot       = sender->slot;
    uint64_t start, end;
    uint32_t answered;
    double seconds, now;
    void *data;

    if ((length < SHM_TIMED_MIN) ||
        !shm_sender_ring_is_valid(inbox, sender, ring_log, length)) {
        return 0;
    }
    data  = shm_sender_ring_take(sender, ring_log, length);
    start = shm_ticks_now(host);
    if (deliver(inbox->params.arg, sender->index, shm_ctl_id(ctl), data,
                length) != UCS_OK) {
        return 0;
    }
    end      = shm_ticks_now(host);
    seconds  = tick_length(&inbox->clock, host) * (double)(end - start);
    answered = (uint32_t)(atomic_load_explicit(&slot->timed,
                                               memory_order_relaxed) >> 32);
    atomic_store_explicit(&slot->timed, ((uint64_t)(answered + 1) << 32) |
                          shm_times_of(seconds, length),
                          memory_order_relaxed);

    now = host->time();
    if (now - inbox->received_at > SHM_TIMES_GOOD_FOR) {
        inbox->received.count = 0;
    }
    shm_times_add(&inbox->received, shm_times_of(seconds, length));
    inbox->received_at = now;
    return 1;
}

uint32_t shm_inbox_received(const shm_inbox_t *inbox)
{
    return (shm_times_are_known(&inbox->received) &&
            (inbox->host->time() - inbox->received_at <=
             SHM_TIMES_GOOD_FOR)) ? shm_times_median(&inbox->received) : 0;
}

/* Non-zero: this was a probe, or a message to be timed. */
int shm_inbox_take_special(shm_inbox_t *inbox, shm_sender_t *sender,
                           uint64_t ctl, shm_deliver_t deliver)
{
    switch (shm_ctl_kind(ctl)) {
    case SHM_CELL_PROBE:
        return take_probe(inbox, sender, ctl);
    case SHM_CELL_TIMED:
        return take_timed(inbox, sender, ctl, deliver);
    default:
        return 0;
    }
}

/* --------------------------------------------------------------- sender -- */

/* What the receiver has told of timed messages since. */
static void take_times(shm_outbox_t *outbox)
{
    uint64_t timed = atomic_load_explicit(&outbox->slot->timed,
                                          memory_order_relaxed);

    if ((uint32_t)(timed >> 32) != outbox->probing.timed) {
        outbox->probing.timed = (uint32_t)(timed >> 32);
        shm_times_add(&outbox->probing.speed.out,
                      ((uint32_t)timed > 0) ? (uint32_t)timed : 1);
    }
}

/* Sends one if there is room and the receiver is looking. */
static void probe(shm_outbox_t *outbox, double now)
{
    shm_probing_t *probing = &outbox->probing;
    shm_cell_t *cell;
    void *bytes            = NULL;
    unsigned i;

    /* where data goes another way nothing has been sent here before; joining
     * complains, once is enough */
    if ((outbox->ring_max < SHM_PROBE_SIZE) ||
        ((outbox->slot == NULL) && (shm_outbox_join(outbox) != UCS_OK))) {
        probing->sent_at = INFINITY;
        return;
    }
    if ((atomic_load_explicit(&outbox->slot->wake, memory_order_relaxed) !=
         0) ||
        (shm_outbox_reserve(outbox, SHM_PROBE_SIZE, SHM_CACHE_LINE, &cell,
                            &bytes) != UCS_OK)) {
        return;
    }

    for (i = 0; i < NUM_LINES; ++i) {
        *((volatile char *)bytes + line_offset(probing->sent, i)) =
                (char)probing->sent;
    }
    shm_outbox_take_ring(outbox, SHM_PROBE_SIZE);
    shm_outbox_hand_over(outbox, cell, SHM_CELL_PROBE, 0, SHM_PROBE_SIZE);
    probing->sent_at = now;
    probing->awaited = 1;
    ++probing->sent;
}

void shm_outbox_timed(shm_outbox_t *outbox, uint64_t ticks, uint32_t length)
{
    uint64_t now   = shm_ticks_now(outbox->host);
    double seconds = tick_length(&outbox->clock, outbox->host) *
                     (double)(now - ticks);

    shm_times_add(&outbox->probing.speed.in, shm_times_of(seconds, length));
    outbox->probing.speed.at = outbox->host->time();
    take_times(outbox);
}

static int is_alike(uint32_t a, uint32_t b)
{
    return ((a < SAME_LATENCY) == (b < SAME_LATENCY)) &&
           (a / OTHER_DISTANCE <= b) && (b / OTHER_DISTANCE <= a);
}

/* A different answer counts when the next one agrees: one probe may be
 * disturbed. */
static void take_answer(shm_probing_t *probing, uint32_t latency)
{
    if ((probing->latency == 0) || is_alike(latency, probing->latency) ||
        ((probing->doubt != 0) && is_alike(latency, probing->doubt))) {
        probing->latency = latency;
        probing->doubt   = 0;
    } else {
        probing->doubt   = latency;
    }
}

double shm_outbox_bandwidth(shm_outbox_t *outbox, uint32_t received)
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
        if ((uint32_t)(probed >> 32) == probing->sent) {
            probing->awaited = 0;
            take_answer(probing, (uint32_t)probed);
        } else if (age > SHM_PROBE_PATIENCE) {
            return 0;
        }
    }
    if (!probing->awaited &&
        ((age > SHM_PROBE_AGE) || (probing->doubt != 0))) {
        probe(outbox, now);
    }
    if (probing->latency < SAME_LATENCY) {
        return 0;
    }
    take_times(outbox);
    return shm_ring_speed_bandwidth(&probing->speed, probing->latency,
                                    received, now);
}
