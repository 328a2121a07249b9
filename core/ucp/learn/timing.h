/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times transfers of the user for the search for the fastest method: one
 * transfer that is alone (learn.h), or a round of epochs, which are transfers
 * that follow each other so that several are in flight (stream.h).
 *
 *   alone:   |begin --------------- end|
 *   epoch:   |warm-up ---|--- count ---|
 *                        ^             ^ ends of these transfers: marks
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
 * An answer contains a time of the peer's clock. This time is used if both
 * marks of an epoch are times of answers, or if the transfer is alone and the
 * peer has the same clock. Otherwise the time at which the answer arrives is
 * used.
 *
 * The result of an epoch is the time per byte, sent or received by the worker.
 * If only sent bytes counted, a method that takes processor time from the
 * transfers of the opposite direction could seem fast.
 *
 * The epoch FIRST of a trial (stream.h) has a warm-up of one transfer: that one
 * may wait for others, by the selected method, which have completed here and
 * are not yet received. Transfers by other methods also end between the marks.
 * Their number is not known, but about as many end as begin, because the number
 * of transfers in flight is about constant. They are assumed to take the time
 * per byte that the epoch BEFORE has measured.
 *
 * Requests may complete in groups (groups.h). So if all requests of an epoch
 * complete when their data is transferred, the marks are ends of groups: after
 * the warm-up, and when no earlier transfers by another method are in flight.
 * The last request's group has no mark, because it may contain requests that
 * follow. A round has no result if there are too few groups in one of its
 * epochs, or if for some time no transfer was in flight.
 */
#ifndef UCP_TIMING_H
#define UCP_TIMING_H

#include "ucp/learn/groups.h"
#include "ucp/learn/load.h"
#include "ucp/learn/stream.h"

/** Identifier of the PROBE message and of its answer. */
enum { UCP_AM_ID_PROBE = 31 };

/** Marks of an epoch, and of a round. */
enum {
    UCP_TIMING_EPOCH_MARKS = 2,
    UCP_TIMING_MARKS       = UCP_TIMING_EPOCH_MARKS * UCP_LEARN_MAX_METHODS,
};

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
 *  alone has one mark, each epoch of a round has two. */
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
    /** Values of ucp_trials::sent and ucp_worker::received at that time */
    uint64_t sent, received;
} ucp_mark_t;

/** The transfer or round that is being timed. */
typedef struct ucp_timing {
    ucp_ep_h ep; /**< NULL if nothing is timed */
    ucp_learn_t *learn;
    /** The state to which `learn` belongs, if a round is timed */
    ucp_learn_stream_t *stream;
    ucp_op_t op;
    /** 1: a transfer that is alone; otherwise those of a round */
    uint8_t num_marks;
    /** Index of the mark whose transfer has not begun yet */
    uint8_t next;
    /** Number of marks whose times are not known */
    uint8_t missing;
    /** Number of transfers still to begin until the mark `next`, including the
     *  transfer of this mark */
    uint16_t left;
    /** The round; of a transfer that is alone only the method is set */
    ucp_learn_round_t round;
    ucs_time_t begin; /**< Time when the last transfer began */
    /** Time when the first transfer began, and ucp_trials::sent and
     *  ucp_worker::received then */
    ucs_time_t first_begin;
    uint64_t first_sent, first_received;
    /** The completion of the last request, which may be the end of a group */
    ucp_group_end_t end;
    ucp_mark_t marks[UCP_TIMING_MARKS];
} ucp_timing_t;

/** The last transfer of a stream or exchange for which everything was decided. The
 *  selection holds for the next ones that are like it and are not timed
 *  (trial.c). */
typedef struct ucp_trial_last {
    ucp_ep_h ep; /**< NULL if there is no such transfer */
    const ucp_ep_config_t *config;
    const void *lanes;  /**< As in ucp_learn_entry_t */
    ucp_learn_t *learn; /**< The state of the search */
    /** Value of ucp_worker::received; in an exchange at the last transfer that
     *  was repeated */
    uint64_t received;
    ucp_op_t op;
    uint8_t class; /**< Its class of sizes */
    uint8_t load;  /**< Its ucp_learn_load_t */
    /** Number of the next transfers for which the selection may hold */
    uint8_t left;
} ucp_trial_last_t;

/** The state of a worker for the search: what was learnt, and the transfers
 *  that are being timed. */
struct ucp_trials {
    /** One for each configuration and operation (entry.h); the most recently
     *  used one first */
    ucp_learn_entry_t *entries;
    ucp_timing_t timing;
    uint32_t number; /**< Number of the last PROBE that was sent */
    /** Bytes of all transfers that have begun and for which
     *  ucp_trial_select() or ucp_trial_rma() has selected a method */
    uint64_t sent;
    /** Number of requests with UCP_REQUEST_FLAG_TIMED. After an epoch without a
     *  result they must complete before another one starts, because they would
     *  count as requests of that one */
    uint32_t flagged;
    ucp_learn_window_t window;
    ucp_trial_last_t last;
    ucp_groups_t groups; /**< Of the present epoch, after its warm-up */
};

/** The part of a worker that belongs to the search for the fastest method. */
typedef struct ucp_learn_worker {
    /** NULL until the first transfer that may be timed */
    struct ucp_trials *trials;
} ucp_learn_worker_t;

UCP_AREA_ACCESSOR(ucp_worker_learn, struct ucp_worker, areas.learn,
                  ucp_learn_worker_t)

/** Starts to time this transfer, which is alone. `now`: the current time. */
void ucp_timing_alone(struct ucp_trials *trials, ucp_request_t *req,
                      ucp_learn_t *learn, ucp_op_t op, unsigned method,
                      ucs_time_t now);

/** Starts to time a round, before its first transfer begins. The caller adds
 *  all its transfers by ucp_timing_add(). */
void ucp_timing_round(struct ucp_trials *trials, ucp_ep_h ep,
                      ucp_learn_stream_t *stream, ucp_op_t op,
                      const ucp_learn_round_t *round);

/** Adds the next transfer to the round and returns its method;
 *  ucp_timing_is_open() must be true. */
unsigned ucp_timing_add(struct ucp_trials *trials, ucp_request_t *req,
                        ucs_time_t now);

/** Returns the number of requests of the endpoint that are under way, without
 *  receives; at most UCP_LEARN_STREAM_WARM. */
unsigned ucp_timing_in_flight(ucp_ep_h ep);

/** Ends the timing, if there is one, without a result. */
void ucp_timing_drop(ucp_timing_t *timing);

/** UCT callback for received PROBE messages and their answers; `arg` is the
 *  worker. */
ucs_status_t ucp_timing_probe(void *arg, void *data, size_t length,
                              unsigned flags);

/** True if a round is being timed and some of its transfers have not begun. */
static inline int ucp_timing_is_open(const ucp_timing_t *timing)
{
    return (timing->ep != NULL) && (timing->next < timing->num_marks);
}

/** Returns the epoch of the next transfer; ucp_timing_is_open() must be true. */
static inline const ucp_learn_epoch_t *
ucp_timing_epoch(const ucp_timing_t *timing)
{
    return &timing->round.epochs[timing->next / UCP_TIMING_EPOCH_MARKS];
}

/** True if the epochs FIRST of a round are being timed. */
static inline int ucp_timing_is_first(const ucp_timing_t *timing)
{
    return (timing->stream != NULL) &&
           (timing->stream->stage == UCP_LEARN_FIRST);
}

/** True if the marks are the ends of groups: those of a round of one epoch. */
static inline int ucp_timing_is_grouped(const ucp_timing_t *timing)
{
    return (timing->num_marks > 1) && !ucp_timing_is_first(timing) &&
           ucp_learn_ends_with_request(timing->op,
                                       timing->round.epochs[0].method);
}

/** True if the next transfer may belong to the timing or disturb it. */
static inline int ucp_timing_needs_transfers(const ucp_timing_t *timing)
{
    return ucp_timing_is_open(timing) || (timing->num_marks == 1);
}

#endif
