/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of a few methods is the fastest, learnt from timed transfers. Knows
 * neither endpoints nor clocks: the caller counts transfers of one kind (about
 * the same size, to the same kind of peer) and measures those that are to be
 * timed.
 *
 *   ucp_learn_next() --method, timed?--> the caller transfers
 *         ^                                    | seconds per byte
 *         '------ ucp_learn_result() <---------' or ucp_learn_drop()
 *
 * A low quantile of the samples stands for a method: interrupts, other
 * processes and late peers make a transfer slower, nothing makes it faster. A
 * trial of a method is several transfers in a row, and the first ones are not
 * timed, because what the method uses is not in caches. Another method is
 * selected if it is better by more than the noise. Trials of the others become
 * exponentially rarer; the selected one is timed now and then, and if it has
 * become slower, the others are tried again.
 */
#ifndef UCP_LEARN_H
#define UCP_LEARN_H

#include <stdint.h>

enum {
    UCP_LEARN_MAX_METHODS = 4,
    UCP_LEARN_SAMPLES     = 7,     /**< Kept of each method */
    UCP_LEARN_SKIP        = 4,     /**< The first transfers are not timed */
    UCP_LEARN_WARM        = 2,     /**< Transfers of a trial before the timed */
    UCP_LEARN_TIMED       = 4,     /**< Timed transfers of a trial */
    UCP_LEARN_ODD         = 4,     /**< So many odd samples are a change */
    UCP_LEARN_WATCH       = 64,    /**< Transfers between samples of the best */
    UCP_LEARN_MIN_GAP     = 128,   /**< Between trials of another, at first */
    UCP_LEARN_MAX_GAP     = 16384, /**< At last, unless it costs too much */
    UCP_LEARN_NONE        = 0xff,
};

typedef struct ucp_learn_method {
    float samples[UCP_LEARN_SAMPLES]; /**< Seconds per byte; a ring */
    uint8_t count;                    /**< Valid samples */
    uint8_t next;                     /**< Where the next one is stored */
    uint32_t gap;                     /**< Transfers between its trials */
    uint32_t due; /**< Number of the transfer that is timed next */
} ucp_learn_method_t;

typedef struct ucp_learn {
    uint8_t methods; /**< Bit map of those that are possible */
    uint8_t best;    /**< The selected one */
    uint8_t trial;   /**< Is being tried, or UCP_LEARN_NONE */
    uint8_t left;    /**< Transfers of the trial to begin */
    uint8_t timing;  /**< A result is expected */
    uint8_t num_odd; /**< Of odd[] */
    /** The last samples of `best`, if all were beyond the noise, in one
     *  direction */
    float odd[UCP_LEARN_ODD];
    uint32_t count; /**< Transfers so far; may wrap around */
    ucp_learn_method_t method[UCP_LEARN_MAX_METHODS];
} ucp_learn_t;

/** `methods`: bit map; `first`: selected until something is known. */
void ucp_learn_init(ucp_learn_t *learn, unsigned methods, unsigned first);

/** The method of the next transfer. *timed_p: it is to be timed, and a result
 *  is expected; until then no other is timed. */
unsigned ucp_learn_next(ucp_learn_t *learn, int *timed_p);

/** The result of the transfer that was to be timed. */
void ucp_learn_result(ucp_learn_t *learn, double seconds_per_byte);

/** There will be no result. */
void ucp_learn_drop(ucp_learn_t *learn);

/** Seconds per byte of a method: the lower third of its samples is faster; 0:
 *  none. */
double ucp_learn_time(const ucp_learn_t *learn, unsigned method);

/** The spread of its samples, without the slowest third, relative to that. */
double ucp_learn_noise(const ucp_learn_t *learn, unsigned method);

#endif
