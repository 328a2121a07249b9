/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 25: costs are about what is measured in the same run. The best of many
 * rounds is compared: a busy machine delays messages, but makes none faster. A
 * transport that is faster than stated is therefore found early. For one that is
 * slower, the limit is wide, and contains what two processes and copies cost on
 * this machine, measured between the rounds.
 */
#include "peer.h"
#include "slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES     5
#define ROUNDS      60
#define BURST_BYTES ((size_t)1 << 20)
#define BURST_MAX   500
#define LENGTH_MAX  ((size_t)256 << 10)
#define COPIES      4    /* of a message between two users */
#define FLOOR       1e-6 /* s, for system calls */

/* Stated costs above the fivefold of the measured ones are findings: tenfold
 * errors are found although the measurement is within a factor of two, and
 * threefold ones never are. */
#define FACTOR_ABOVE 5.0
/* Measured costs above this multiple of the stated ones are findings. */
#define FACTOR_BELOW 50.0

/* Code of a sanitizer is slow: costs mean something else. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_INSTRUMENTED 1
#else
#define IS_INSTRUMENTED 0
#endif

typedef struct measured {
    double one_way; /* s, of the smallest message */
    double each;    /* s, of a large message in a sequence of them */
    double toss;    /* s, one way between processes, without the transport */
    double copy;    /* s, of a large message */
} measured_t;

typedef struct talk {
    run_t *run;
    peer_t *peer;
    party_t *party;
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
                       UCS_ERR_NO_RESOURCE, PARTY_PATIENCE);
        if (!check_that(talk->run, 26, !UCS_STATUS_IS_ERR(status),
                        "sending %zu bytes by %s: %s", length,
                        party_kind_names[kind], ucs_status_string(status))) {
            return 0;
        }
    }
    return check_that(talk->run, 26,
                      party_wait(party, party->rx.count >= expected,
                                 PARTY_PATIENCE),
                      "messages did not arrive within %.0f s",
                      PARTY_PATIENCE);
}

/* Lowers *best_p to the duration of the best round; seconds. */
static int measure(talk_t *talk, party_kind_t kind, size_t length,
                   uint64_t burst, unsigned rounds, double *best_p)
{
    const int other = peer_is_other(talk->peer);
    double start;
    unsigned i;

    if (other && !ask(talk, PEER_ECHO, rounds, burst)) {
        return 0;
    }
    talk->party->rx.count = 0;
    talk->party->rushes   = 1;
    for (i = 1; i <= rounds; ++i) {
        start = clock_now();
        if (!run_round(talk, kind, length, burst, other ? i : i * burst)) {
            return 0;
        }
        *best_p = fmin(*best_p, since(start));
    }
    return 1;
}

/* A number in shared memory, to the peer and back. */
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

static int measure_all(talk_t *talk, party_kind_t small, party_kind_t large,
                       size_t length, uint64_t burst)
{
    const int other = peer_is_other(talk->peer);
    measured_t *best = &talk->best;
    unsigned i;

    *best = (measured_t){INFINITY, INFINITY, other ? INFINITY : 0, INFINITY};
    for (i = 0; i < BATCHES; ++i) {
        check_doing(talk->run, "measuring its latency");
        if (!measure(talk, small, party_min(talk->party, small), 1, ROUNDS,
                     &best->one_way) ||
            (other && !measure_toss(talk, &best->toss))) {
            return 0;
        }
        check_doing(talk->run, "measuring its bandwidth");
        if (!measure(talk, large, length, burst, 1, &best->each)) {
            return 0;
        }
        measure_copy(length, &best->copy);
    }
    best->one_way /= other ? 2 : 1;
    best->toss    /= 2;
    best->each    /= (double)burst;
    return 1;
}

static int estimate(talk_t *talk, party_kind_t kind, ucx_perf_t *perf)
{
    static const ucx_op_t ops[] = {[PARTY_SHORT] = UCX_OP_AM_SHORT,
                                   [PARTY_BCOPY] = UCX_OP_AM_BCOPY,
                                   [PARTY_ZCOPY] = UCX_OP_AM_ZCOPY};

    return slots_estimate(talk->party->iface, talk->party->attr, ops[kind],
                          perf) == UCS_OK;
}

static double processing(const ucx_perf_t *perf)
{
    return perf->send_pre_overhead + perf->send_post_overhead +
           perf->recv_overhead;
}

static void compare(talk_t *talk, party_kind_t small, party_kind_t large,
                    size_t length)
{
    const measured_t *best = &talk->best;
    double latency, transfer;
    ucx_perf_t first, many;

    if (!estimate(talk, small, &first) || !estimate(talk, large, &many)) {
        return;
    }
    latency  = first.latency.c + first.latency.m;
    transfer = (double)length /
               (many.bandwidth.dedicated + many.bandwidth.shared);
    check_note(talk->run, "latency %.2f us stated, %.2f us measured with all "
               "overheads; %s of %zu bytes: %.2f us stated, %.2f us measured",
               latency * 1e6, best->one_way * 1e6, party_kind_names[large],
               length, transfer * 1e6, best->each * 1e6);
    check_that(talk->run, 25, latency <= FACTOR_ABOVE * best->one_way,
               "its latency is stated as %.2f us; a message arrives after %.2f "
               "us", latency * 1e6, best->one_way * 1e6);
    check_that(talk->run, 25,
               best->one_way <= FACTOR_BELOW * (FLOOR + latency + best->toss +
                                                processing(&first)),
               "its latency and overheads are stated as %.2f us; the fastest "
               "message took %.2f us", (latency + processing(&first)) * 1e6,
               best->one_way * 1e6);
    check_that(talk->run, 25, transfer <= FACTOR_ABOVE * best->each,
               "its bandwidth is stated as %.1f MB/s; %.1f MB/s arrive",
               (double)length / transfer * 1e-6,
               (double)length / best->each * 1e-6);
    check_that(talk->run, 25,
               best->each <= FACTOR_BELOW * (FLOOR + transfer + best->toss +
                                             processing(&many) +
                                             COPIES * best->copy),
               "%s of %zu bytes is stated to take %.2f us; each of a sequence "
               "took %.2f us", party_kind_names[large], length,
               (transfer + processing(&many)) * 1e6, best->each * 1e6);
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
                 party_has(&party, PARTY_BCOPY) ? PARTY_BCOPY : PARTY_SHORT;
        length = size_min(party_max(&party, large), LENGTH_MAX);
        if (measure_all(&talk, small, large, length,
                        size_min(BURST_MAX, BURST_BYTES / length + 1))) {
            compare(&talk, small, large, length);
        }
    }
    conversation_end(&peer, &party);
}
