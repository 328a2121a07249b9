/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times transfers of the user for learn.h: one that is alone, or a series of
 * transfers that are in flight together.
 *
 *   alone:   |begin --------------- end|
 *   series:  |warm-up ---|half ----|half ----|
 *                        ^         ^         ^ ends of these transfers
 *
 * A transfer ends when the peer has the data. If the lane itself puts or gets
 * the data, the request completes at that time, and so does a get by messages.
 * Other requests complete earlier: for these, a PROBE is sent behind the data,
 * in order with it. Its answer contains the time at the peer.
 *
 *   PROBE  | worker and endpoint of the prober 16 | number 4 | flags 1 |
 *          | time of the answer 8 |
 *
 * All ends of a series are times of one clock, that of this process or that of
 * the peer. For a transfer that is alone, the time at which the answer arrives
 * is used if the peer has another clock.
 *
 * The warm-up takes at least as many transfers as are in flight when the series
 * begins: at its end, transfers by other methods are complete. Each half has at
 * least as many transfers as the warm-up, because transfers in flight may share
 * the bandwidth and end together. The result is the time from the end of the
 * warm-up to the end of the second half. A series has no result if for some
 * time no transfer was in flight, if the times of its halves differ much, or if
 * its requests completed together, because the user called progress late.
 */
#ifndef UCP_TIMING_H
#define UCP_TIMING_H

#include "ucp/learn/entry.h"

/** Identifier of the message. */
enum { UCP_AM_ID_PROBE = 31 };

enum { UCP_TIMING_MARKS = 3 };

typedef struct {
    ucp_wire_end_t end;
    ucp_le32_t number;
    uint8_t flags;   /**< UCP_PROBE_* */
    ucp_le64_t time; /**< Answer: nanoseconds of the peer's clock */
} ucp_probe_t;

enum {
    UCP_PROBE_ANSWER = UCS_BIT(0), /**< The answer, for the endpoint in `end` */
};

_Static_assert(sizeof(ucp_probe_t) == 29, "wire layout");

/** A transfer whose end is a mark of the series, see above. */
typedef struct ucp_mark {
    ucp_request_t *req; /**< NULL if it is complete, or not begun */
    uint32_t asked;     /**< Number of the PROBE that was sent after it; 0:
                         *   none */
    ucs_time_t time;    /**< When it ended; 0: unknown */
    size_t bytes;       /**< Bytes of the transfers after the previous mark,
                         *   including this one */
} ucp_mark_t;

/** The transfers that are being timed. */
typedef struct ucp_timing {
    ucp_ep_h ep; /**< NULL if nothing is timed */
    ucp_learn_t *learn;
    ucp_op_t op;
    uint8_t method;
    uint8_t num_marks; /**< 1: a transfer that is alone */
    uint8_t next;      /**< Index of the next mark */
    uint8_t left;      /**< Transfers still to begin until the mark `next`,
                        *   including that of the mark */
    uint8_t half;      /**< Transfers of each half of a series */
    /** Transfers of the halves whose requests completed together with the
     *  previous one */
    uint8_t together;
    ucs_time_t begin; /**< Time when the last transfer began */
    ucs_time_t end;   /**< Time when the last request completed */
    ucp_mark_t marks[UCP_TIMING_MARKS];
} ucp_timing_t;

/** What a worker has learnt, and the transfers that it is timing. */
struct ucp_trials {
    ucp_learn_entry_t *entries; /**< The most recently used one first */
    ucp_timing_t timing;
    uint32_t number; /**< Number of the last probe */
};

/** State of a worker. */
typedef struct ucp_learn_worker {
    struct ucp_trials *trials; /**< NULL until something is learnt */
} ucp_learn_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_learn, struct ucp_worker, areas.learn,
                  ucp_learn_worker_t)

/** Times a transfer that is alone. */
void ucp_timing_alone(ucp_timing_t *timing, ucp_request_t *req,
                      ucp_learn_t *learn, ucp_op_t op, unsigned method,
                      ucs_time_t now);

/** Times a series, of which this transfer is the first one. Returns the number
 *  of its transfers. */
unsigned ucp_timing_series(ucp_timing_t *timing, ucp_request_t *req,
                           ucp_learn_t *learn, ucp_op_t op, unsigned method,
                           ucs_time_t now);

/** Adds the next transfer to a series; ucp_timing_is_open() must be true. */
void ucp_timing_add(ucp_timing_t *timing, ucp_request_t *req, ucs_time_t now);

/** Ends the timing without a result. */
void ucp_timing_drop(ucp_timing_t *timing);

/** UCT callback for received PROBE messages and their answers; `arg` is the
 *  worker. */
ucs_status_t ucp_timing_probe(void *arg, void *data, size_t length,
                              unsigned flags);

/** True if a series is being timed and needs further transfers. */
static inline int ucp_timing_is_open(const ucp_timing_t *timing)
{
    return (timing->ep != NULL) && (timing->next < timing->num_marks);
}

/** True if a request of this method completes when the peer has the data (or,
 *  for a get, this process). */
static inline int ucp_learn_ends_with_request(ucp_op_t op, unsigned method)
{
    return (op == UCP_OP_GET) || (method == UCP_LEARN_GET) ||
           (method == UCP_LEARN_PUT);
}

#endif
