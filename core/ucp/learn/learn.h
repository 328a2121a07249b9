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
 */
#ifndef UCP_LEARN_H
#define UCP_LEARN_H

#include <stdint.h>

enum {
    UCP_LEARN_MAX_METHODS = 4,
    UCP_LEARN_SAMPLES     = 7,     /**< Samples kept for each method */
    UCP_LEARN_SKIP        = 4,     /**< The first transfers are not timed */
    UCP_LEARN_WARM        = 2,     /**< Untimed transfers of a trial */
    UCP_LEARN_TIMED       = 4,     /**< Timed transfers of a trial */
    UCP_LEARN_ODD         = 4,     /**< This many odd samples mean a change */
    UCP_LEARN_WATCH       = 64,    /**< Transfers between samples of `best` */
    UCP_LEARN_MIN_GAP     = 128,   /**< Transfers between trials, at first */
    UCP_LEARN_MAX_GAP     = 16384, /**< Maximum, if trials cost little */
    UCP_LEARN_NONE        = 0xff,
};

typedef struct ucp_learn_method {
    float samples[UCP_LEARN_SAMPLES]; /**< Seconds per byte; a ring buffer */
    uint8_t count;                    /**< Valid samples */
    uint8_t next;                     /**< Index for the next sample */
    uint32_t gap;                     /**< Transfers between two trials */
    uint32_t due; /**< Number of the transfer that is timed next */
} ucp_learn_method_t;

typedef struct ucp_learn {
    uint8_t methods; /**< Bit map of the possible methods */
    uint8_t best;    /**< The selected method */
    uint8_t trial;   /**< The method that is tried, or UCP_LEARN_NONE */
    uint8_t left;    /**< Transfers that the trial still needs */
    uint8_t timing;  /**< The result of a timed transfer is outstanding */
    uint8_t num_odd; /**< Entries of odd[] */
    /** The last samples of `best`, if all of them differed from the median by
     *  more than the noise, in one direction */
    float odd[UCP_LEARN_ODD];
    uint32_t count; /**< Transfers so far; may wrap around */
    ucp_learn_method_t method[UCP_LEARN_MAX_METHODS];
} ucp_learn_t;

/** `methods`: bit map of possible methods. `first`: selected until samples
 *  exist. */
void ucp_learn_init(ucp_learn_t *learn, unsigned methods, unsigned first);

/** Returns the method of the next transfer. If *timed_p is set, that transfer
 *  shall be timed, and no other one is until its result is reported. */
unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p);

/** Reports the result of the transfer that was to be timed. */
void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte);

/** Reports that the transfer that was to be timed has no result. */
void ucp_learn_drop(ucp_learn_t *learn);

/** Returns the time per byte (s) of a method, which a third of its samples is
 *  below; 0 without samples. */
double ucp_learn_time(const ucp_learn_t *learn, unsigned method);

/** Returns the spread of a method's samples, without the slowest third,
 *  relative to ucp_learn_time(). */
double ucp_learn_noise(const ucp_learn_t *learn, unsigned method);

#endif
