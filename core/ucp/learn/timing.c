/* SPDX-License-Identifier: BSD-3-Clause */
/* Times transfers of the user, alone or in epochs (see timing.h), and sends the
 * PROBE messages, whose answers contain the time at which the data had reached
 * the peer. */
#include "ucp/learn/timing.h"

#include "ucp/base/ids.h"
#include "ucp/learn/live.h"
#include "ucp/learn/results.h"
#include "ucp/learn/trial.h"
#include "ucp/order/queue.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"

#include <string.h>

/* Two requests of an epoch belong to the same group if the time between their
 * completions is less than this fraction of the time of one transfer by the
 * selected method. */
#define TOGETHER 0.2

void ucp_timing_drop(ucp_timing_t *timing)
{
    if (timing->ep == NULL) {
        return;
    }
    if (timing->stream != NULL) {
        ucp_learn_stream_drop(timing->stream, &timing->round);
    } else {
        ucp_learn_drop(timing->learn);
    }
    memset(timing, 0, sizeof(*timing));
}

/* --------------------------------------------------------------- results -- */

/* Reports the results, in seconds per byte, and ends the timing. If one is
 * impossibly small, the timing has no result. `added`: of a round, see
 * ucp_learn_stream_result(). */
static void report(ucp_timing_t *timing, const double *results, double added)
{
    ucp_learn_t *learn = timing->learn;
    unsigned before    = learn->best;
    unsigned i;

    for (i = 0; i < ucs_max(timing->round.num_epochs, 1U); ++i) {
        if (!(results[i] > UCP_RESULTS_MIN)) {
            ucp_timing_drop(timing);
            return;
        }
    }
    if (timing->stream != NULL) {
        ucp_learn_stream_result(timing->stream, &timing->round, results, added);
    } else {
        ucp_learn_result(learn, results[0]);
    }
    ucp_learn_live_update(learn);
    if (learn->best != before) {
        ucp_trial_show_change(timing->ep, learn, timing->op,
                              (timing->num_marks > 1) ? UCP_LEARN_STREAM :
                                                        UCP_LEARN_ALONE,
                              timing->marks[0].bytes, before);
    }
    memset(timing, 0, sizeof(*timing));
}

/* Called when the times of so many marks have become known. When all are, the
 * results are reported. */
static void count_marks(struct ucp_trials *trials, unsigned count)
{
    ucp_timing_t *timing = &trials->timing;
    double results[UCP_LEARN_MAX_METHODS];

    timing->missing = (uint8_t)(timing->missing - count);
    if (timing->missing == 0) {
        ucp_results_round(trials, results);
        report(timing, results, ucp_results_added(trials));
    }
}

/* Called when the time is known at which the transfer of a mark ended. */
static void ended(struct ucp_trials *trials, ucp_mark_t *mark, ucs_time_t time)
{
    ucp_timing_t *timing = &trials->timing;
    double result;

    mark->time     = time;
    mark->sent     = trials->sent;
    mark->received = timing->ep->worker->received;
    if (timing->num_marks == 1) {
        result = ucp_results_alone(timing);
        report(timing, &result, 0);
    } else {
        count_marks(trials, 1);
    }
}

/* -------------------------------------------------------------- requests -- */

/* Sends a PROBE behind the request that has just completed, not behind those in
 * the queue. The peer answers the PROBE after it has processed the messages
 * that were sent before. */
static ucs_status_t ask(struct ucp_trials *trials, ucp_mark_t *mark)
{
    ucp_ep_h ep         = trials->timing.ep;
    ucs_status_t status = ucp_wireup_introduce(ep);
    ucp_probe_t probe   = {.end = ucp_ep_wire_end(ep)};

    if (status != UCS_OK) {
        return status;
    }
    if (++trials->number == 0) {
        ++trials->number;
    }
    mark->asked  = trials->number;
    probe.number = ucp_le32(trials->number);
    return ucp_ep_send_next(ep, UCP_AM_ID_PROBE, &probe, sizeof(probe));
}

/* Returns the mark whose transfer is this request, or NULL if there is none. */
static ucp_mark_t *mark_of(ucp_timing_t *timing, const ucp_request_t *req)
{
    unsigned i;

    for (i = 0; i < timing->num_marks; ++i) {
        if (timing->marks[i].req == req) {
            return &timing->marks[i];
        }
    }
    return NULL;
}

/* True if a transfer of the endpoint is in flight that began before the trial's
 * epoch, by the selected method. ucp_ep::awaited has the order in which the
 * requests began. */
static int has_earlier(const ucp_timing_t *timing)
{
    const ucp_request_t *req;

    if (timing->stream->stage != UCP_LEARN_FULL) {
        return 0;
    }
    ucs_list_for_each(req, &timing->ep->awaited, ep_link) {
        if (!(req->flags & UCP_REQUEST_FLAG_RECV)) {
            return !(req->flags & UCP_REQUEST_FLAG_TIMED);
        }
    }
    return 0;
}

/* Called when the last request that has completed proves to be the end of a
 * group. */
static void end_group(struct ucp_trials *trials)
{
    ucp_timing_t *timing = &trials->timing;

    if ((timing->end.requests >= timing->round.epochs[0].warm) &&
        ((trials->groups.count > 0) || !has_earlier(timing))) {
        ucp_groups_add(&trials->groups, &timing->end);
    }
    timing->end.size = 0;
}

/* Called when a request has completed that belongs to an epoch whose marks are
 * the ends of groups. */
static void note_end(struct ucp_trials *trials, const ucp_request_t *req)
{
    ucp_timing_t *timing           = &trials->timing;
    const ucp_learn_epoch_t *epoch = &timing->round.epochs[0];
    ucs_time_t now                 = ucs_get_time();
    double together = TOGETHER * ucp_learn_stream_time(timing->stream) *
                      (double)req->dt.length;

    if (ucp_results_seconds(timing->end.time, now) > together) {
        end_group(trials);
    }
    timing->end.time     = now;
    timing->end.received = req->worker->received;
    timing->end.bytes += req->dt.length;
    ++timing->end.size;
    if (++timing->end.requests == (unsigned)epoch->warm + epoch->count) {
        count_marks(trials, UCP_TIMING_EPOCH_MARKS);
    }
}

/* Returns the method of the transfer of a mark. */
static unsigned method_of(const ucp_timing_t *timing, const ucp_mark_t *mark)
{
    unsigned index = (unsigned)(mark - timing->marks);

    return timing->round.epochs[index / UCP_TIMING_EPOCH_MARKS].method;
}

void ucp_request_timed(ucp_request_t *req, ucs_status_t status)
{
    struct ucp_trials *trials = ucp_worker_learn(req->worker)->trials;
    ucp_timing_t *timing      = &trials->timing;
    ucp_mark_t *mark          = mark_of(timing, req);

    --trials->flagged;
    req->flags &= (uint16_t)~UCP_REQUEST_FLAG_TIMED;
    if (timing->ep != req->send.ep) {
        return; /* the timing has ended without a result */
    }
    if (status != UCS_OK) {
        ucp_timing_drop(timing);
        return;
    }
    if (mark != NULL) {
        mark->req = NULL;
    }
    if (ucp_timing_is_grouped(timing)) {
        note_end(trials, req);
    } else if (mark == NULL) {
        return; /* of an earlier timing */
    } else if (ucp_learn_ends_with_request(timing->op,
                                           method_of(timing, mark))) {
        ended(trials, mark, ucs_get_time());
    } else if (ask(trials, mark) != UCS_OK) {
        ucp_timing_drop(timing);
    }
}

/* Returns the number of transfers from the mark before to this one. */
static uint16_t transfers_of(const ucp_timing_t *timing, unsigned mark)
{
    const ucp_learn_epoch_t *epoch =
        &timing->round.epochs[mark / UCP_TIMING_EPOCH_MARKS];

    return (mark % UCP_TIMING_EPOCH_MARKS == 0) ? epoch->warm : epoch->count;
}

unsigned ucp_timing_add(struct ucp_trials *trials, ucp_request_t *req,
                        ucs_time_t now)
{
    ucp_timing_t *timing           = &trials->timing;
    const ucp_learn_epoch_t *epoch = ucp_timing_epoch(timing);
    ucp_mark_t *mark               = &timing->marks[timing->next];

    timing->begin = now;
    if (timing->first_begin == 0) {
        timing->first_begin    = now;
        timing->first_sent     = trials->sent;
        timing->first_received = timing->ep->worker->received;
    }
    mark->bytes += req->dt.length;
    if ((timing->left == 1) || ucp_timing_is_grouped(timing)) {
        req->flags |= UCP_REQUEST_FLAG_TIMED;
        ++trials->flagged;
    }
    if (--timing->left == 0) {
        mark->req = req;
        if (++timing->next < timing->num_marks) {
            timing->left = transfers_of(timing, timing->next);
        }
    }
    return epoch->method;
}

void ucp_timing_alone(struct ucp_trials *trials, ucp_request_t *req,
                      ucp_learn_t *learn, ucp_op_t op, unsigned method,
                      ucs_time_t now)
{
    trials->timing = (ucp_timing_t){
        .ep        = req->send.ep,
        .learn     = learn,
        .op        = op,
        .num_marks = 1,
        .left      = 1,
        .round     = {.epochs = {{.method = (uint8_t)method}}},
    };
    ucp_timing_add(trials, req, now);
}

void ucp_timing_round(struct ucp_trials *trials, ucp_ep_h ep,
                      ucp_learn_stream_t *stream, ucp_op_t op,
                      const ucp_learn_round_t *round)
{
    uint8_t num_marks = (uint8_t)(UCP_TIMING_EPOCH_MARKS * round->num_epochs);

    trials->groups.count = 0;
    trials->timing       = (ucp_timing_t){
              .ep        = ep,
              .learn     = &stream->learn,
              .stream    = stream,
              .op        = op,
              .num_marks = num_marks,
              .missing   = num_marks,
              .left      = round->epochs[0].warm,
              .round     = *round,
    };
}

unsigned ucp_timing_in_flight(ucp_ep_h ep)
{
    unsigned count = (unsigned)ucs_min(ucs_queue_length(&ep->waiting),
                                       (size_t)UCP_LEARN_STREAM_WARM);
    const ucp_request_t *req;

    ucs_list_for_each(req, &ep->awaited, ep_link) {
        if (count >= UCP_LEARN_STREAM_WARM) {
            break;
        }
        count += !(req->flags & UCP_REQUEST_FLAG_RECV);
    }
    return count;
}

/* -------------------------------------------------------------- messages -- */

/* Returns the timing that waits for this answer to a PROBE. Returns NULL if the
 * timing has ended, or if the secret part of the endpoint's id is wrong, so
 * that the message is not from the peer. */
static ucp_timing_t *asked_by(ucp_worker_h worker, const ucp_probe_t *probe)
{
    uint64_t end              = ucp_le64_get(probe->end.ep_id);
    ucp_ep_h ep               = ucp_id_get(worker->ep_ids, end & UINT32_MAX);
    struct ucp_trials *trials = ucp_worker_learn(worker)->trials;

    return ((ep != NULL) && (ep->secret == (uint32_t)(end >> 32)) &&
            (trials != NULL) && (trials->timing.ep == ep)) ?
               &trials->timing :
               NULL;
}

/* Returns the peer's time in the answer if it can be used, otherwise the
 * current time. In an epoch both marks are times of the peer. For a transfer
 * that is alone the peer's time can be used if it is plausible and the peer
 * runs on this machine, with the same clock. */
static ucs_time_t time_of(const ucp_timing_t *timing, const ucp_probe_t *probe)
{
    ucs_time_t now  = ucs_get_time();
    ucs_time_t time = ucp_le64_get(probe->time);

    if (timing->num_marks > 1) {
        return ucs_max(time, (ucs_time_t)1);
    }
    return (timing->ep->config->is_local && (time > timing->begin) &&
            (time < now)) ?
               time :
               now;
}

static void answered(ucp_worker_h worker, const ucp_probe_t *probe)
{
    ucp_timing_t *timing = asked_by(worker, probe);
    uint32_t number      = ucp_le32_get(probe->number);
    unsigned i;

    for (i = 0; (timing != NULL) && (i < timing->num_marks); ++i) {
        if ((number != 0) && (timing->marks[i].asked == number)) {
            timing->marks[i].asked = 0;
            ended(ucp_worker_learn(worker)->trials, &timing->marks[i],
                  time_of(timing, probe));
            return;
        }
    }
    ucs_debug("dropped the answer to a probe: nothing is timed by it");
}

ucs_status_t ucp_timing_probe(void *arg, void *data, size_t length,
                              unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_probe_t probe;
    ucp_ep_h ep;

    if (length != sizeof(probe)) {
        ucs_diag("dropped a probe of %zu bytes: wrong size", length);
        return UCS_OK;
    }
    ucp_wire_take(&probe, data, length);
    if (probe.flags & UCP_PROBE_ANSWER) {
        answered(worker, &probe);
        return UCS_OK;
    }
    ep = ucp_wireup_reply_ep(worker, &probe.end);
    if ((ep == NULL) || (ep->flags & UCP_EP_FLAG_FAILED)) {
        ucs_debug("dropped a probe: its sender is not connected any more");
        return UCS_OK;
    }
    probe.flags = UCP_PROBE_ANSWER;
    probe.time  = ucp_le64(ucs_time_to_nsec(ucs_get_time()));
    if (ucp_ep_send_control(ep, UCP_AM_ID_PROBE, &probe, sizeof(probe)) !=
        UCS_OK) {
        ucs_debug("ep %p: cannot answer a probe", ep);
    }
    return UCS_OK;
}
