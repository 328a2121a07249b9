/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a timing: see results.h. */
#include "ucp/learn/results.h"

#include "ucs/sys/math.h"
#include "ucs/time/time.h"

/* Minimum part of the time of an epoch FIRST that is left without the other
 * transfers. */
#define MIN_LEFT 0.2

/* Returns the seconds to add to the measured time of a transfer that is alone.
 * In a rendezvous by get, the request completes when a message of the receiver
 * has arrived, which is after the transfer: negative. In a rendezvous by put, a
 * message to the receiver follows the data: positive. */
static double message_latency(const ucp_timing_t *timing)
{
    double latency  = ucp_ep_config_am(timing->ep->config)->cost_bcopy.latency;
    unsigned method = timing->round.epochs[0].method;

    if ((timing->op == UCP_OP_PUT) || (timing->op == UCP_OP_GET)) {
        return 0;
    }
    return (method == UCP_LEARN_GET) ? -latency :
           (method == UCP_LEARN_PUT) ? latency :
                                       0;
}

double ucp_results_alone(const ucp_timing_t *timing)
{
    const ucp_mark_t *mark = &timing->marks[0];

    return (ucp_results_seconds(timing->begin, mark->time) +
            message_latency(timing)) /
           (double)mark->bytes;
}

/* Returns the bytes that the worker received between two marks, with these
 * values of ucp_worker::received. Returns 0 if the worker sends to itself: each
 * transfer would count twice. */
static size_t received_between(const ucp_timing_t *timing, uint64_t first,
                               uint64_t last)
{
    return (timing->ep->peer_uuid == timing->ep->worker->uuid) ? 0 :
                                                                 last - first;
}

/* Returns the result of an epoch whose marks are the ends of groups; 0: it has
 * none. */
static double result_of_groups(struct ucp_trials *trials)
{
    ucp_timing_t *timing = &trials->timing;
    const ucp_group_end_t *first, *last;

    if (!ucp_groups_span(&trials->groups, &first, &last)) {
        ucp_learn_stream_scale(timing->stream, 1);
        return 0;
    }
    if (trials->groups.count > UCP_GROUPS_MAX) {
        ucp_learn_stream_scale(timing->stream, 0);
    }
    return ucp_results_seconds(first->time, last->time) /
           (double)(last->bytes - first->bytes +
                    received_between(timing, first->received, last->received));
}

/* Returns the result of an epoch with these marks. From the time of FIRST,
 * subtracts that of the other transfers (timing.h). If little is left, it is not
 * exact, and the method does not seem to be faster. */
static double result_of_marks(const ucp_timing_t *timing,
                              const ucp_mark_t *marks)
{
    const ucp_mark_t *first = &marks[0], *last = &marks[1];
    double before   = ucp_learn_stream_before(timing->stream);
    double seconds  = ucp_results_seconds(first->time, last->time);
    size_t received = received_between(timing, first->received, last->received);
    size_t others;
    double left;

    if (!ucp_timing_is_first(timing)) {
        return seconds / (double)(last->bytes + received);
    }
    others = last->sent - first->sent + received;
    others -= ucs_min(others, last->bytes);
    left = seconds - (double)others * before;
    return (left < MIN_LEFT * seconds) ? before : left / (double)last->bytes;
}

double ucp_results_added(const struct ucp_trials *trials)
{
    const ucp_timing_t *timing = &trials->timing;
    double before              = ucp_learn_stream_before(timing->stream);
    double seconds = ucp_results_seconds(timing->first_begin, ucs_get_time());
    double sent    = (double)(trials->sent - timing->first_sent);
    double bytes   = sent +
                   (double)received_between(timing, timing->first_received,
                                            timing->ep->worker->received);

    if (before == 0) {
        return 0;
    }
    /* the transfers until the first mark stand for the length of all */
    return (seconds / before / bytes - 1) * sent /
           (double)timing->marks[0].bytes * timing->round.epochs[0].warm;
}

void ucp_results_round(struct ucp_trials *trials, double *results)
{
    const ucp_timing_t *timing = &trials->timing;
    const ucp_mark_t *marks    = timing->marks;
    unsigned i;

    for (i = 0; i < timing->round.num_epochs; ++i) {
        results[i] = ucp_timing_is_grouped(timing) ?
                         result_of_groups(trials) :
                         result_of_marks(timing, marks);
        marks += UCP_TIMING_EPOCH_MARKS;
    }
}
