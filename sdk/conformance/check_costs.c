/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 25 of sdk/ABI.md: the costs that an interface states are close to those
 * measured in the same run. The best of many rounds is compared: a busy machine
 * delays messages, but makes none faster. A transport that is faster than
 * stated is therefore found on any machine. For a transport that is slower, the
 * limit is narrow only if the best round is known to be undisturbed: in enough
 * rounds no other program took the processor from either side (calm.h), or the
 * fastest rounds took the same time. The limit includes the costs of
 * communication between two processes and of copies on this machine, which are
 * measured between the rounds.
 */
#include "calm.h"
#include "peer.h"
#include "slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Minimum number of batches. A batch measures the latency, by rounds of one
 * message, and then the bandwidth, by bursts of messages. */
#define BATCHES 5
/* More batches follow until enough rounds are undisturbed: for up to CALM_LIMIT
 * seconds, or up to DOUBT_LIMIT seconds if the transport appears to be slower
 * than stated. After CALM_LIMIT seconds the bursts are short, because short
 * bursts are disturbed less often. */
#define CALM_LIMIT   2.0
#define DOUBT_LIMIT  30.0
#define ROUNDS       60                  /* Rounds of one message in a batch */
#define BURST_BYTES  ((size_t)1 << 20)   /* Bytes of a burst, about */
#define BURST_MAX    500                 /* Maximum messages of a burst */
#define BURSTS_SHORT 10                  /* Number of short bursts in a batch */
#define BURST_MIN    4                   /* Messages of a short burst */
#define LENGTH_MAX   ((size_t)256 << 10) /* Maximum bytes of a large message */
#define COPIES       4    /* Number of copies of a message between two users */
#define FLOOR        1e-6 /* Seconds always allowed, for system calls */

/* Stated costs of more than five times the measured ones are findings. The
 * measurement is exact within a factor of two, so errors by a factor of ten are
 * found and those by a factor of three are tolerated. */
#define FACTOR_ABOVE 5.0
/* Measured costs above this multiple of the stated ones are findings if other
 * programs may be the cause. Otherwise, the limit is run_t.tolerance. */
#define FACTOR_BUSY 200.0

/* Code with a sanitizer is slow, so its costs are not compared. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED 1
#else
#define IS_INSTRUMENTED 0
#endif

/* Number of undisturbed rounds, or of fastest rounds of equal duration, after
 * which the best of all rounds is taken as the speed of the transport. One
 * undisturbed round is not enough: it may have been slow for another reason,
 * such as cold caches. */
#define ENOUGH_ROUNDS 20  /* Rounds of one message */
#define ENOUGH_BURSTS 5   /* Rounds of one burst */
#define FASTEST_MAX   20  /* Number of durations that are kept */
#define AGREEMENT     1.1 /* Durations within this factor count as equal */

/* Durations of many rounds. */
typedef struct timed {
    /* Durations of the fastest rounds in ascending order: seconds for one
     * message one way. INFINITY in entries that are not used yet. */
    double fastest[FASTEST_MAX];
    unsigned calm;   /* Number of rounds that no other program disturbed */
    unsigned enough; /* ENOUGH_ROUNDS or ENOUGH_BURSTS */
} timed_t;

typedef struct measured {
    timed_t one_way; /* Time of the smallest message */
    timed_t each;    /* Time of a large message in a sequence of large
                      * messages */
    double toss;     /* Seconds until the peer process sees a change of a
                      * counter in shared memory; 0: there is no such process */
    double copy;     /* Seconds to copy a large message */
} measured_t;

/* Costs as the transport states them, in seconds. */
typedef struct stated {
    double latency;
    double first;    /* Overheads of both sides for the smallest message */
    double transfer; /* Length of a large message, divided by the bandwidth */
    double many;     /* Overheads of both sides for a large message */
} stated_t;

typedef struct talk {
    run_t *run;
    peer_t *peer;
    party_t *party;
    calm_t calm;
    party_kind_t small, large;
    size_t length; /* Bytes of a large message */
    stated_t stated;
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

/* One round: sends `burst` messages, and waits until this side has received
 * `expected` messages in all. */
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

static double best_of(const timed_t *timed)
{
    return timed->fastest[0];
}

static void timed_init(timed_t *timed, unsigned enough)
{
    for (unsigned i = 0; i < FASTEST_MAX; ++i) {
        timed->fastest[i] = INFINITY;
    }
    timed->calm   = 0;
    timed->enough = enough;
}

static void timed_add(timed_t *timed, double duration)
{
    unsigned i;

    for (i = FASTEST_MAX; (i > 0) && (timed->fastest[i - 1] > duration); --i) {
        if (i < FASTEST_MAX) {
            timed->fastest[i] = timed->fastest[i - 1];
        }
    }
    if (i < FASTEST_MAX) {
        timed->fastest[i] = duration;
    }
}

/* Returns whether the best round shows the speed of the transport: enough
 * rounds were undisturbed, or enough of the fastest rounds took equally long,
 * which rounds delayed by other programs rarely do. */
static int is_sure(const timed_t *timed)
{
    return (timed->calm >= timed->enough) ||
           (timed->fastest[timed->enough - 1] <= AGREEMENT * best_of(timed));
}

/* Runs rounds and adds to *timed their durations, divided by `parts`: the
 * number of messages that follow each other in a round. */
static int measure(talk_t *talk, party_kind_t kind, size_t length,
                   uint64_t burst, unsigned rounds, double parts,
                   timed_t *timed)
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
        duration = since(start);
        timed_add(timed, duration / parts);
        if (calm_held(&talk->calm, duration)) {
            ++timed->calm;
        }
    }
    return 1;
}

/* Measures half of a round trip without the transport: this side and the peer
 * process increment a counter in shared memory in turn. */
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
        *best_p = fmin(*best_p, since(start) / 2);
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

static int measure_batch(talk_t *talk, uint64_t burst, unsigned num_bursts)
{
    const int other  = peer_is_other(talk->peer);
    measured_t *best = &talk->best;

    check_doing(talk->run, "measuring its latency");
    if (!measure(talk, talk->small, party_min(talk->party, talk->small), 1,
                 ROUNDS, other ? 2 : 1, &best->one_way) ||
        (other && !measure_toss(talk, &best->toss))) {
        return 0;
    }
    check_doing(talk->run, "measuring its bandwidth");
    if (!measure(talk, talk->large, talk->length, burst, num_bursts,
                 (double)burst, &best->each)) {
        return 0;
    }
    measure_copy(talk->length, &best->copy);
    return 1;
}

static int is_disturbed(const measured_t *best)
{
    return !is_sure(&best->one_way) || !is_sure(&best->each);
}

/* Return the sum of the stated costs and of the measured costs of this machine,
 * in seconds: for the smallest message, and for a large message in a sequence.
 * Callers multiply the sum by a factor before they compare it with the best
 * round. */
static double allowed_first(const talk_t *talk)
{
    return FLOOR + talk->stated.latency + talk->best.toss + talk->stated.first;
}

static double allowed_many(const talk_t *talk)
{
    return FLOOR + talk->stated.transfer + talk->best.toss + talk->stated.many +
           COPIES * talk->best.copy;
}

/* Returns whether the transport appears to be slower than stated, but other
 * programs may be the cause. */
static int is_in_doubt(const talk_t *talk)
{
    const measured_t *best = &talk->best;
    const double factor    = talk->run->tolerance;

    return (!is_sure(&best->one_way) &&
            (best_of(&best->one_way) > factor * allowed_first(talk))) ||
           (!is_sure(&best->each) &&
            (best_of(&best->each) > factor * allowed_many(talk)));
}

/* Returns whether more batches are needed. */
static int must_go_on(const talk_t *talk, unsigned batches, double seconds)
{
    return (batches < BATCHES) ||
           (is_disturbed(&talk->best) && (seconds < CALM_LIMIT)) ||
           (is_in_doubt(talk) && (seconds < DOUBT_LIMIT));
}

static int measure_all(talk_t *talk)
{
    const double start  = clock_now();
    unsigned num_bursts = 1;
    uint64_t burst      = size_min(BURST_MAX, BURST_BYTES / talk->length + 1);
    unsigned i;

    talk->best = (measured_t){
        .toss = peer_is_other(talk->peer) ? INFINITY : 0,
        .copy = INFINITY,
    };
    timed_init(&talk->best.one_way, ENOUGH_ROUNDS);
    timed_init(&talk->best.each, ENOUGH_BURSTS);
    for (i = 0; must_go_on(talk, i, since(start)); ++i) {
        if (!measure_batch(talk, burst, num_bursts)) {
            return 0;
        }
        if (since(start) > CALM_LIMIT) {
            burst      = size_min(burst, BURST_MIN);
            num_bursts = BURSTS_SHORT;
        }
    }
    return 1;
}

static double processing(const ucx_perf_t *perf)
{
    return perf->send_pre_overhead + perf->send_post_overhead +
           perf->recv_overhead;
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

static int estimate_all(talk_t *talk)
{
    ucx_perf_t first, many;

    if (!estimate(talk, talk->small, &first) ||
        !estimate(talk, talk->large, &many)) {
        return 0;
    }
    talk->stated = (stated_t){
        .latency  = first.latency.c + first.latency.m,
        .first    = processing(&first),
        .transfer = (double)talk->length /
                    (many.bandwidth.dedicated + many.bandwidth.shared),
        .many = processing(&many),
    };
    return 1;
}

/* Returns whether the best round took longer than `allowed` seconds, multiplied
 * by the tolerance, or by FACTOR_BUSY if other programs may have delayed the
 * round. */
static int is_slower(const talk_t *talk, const timed_t *timed, double allowed)
{
    return best_of(timed) >
           allowed * (is_sure(timed) ? talk->run->tolerance : FACTOR_BUSY);
}

static void compare_latency(talk_t *talk)
{
    const timed_t *one_way = &talk->best.one_way;
    const stated_t *stated = &talk->stated;

    check_that(talk->run, 25,
               stated->latency <= FACTOR_ABOVE * best_of(one_way),
               "its latency is stated as %.2f us; a message arrives after %.2f "
               "us",
               stated->latency * 1e6, best_of(one_way) * 1e6);
    check_that(talk->run, 25, !is_slower(talk, one_way, allowed_first(talk)),
               "its latency and overheads are stated as %.2f us; the fastest "
               "message took %.2f us",
               (stated->latency + stated->first) * 1e6, best_of(one_way) * 1e6);
}

static void compare_bandwidth(talk_t *talk)
{
    const timed_t *each    = &talk->best.each;
    const stated_t *stated = &talk->stated;
    const double length    = (double)talk->length;

    check_that(talk->run, 25, stated->transfer <= FACTOR_ABOVE * best_of(each),
               "its bandwidth is stated as %.1f MB/s; %.1f MB/s arrive",
               length / stated->transfer * 1e-6, length / best_of(each) * 1e-6);
    check_that(talk->run, 25, !is_slower(talk, each, allowed_many(talk)),
               "%s of %zu bytes is stated to take %.2f us; each of a sequence "
               "took %.2f us",
               party_kind_names[talk->large], talk->length,
               (stated->transfer + stated->many) * 1e6, best_of(each) * 1e6);
}

/* Returns whether a cost in the manifest is missing or far from the measured
 * one. */
static int is_far(double declared, double measured)
{
    return (declared * FACTOR_ABOVE < measured) ||
           (declared > FACTOR_ABOVE * measured);
}

/* Adds a note with the measured costs, as members of a manifest, if the check
 * has failed or the costs in the manifest are far from the measured ones. */
static void propose(talk_t *talk)
{
    const ucx_manifest_transport_t *tl = run_transport(talk->run);
    const double latency               = best_of(&talk->best.one_way);
    const double bandwidth = (double)talk->length / best_of(&talk->best.each);

    if (!is_disturbed(&talk->best) &&
        (check_has_failed(talk->run) || is_far(tl->latency, latency) ||
         is_far(tl->bandwidth, bandwidth))) {
        check_note(talk->run,
                   "for this device, the manifest would have \"latency_ns\": "
                   "%.0f, \"bandwidth_mbps\": %.0f",
                   latency * 1e9, bandwidth * 1e-6);
    }
}

static void compare(talk_t *talk)
{
    const measured_t *best = &talk->best;

    check_note(talk->run,
               "latency %.2f us stated, %.2f us measured with all "
               "overheads; %s of %zu bytes: %.2f us stated, %.2f us measured%s",
               talk->stated.latency * 1e6, best_of(&best->one_way) * 1e6,
               party_kind_names[talk->large], talk->length,
               talk->stated.transfer * 1e6, best_of(&best->each) * 1e6,
               is_disturbed(best) ? "; other programs disturbed most rounds" :
                                    "");
    compare_latency(talk);
    compare_bandwidth(talk);
    propose(talk);
}

void check_costs(run_t *run)
{
    static party_t party;
    static peer_t peer;
    talk_t talk = {.run = run, .peer = &peer, .party = &party};
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
        talk.small  = party_small_kind(&party);
        talk.large  = party_has(&party, PARTY_ZCOPY) ? PARTY_ZCOPY :
                      party_has(&party, PARTY_BCOPY) ? PARTY_BCOPY :
                                                       PARTY_SHORT;
        talk.length = size_min(party_max(&party, talk.large), LENGTH_MAX);
        calm_open(&talk.calm, peer.pid);
        if (estimate_all(&talk) && measure_all(&talk)) {
            compare(&talk);
        }
        calm_close(&talk.calm);
    }
    conversation_end(&peer, &party);
}
