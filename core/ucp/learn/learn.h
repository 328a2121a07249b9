/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of a few methods is the fastest, learnt from timed transfers. This code
 * uses neither endpoints nor clocks. The caller keeps one ucp_learn_t for each
 * kind of transfer (about the same size, to the same kind of peer) and measures
 * the transfers that are to be timed.
 *
 *   ucp_learn_next() --method, timed?--> the caller transfers
 *         ^                                    | seconds per byte
 *         '------ ucp_learn_result() <---------' or ucp_learn_drop()
 *
 * The time of a method is a low quantile of its samples: interrupts, other
 * processes and late peers make a transfer slower, nothing makes it faster. A
 * trial of a method is several transfers in a row. The first of them are not
 * timed, because code and data of the method are not in the caches yet. Another
 * method is selected if it is faster by more than the noise. Trials of the
 * methods that are not selected become exponentially rarer. The selected method
 * is timed from time to time; if it has become slower, the other methods are
 * tried again.
 *
 * The unit is one transfer, or a series of transfers that are in flight
 * together: the plan says how many units a trial takes, and how often it is
 * repeated.
 */
#ifndef UCP_LEARN_H
#define UCP_LEARN_H

#include <stdint.h>

/** Why a method is selected. */
typedef enum {
    UCP_LEARN_ESTIMATED,    /**< By costs; no other one is timed yet */
    UCP_LEARN_FASTEST,      /**< The fastest of those that are timed */
    UCP_LEARN_WITHIN_NOISE, /**< Another one is faster, but not by more than the
                             *   noise */
    UCP_LEARN_REASONS,
} ucp_learn_reason_t;

enum {
    UCP_LEARN_MAX_METHODS = 4,
    UCP_LEARN_SAMPLES     = 7, /**< Samples kept for each method */
    UCP_LEARN_ODD         = 4, /**< After this many odd samples in a row, see
                                *   `odd`, the old samples are invalid */
    UCP_LEARN_NONE        = 0xff,
};

/** How often methods are tried. All numbers except `advantage` are units:
 *  transfers, or series of transfers. */
typedef struct ucp_learn_plan {
    uint8_t skip;     /**< Units before the first trial */
    uint8_t warm;     /**< Units of a trial that are not timed, at its start */
    uint8_t timed;    /**< Units of a trial that are timed, after the others */
    uint8_t cost;     /**< Units by which the time of a trial is counted */
    uint8_t watch;    /**< Units between two samples of the selected method */
    uint16_t min_gap; /**< Units between the first two trials of a method */
    uint16_t max_gap; /**< Units between trials, at most, if a trial costs
                       *   little time */
    double advantage; /**< Another method is selected only if it is faster by
                       *   more than this part of the time */
} ucp_learn_plan_t;

/** The plans for transfers that are alone (a unit is a transfer) and for
 *  transfers that are in flight together (a unit is a series). */
extern const ucp_learn_plan_t ucp_learn_plan_alone;
extern const ucp_learn_plan_t ucp_learn_plan_series;

typedef struct ucp_learn_method {
    float samples[UCP_LEARN_SAMPLES]; /**< Seconds per byte; a ring buffer */
    uint8_t count;                    /**< Valid samples */
    uint8_t next;                     /**< Index for the next sample */
    uint8_t drops;                    /**< Trials in a row that ended by
                                       *   ucp_learn_drop(); limited to 8 */
    uint32_t gap;                     /**< Units between two trials */
    uint32_t due;                     /**< Value of ucp_learn::count at which
                                       *   the next trial starts */
} ucp_learn_method_t;

typedef struct ucp_learn {
    const ucp_learn_plan_t *plan;
    uint8_t methods; /**< Bit map of the possible methods */
    uint8_t best;    /**< The selected method */
    uint8_t trial;   /**< The method that is tried, or UCP_LEARN_NONE */
    uint8_t left;    /**< Units that the trial still needs */
    uint8_t timing;  /**< The result of a timed unit is outstanding */
    uint8_t num_odd; /**< Number of valid entries of odd[] */
    /** The last samples of `best`, if all of them differed from the median by
     *  more than the noise, in one direction */
    float odd[UCP_LEARN_ODD];
    uint32_t count;                  /**< Units so far; may wrap around */
    struct ucs_stats_record *record; /**< Record among the counters, see
                                      *   live.h; or NULL */
    ucp_learn_method_t method[UCP_LEARN_MAX_METHODS];
} ucp_learn_t;

/** `methods`: bit map of possible methods. `first`: selected until samples
 *  exist. */
void ucp_learn_init(ucp_learn_t *learn, const ucp_learn_plan_t *plan,
                    unsigned methods, unsigned first);

/** Postpones the first trials of methods that are expected to be far slower
 *  than the best one. `methods`: bit map. */
void ucp_learn_postpone(ucp_learn_t *learn, unsigned methods);

/** Returns the method of the next unit. If *timed_p is set, that unit shall be
 *  timed, and no other unit is timed until its result is reported. */
unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p);

/** Reports the result of the unit that was to be timed. */
void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte);

/** Reports that the unit that was to be timed has no result: its trial ends,
 *  and is repeated soon. */
void ucp_learn_drop(ucp_learn_t *learn);

/** Returns the time per byte of a method in seconds: the value below which a
 *  third of its samples are. Returns 0 without samples. */
double ucp_learn_time(const ucp_learn_t *learn, unsigned method);

/** Returns the spread of a method's samples, without the slowest third,
 *  relative to ucp_learn_time(). */
double ucp_learn_noise(const ucp_learn_t *learn, unsigned method);

/** Returns why `best` is selected. */
ucp_learn_reason_t ucp_learn_reason(const ucp_learn_t *learn);

#endif
