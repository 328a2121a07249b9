/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which method of a stream is tried next (stream.h), and what its trial costs.
 */
#ifndef UCP_LEARN_DUE_H
#define UCP_LEARN_DUE_H

#include "ucp/learn/stream.h"

enum {
    UCP_LEARN_MAX_CREDIT = 256, /**< Maximum of ucp_learn_stream::credit */
    /** The epoch FULL of a method that is almost as fast as the selected one
     *  (ucp_learn_stream::close) is longer by the factor
     *  2^UCP_LEARN_LONG_LOG */
    UCP_LEARN_LONG_LOG   = 2,
};

/** A method that takes more than this many times as long in the epoch FIRST is
 *  clearly slower. The change between the methods may cause a smaller ratio. */
#define UCP_LEARN_CLEARLY_SLOWER 4.0

/** A method that takes less than this many times as long is almost as fast. */
#define UCP_LEARN_ALMOST 1.4

/** Returns the time of a method, divided by that of the selected one: measured
 *  or estimated. The result of an epoch FIRST counts if the method is faster, or
 *  clearly slower. Otherwise it only raises the estimate; not that of a put or
 *  get, which in FIRST waits until the peer has finished transfers by the other
 *  method. */
double ucp_learn_ratio(const ucp_learn_stream_t *stream, unsigned method);

/** Return the time that an epoch adds to the stream if each of its transfers
 *  takes `ratio` times as long, as a number of transfers by the selected
 *  method: FIRST, and FULL as far as its length is known. */
double ucp_learn_cost_first(double ratio);
double ucp_learn_cost_full(const ucp_learn_stream_t *stream, unsigned method,
                           double ratio);

/** Subtracts from the credit the time that a round has added to the stream, as
 *  reported to ucp_learn_stream_result(), and returns it. It is limited: a very
 *  long time is that of an interruption. */
float ucp_learn_pay(ucp_learn_stream_t *stream, const ucp_learn_round_t *round,
                    double added);

/** Returns the method whose trial is next. First come methods that seem to be
 *  faster, by a result that is not exact, the fastest first. Then those that may
 *  be much faster, those whose results are not certain, and all others; of
 *  these, the one whose trial costs least. Returns UCP_LEARN_NONE if no trial is
 *  due for which the credit is sufficient. */
unsigned ucp_learn_find_due(const ucp_learn_stream_t *stream);

/** Returns the methods whose epochs FIRST are next (bits): that of the trial, and
 *  others that are due and for which the credit is sufficient, too. Of methods
 *  that are alike, one. */
unsigned ucp_learn_find_firsts(const ucp_learn_stream_t *stream);

/** Called for each result of a method that is not selected: the gap between its
 *  trials grows, faster if it is much slower. */
void ucp_learn_lengthen_gap(ucp_learn_stream_t *stream, unsigned method);

/** Sets when the next trial of a method that is not selected is due, and
 *  lengthens the gap. */
void ucp_learn_schedule(ucp_learn_stream_t *stream, unsigned method);

/** Returns whether the only result of the method is that of an epoch FIRST that
 *  has not shown it to be clearly slower. */
static inline int ucp_learn_is_first_only(const ucp_learn_stream_t *stream,
                                          unsigned method)
{
    return (stream->rough & stream->passed & ~stream->close &
            UCS_BIT(method)) != 0;
}

/** Returns whether the only result of the method, which is not exact, shows that
 *  it is faster than the selected one. */
static inline int ucp_learn_seems_faster(const ucp_learn_stream_t *stream,
                                         unsigned method)
{
    const ucp_learn_t *learn = &stream->learn;

    return (stream->rough & UCS_BIT(method)) &&
           (ucp_learn_time(learn, method) < ucp_learn_time(learn, learn->best));
}

/** Returns whether the method was almost as fast as the selected one, so that
 *  its epochs FULL are longer. */
static inline int ucp_learn_is_close(const ucp_learn_stream_t *stream,
                                     unsigned method)
{
    return (stream->close & UCS_BIT(method)) != 0;
}

/** Returns whether the transfer with this number has begun, or the one before
 *  it. */
static inline int ucp_learn_has_come(const ucp_learn_stream_t *stream,
                                     uint32_t count)
{
    return (int32_t)(count - stream->learn.count) <= 0;
}

#endif
