/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times transfers of the user for the search for the fastest method (learn.h):
 * one transfer that is alone, or a series of transfers that follow each other
 * so that several are in flight.
 *
 *   alone:   |begin --------------- end|
 *   series:  |warm-up ---|half ----|half ----|
 *                        ^         ^         ^ ends of these transfers: marks
 *
 * A transfer ends when the peer (for a get: this process) has the data. If a
 * lane puts or gets the data, or if the operation is a get by messages, the
 * request completes at that time. Other requests complete earlier: for these, a
 * PROBE is sent behind the data, in order with it. The answer to the PROBE
 * contains the time at the peer. Sizes in bytes:
 *
 *   PROBE  | worker and endpoint of the prober 16 | number 4 | flags 1 |
 *          | time of the answer 8 |
 *
 * All marks of a series are times of one clock, that of this process or that of
 * the peer. For a transfer that is alone, the time at which the answer arrives
 * is used if the peer has another clock.
 *
 * The warm-up has at least as many transfers as are in flight when the series
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

/** Identifier of the PROBE message and of its answer. */
enum { UCP_AM_ID_PROBE = 31 };

enum { UCP_TIMING_MARKS = 3 };

typedef struct {
    ucp_wire_end_t end;
    ucp_le32_t number;
    uint8_t flags;   /**< UCP_PROBE_* */
    ucp_le64_t time; /**< In the answer: the peer's clock in nanoseconds */
} ucp_probe_t;

enum {
    /** The message is the answer, for the endpoint in `end` */
    UCP_PROBE_ANSWER = UCS_BIT(0),
};

_Static_assert(sizeof(ucp_probe_t) == 29, "wire layout");

/** One of the transfers whose end is a mark (see above). A transfer that is
 *  alone has one mark, a series has three. */
typedef struct ucp_mark {
    /** The request, while the transfer is under way; NULL before and after */
    ucp_request_t *req;
    /** Number of the PROBE that was sent after the transfer and is not
     *  answered; 0: none */
    uint32_t asked;
    ucs_time_t time; /**< Time when the transfer ended; 0: unknown */
    /** Total bytes of the transfers after the previous mark, including this
     *  one */
    size_t bytes;
} ucp_mark_t;

/** The transfer or series that is being timed. */
typedef struct ucp_timing {
    ucp_ep_h ep; /**< NULL if nothing is timed */
    ucp_learn_t *learn;
    ucp_op_t op;
    uint8_t method;
    /** 1: a transfer that is alone; UCP_TIMING_MARKS: a series */
    uint8_t num_marks;
    /** Index of the mark whose transfer has not begun yet */
    uint8_t next;
    /** Number of transfers still to begin until the mark `next`, including the
     *  transfer of this mark */
    uint8_t left;
    uint8_t half; /**< Series: number of transfers in each half */
    /** Series: number of requests after the warm-up that completed at nearly
     *  the same time as the previous request */
    uint8_t together;
    ucs_time_t begin; /**< Time when the last transfer began */
    ucs_time_t end;   /**< Time when the last request completed */
    ucp_mark_t marks[UCP_TIMING_MARKS];
} ucp_timing_t;

/** The state of a worker for the search: what was learnt, and the transfers
 *  that are being timed. */
struct ucp_trials {
    /** One for each configuration and operation (entry.h); the most recently
     *  used one first */
    ucp_learn_entry_t *entries;
    ucp_timing_t timing;
    uint32_t number; /**< Number of the last PROBE that was sent */
};

/** The part of a worker that belongs to the search for the fastest method. */
typedef struct ucp_learn_worker {
    /** NULL until the first transfer that may be timed */
    struct ucp_trials *trials;
} ucp_learn_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_learn, struct ucp_worker, areas.learn,
                  ucp_learn_worker_t)

/** Starts to time this transfer, which is alone. `now`: the current time. */
void ucp_timing_alone(ucp_timing_t *timing, ucp_request_t *req,
                      ucp_learn_t *learn, ucp_op_t op, unsigned method,
                      ucs_time_t now);

/** Starts to time a series, of which this transfer is the first one. Returns
 *  the number of transfers of the series. */
unsigned ucp_timing_series(ucp_timing_t *timing, ucp_request_t *req,
                           ucp_learn_t *learn, ucp_op_t op, unsigned method,
                           ucs_time_t now);

/** Adds the next transfer to the series; ucp_timing_is_open() must be true. */
void ucp_timing_add(ucp_timing_t *timing, ucp_request_t *req, ucs_time_t now);

/** Ends the timing, if there is one, without a result. */
void ucp_timing_drop(ucp_timing_t *timing);

/** UCT callback for received PROBE messages and their answers; `arg` is the
 *  worker. */
ucs_status_t ucp_timing_probe(void *arg, void *data, size_t length,
                              unsigned flags);

/** True if a series is being timed and some of its transfers have not begun. */
static inline int ucp_timing_is_open(const ucp_timing_t *timing)
{
    return (timing->ep != NULL) && (timing->next < timing->num_marks);
}

/** True if a request of this method completes when the peer (for a get: this
 *  process) has the data. Otherwise a PROBE is necessary. */
static inline int ucp_learn_ends_with_request(ucp_op_t op, unsigned method)
{
    return (op == UCP_OP_GET) || (method == UCP_LEARN_GET) ||
           (method == UCP_LEARN_PUT);
}

#endif
