/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether a transfer is alone, follows others, in one or in both
 * directions, or belongs to an exchange: see load.h. */
#include "ucp/learn/load.h"

#include "ucp/learn/timing.h"
#include "ucs/sys/math.h"
#include "ucs/time/time.h"

/* A transfer follows the last one if it begins within this part of the time of a
 * transfer that is alone. */
#define SOON 0.75

/* Seconds per byte that are assumed for a transfer until one was measured. */
#define ASSUMED_TIME 1e-10

/* Longest pause before the next transfer of an epoch, as a multiple of the time
 * of a transfer that is alone. The first is for methods whose requests complete
 * when the data is transferred, the second for those whose requests complete
 * earlier. */
#define MAX_PAUSE       1.25
#define MAX_PAUSE_EARLY 128

/* Transfers of a window. If half as many bytes are received as sent, they belong
 * to streams in both directions, or to exchanges: if at most a quarter follows
 * others, and all take at most BUSY times as long as they would take one after
 * another. If the process does other work for most of the time, the time between
 * two transfers shows too little. Two windows in a row must show another kind
 * before it changes. */
enum { WINDOW = 16, FEW = WINDOW / 4, MAX_FAILED = 2 };
#define BUSY 4.0

/* Returns the seconds per byte of a transfer of about this length that is
 * alone, by the selected method. */
static double time_alone(const ucp_learn_entry_t *entry, size_t length)
{
    const ucp_learn_t *learn =
        entry->of[UCP_LEARN_ALONE][ucp_learn_size_class(length)];
    double time = (learn == NULL) ? 0 : ucp_learn_time(learn, learn->best);

    return (time > 0) ? time : ASSUMED_TIME;
}

/* Returns non-zero if the transfer follows others: the endpoint has requests
 * under way, or its last transfer began only a short time ago. The latter is
 * necessary for eager messages: their requests complete early, and the peer may
 * still be copying the data. During an epoch the time is longer: several of its
 * requests may have completed together; and if they complete early, the peer
 * may still be copying all of them, by a method that has become slow. */
static int is_loaded(const ucp_timing_t *timing, const ucp_learn_entry_t *entry,
                     ucp_ep_h ep, size_t length, ucp_learn_now_t *now)
{
    ucs_time_t since = entry->last_time;
    double bytes     = SOON * (double)length;
    double time      = time_alone(entry, length);

    if (!ucs_list_is_empty(&ep->awaited) || !ucs_queue_is_empty(&ep->waiting)) {
        return 1;
    }
    if (ucp_timing_is_open(timing) && (timing->ep == ep)) {
        since = ucs_max(timing->begin, timing->end.time);
        bytes = (double)length *
                (ucp_learn_ends_with_request(timing->op,
                                             ucp_timing_epoch(timing)->method) ?
                     MAX_PAUSE :
                     MAX_PAUSE_EARLY);
        time = ucs_max(time, ucp_learn_stream_time(timing->stream));
    } else if (entry->last_ep != ep) {
        return 0;
    }
    return ucs_time_to_sec(ucp_learn_now(now) - since) < bytes * time;
}

int ucp_learn_has_sends(ucp_ep_h ep)
{
    const ucp_request_t *req;

    ucs_list_for_each(req, &ep->awaited, ep_link) {
        if (!(req->flags & UCP_REQUEST_FLAG_RECV)) {
            return 1;
        }
    }
    return !ucs_queue_is_empty(&ep->waiting);
}

/* True if the transfer follows another one in an exchange, too: it has begun
 * although one to the peer is in flight, or before data of the peer was
 * received. */
static int is_following(const ucp_learn_entry_t *entry, ucp_ep_h ep,
                        size_t length, ucp_learn_now_t *now)
{
    return ucp_learn_has_sends(ep) ||
           ((entry->last_ep == ep) &&
            (ep->worker->received - entry->last_received < length / 2) &&
            (ucs_time_to_sec(ucp_learn_now(now) - entry->last_time) <
             SOON * (double)length * time_alone(entry, length)));
}

/* Returns the kind of the transfers of the window (ucp_learn_window_t::kind).
 * `sent`: their bytes. `seconds_per_byte`: of a transfer that is alone. */
static ucp_learn_load_t kind_of(const ucp_learn_window_t *window, uint64_t sent,
                                uint64_t received, double seconds,
                                double seconds_per_byte)
{
    if (received < sent / 2) {
        return UCP_LEARN_ALONE;
    }
    if (window->following > FEW) {
        return UCP_LEARN_BOTH;
    }
    return (seconds < BUSY * (double)sent * seconds_per_byte) ?
               UCP_LEARN_EXCHANGE :
               UCP_LEARN_ALONE;
}

/* Adds a transfer to the window, and decides at its end what the transfers
 * belong to. `follows`: is_following(). */
static void note_transfer(struct ucp_trials *trials,
                          const ucp_learn_entry_t *entry, ucp_ep_h ep,
                          size_t length, ucp_learn_now_t *now, int follows)
{
    ucp_learn_window_t *window = &trials->window;
    uint64_t received          = ep->worker->received;
    unsigned kind              = window->kind;
    unsigned shown, failed;

    window->following += (follows != 0);
    if (++window->count < WINDOW) {
        return;
    }
    shown  = kind_of(window, trials->sent - window->sent,
                     received - window->received,
                     ucs_time_to_sec(ucp_learn_now(now) - window->begin),
                     time_alone(entry, length));
    failed = (shown == kind) ? 0 : window->failed + 1U;
    if ((kind == UCP_LEARN_ALONE) || (failed == MAX_FAILED)) {
        kind   = shown;
        failed = 0;
    }
    *window = (ucp_learn_window_t){
        .failed   = (uint8_t)failed,
        .kind     = (uint8_t)kind,
        .begin    = ucp_learn_now(now),
        .sent     = trials->sent,
        .received = received,
    };
}

ucp_learn_load_t ucp_learn_load_of(struct ucp_trials *trials,
                                   const ucp_learn_entry_t *entry, ucp_ep_h ep,
                                   size_t length, ucp_learn_now_t *now)
{
    const ucp_timing_t *timing = &trials->timing;
    int is_open = ucp_timing_is_open(timing) && (timing->ep == ep);
    int kind    = UCP_LEARN_ALONE;
    int follows;

    if ((entry->op == UCP_OP_TAG_SEND) &&
        ep->worker->context->options.proto_learn_streams) {
        follows = is_following(entry, ep, length, now);
        if (!is_open || (trials->window.kind != UCP_LEARN_BOTH)) {
            note_transfer(trials, entry, ep, length, now, follows);
        }
        kind = trials->window.kind;
        if ((kind == UCP_LEARN_EXCHANGE) && !is_open && !follows) {
            return UCP_LEARN_EXCHANGE;
        }
    }
    return !is_loaded(timing, entry, ep, length, now) ? UCP_LEARN_ALONE :
           (kind == UCP_LEARN_BOTH)                   ? UCP_LEARN_BOTH :
                                                        UCP_LEARN_STREAM;
}
