/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages of every kind, with lengths at and between the interface's
 * limits, in both directions at once. Each message is verified byte by byte.
 * Some received messages are kept and verified again when they are released. A
 * tracer is called for each message.
 */
#include "peer.h"

#include <stdio.h>
#include <string.h>

#include <ucx/inspect.h>

#define HEADROOM    24
#define ENTRIES_MAX 16
#define BURST       2000

typedef struct talk {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_rx_t sent;
} talk_t;

static void send_one(talk_t *talk, party_kind_t kind, size_t length,
                     size_t header, size_t entries)
{
    ucs_status_t status;

    if (check_has_failed(talk->run)) {
        return; /* Later tests would fail for the same reason */
    }

    status = party_send(talk->party, kind, length, header, entries);
    if (check_that(talk->run, 26, status == UCS_OK,
                   "%s of %zu bytes "
                   "(%zu of header, %zu entries) answers %s",
                   party_kind_names[kind], length, header, entries,
                   ucs_status_string(status))) {
        party_expect(&talk->sent, length);
    }
}

/* Sends messages with lengths at both ends of the range and around 2, 8, 32,
 * and so on. */
static void send_lengths(talk_t *talk, party_kind_t kind)
{
    const size_t min = party_min(talk->party, kind);
    const size_t max = party_max(talk->party, kind);
    size_t power;

    send_one(talk, kind, min, 0, 1);
    send_one(talk, kind, size_min(min + 1, max), 0, 1);
    for (power = 2; power - 1 <= max; power *= 4) {
        if (power - 1 > min) {
            send_one(talk, kind, power - 1, 0, 1);
        }
        if ((power > min) && (power + 1 <= max)) {
            send_one(talk, kind, power, 0, 1);
            send_one(talk, kind, power + 1, 0, 1);
        }
    }
    if (max > min) {
        send_one(talk, kind, max - 1, 0, 1);
        send_one(talk, kind, max, 0, 1);
    }
}

/* Sends messages with 1 to max_iov (ENTRIES_MAX at most) I/O vector entries,
 * and zero-copy messages with headers of different lengths up to max_hdr. */
static void send_pieces(talk_t *talk, party_kind_t kind)
{
    const size_t max     = party_max(talk->party, kind);
    const size_t min     = party_min(talk->party, kind);
    const size_t max_iov = size_min(talk->party->attr->cap.am.max_iov,
                                    ENTRIES_MAX);
    const size_t max_hdr = size_min(talk->party->attr->cap.am.max_hdr, max);
    size_t length        = size_max(min, size_min(max, 1000));
    size_t entries;

    for (entries = 1; entries <= max_iov; ++entries) {
        send_one(talk, kind, length, 0, entries);
        send_one(talk, kind, max, 0, entries);
    }
    if (kind != PARTY_ZCOPY) {
        return;
    }
    send_one(talk, kind, length, size_min(max_hdr, 1), 1);
    send_one(talk, kind, length, size_min(max_hdr, length), max_iov);
    send_one(talk, kind, size_max(min, max_hdr), max_hdr, 0);
    send_one(talk, kind, max, max_hdr, max_iov);
}

/* Sends a sequence of small messages of mixed kinds, which transports may
 * coalesce. */
static void send_burst(talk_t *talk)
{
    party_kind_t kind = PARTY_SHORT;
    size_t length, min, max;
    unsigned i;

    for (i = 0; i < BURST; ++i) {
        do {
            kind = (kind + 1) % PARTY_NUM_KINDS;
        } while (!party_has(talk->party, kind) || (kind == PARTY_SHORT_IOV));
        min    = party_min(talk->party, kind);
        max    = party_max(talk->party, kind);
        length = min + (i * 37) % (size_min(max - min, 300) + 1);
        send_one(talk, kind, length, 0, 1);
    }
}

/* Makes the peer send messages while this side sends, and adds them to
 * `expected`. */
static void ask_for_messages(talk_t *talk, party_kind_t kind, size_t length,
                             unsigned count, party_rx_t *expected)
{
    static peer_message_t message;
    unsigned i;

    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND_LATER;
    message.kind   = kind;
    message.length = length;
    message.count  = count;
    if (peer_call(talk->peer, &message, &message)) {
        for (i = 0; i < count; ++i) {
            party_expect(expected, length);
        }
    }
}

/* Sends one byte by am_short_iov. Returns 0 if the interface does not have this
 * operation: the core then uses another kind of message. */
static int has_short_iov(talk_t *talk)
{
    ucs_status_t status = party_send(talk->party, PARTY_SHORT_IOV, 1, 0, 1);

    if (status == UCS_OK) {
        party_expect(&talk->sent, 1);
    }
    return status != UCS_ERR_UNSUPPORTED;
}

/* --- Tracing ------------------------------------------------------------- */

#define TRACE_TEXT "shown by the tracer"

typedef struct trace_count {
    unsigned sent, received, lines;
} trace_count_t;

static void count_trace(void *arg, uct_am_trace_type_t type, uint8_t id,
                        const void *data, size_t length, char *buffer,
                        size_t max)
{
    trace_count_t *count = arg;

    count->sent += (type == UCT_AM_TRACE_TYPE_SEND);
    count->received += (type == UCT_AM_TRACE_TYPE_RECV);
    snprintf(buffer, max, "%s", TRACE_TEXT);
}

/* Counts the lines of the log that contain the text of count_trace(). Returns
 * 1, so that no line is printed. */
static int count_line(void *arg, const char *file, unsigned line,
                      const char *function, ucs_log_level_t level,
                      const char *message)
{
    ((trace_count_t *)arg)->lines += (strstr(message, TRACE_TEXT) != NULL);
    return 1;
}

/* Sends one message of each kind except PARTY_SHORT_IOV, and receives one from
 * the peer. Returns the number of messages that were sent. */
static unsigned send_traced(talk_t *talk, party_rx_t *replies)
{
    party_t *party = talk->party;
    unsigned count = 0;
    party_kind_t kind;

    for (kind = 0; kind < PARTY_NUM_KINDS; ++kind) {
        if (party_has(party, kind) && (kind != PARTY_SHORT_IOV)) {
            send_one(talk, kind, party_min(party, kind), 0, 1);
            ++count;
        }
    }
    if (peer_is_other(talk->peer)) {
        kind = party_has(party, PARTY_SHORT) ? PARTY_SHORT :
               party_has(party, PARTY_BCOPY) ? PARTY_BCOPY :
                                               PARTY_ZCOPY;
        ask_for_messages(talk, kind, party_min(party, kind), 1, replies);
        party_wait(party, party->rx.count >= replies->count, PARTY_PATIENCE);
    }
    return count;
}

/* Checks that a tracer is called for each message while the log level includes
 * data, and for none before. */
static void talk_traced(talk_t *talk, party_rx_t *replies)
{
    trace_count_t count = {0};
    ucs_log_level_t level;
    ucs_status_t status;
    unsigned sent;

    check_doing(talk->run, "tracing messages");
    status = uct_iface_set_am_tracer(talk->party->iface, count_trace, &count);
    if (status == UCS_ERR_UNSUPPORTED) {
        check_note(talk->run, "it does not trace messages");
        return;
    }
    if (!check_that(talk->run, 26, status == UCS_OK, "set_am_tracer answers %s",
                    ucs_status_string(status))) {
        return;
    }
    send_traced(talk, replies);
    check_that(talk->run, 26, (count.sent == 0) && (count.received == 0),
               "the tracer is called though data is not traced");

    level = ucx_inspect_log(UCS_LOG_LEVEL_TRACE_DATA, count_line, &count);
    sent  = send_traced(talk, replies);
    (void)ucx_inspect_log(level, NULL, NULL);
    (void)uct_iface_set_am_tracer(talk->party->iface, NULL, NULL);

    check_that(talk->run, 26, count.sent == sent,
               "the tracer saw %u of %u messages leave", count.sent, sent);
    check_that(talk->run, 26,
               !peer_is_other(talk->peer) || (count.received > 0),
               "the tracer did not see a message come in");
    check_that(talk->run, 26, count.lines == count.sent + count.received,
               "%u messages were traced, and %u lines are in the log",
               count.sent + count.received, count.lines);
}

static void talk_all(talk_t *talk)
{
    party_t *party     = talk->party;
    party_rx_t replies = {0}, rx;
    party_kind_t kind;
    int other = peer_is_other(talk->peer);

    for (kind = 0; kind < PARTY_NUM_KINDS; ++kind) {
        if (!party_has(party, kind) ||
            ((kind == PARTY_SHORT_IOV) && !has_short_iov(talk))) {
            continue;
        }
        if (other) {
            ask_for_messages(talk, kind, party_min(party, kind), 20, &replies);
            ask_for_messages(talk, kind, party_max(party, kind), 3, &replies);
        }
        send_lengths(talk, kind);
        if ((kind == PARTY_SHORT_IOV) || (kind == PARTY_ZCOPY)) {
            send_pieces(talk, kind);
        }
    }
    send_burst(talk);
    talk_traced(talk, &replies);

    check_doing(talk->run, "waiting for the messages to arrive");
    if (!conversation_await(talk->peer, &talk->sent, &rx)) {
        return;
    }
    conversation_compare(talk->run, "the peer", &rx, &talk->sent);
    if (other) {
        party_wait(party, party->rx.count >= replies.count, PARTY_PATIENCE);
        party_release_kept(party);
        conversation_compare(talk->run, "this side", &party->rx, &replies);
    }
}

void check_messages(run_t *run)
{
    static party_t party;
    static peer_t peer;
    talk_t talk = {.run = run, .peer = &peer, .party = &party};

    if (!conversation_begin(run, &peer, &party, HEADROOM)) {
        return;
    }

    party.keep_every = 5;
    if (!party_has(&party, PARTY_SHORT) && !party_has(&party, PARTY_BCOPY) &&
        !party_has(&party, PARTY_ZCOPY)) {
        check_skip(run, "it has no active messages");
    } else {
        talk_all(&talk);
        party_check_calls(&party);
        check_that(run, 18, party.failures == 0,
                   "an endpoint failed though its peer lives: %s",
                   ucs_status_string(party.failure));
    }
    conversation_end(&peer, &party);
}
