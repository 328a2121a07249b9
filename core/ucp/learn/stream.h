/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest of a few methods to transfer data in a stream: transfers of
 * one class of sizes that follow each other, so that several are in flight.
 * Like learn.h, this code uses neither endpoints nor clocks.
 *
 * An epoch is a row of transfers whose rate is measured. First come those of
 * the warm-up, at whose end only transfers of the epoch are in flight, then
 * those that count. The rate of a stream changes with other work of the
 * processes. Therefore a trial compares epochs that follow each other:
 *
 *   | BEFORE: A, the selected method | FIRST: 5 by B | FULL: B | AFTER: A |
 *
 * FIRST is short and not exact. If B is clearly slower, the trial ends there.
 * The result of an epoch is known only when as many transfers have followed as
 * are in flight. Therefore the epochs FIRST of all methods that are due follow
 * each other in one round, before the result of any is known. Then those that
 * seem to be faster, or may be, have the rest of their trials.
 *
 * The result is the time of FULL, divided by the mean of BEFORE and AFTER. It is
 * not used if these two differ much, unless FULL takes longer than both. AFTER
 * may be the epoch BEFORE of the next trial. If FULL is far faster than BEFORE,
 * at the beginning of the stream also if it is clearly faster, B is selected
 * without AFTER.
 *
 * The time that trials take is limited: `credit` is the time, as a number of
 * transfers by the selected method, that trials may add to the stream. Each
 * transfer adds a hundredth to the credit. A trial starts only if the credit
 * exceeds the expected cost of the trial; the measured cost is subtracted. That
 * includes the cost of the change between methods: afterwards, the data is in
 * the caches of the other process, so that AFTER is slower at first. Trials
 * of methods whose results are not certain may overdraw the credit by `advance`
 * transfers. So all trials together add at most a hundredth of the time of the
 * stream, this advance, and the unexpected part of the cost of one round.
 *
 * In streams in both directions only the leader searches (lead.h).
 */
#ifndef UCP_LEARN_STREAM_H
#define UCP_LEARN_STREAM_H

#include "ucp/learn/learn.h"
#include "ucs/sys/compiler_def.h"

#include <stddef.h>

enum {
    /** Number of transfers by B in the epoch FIRST */
    UCP_LEARN_STREAM_FIRST       = 5,
    /** By how much the credit may be overdrawn: ADVANCE times the transfers in
     *  flight, but at least ADVANCE_MIN transfers and ADVANCE_MIN_MIB MiB; at
     *  most ADVANCE_MAX_MIB MiB, or the transfers in flight if these are more,
     *  up to ADVANCE_WINDOW_MIB MiB; or ADVANCE_LARGE transfers if these are
     *  still more, but one transfer at the beginning of the stream */
    UCP_LEARN_ADVANCE            = 4,
    UCP_LEARN_ADVANCE_MIN        = 64,
    UCP_LEARN_ADVANCE_MIN_MIB    = 2,
    UCP_LEARN_ADVANCE_MAX_MIB    = 16,
    UCP_LEARN_ADVANCE_WINDOW_MIB = 32,
    UCP_LEARN_ADVANCE_LARGE      = 6,
    /** Maximum of ucp_learn_stream::scale */
    UCP_LEARN_MAX_SCALE          = 3,
    /** Maximum number of transfers of the warm-up */
    UCP_LEARN_STREAM_WARM        = 64,
};

typedef enum {
    UCP_LEARN_IDLE, /**< No epoch is under way or next */
    UCP_LEARN_BEFORE,
    UCP_LEARN_FIRST,
    UCP_LEARN_FULL,
    UCP_LEARN_AFTER,
} ucp_learn_stage_t;

/** The transfers of an epoch: `warm` ones, then `count` ones. The caller
 *  measures the time from the end of the former to the end of the latter. */
typedef struct ucp_learn_epoch {
    uint8_t method;
    uint16_t warm;
    uint16_t count;
} ucp_learn_epoch_t;

/** The epochs FIRST of some methods, which follow each other before a result is
 *  known; or one other epoch. In FIRST, transfers by other methods are in flight:
 *  the caller subtracts their time. */
typedef struct ucp_learn_round {
    unsigned num_epochs;
    ucp_learn_epoch_t epochs[UCP_LEARN_MAX_METHODS];
} ucp_learn_round_t;

typedef struct ucp_learn_stream {
    /** The samples and the selected method. `method[].drops` and `left` are not
     *  used. `trial` is the method B, in FIRST one of several, or
     *  UCP_LEARN_NONE if the epoch only adds a sample of the selected method.
     *  `timing`: a round is under way */
    ucp_learn_t learn;
    uint8_t stage; /**< UCP_LEARN_*: the present epochs, or the next ones */
    /** Bit maps of methods: those whose only sample is not exact, because it is
     *  of an epoch FIRST, or of a short epoch FULL; those that were not clearly
     *  slower in FIRST, so that FULL follows; those whose epoch FULL is longer,
     *  because they were almost as fast as the selected method */
    uint8_t rough, passed, close;
    /** Bit map of the methods whose requests complete when the data is
     *  transferred: an epoch FULL by one of them has a short warm-up, and the
     *  caller lengthens it while transfers of the selected method are in flight
     *  that began earlier. 0 unless the caller changes it */
    uint8_t exact;
    /** The number of transfers that count in an epoch is multiplied by 2^scale,
     *  because too many of them end together. Not in FIRST */
    uint8_t scale;
    uint8_t drops; /**< Epochs in a row without a result */
    /** By how much trials may overdraw the credit, as a number of transfers of
     *  the present length */
    uint8_t advance;
    /** 1: the last epoch FULL had so few bytes that its rate is not exact */
    uint8_t is_small;
    /** 1: the transfers between the epochs FULL and AFTER use the method of FULL,
     *  because it seems to be faster */
    uint8_t is_ahead;
    /** The method that was selected before a trial of the leader, while the
     *  method of this trial is used; otherwise UCP_LEARN_NONE */
    uint8_t previous;
    /** Numbers of transfers of an epoch FULL of usual length: those of the
     *  warm-up, and those that count */
    uint16_t warm, counted;
    /** Values of learn.count: no epoch starts before `wake`; the next sample of
     *  the selected method is due at `watch` */
    uint32_t wake, watch;
    float credit;
    float cost; /**< What FULL and AFTER have subtracted from the credit */
    float before, during; /**< Results of the epochs BEFORE and FULL */
} ucp_learn_stream_t;

/** Returns the state to which `learn` belongs. */
static inline ucp_learn_stream_t *ucp_learn_stream_of(ucp_learn_t *learn)
{
    return ucs_container_of(learn, ucp_learn_stream_t, learn);
}

/** Returns the number of transfers of a round. */
static inline unsigned ucp_learn_round_transfers(const ucp_learn_round_t *round)
{
    unsigned transfers = 0;
    unsigned i;

    for (i = 0; i < round->num_epochs; ++i) {
        transfers += (unsigned)round->epochs[i].warm + round->epochs[i].count;
    }
    return transfers;
}

/** Initializes the search. `methods`: bit map of the possible methods. `first`:
 *  the method that is selected at first. `expected`: as in
 *  ucp_learn_t. `credit` becomes 0; the caller may then change it. */
void ucp_learn_stream_init(ucp_learn_stream_t *stream, unsigned methods,
                           unsigned first, const double *expected);

/** Takes over the results and the credit of another search, except `expected`.
 *  A trial that is under way there is not continued. */
void ucp_learn_stream_continue(ucp_learn_stream_t *stream,
                               const ucp_learn_stream_t *from);

/** Called for each transfer that does not belong to an epoch, before it begins.
 *  Returns non-zero if it may be the first one of an epoch: then
 *  ucp_learn_stream_next() must be called. Otherwise the transfer uses
 *  ucp_learn_stream_method(). */
int ucp_learn_stream_add(ucp_learn_stream_t *stream);

/** Adds a transfer, which uses ucp_learn_stream_method(), if no epoch may begin
 *  with it. Otherwise returns 0, and ucp_learn_stream_add() must be called. */
int ucp_learn_stream_repeat(ucp_learn_stream_t *stream);

/** Returns non-zero if the transfer that was just added is the first one of a
 *  round, and describes the round in *round: no other one starts until
 *  ucp_learn_stream_result() or ucp_learn_stream_drop() is called. Otherwise
 *  the transfer uses the selected method. `in_flight`: number of transfers in
 *  flight. `length`: bytes of this transfer. */
int ucp_learn_stream_next(ucp_learn_stream_t *stream, unsigned in_flight,
                          size_t length, ucp_learn_round_t *round);

/** Reports the results of a round: the seconds per byte of each epoch, and the
 *  time that the round has added to the stream until now, compared to the epoch
 *  BEFORE, as a number of transfers by the selected method. `added` is ignored
 *  for the epoch BEFORE. */
void ucp_learn_stream_result(ucp_learn_stream_t *stream,
                             const ucp_learn_round_t *round,
                             const double *seconds_per_byte, double added);

/** Reports that a round has no result. Its epochs are repeated later. */
void ucp_learn_stream_drop(ucp_learn_stream_t *stream,
                           const ucp_learn_round_t *round);

/** Changes the length of later epochs: more transfers (`longer`), because too
 *  many transfers end together, or fewer. */
void ucp_learn_stream_scale(ucp_learn_stream_t *stream, int longer);

/** Ends the trial, if there is one: no epoch starts during so many transfers. */
static inline void ucp_learn_stream_wait(ucp_learn_stream_t *stream,
                                         unsigned transfers)
{
    stream->stage       = UCP_LEARN_IDLE;
    stream->learn.trial = UCP_LEARN_NONE;
    stream->wake        = stream->learn.count + transfers;
}

/** Returns the method of transfers that do not belong to an epoch: the selected
 *  one, or that of the epoch FULL whose result is not known yet. */
static inline unsigned ucp_learn_stream_method(const ucp_learn_stream_t *stream)
{
    return (stream->is_ahead && stream->learn.timing &&
            (stream->stage == UCP_LEARN_FULL)) ?
               stream->learn.trial :
               stream->learn.best;
}

/** Returns the result of the epoch BEFORE of the present trial. */
static inline double ucp_learn_stream_before(const ucp_learn_stream_t *stream)
{
    return stream->before;
}

/** Returns the time per byte of a transfer by the selected method, in seconds:
 *  measured or estimated; 0: unknown. */
static inline double ucp_learn_stream_time(const ucp_learn_stream_t *stream)
{
    double time = ucp_learn_time(&stream->learn, stream->learn.best);

    return (time > 0) ? time : stream->learn.expected[stream->learn.best];
}

#endif
