/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 25: stated costs are close to those measured in the same run. The best
 * of many rounds is compared: a busy machine delays messages, but makes none
 * faster. A transport that is faster than stated is therefore found on any
 * machine. To find one that is slower, the limit is narrow only if there were
 * enough rounds in which no other program took the processor from either side
 * (calm.h). The limit includes the costs of two processes and of copies on this
 * machine, which are measured between the rounds.
 */
#include "calm.h"
#include "peer.h"
#include "slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 5
#define CALM_LIMIT \
    2.0 /* Seconds in which more batches are run, until enough
         * rounds are calm */
#define ROUNDS      60
#define BURST_BYTES ((size_t)1 << 20)
#define BURST_MAX   500
#define LENGTH_MAX  ((size_t)256 << 10)
#define COPIES      4    /* Number of copies of a message between two users */
#define FLOOR       1e-6 /* Seconds of system calls that are always allowed */

/* Stated costs of more than five times the measured ones are findings. The
 * measurement is exact within a factor of two, so errors by a factor of ten are
 * found and those by a factor of three are tolerated. */
#define FACTOR_ABOVE 5.0
/* Without enough calm rounds, measured costs above this multiple of the stated
 * ones are findings; with enough calm rounds, those above run_t.tolerance. */
#define FACTOR_BUSY 50.0

/* Code with a sanitizer is slow, so its costs are not compared. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED 1
#else
#define IS_INSTRUMENTED 0
#endif

/* Minimum number of undisturbed rounds, so that the best of all rounds is the
 * speed of the transport. A single round may still have been slowed down, by
 * cold caches for example. */
#define CALM_ROUNDS 20 /* Rounds of one message */
#define CALM_BURSTS 3

/* Durations of many rounds. */
typedef struct timed {
    double best;   /* Seconds of the best round */
    unsigned calm; /* Number of rounds that no other program disturbed */
} timed_t;

typedef struct measured {
    timed_t one_way; /* Time of the smallest message */
    timed_t each;    /* Time of a large message in a sequence of large
                      * messages */
    double toss;     /* Seconds, one way between the processes, without the
                      * transport */
    double copy;     /* Seconds to copy a large message */
} measured_t;

typedef struct talk {
    run_t *run;
    peer_t *peer;
    party_t *party;
    calm_t calm;
    measured_t best;
} talk_t;

static double since(double start)
{
    return clock_now() - start;
}

static int ask(talk_t *talk, peer_op_t op, uint64_t count, uint64_t value)
{
    static peer_message_t message;

    memset(&message, 0, sizeof(message));
    message.op    = op;
    message.count = count;
    message.value = value;
    return peer_call(talk->peer, &message, &message);
}

/* One round: `burst` messages, and the answer to the last one. */
static int run_round(talk_t *talk, party_kind_t kind, size_t length,
                     uint64_t burst, uint64_t expected)
{
    party_t *party = talk->party;
    ucs_status_t status;
    uint64_t i;

    for (i = 0; i < burst; ++i) {
        status = UCS_ERR_NO_RESOURCE;
        party_wait(party,
                   (status = party_try(party, kind, length, 0, 1, NULL)) !=
                       UCS_ERR_NO_RESOURCE,
                   PARTY_PATIENCE);
        if (!check_that(talk->run, 26, !UCS_STATUS_IS_ERR(status),
                        "sending %zu bytes by %s: %s", length,
                        party_kind_names[kind], ucs_status_string(status))) {
            return 0;
        }
    }
    return check_that(talk->run, 26,
                      party_wait(party, party->rx.count >= expected,
                                 PARTY_PATIENCE),
                      "messages did not arrive within %.0f s", PARTY_PATIENCE);
}

/* Lowers *timed to the durations of the best rounds. */
static int measure(talk_t *talk, party_kind_t kind, size_t length,
                   uint64_t burst, unsigned rounds, timed_t *timed)
{
    const int other = peer_is_other(talk->peer);
    double start, duration;
    unsigned i;

    if (other && !ask(talk, PEER_ECHO, rounds, burst)) {
        return 0;
    }
    talk->party->rx.count = 0;
    talk->party->rushes   = 1;
    for (i = 1; i <= rounds; ++i) {
        calm_begin(&talk->calm);
        start = clock_now();
        if (!run_round(talk, kind, length, burst, other ? i : i * burst)) {
            return 0;
        }
        duration    = since(start);
        timed->best = fmin(timed->best, duration);
        if (calm_held(&talk->calm, duration)) {
            ++timed->calm;
        }
    }
    return 1;
}

/* Measures a round trip without the transport: a number in shared memory goes
 * to the peer and back. */
static int measure_toss(talk_t *talk, double *best_p)
{
    _Atomic uint64_t *tosses = &talk->run->record->tosses;
    double start;
    unsigned i;

    *tosses = 0;
    if (!ask(talk, PEER_TOSS, ROUNDS, 0)) {
        return 0;
    }
    for (i = 0; i < ROUNDS; ++i) {
        start = clock_now();
        ++*tosses;
        if (!party_wait(talk->party, *tosses % 2 == 0, PARTY_PATIENCE)) {
            return 0;
        }
        *best_p = fmin(*best_p, since(start));
    }
    return 1;
}

static void measure_copy(size_t length, double *best_p)
{
    char *from = calloc(1, length);
    char *to   = calloc(1, length);
    double start;

    if ((from != NULL) && (to != NULL)) {
        start = clock_now();
        memcpy(to, from, length);
        *best_p = fmin(*best_p, since(start));
        from[0] = to[length - 1];
    }
    free(from);
    free(to);
}

static int measure_batch(talk_t *talk, party_kind_t small, party_kind_t large,
                         size_t length, uint64_t burst)
{
    measured_t *best = &talk->best;

    check_doing(talk->run, "measuring its latency");
    if (!measure(talk, small, party_min(talk->party, small), 1, ROUNDS,
                 &best->one_way) ||
        (peer_is_other(talk->peer) && !measure_toss(talk, &best->toss))) {
        return 0;
    }
    check_doing(talk->run, "measuring its bandwidth");
    if (!measure(talk, large, length, burst, 1, &best->each)) {
        return 0;
    }
    measure_copy(length, &best->copy);
    return 1;
}

static int is_disturbed(const measured_t *best)
{
    return (best->one_way.calm < CALM_ROUNDS) ||
           (best->each.calm < CALM_BURSTS);
}

static int measure_all(talk_t *talk, party_kind_t small, party_kind_t large,
                       size_t length, uint64_t burst)
{
    const int other    = peer_is_other(talk->peer);
    const double start = clock_now();
    measured_t *best   = &talk->best;
    unsigned i;

    *best = (measured_t){
        .one_way = {.best = INFINITY},
        .each    = {.best = INFINITY},
        .toss    = other ? INFINITY : 0,
        .copy    = INFINITY,
    };
    for (i = 0;
         (i < BATCHES) || (is_disturbed(best) && (since(start) < CALM_LIMIT));
         ++i) {
        if (!measure_batch(talk, small, large, length, burst)) {
            return 0;
        }
    }
    best->toss /= 2;
    best->one_way.best /= other ? 2 : 1;
    best->each.best /= (double)burst;
    return 1;
}

static int estimate(talk_t *talk, party_kind_t kind, ucx_perf_t *perf)
{
    static const ucx_op_t ops[] = {
        [PARTY_SHORT] = UCX_OP_AM_SHORT,
        [PARTY_BCOPY] = UCX_OP_AM_BCOPY,
        [PARTY_ZCOPY] = UCX_OP_AM_ZCOPY,
    };

    return slots_estimate(talk->party->iface, talk->party->attr, ops[kind],
                          perf) == UCS_OK;
}

static double processing(const ucx_perf_t *perf)
{
    return perf->send_pre_overhead + perf->send_post_overhead +
           perf->recv_overhead;
}

/* Returns whether the transport is slower than `stated` allows. `calm`: minimum
 * number of undisturbed rounds. */
static int is_slower(const talk_t *talk, const timed_t *timed, unsigned calm,
                     double stated)
{
    return timed->best >
           stated *
               ((timed->calm >= calm) ? talk->run->tolerance : FACTOR_BUSY);
}

static void compare_latency(talk_t *talk, const ucx_perf_t *perf)
{
    const measured_t *best = &talk->best;
    const double latency   = perf->latency.c + perf->latency.m;

    check_that(talk->run, 25, latency <= FACTOR_ABOVE * best->one_way.best,
               "its latency is stated as %.2f us; a message arrives after %.2f "
               "us",
               latency * 1e6, best->one_way.best * 1e6);
    check_that(talk->run, 25,
               !is_slower(talk, &best->one_way, CALM_ROUNDS,
                          FLOOR + latency + best->toss + processing(perf)),
               "its latency and overheads are stated as %.2f us; the fastest "
               "message took %.2f us",
               (latency + processing(perf)) * 1e6, best->one_way.best * 1e6);
}

static void compare_bandwidth(talk_t *talk, const ucx_perf_t *perf,
                              party_kind_t kind, size_t length, double transfer)
{
    const measured_t *best = &talk->best;

    check_that(talk->run, 25, transfer <= FACTOR_ABOVE * best->each.best,
               "its bandwidth is stated as %.1f MB/s; %.1f MB/s arrive",
               (double)length / transfer * 1e-6,
               (double)length / best->each.best * 1e-6);
    check_that(talk->run, 25,
               !is_slower(talk, &best->each, CALM_BURSTS,
                          FLOOR + transfer + best->toss + processing(perf) +
                              COPIES * best->copy),
               "%s of %zu bytes is stated to take %.2f us; each of a sequence "
               "took %.2f us",
               party_kind_names[kind], length,
               (transfer + processing(perf)) * 1e6, best->each.best * 1e6);
}

static void compare(talk_t *talk, party_kind_t small, party_kind_t large,
                    size_t length)
{
    const measured_t *best = &talk->best;
    ucx_perf_t first, many;
    double transfer;

    if (!estimate(talk, small, &first) || !estimate(talk, large, &many)) {
        return;
    }
    transfer = (double)length /
               (many.bandwidth.dedicated + many.bandwidth.shared);
    check_note(talk->run,
               "latency %.2f us stated, %.2f us measured with all "
               "overheads; %s of %zu bytes: %.2f us stated, %.2f us measured%s",
               (first.latency.c + first.latency.m) * 1e6,
               best->one_way.best * 1e6, party_kind_names[large], length,
               transfer * 1e6, best->each.best * 1e6,
               is_disturbed(best) ? "; other programs disturbed most rounds" :
                                    "");
    compare_latency(talk, &first);
    compare_bandwidth(talk, &many, large, length, transfer);
}

void check_costs(run_t *run)
{
    static party_t party;
    static peer_t peer;
    talk_t talk = {.run = run, .peer = &peer, .party = &party};
    party_kind_t small, large;
    size_t length;

    if (IS_INSTRUMENTED) {
        check_skip(run, "the kit is built with a sanitizer");
        return;
    }
    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }
    if (party_some_kind(&party, &length) == PARTY_NUM_KINDS) {
        check_skip(run, "it has no active messages");
    } else {
        small  = party_small_kind(&party);
        large  = party_has(&party, PARTY_ZCOPY) ? PARTY_ZCOPY :
                 party_has(&party, PARTY_BCOPY) ? PARTY_BCOPY :
                                                  PARTY_SHORT;
        length = size_min(party_max(&party, large), LENGTH_MAX);
        calm_open(&talk.calm, peer.pid);
        if (measure_all(&talk, small, large, length,
                        size_min(BURST_MAX, BURST_BYTES / length + 1))) {
            compare(&talk, small, large, length);
        }
        calm_close(&talk.calm);
    }
    conversation_end(&peer, &party);
}
