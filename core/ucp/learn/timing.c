/* SPDX-License-Identifier: BSD-3-Clause */
/* Times transfers of the user, alone or in series (see timing.h), and sends the
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

/* Limits of the number of transfers in the warm-up (..._WARM) and in each half
 * (..._HALF) of a series. HALF_BYTES: minimum number of bytes in a half. */
enum {
    MIN_WARM   = 2,
    MAX_WARM   = 64,
    HALF_BYTES = 262144,
    MIN_HALF   = 4,
    /* Minimum number of transfers in a half if each has LARGE bytes or more */
    LARGE_HALF = 2,
    LARGE      = 2 << 20,
    MAX_HALF   = 16,
};

/* A result of fewer seconds per byte (500 GB/s) is an error of measurement and
 * ignored. */
#define MIN_TIME 2e-12

/* Two requests of a series count as completed together if the time between them
 * is less than this fraction of the time of one transfer. */
#define TOGETHER 0.2

/* A series has no result if one half takes more than this many times as long as
 * the other one (with exceptions, see report_series()). */
#define MAX_RATIO 1.7

void ucp_timing_drop(ucp_timing_t *timing)
{
    if (timing->ep != NULL) {
        ucp_learn_drop(timing->learn);
        memset(timing, 0, sizeof(*timing));
    }
}

/* --------------------------------------------------------------- results -- */

static void show_change(const ucp_timing_t *timing, unsigned before)
{
    const ucp_learn_t *learn = timing->learn;
    ucp_ep_h ep              = timing->ep;
    FILE *stream;

    ucs_debug("ep %p: %s instead of %s for about %zu bytes%s: %.2f"
              " against %.2f GB/s",
              ep, ucp_learn_method_name(timing->op, learn->best),
              ucp_learn_method_name(timing->op, before), timing->marks[0].bytes,
              (timing->num_marks > 1) ? " of a stream" : "",
              1e-9 / ucp_learn_time(learn, learn->best),
              1e-9 / ucp_learn_time(learn, before));
    if (ep->worker->context->options.proto_info) {
        stream = ucs_log_open_stream();
        if (stream != NULL) {
            ucp_trial_print(ep, stream);
            fclose(stream);
        }
    }
}

/* Reports to learn.c that `length` bytes took `seconds`, and ends the timing.
 * If that is impossibly fast, the timing has no result. */
static void report(ucp_timing_t *timing, double seconds, size_t length)
{
    ucp_learn_t *learn = timing->learn;
    unsigned before    = learn->best;

    if (!(seconds > MIN_TIME * (double)length)) {
        ucp_timing_drop(timing);
        return;
    }
    ucp_learn_result(learn, seconds / (double)length);
    ucp_learn_live_update(learn);
    if (learn->best != before) {
        show_change(timing, before);
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

/* Reports the result of a series when the times of its three marks are known.
 * If the first half took much longer, the peer may have been busy with data of
 * earlier requests, which were already complete in this process. If the
 * requests complete when their data is transferred (`is_exact`) and few of them
 * completed together, the second half alone is then the result; otherwise there
 * is none. */
static void report_series(ucp_timing_t *timing)
{
    const ucp_mark_t *marks = timing->marks;
    int is_exact  = ucp_learn_ends_with_request(timing->op, timing->method);
    double first  = seconds_between(marks[0].time, marks[1].time);
    double second = seconds_between(marks[1].time, marks[2].time);
    unsigned most = (first > MAX_RATIO * second) ? timing->half / 4 :
                                                   timing->half;

    if ((second > MAX_RATIO * first) ||
        ((first > MAX_RATIO * second) && !is_exact) ||
        (is_exact && (timing->together > most))) {
        ucp_timing_drop(timing);
    } else if (first > MAX_RATIO * second) {
        report(timing, second, marks[2].bytes);
    } else {
        report(timing, first + second, marks[1].bytes + marks[2].bytes);
    }
}

/* Called when the time is known at which the transfer of a mark ended. If all
 * marks have their times, reports the result. */
static void ended(ucp_timing_t *timing, ucp_mark_t *mark, ucs_time_t time)
{
    unsigned i;

    mark->time = time;
    if (timing->num_marks == 1) {
        report(timing,
               seconds_between(timing->begin, time) + message_latency(timing),
               mark->bytes);
        return;
    }
    for (i = 0; i < timing->num_marks; ++i) {
        if (timing->marks[i].time == 0) {
            return;
        }
    }
    report_series(timing);
}

/* -------------------------------------------------------------- requests -- */

/* Sends a PROBE. The peer answers it after it has processed the messages that
 * were sent before. */
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
    return ucp_ep_send_control(ep, UCP_AM_ID_PROBE, &probe, sizeof(probe));
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

/* Returns a time in seconds per byte, a fraction of the time of the selected
 * method. If less time than this passed between the completions of two
 * requests, they count as completed together. */
static double min_distance(const ucp_learn_t *learn)
{
    return ucs_max(MIN_TIME, TOGETHER * ucp_learn_time(learn, learn->best));
}

/* Called when a request of a series has completed: counts it in
 * timing->together if it completed together with the request before it. */
static void note_end(ucp_timing_t *timing, size_t length)
{
    ucs_time_t now = ucs_get_time();

    if ((timing->marks[0].time != 0) &&
        (seconds_between(timing->end, now) <
         min_distance(timing->learn) * (double)length)) {
        ++timing->together;
    }
    timing->end = now;
}

void ucp_request_timed(ucp_request_t *req, ucs_status_t status)
{
    struct ucp_trials *trials = ucp_worker_learn(req->worker)->trials;
    ucp_timing_t *timing      = &trials->timing;
    ucp_mark_t *mark          = mark_of(timing, req);

    req->flags &= (uint16_t)~UCP_REQUEST_FLAG_TIMED;
    if ((timing->num_marks > 1) && (timing->ep == req->send.ep)) {
        note_end(timing, req->dt.length);
    }
    if (mark == NULL) {
        return;
    }
    mark->req = NULL;
    if (status != UCS_OK) {
        ucp_timing_drop(timing);
    } else if (ucp_learn_ends_with_request(timing->op, timing->method)) {
        ended(timing, mark, ucs_get_time());
    } else if (ask(trials, mark) != UCS_OK) {
        ucp_timing_drop(timing);
    }
}

void ucp_timing_add(ucp_timing_t *timing, ucp_request_t *req, ucs_time_t now)
{
    ucp_mark_t *mark = &timing->marks[timing->next];

    timing->begin = now;
    mark->bytes += req->dt.length;
    req->flags |= UCP_REQUEST_FLAG_TIMED;
    if (--timing->left == 0) {
        mark->req    = req;
        timing->left = timing->half;
        ++timing->next;
    }
}

void ucp_timing_alone(ucp_timing_t *timing, ucp_request_t *req,
                      ucp_learn_t *learn, ucp_op_t op, unsigned method,
                      ucs_time_t now)
{
    *timing = (ucp_timing_t){
        .ep        = req->send.ep,
        .learn     = learn,
        .op        = op,
        .method    = (uint8_t)method,
        .num_marks = 1,
        .left      = 1,
    };
    ucp_timing_add(timing, req, now);
}

/* Returns the number of requests of the endpoint that are under way, at most
 * MAX_WARM. */
static unsigned count_in_flight(ucp_ep_h ep)
{
    unsigned count = (unsigned)ucs_min(ucs_queue_length(&ep->waiting),
                                       (size_t)MAX_WARM);
    ucs_list_link_t *link;

    for (link = ep->awaited.next; (link != &ep->awaited) && (count < MAX_WARM);
         link = link->next) {
        ++count;
    }
    return count;
}

unsigned ucp_timing_series(ucp_timing_t *timing, ucp_request_t *req,
                           ucp_learn_t *learn, ucp_op_t op, unsigned method,
                           ucs_time_t now)
{
    unsigned warm = ucs_max(count_in_flight(req->send.ep), (unsigned)MIN_WARM);
    size_t half   = ucs_max(HALF_BYTES / req->dt.length, (size_t)MIN_HALF);

    half    = (req->dt.length >= LARGE) ? LARGE_HALF :
                                          ucs_min(half, (size_t)MAX_HALF);
    /* All transfers in flight may end together, so a half has at least as
     * many */
    half    = ucs_max(half, (size_t)warm);
    *timing = (ucp_timing_t){
        .ep        = req->send.ep,
        .learn     = learn,
        .op        = op,
        .method    = (uint8_t)method,
        .num_marks = UCP_TIMING_MARKS,
        .left      = (uint8_t)warm,
        .half      = (uint8_t)half,
    };
    ucp_timing_add(timing, req, now);
    return warm + 2 * (unsigned)half;
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

/* Returns the peer's time in the answer if it can be used: always in a series,
 * whose marks all have the peer's time; for a transfer that is alone, if the
 * peer runs on this machine and has the same clock, and the time is plausible.
 * Otherwise returns the current time. */
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
            ended(timing, &timing->marks[i], time_of(timing, probe));
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
