/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the fastest method for a stream (stream.h): which epoch is next, what
 * its result changes, and when the next trial is due.
 */
#include "ucp/learn/stream.h"

#include "ucp/learn/due.h"
#include "ucp/learn/epoch.h"
#include "ucp/learn/follow.h"
#include "ucp/learn/samples.h"
#include "ucs/sys/math.h"

#include <string.h>

/* Numbers of transfers, except MAX_DROP and MIN_SAMPLES. */
enum {
    WATCH       = 256, /* Between two samples of the selected method */
    MIN_GAP     = 256, /* Between the first two trials of a method */
    /* After an epoch without a result (doubled for each in a row, MAX_DROP
     * times), or after an odd sample */
    RETRY       = 16,
    POLL        = 16, /* Between two checks whether an epoch is due */
    MAX_DROP    = 6,
    /* Fewer samples do not show which ones are odd (ucp_learn_watch()) */
    MIN_SAMPLES = 3,
};

/* The credit that each transfer adds. */
#define SHARE 0.01

/* Another method is selected only if faster by more than this fraction. */
#define MIN_ADVANTAGE 0.06

/* A method that is not selected but seems to be faster by more than this factor
 * is tried again at once, because few samples are not certain. */
#define PROMISING 1.05

/* While the selected method has only one sample, at the beginning of a stream, a
 * method that is faster by more than the first factor is selected without AFTER.
 * Unless it is faster by more than the second one, the previous method is tried
 * again soon: then its epoch FULL does what AFTER would do. */
#define FASTER     1.12
#define FAR_FASTER 1.5

/* If BEFORE and AFTER differ by more than this fraction, one trial is not
 * sufficient to select a method. Also used in adapt(). */
#define MIN_CHANGE 0.05

/* Lower limit of the ratio that an epoch FIRST shows. */
#define LEAST_FIRST 0.05

/* If BEFORE and AFTER differ by more than this factor, the trial has no result,
 * unless FULL takes longer than both. If FULL is faster than BEFORE by more than
 * this factor, AFTER is not necessary. */
#define MAX_CHANGE 1.3

void ucp_learn_stream_init(ucp_learn_stream_t *stream, unsigned methods,
                           unsigned first, const double *expected)
{
    unsigned i;

    memset(stream, 0, sizeof(*stream));
    stream->previous = UCP_LEARN_NONE;
    ucp_learn_init(&stream->learn, methods, first, expected, 0);
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        stream->learn.method[i].due = 0;
        stream->learn.method[i].gap = MIN_GAP;
    }
}

void ucp_learn_stream_continue(ucp_learn_stream_t *stream,
                               const ucp_learn_stream_t *from)
{
    ucp_learn_t learn = stream->learn;

    ucp_learn_continue(&learn, &from->learn);
    *stream          = *from;
    stream->learn    = learn;
    stream->stage    = UCP_LEARN_IDLE;
    stream->previous = UCP_LEARN_NONE;
    stream->wake     = stream->learn.count;
}

/* -------------------------------------------------------- the next epoch -- */

int ucp_learn_stream_add(ucp_learn_stream_t *stream)
{
    ++stream->learn.count;
    stream->credit = (float)ucs_min(stream->credit + SHARE,
                                    UCP_LEARN_MAX_CREDIT);
    return !stream->learn.timing && ucp_learn_has_come(stream, stream->wake);
}

int ucp_learn_stream_repeat(ucp_learn_stream_t *stream)
{
    if (!stream->learn.timing &&
        ((int32_t)(stream->wake - stream->learn.count) <= 1)) {
        return 0;
    }
    ucp_learn_stream_add(stream);
    return 1;
}

int ucp_learn_stream_next(ucp_learn_stream_t *stream, unsigned in_flight,
                          size_t length, ucp_learn_round_t *round)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned transfers;

    if (ucp_learn_stream_leave_trial(stream)) {
        return 0;
    }
    learn->is_led   = 0;
    stream->advance = ucp_learn_epoch_advance(stream, in_flight, length);
    if (stream->stage == UCP_LEARN_IDLE) {
        learn->trial = (uint8_t)ucp_learn_find_due(stream);
        if ((learn->trial == UCP_LEARN_NONE) &&
            !ucp_learn_has_come(stream, stream->watch)) {
            stream->wake = learn->count + POLL;
            return 0;
        }
        stream->stage = UCP_LEARN_BEFORE;
    }
    if (stream->stage != UCP_LEARN_AFTER) {
        stream->is_ahead = (stream->stage == UCP_LEARN_FULL) &&
                           ucp_learn_seems_faster(stream, learn->trial);
    }
    ucp_learn_epoch_round(stream, in_flight, length, round);
    transfers = ucp_learn_round_transfers(round);
    learn->count += transfers - 1;
    stream->credit += (float)(SHARE * (transfers - 1));
    learn->timing = 1;
    return 1;
}

/* --------------------------------------------------------------- results -- */

void ucp_learn_stream_scale(ucp_learn_stream_t *stream, int longer)
{
    if (longer && (stream->scale < UCP_LEARN_MAX_SCALE)) {
        ++stream->scale;
    } else if (!longer && (stream->scale > 0)) {
        --stream->scale;
    }
}

/* Called when the time of the selected method has changed by a factor. That is
 * probably due to other work, which affects all methods: the samples of the
 * others change, too, unless the method is faster by MIN_CHANGE or more. If
 * `is_slower` (see ucp_learn_watch()), methods that now seem to be faster lose
 * their samples and are tried at once. */
static void adapt(ucp_learn_stream_t *stream, double factor, int is_slower)
{
    ucp_learn_t *learn = &stream->learn;
    double best        = ucp_learn_time(learn, learn->best);
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((i == learn->best) || ucp_learn_is_first_only(stream, i)) {
            continue;
        }
        if (!is_slower && (factor > 1 - MIN_CHANGE)) {
            ucp_learn_scale(learn, i, factor);
        } else if (is_slower && (ucp_learn_time(learn, i) < best)) {
            ucp_learn_forget(learn, i);
            learn->method[i].gap = MIN_GAP;
            learn->method[i].due = learn->count;
            stream->passed &= (uint8_t)~UCS_BIT(i);
            stream->close &= (uint8_t)~UCS_BIT(i);
        }
    }
}

/* Called when the time of the selected method has changed by a factor and is
 * not yet certain: results of FIRST, which are ratios to it, change, too. */
static void scale_rough(ucp_learn_stream_t *stream, double factor)
{
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if ((stream->rough & UCS_BIT(i)) && (i != stream->learn.best)) {
            ucp_learn_scale(&stream->learn, i, factor);
        }
    }
}

static void watch(ucp_learn_stream_t *stream, double time)
{
    ucp_learn_t *learn = &stream->learn;
    double before      = ucp_learn_time(learn, learn->best);
    int is_slower;

    if (learn->method[learn->best].count < MIN_SAMPLES) {
        ucp_learn_add(learn, learn->best, time);
        if (before > 0) {
            scale_rough(stream, ucp_learn_time(learn, learn->best) / before);
        }
        return;
    }
    is_slower = ucp_learn_watch(learn, time);
    adapt(stream, ucp_learn_time(learn, learn->best) / before, is_slower);
}

/* Returns non-zero if a method is faster than the selected one by more than the
 * noise: its median must be less than a low quantile of the selected one. The
 * fewer samples it has, the more the noise counts. `change`: difference of
 * BEFORE and AFTER, as a fraction. */
static int is_better(const ucp_learn_t *learn, unsigned method, double change)
{
    unsigned count = learn->method[method].count;
    unsigned known = learn->method[learn->best].count;
    double noise   = ucs_max(ucp_learn_noise(learn, method),
                             ucp_learn_noise(learn, learn->best));

    if ((count == 1) && (change > MIN_CHANGE)) {
        return 0;
    }
    /* few samples do not show how much noise there is */
    noise = ucs_max(noise, ucs_max(change, 0.15 / known));
    return ucp_learn_median(learn, method) *
               (1 + MIN_ADVANTAGE + noise / count) <
           ucp_learn_time(learn, learn->best);
}

/* Selects a method; the previous one is as well known as after a trial. A
 * method that was not clearly slower than that one may be clearly slower than
 * this one: its trial starts with FIRST again. */
static void use(ucp_learn_stream_t *stream, unsigned index)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned before    = learn->best;
    unsigned i;

    learn->best              = (uint8_t)index;
    learn->num_odd           = 0;
    learn->method[index].gap = learn->method[before].gap = MIN_GAP;
    ucp_learn_lengthen_gap(stream, before);
    ucp_learn_schedule(stream, before);
    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (ucp_learn_time(learn, i) >
            UCP_LEARN_CLEARLY_SLOWER * ucp_learn_time(learn, index)) {
            stream->passed &= (uint8_t)~UCS_BIT(i);
        }
    }
}

/* Returns whether the result of a trial of the method is not exact enough to
 * select it: a longer trial follows. */
static int is_brief(const ucp_learn_stream_t *stream, unsigned index)
{
    return stream->is_small && !ucp_learn_is_close(stream, index);
}

/* Called with the result of a trial, the time of the method divided by that of
 * the selected one. If they differ little, a short epoch is not exact enough:
 * the data is still in the caches where the selected method has put it. So the
 * result is replaced by that of the next trial, which is longer, at a small
 * cost because of the small difference. */
static void note_distance(ucp_learn_stream_t *stream, unsigned index,
                          double ratio)
{
    const uint8_t bit = (uint8_t)UCS_BIT(index);

    if ((ratio >= UCP_LEARN_ALMOST) ||
        (!stream->is_small && (ratio * UCP_LEARN_ALMOST < 1))) {
        stream->close &= (uint8_t)~bit;
    } else if (!ucp_learn_is_close(stream, index)) {
        stream->close |= bit;
        stream->rough |= bit;
        stream->passed |= bit;
        stream->learn.method[index].due = stream->learn.count;
    }
}

/* Adds a result of the trial, the time of the method divided by that of the
 * selected one. */
static void add_result(ucp_learn_stream_t *stream, double ratio)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned index     = learn->trial;

    if (stream->rough & UCS_BIT(index)) {
        stream->rough &= (uint8_t)~UCS_BIT(index);
        ucp_learn_forget(learn, index);
    }
    ucp_learn_add(learn, index, ratio * ucp_learn_time(learn, learn->best));
}

/* Called at the end of a trial: adds its result, and selects the method or
 * schedules its next trial. `after`: the result of the epoch AFTER. */
static void conclude(ucp_learn_stream_t *stream, double after)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned index     = learn->trial;
    unsigned before    = learn->best;
    double low         = ucs_min(stream->before, after);
    double high        = ucs_max(stream->before, after);
    double best, ratio;

    if ((high > MAX_CHANGE * low) && (stream->during < high)) {
        /* BEFORE, with which the cost of the trial was measured, does not hold
         * any more: estimate it with AFTER */
        stream->credit += stream->cost -
                          (float)ucp_learn_cost_full(stream, index,
                                                     stream->during / after);
        ucp_learn_schedule(stream, index);
        return;
    }
    best  = ucp_learn_time(learn, before);
    ratio = stream->during * 2 / (low + high);
    add_result(stream, ratio);
    if (!is_brief(stream, index) && is_better(learn, index, high / low - 1)) {
        use(stream, index);
    } else if ((ucp_learn_median(learn, index) * PROMISING < best) &&
               (learn->method[index].count < 5)) {
        learn->method[index].due = learn->count;
    } else {
        ucp_learn_schedule(stream, index);
    }
    if (learn->best == before) {
        note_distance(stream, index, ratio);
    }
}

/* Called at the end of the epoch FULL, with its result. Selects the method and
 * returns non-zero if it is so much faster than BEFORE, and than the selected
 * method was earlier, that AFTER need not confirm it. */
static int use_at_once(ucp_learn_stream_t *stream, double time)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned selected  = learn->best;
    unsigned known     = learn->method[selected].count;
    double least       = ucs_min((double)stream->before,
                                 ucp_learn_time(learn, selected));

    if (is_brief(stream, learn->trial) || (known == 0) ||
        (time * ((known == 1) ? FASTER : MAX_CHANGE) > least)) {
        return 0;
    }
    add_result(stream, time / stream->before);
    use(stream, learn->trial);
    if ((known == 1) && (time * FAR_FASTER > least)) {
        learn->method[selected].due = learn->count;
        stream->passed |= (uint8_t)UCS_BIT(selected);
    }
    return 1;
}

/* Called at the end of the epoch FIRST of a method. A small ratio may be wrong:
 * transfers by two methods may be in progress at once. */
static void end_first(ucp_learn_stream_t *stream, unsigned index, double time)
{
    ucp_learn_t *learn = &stream->learn;
    double ratio       = ucs_max(time / stream->before, LEAST_FIRST);

    if ((learn->method[index].count == 0) ||
        (ratio > UCP_LEARN_CLEARLY_SLOWER) ||
        (stream->rough & UCS_BIT(index))) {
        stream->rough |= (uint8_t)UCS_BIT(index);
        ucp_learn_forget(learn, index);
        ucp_learn_add(learn, index, ratio * ucp_learn_time(learn, learn->best));
    }
    if (ratio > UCP_LEARN_CLEARLY_SLOWER) {
        ucp_learn_postpone_alike(learn, index, MIN_GAP);
        ucp_learn_schedule(stream, index);
    } else {
        stream->passed |= (uint8_t)UCS_BIT(index);
    }
}

static void end_firsts(ucp_learn_stream_t *stream,
                       const ucp_learn_round_t *round, const double *times)
{
    unsigned i;

    for (i = 0; i < round->num_epochs; ++i) {
        end_first(stream, round->epochs[i].method, times[i]);
    }
}

/* Continues with FIRST or FULL of the method whose trial is due. BEFORE is not
 * repeated: `before` was just measured. If no trial is due, waits. */
static void start_next(ucp_learn_stream_t *stream)
{
    ucp_learn_t *learn = &stream->learn;

    learn->trial = (uint8_t)ucp_learn_find_due(stream);
    if (learn->trial == UCP_LEARN_NONE) {
        ucp_learn_stream_wait(stream, POLL);
    } else if (stream->passed & UCS_BIT(learn->trial)) {
        stream->passed &= (uint8_t)~UCS_BIT(learn->trial);
        stream->stage = UCP_LEARN_FULL;
    } else {
        stream->stage = UCP_LEARN_FIRST;
    }
}

void ucp_learn_stream_result(ucp_learn_stream_t *stream,
                             const ucp_learn_round_t *round,
                             const double *seconds_per_byte, double added)
{
    ucp_learn_t *learn      = &stream->learn;
    const unsigned selected = learn->best;
    double time             = seconds_per_byte[0];

    if (!learn->timing) {
        return;
    }
    learn->timing = 0;
    stream->drops = 0;
    switch (stream->stage) {
    case UCP_LEARN_FIRST:
        ucp_learn_pay(stream, round, added);
        end_firsts(stream, round, seconds_per_byte);
        break;
    case UCP_LEARN_FULL:
        stream->cost = ucp_learn_pay(stream, round, added);
        if (use_at_once(stream, time)) {
            stream->before = (float)time; /* as if FULL were BEFORE */
            break;
        }
        stream->during = (float)time;
        stream->stage  = UCP_LEARN_AFTER;
        return;
    default:
        watch(stream, time);
        if (stream->stage == UCP_LEARN_AFTER) {
            stream->cost += ucp_learn_pay(stream, round, added);
            conclude(stream, time);
        }
        stream->watch  = learn->count + ((learn->num_odd > 0) ? RETRY : WATCH);
        stream->before = (float)time;
        if (learn->best != selected) {
            /* stream->before is a result of the other method. Start with
             * BEFORE, after as many transfers as a warm-up has */
            ucp_learn_stream_wait(stream, stream->warm);
            return;
        }
        break;
    }
    start_next(stream);
}

void ucp_learn_stream_drop(ucp_learn_stream_t *stream,
                           const ucp_learn_round_t *round)
{
    ucp_learn_t *learn = &stream->learn;
    unsigned i;

    if (!learn->timing) {
        return;
    }
    learn->timing = 0;
    for (i = 0; (stream->stage == UCP_LEARN_FIRST) && (i < round->num_epochs);
         ++i) {
        stream->credit -= (float)ucp_learn_cost_first(
            ucp_learn_ratio(stream, round->epochs[i].method));
    }
    if (stream->stage == UCP_LEARN_FULL) {
        stream->credit -= (float)ucp_learn_cost_full(
            stream, learn->trial, ucp_learn_ratio(stream, learn->trial));
        stream->passed |= (uint8_t)UCS_BIT(learn->trial); /* no FIRST again */
    }
    ucp_learn_stream_wait(stream, RETRY << stream->drops);
    stream->drops = (uint8_t)ucs_min(stream->drops + 1, MAX_DROP);
}
