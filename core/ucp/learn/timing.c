/* SPDX-License-Identifier: BSD-3-Clause */
/* Times transfers of the user, alone or in epochs (see timing.h), and sends the
 * PROBE messages, whose answers contain the time at which the data had reached
 * the peer. */
#include "ucp/learn/timing.h"

#include "ucp/base/ids.h"
#include "ucp/learn/live.h"
#include "ucp/learn/trial.h"
#include "ucp/order/queue.h"
#include "ucp/wireup/introduce.h"
#include "ucs/debug/log.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"

#include <string.h>

/* A result of fewer seconds per byte (500 GB/s) is an error of measurement and
 * ignored. */
#define MIN_TIME 2e-12

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
        ucp_learn_stream_drop(timing->stream);
    } else {
        ucp_learn_drop(timing->learn);
    }
    memset(timing, 0, sizeof(*timing));
}

/* --------------------------------------------------------------- results -- */

/* Reports that `length` bytes took `seconds`, and ends the timing. If that is
 * impossibly fast, the timing has no result. */
static void report(ucp_timing_t *timing, double seconds, size_t length)
{
    ucp_learn_t *learn = timing->learn;
    unsigned before    = learn->best;

    if (!(seconds > MIN_TIME * (double)length)) {
        ucp_timing_drop(timing);
        return;
    }
    if (timing->stream != NULL) {
        ucp_learn_stream_result(timing->stream, seconds / (double)length);
    } else {
        ucp_learn_result(learn, seconds / (double)length);
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

/* Returns the seconds to add to the measured time of a transfer that is alone.
 * In a rendezvous by get, the request completes when a message of the receiver
 * has arrived, which is after the transfer: negative. In a rendezvous by put, a
 * message to the receiver follows the data: positive. */
static double message_latency(const ucp_timing_t *timing)
{
    double latency = ucp_ep_config_am(timing->ep->config)->cost_bcopy.latency;

    if ((timing->op == UCP_OP_PUT) || (timing->op == UCP_OP_GET)) {
        return 0;
    }
    return (timing->method == UCP_LEARN_GET) ? -latency :
           (timing->method == UCP_LEARN_PUT) ? latency :
                                               0;
}

/* Returns the seconds between two times; negative if the second is earlier. */
static double seconds_between(ucs_time_t first, ucs_time_t second)
{
    return 1e-9 * (double)(int64_t)(second - first);
}

/* True if the timing is that of an epoch FIRST. */
static int is_first(const ucp_timing_t *timing)
{
    return (timing->stream != NULL) &&
           (timing->stream->stage == UCP_LEARN_FIRST);
}

/* True if the marks of the epoch are the ends of groups. */
static int is_grouped(const ucp_timing_t *timing)
{
    return (timing->num_marks > 1) && !is_first(timing) &&
           ucp_learn_ends_with_request(timing->op, timing->method);
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

/* Reports the result of an epoch, when its marks are known. From the time of
 * FIRST, subtracts that of the other transfers (timing.h). */
static void report_epoch(ucp_timing_t *timing)
{
    const ucp_mark_t *first = &timing->marks[0], *last = &timing->marks[1];
    double seconds  = seconds_between(first->time, last->time);
    size_t received = received_between(timing, first->received, last->received);
    size_t others;

    if (!is_first(timing)) {
        report(timing, seconds, last->bytes + received);
        return;
    }
    others = last->sent - first->sent + received;
    others -= ucs_min(others, last->bytes);
    seconds -= (double)others * ucp_learn_stream_before(timing->stream);
    report(timing, ucs_max(seconds, 2 * MIN_TIME * (double)last->bytes),
           last->bytes);
}

/* Called when the time is known at which the transfer of a mark ended. If all
 * marks have their times, reports the result. */
static void ended(struct ucp_trials *trials, ucp_mark_t *mark, ucs_time_t time)
{
    ucp_timing_t *timing = &trials->timing;

    mark->time     = time;
    mark->sent     = trials->sent;
    mark->received = timing->ep->worker->received;
    if (timing->num_marks == 1) {
        report(timing,
               seconds_between(timing->begin, time) + message_latency(timing),
               mark->bytes);
    } else if ((timing->marks[0].time != 0) && (timing->marks[1].time != 0)) {
        report_epoch(timing);
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

    if ((timing->end.requests >= timing->warm) &&
        ((trials->groups.count > 0) || !has_earlier(timing))) {
        ucp_groups_add(&trials->groups, &timing->end);
    }
    timing->end.size = 0;
}

/* Reports the result of an epoch whose marks are the ends of groups. */
static void report_groups(struct ucp_trials *trials)
{
    ucp_timing_t *timing = &trials->timing;
    const ucp_group_end_t *first, *last;

    if (!ucp_groups_span(&trials->groups, &first, &last)) {
        ucp_learn_stream_scale(timing->stream, 1);
        ucp_timing_drop(timing);
        return;
    }
    if (trials->groups.count > UCP_GROUPS_MAX) {
        ucp_learn_stream_scale(timing->stream, 0);
    }
    report(timing, seconds_between(first->time, last->time),
           last->bytes - first->bytes +
               received_between(timing, first->received, last->received));
}

/* Called when a request has completed that belongs to an epoch whose marks are
 * the ends of groups. After the last request, reports the result. */
static void note_end(struct ucp_trials *trials, const ucp_request_t *req)
{
    ucp_timing_t *timing = &trials->timing;
    ucs_time_t now       = ucs_get_time();
    double together      = TOGETHER * ucp_learn_stream_time(timing->stream) *
                      (double)req->dt.length;

    if (seconds_between(timing->end.time, now) > together) {
        end_group(trials);
    }
    timing->end.time     = now;
    timing->end.received = req->worker->received;
    timing->end.bytes += req->dt.length;
    ++timing->end.size;
    if (++timing->end.requests == timing->total) {
        report_groups(trials);
    }
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
    } else if (is_grouped(timing)) {
        note_end(trials, req);
    } else if (mark == NULL) {
        return;
    } else if (ucp_learn_ends_with_request(timing->op, timing->method)) {
        mark->req = NULL;
        ended(trials, mark, ucs_get_time());
    } else {
        mark->req = NULL;
        if (ask(trials, mark) != UCS_OK) {
            ucp_timing_drop(timing);
        }
    }
}

void ucp_timing_add(struct ucp_trials *trials, ucp_request_t *req,
                    ucs_time_t now)
{
    ucp_timing_t *timing = &trials->timing;
    ucp_mark_t *mark     = &timing->marks[timing->next];

    timing->begin = now;
    mark->bytes += req->dt.length;
    req->flags |= UCP_REQUEST_FLAG_TIMED;
    ++trials->flagged;
    if (--timing->left[timing->next] == 0) {
        mark->req = req;
        ++timing->next;
    }
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
        .method    = (uint8_t)method,
        .left      = {1},
    };
    ucp_timing_add(trials, req, now);
}

void ucp_timing_epoch(struct ucp_trials *trials, ucp_ep_h ep,
                      ucp_learn_stream_t *stream, ucp_op_t op,
                      const ucp_learn_epoch_t *epoch)
{
    trials->groups.count = 0;
    trials->timing       = (ucp_timing_t){
              .ep        = ep,
              .learn     = &stream->learn,
              .stream    = stream,
              .op        = op,
              .method    = epoch->method,
              .num_marks = UCP_TIMING_MARKS,
              .left      = {epoch->warm, epoch->count},
              .warm      = epoch->warm,
              .total     = (uint16_t)(epoch->warm + epoch->count),
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
