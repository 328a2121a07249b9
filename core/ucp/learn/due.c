/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which method of a stream is tried next, and what trials cost: see due.h.
 */
#include "ucp/learn/due.h"

#include "ucs/sys/math.h"

/* A gap of this many transfers or more between two trials of a method does not
 * grow further. */
enum { MAX_GAP = 65536 };

/* If a method takes longer by more than this factor, one whole trial shows that
 * it is slower, and the gap between its trials grows faster. */
#define MUCH_SLOWER 1.5

/* The assumed cost of the change between methods, as a fraction of the time of
 * the transfers of an epoch of usual length. */
#define SWITCHING 0.05

/* Limit of the ratio by which costs are computed: a longer time is that of an
 * interruption. */
#define MAX_RATIO 5.0

/* Limits of the estimated ratio of a method that has not been measured. */
#define UNKNOWN_RATIO 1.5
#define MAX_EXPECTED  3.0

/* A method that takes less than this many times as long, by the result of an
 * epoch FIRST, may be faster. */
#define UNCERTAIN 2.0

double ucp_learn_ratio(const ucp_learn_stream_t *stream, unsigned method)
{
    const ucp_learn_t *learn = &stream->learn;
    const unsigned bit       = UCS_BIT(method);
    double time              = ucp_learn_time(learn, method);
    double best              = ucp_learn_time(learn, learn->best);
    double expected          = learn->expected[method];
    double expected_best     = learn->expected[learn->best];
    double measured          = (best > 0) ? time / best : 0;
    double ratio             = UNKNOWN_RATIO;

    if ((measured > 0) &&
        ((measured < 1) || !ucp_learn_is_first_only(stream, method))) {
        return measured;
    }
    if (!(stream->exact & bit)) {
        ratio = ucs_max(measured, ratio);
    }
    if ((expected > 0) && (expected_best > 0)) {
        ratio = ucs_max(expected / expected_best, ratio);
    }
    return ucs_min(ratio, MAX_EXPECTED);
}

/* Returns the time that transfers add to a stream, as a number of transfers by
 * the selected method: `count` transfers that take `ratio` times as long, and
 * the change between the methods, estimated as a part of `usual` transfers. */
static double cost_of(unsigned count, unsigned usual, double ratio)
{
    return count * ucs_min(ucs_max(ratio - 1, 0.0), MAX_RATIO - 1) +
           usual * SWITCHING;
}

double ucp_learn_cost_first(double ratio)
{
    return cost_of(UCP_LEARN_STREAM_FIRST, UCP_LEARN_STREAM_FIRST, ratio);
}

double ucp_learn_cost_full(const ucp_learn_stream_t *stream, unsigned method,
                           double ratio)
{
    unsigned log = ucp_learn_is_close(stream, method) ? UCP_LEARN_LONG_LOG : 0;

    return cost_of(stream->warm + ((unsigned)stream->counted << log),
                   (unsigned)stream->warm + stream->counted, ratio);
}

float ucp_learn_pay(ucp_learn_stream_t *stream, const ucp_learn_round_t *round,
                    double added)
{
    double limit = (MAX_RATIO - 1) * ucp_learn_round_transfers(round);
    double cost  = ucs_min(ucs_max(added, 0.0), limit);

    stream->credit -= (float)cost;
    return (float)cost;
}

/* Returns the expected cost of the next epochs by this method: FIRST, FULL, or
 * both if an earlier result suggests that FULL will follow FIRST. */
static double cost_to_start(const ucp_learn_stream_t *stream, unsigned method)
{
    double ratio = ucp_learn_ratio(stream, method);

    if (stream->passed & UCS_BIT(method)) {
        return ucp_learn_cost_full(stream, method, ratio);
    }
    return ucp_learn_cost_first(ratio) +
           (((stream->learn.method[method].count > 0) &&
             (ratio < UCP_LEARN_CLEARLY_SLOWER)) ?
                ucp_learn_cost_full(stream, method, ratio) :
                0);
}

/* More than the cost of a trial can be. */
#define ABOVE_ALL_COSTS 1e6

/* The order in which methods are tried that are due. */
enum {
    TURN_FASTER,    /* There is one result, not exact, and it is the faster */
    TURN_FIRST,     /* The method may be much faster */
    TURN_UNCERTAIN, /* There is one result, which is not exact or not certain */
    TURN_LAST,
};

/* Returns whether a method may be much faster than the selected one: its only
 * result is that of an epoch FIRST, which may be too large, or its results show
 * that. */
static int is_promising(const ucp_learn_stream_t *stream, unsigned method)
{
    const ucp_learn_t *learn = &stream->learn;
    double time              = ucp_learn_time(learn, method);
    double best              = ucp_learn_time(learn, learn->best);

    return (stream->rough & UCS_BIT(method)) ?
               ucp_learn_is_first_only(stream, method) &&
                   (time < UNCERTAIN * best) :
               time * UCP_LEARN_ALMOST < best;
}

static int turn_of(const ucp_learn_stream_t *stream, unsigned method)
{
    unsigned results = stream->learn.method[method].count;

    if ((stream->passed & UCS_BIT(method)) &&
        ucp_learn_seems_faster(stream, method)) {
        return TURN_FASTER;
    }
    if ((results == 0) || is_promising(stream, method)) {
        return TURN_FIRST;
    }
    /* a method with a result that is not exact has no other one */
    return ((results == 1) &&
            ((stream->rough & UCS_BIT(method)) ||
             (ucp_learn_ratio(stream, method) < MUCH_SLOWER))) ?
               TURN_UNCERTAIN :
               TURN_LAST;
}

/* Returns the methods that may be tried (bits): of those whose trial is due,
 * those that are first in turn, so that the credit is saved for them. If there
 * are none, all whose trial is due. */
static unsigned candidates(const ucp_learn_stream_t *stream)
{
    const ucp_learn_t *learn = &stream->learn;
    unsigned due             = 0;
    unsigned first           = 0;
    unsigned i;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        if (!(learn->methods & UCS_BIT(i)) || (i == learn->best) ||
            !ucp_learn_has_come(stream, learn->method[i].due)) {
            continue;
        }
        due |= UCS_BIT(i);
        if (turn_of(stream, i) <= TURN_FIRST) {
            first |= UCS_BIT(i);
        }
    }
    return (first != 0) ? first : due;
}

/* Returns the next of these methods (bits), if the credit is sufficient after
 * others have used `spent` of it. */
static unsigned find(const ucp_learn_stream_t *stream, unsigned among,
                     double spent)
{
    unsigned found = UCP_LEARN_NONE;
    double least   = 0;
    double limit, cost, rank;
    unsigned i;
    int turn;

    for (i = 0; i < UCP_LEARN_MAX_METHODS; ++i) {
        turn  = turn_of(stream, i);
        limit = stream->credit - spent +
                ((turn < TURN_LAST) ? stream->advance : 0);
        cost = cost_to_start(stream, i);
        rank = ((turn == TURN_FASTER) ? ucp_learn_time(&stream->learn, i) :
                                        cost) +
               ABOVE_ALL_COSTS * turn;
        if ((among & UCS_BIT(i)) && (cost < limit) &&
            ((found == UCP_LEARN_NONE) || (rank < least))) {
            found = i;
            least = rank;
        }
    }
    return found;
}

unsigned ucp_learn_find_due(const ucp_learn_stream_t *stream)
{
    return find(stream, candidates(stream), 0);
}

unsigned ucp_learn_find_firsts(const ucp_learn_stream_t *stream)
{
    unsigned among  = candidates(stream) & ~(unsigned)stream->passed;
    unsigned found  = stream->learn.trial;
    unsigned firsts = 0;
    double spent    = 0;

    while (found != UCP_LEARN_NONE) {
        firsts |= UCS_BIT(found);
        spent += cost_to_start(stream, found);
        among &= ~UCS_BIT(found);
        if (stream->learn.alike & UCS_BIT(found)) {
            among &= ~(unsigned)stream->learn.alike;
        }
        found = find(stream, among, spent);
    }
    return firsts;
}

void ucp_learn_lengthen_gap(ucp_learn_stream_t *stream, unsigned method)
{
    ucp_learn_method_t *of = &stream->learn.method[method];

    if (of->gap < MAX_GAP) {
        of->gap *= (ucp_learn_ratio(stream, method) > MUCH_SLOWER) ? 16 : 4;
    }
}

void ucp_learn_schedule(ucp_learn_stream_t *stream, unsigned method)
{
    ucp_learn_method_t *of = &stream->learn.method[method];

    of->due = stream->learn.count + of->gap;
    ucp_learn_lengthen_gap(stream, method);
}
