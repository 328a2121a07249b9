/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest of a few methods to transfer data, from timed transfers
 * that are alone; stream.h does so for transfers that follow others.
 * This code uses neither endpoints nor clocks. The caller keeps one ucp_learn_t
 * for each kind of transfer (about the same size, to the same kind of peer) and
 * measures the transfers that this code wants to be timed.
 *
 *   ucp_learn_next() --method, timed?--> the caller transfers
 *         ^                                    | seconds per byte
 *         '------ ucp_learn_result() <---------' or ucp_learn_drop()
 *
 * A trial is a row of transfers by one method, of which the first ones are not
 * timed, because code and data of the method are not in the caches yet. A
 * sample is the time of a timed transfer.
 *
 * The time of a method is a low quantile of its samples: interrupts, other
 * processes and late peers make a transfer slower, nothing makes it faster.
 * Another method is selected if it is faster by more than the noise. Trials of
 * the methods that are not selected become exponentially rarer. The selected
 * method is timed from time to time; if it has become slower, the other methods
 * are tried again.
 *
 * The first trials begin with the methods that are expected to be the fastest.
 * Each waits until the time that it will probably add is a small part of the
 * time of all transfers.
 */
#ifndef UCP_LEARN_H
#define UCP_LEARN_H

#include <stdint.h>

/** Why a method is selected. */
typedef enum {
    UCP_LEARN_ESTIMATED, /**< By cost: no other method has samples yet */
    /** It is the fastest of the methods that have samples */
    UCP_LEARN_FASTEST,
    /** Another method is faster, but not by more than the noise */
    UCP_LEARN_WITHIN_NOISE,
    UCP_LEARN_LED, /**< The peer has selected it (lead.h) */
    UCP_LEARN_REASONS,
} ucp_learn_reason_t;

enum {
    UCP_LEARN_MAX_METHODS = 4,
    UCP_LEARN_SAMPLES     = 7, /**< Number of samples kept for each method */
    /** Number of odd samples kept (see `odd`), and the least number in a row
     *  that replaces the older samples */
    UCP_LEARN_ODD         = 4,
    UCP_LEARN_NONE        = 0xff,
};

/** How often methods are tried, for transfers that are alone. */
enum {
    UCP_LEARN_SKIP       = 4, /**< Transfers before the first trial */
    /** Transfers at the start of a trial that are not timed, unless the caller
     *  changes ucp_learn_t::warm */
    UCP_LEARN_WARM       = 2,
    /** Transfers of a trial that are timed, after UCP_LEARN_WARM ones; of a
     *  method that takes about as long as the selected one, UCP_LEARN_CLOSE */
    UCP_LEARN_TIMED      = 4,
    UCP_LEARN_CLOSE      = 12,
    /** Transfers between two samples of the selected method */
    UCP_LEARN_WATCH      = 64,
    /** The same numbers for long transfers, which take so much time that the
     *  first ones differ little from the others */
    UCP_LEARN_LONG_SKIP  = 2,
    UCP_LEARN_LONG_WARM  = 1,
    UCP_LEARN_LONG_TIMED = 2,
    UCP_LEARN_LONG_WATCH = 8,
    /** Transfers between the first and the second trial of a method; if it was
     *  far slower in the first, SLOW_GAP */
    UCP_LEARN_MIN_GAP    = 128,
    UCP_LEARN_SLOW_GAP   = 512,
    /** Maximum number of transfers between two trials; exceeded only if trials
     *  of the method take so much time that they must be rarer */
    UCP_LEARN_MAX_GAP    = 16384,
};

typedef struct ucp_learn_method {
    float samples[UCP_LEARN_SAMPLES]; /**< In seconds per byte; a ring buffer */
    float time;                       /**< ucp_learn_time() */
    uint8_t count;                    /**< Number of valid samples */
    uint8_t next;                     /**< Index for the next sample */
    /** Number of trials in a row that ended by ucp_learn_drop(), at most 8 */
    uint8_t drops;
    /** Transfers between the next trial and the one after it; grows after each
     *  trial, up to a limit */
    uint32_t gap;
    /** Value of ucp_learn::count at which the next trial is due */
    uint32_t due;
} ucp_learn_method_t;

typedef struct ucp_learn {
    uint8_t methods; /**< Bit map of the methods that are possible */
    uint8_t best;    /**< The selected method */
    /** The method whose trial is under way, or UCP_LEARN_NONE */
    uint8_t trial;
    uint8_t left; /**< Transfers that the trial still has */
    /** 1: a transfer, or an epoch (stream.h), is being timed and its result was
     *  not reported yet */
    uint8_t timing;
    /** Number of samples of `best` in a row that were odd: they differ from
     *  ucp_learn_time() by far more than the noise, all in the same
     *  direction */
    uint8_t num_odd;
    uint8_t is_long; /**< 1: trials have the UCP_LEARN_LONG_* transfers */
    /** Bit map of methods that take about the same time, because they move the
     *  data in the same way: if one of them is far slower than the selected
     *  method, so are the others. 0 unless the caller changes it */
    uint8_t alike;
    /** If the first transfer of a trial takes more than this many times as long
     *  as the selected method, the trial ends: only the first bytes of a
     *  transfer suffer from the change of the method. 0, unless the caller
     *  changes it: the first transfer is not timed */
    float first_limit;
    /** A trial ends after its first sample if that takes more than this many
     *  times as long as the selected method. 0, unless the caller changes it:
     *  a sample of a short transfer shows too little */
    float slow_limit;
    /** Mean of the samples of the trial under way, each at most COSTLY times
     *  (learn.c) the time of the selected method */
    float mean;
    /** 1: `best` was set by ucp_learn_follow() for the last transfer */
    uint8_t is_led;
    /** Bit map of methods whose trials are longer, because they take about as
     *  long as the selected one */
    uint8_t close;
    /** Which samples of the selected method before those `num_odd` were odd: a
     *  bit for each, the latest one is bit 0 */
    uint16_t odd_before;
    /** The latest of the `num_odd` samples; a ring buffer */
    float odd[UCP_LEARN_ODD];
    /** Number of transfers; may wrap around */
    uint32_t count;
    /** Seconds per byte of each method by the estimates; 0: unknown */
    float expected[UCP_LEARN_MAX_METHODS];
    /** Transfers at the start of a trial of each method that are not timed */
    uint8_t warm[UCP_LEARN_MAX_METHODS];
    /** The record in which other processes see these results (live.h); NULL if
     *  there is none */
    struct ucs_stats_record *record;
    ucp_learn_method_t method[UCP_LEARN_MAX_METHODS];
} ucp_learn_t;

/** Initializes the search. `methods`: bit map of the possible methods. `first`:
 *  the method that is selected until samples exist. `expected`, `is_long`: as
 *  the members. */
void ucp_learn_init(ucp_learn_t *learn, unsigned methods, unsigned first,
                    const double *expected, int is_long);

/** Takes over the results of another search, except `expected`. A trial that is
 *  under way there is not continued. */
void ucp_learn_continue(ucp_learn_t *learn, const ucp_learn_t *from);

/** Returns the method of the next transfer. Sets *timed_p to non-zero if the
 *  caller shall time this transfer. No other one is timed until
 *  ucp_learn_result() or ucp_learn_drop() is called for it. */
unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p);

/** Returns for how many of the next transfers, at most `limit`, ucp_learn_next()
 *  will return the selected method without timing. The caller may add as many to
 *  ucp_learn_t::count instead of calling it. */
unsigned ucp_learn_quiet(const ucp_learn_t *learn, unsigned limit);

/** Counts a transfer by a method that the caller has selected. The search pauses
 *  until the next ucp_learn_next(). */
void ucp_learn_follow(ucp_learn_t *learn, unsigned method);

/** Reports the time of the transfer that was to be timed. */
void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte);

/** Reports that the transfer that was to be timed has no valid time. Its trial
 *  ends and is repeated soon. */
void ucp_learn_drop(ucp_learn_t *learn);

/** Called when a method has proved to be far slower than the selected one: the
 *  first trials of methods like it (ucp_learn_t::alike) begin after this many
 *  transfers. */
void ucp_learn_postpone_alike(ucp_learn_t *learn, unsigned method,
                              unsigned transfers);

/** Returns the time of a method in seconds per byte: about a third of its
 *  samples are smaller. Returns 0 if the method has no samples. */
static inline double ucp_learn_time(const ucp_learn_t *learn, unsigned method)
{
    return learn->method[method].time;
}

/** Returns why the method `best` is selected. */
ucp_learn_reason_t ucp_learn_reason(const ucp_learn_t *learn);

#endif
