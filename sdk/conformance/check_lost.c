/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 18 of sdk/ABI.md: a lost peer is reported to the error handler once, in
 * bounded time, by the worker's thread, after the peer's messages were
 * delivered. The loss of an idle peer is detected by keepalive. Outstanding
 * operations complete, later operations fail, and the endpoint can be
 * destroyed, even inside the handler.
 */
#include "lost.h"

#include <math.h>
#include <string.h>

#include "peer.h"
#include "runner.h"

#define NUM_ZCOPY 16
#define LAST_MAX \
    4096              /* More messages than any transport delivers in one call
                       * of progress */
#define LAST_LENGTH 8 /* Bytes; short, so that the peer can send many */
#define NUM_PROBES  10
#define KEEPALIVE   0.1 /* Interval in seconds */
#define LOST_SECONDS \
    30.0 /* Maximum seconds until the loss of a killed peer is
          * reported */
#define CASE_SECONDS \
    60.0 /* Maximum seconds of a case, in addition to the time until
          * the loss is reported */

typedef struct lost_test {
    run_t *run;
    peer_t *peer;
    party_t *party;
    network_t *network; /* Network to be silenced; NULL: the peer is on this
                         * host and is killed */
    party_kind_t kind;
    size_t length;
    party_done_t zcopies[NUM_ZCOPY];
    unsigned num_started; /* Number of entries of `zcopies` whose operations
                           * returned UCS_INPROGRESS */
    uct_pending_req_t request;
    int is_queued;          /* pending_add accepted `request` */
    unsigned request_calls; /* How often a pending request was called or
                             * purged */
} lost_test_t;

static lost_test_t test;

static ucs_status_t handle_pending(uct_pending_req_t *self)
{
    ++test.request_calls;
    return UCS_OK;
}

static void handle_purge(uct_pending_req_t *self, void *arg)
{
    ++test.request_calls;
}

/* Kills the peer, or makes the network lose all frames. */
static void lose_peer(void)
{
    if (test.network != NULL) {
        network_set(test.network, NETWORK_BLACK_HOLE);
    } else {
        peer_kill(test.peer);
    }
}

static double seconds_to_notice(void)
{
    return (test.network != NULL) ? test.run->notice :
                                    fmin(test.run->notice, LOST_SECONDS);
}

static const char *what_happened(void)
{
    return (test.network != NULL) ? "the network to a peer was cut" :
                                    "a peer was killed";
}

/* Establishes a connection by a message, and stops the peer's progress. With
 * `with_outstanding`, then starts as many operations as possible and queues a
 * pending request. Returns 0 on failure. */
static int load_endpoint(int with_outstanding)
{
    party_rx_t sent = {0}, rx;
    ucs_status_t status;
    size_t length;
    unsigned i;

    if (party_send(test.party, test.kind, test.length, 0, 1) != UCS_OK) {
        check_fail(test.run, 26, "a message cannot be sent");
        return 0;
    }
    party_expect(&sent, test.length);
    if (!conversation_await(test.peer, &sent, &rx) ||
        !peer_tell(test.peer, PEER_HOLD)) {
        return 0;
    }
    if (!with_outstanding) {
        return 1;
    }

    length = size_max(party_min(test.party, PARTY_ZCOPY),
                      size_min(party_max(test.party, PARTY_ZCOPY), 65536));
    for (i = 0; (i < NUM_ZCOPY) && party_has(test.party, PARTY_ZCOPY); ++i) {
        party_done_init(&test.zcopies[test.num_started], test.party);
        status = party_try(test.party, PARTY_ZCOPY, length, 0, 1,
                           &test.zcopies[test.num_started]);
        test.num_started += (status == UCS_INPROGRESS);
        if (status == UCS_ERR_NO_RESOURCE) {
            break;
        }
    }

    if (party_fill(test.party, test.kind, test.length, &sent) &&
        (test.party->attr->cap.flags & UCT_IFACE_FLAG_PENDING)) {
        test.request.func = handle_pending;
        test.is_queued    = (uct_ep_pending_add(test.party->ep, &test.request,
                                                0) == UCS_OK);
    }
    return 1;
}

/* Progresses until the error handler is called, and every 0.1 s checks the
 * endpoint or sends a message, as a user would. Returns 0 with a finding if the
 * handler is not called in time. */
static int wait_for_failure(void)
{
    double end = clock_now() + seconds_to_notice();

    check_doing(test.run, "waiting for the loss of the peer to be reported");
    while ((test.party->failures == 0) && (clock_now() < end)) {
        if (party_wait(test.party, test.party->failures > 0, 0.1)) {
            break;
        }
        if (test.party->attr->cap.flags & UCT_IFACE_FLAG_EP_CHECK) {
            uct_ep_check(test.party->ep, 0, NULL);
        } else {
            party_try(test.party, test.kind, test.length, 0, 1, NULL);
        }
    }
    return check_that(test.run, 18, test.party->failures > 0,
                      "%s %.0f s ago, and the error handler was not called",
                      what_happened(), seconds_to_notice());
}

static void check_report(uct_ep_h ep)
{
    check_that(test.run, 18, test.party->failed_ep == ep,
               "the error handler is told of another endpoint");
    check_that(test.run, 18, UCS_STATUS_IS_ERR(test.party->failure),
               "the error handler is told %s",
               ucs_status_string(test.party->failure));
    check_that(test.run, 16, test.party->foreign_failures == 0,
               "the error handler is called by another thread than the "
               "worker's");
}

/* Checks that pending_add on a failed endpoint rejects a request, which would
 * never be called. */
static void check_pending_add(void)
{
    static uct_pending_req_t late = {.func = handle_pending};
    ucs_status_t status;

    if (!(test.party->attr->cap.flags & UCT_IFACE_FLAG_PENDING)) {
        return;
    }
    status = uct_ep_pending_add(test.party->ep, &late, 0);
    check_that(test.run, 18,
               UCS_STATUS_IS_ERR(status) && (status != UCS_ERR_NO_RESOURCE),
               "pending_add on a failed endpoint answers %s; it must be "
               "UCS_ERR_BUSY or the error of a send",
               ucs_status_string(status));
}

/* Checks a failed endpoint: sends fail, the queued request is called or purged
 * once, and all accepted operations complete. */
static void check_end(void)
{
    ucs_status_t status;
    party_done_t done;
    unsigned i;

    check_doing(test.run, "sending on the failed endpoint");
    status = party_try(test.party, test.kind, test.length, 0, 1, NULL);
    check_that(test.run, 18,
               UCS_STATUS_IS_ERR(status) && (status != UCS_ERR_NO_RESOURCE),
               "a send on a failed endpoint answers %s",
               ucs_status_string(status));

    check_doing(test.run, "purging and flushing the failed endpoint");
    uct_ep_pending_purge(test.party->ep, handle_purge, NULL);
    check_pending_add();
    check_that(test.run, 18, test.request_calls == (unsigned)test.is_queued,
               "a pending request of a failed endpoint was called or purged "
               "%u times in all",
               test.request_calls);

    party_done_init(&done, test.party);
    status = uct_ep_flush(test.party->ep, UCT_FLUSH_FLAG_CANCEL, &done.comp);
    if ((status == UCS_INPROGRESS) &&
        !party_wait(test.party, done.calls > 0, PARTY_PATIENCE)) {
        check_fail(test.run, 18,
                   "flush of a failed endpoint does not complete "
                   "within %.0f s",
                   PARTY_PATIENCE);
        check_give_up(test.run);
    }

    for (i = 0; i < test.num_started; ++i) {
        if (!check_that(test.run, 18, test.zcopies[i].calls == 1,
                        "the completion of an operation on a failed endpoint "
                        "was called %u times",
                        test.zcopies[i].calls)) {
            check_give_up(test.run);
        }
    }
}

static void check_loss(void)
{
    uct_ep_h ep = test.party->ep;

    if (!load_endpoint(1)) {
        return;
    }
    lose_peer();
    if (!wait_for_failure()) {
        return;
    }

    check_report(ep);
    check_end();
    party_settle(test.party, 0.2);
    check_that(test.run, 18, test.party->failures == 1,
               "the error handler was called %u times for one loss",
               test.party->failures);
}

/* Checks that the handler may destroy the endpoint whose failure it reports. */
static void check_destroy_inside(void)
{
    test.party->destroy_on_failure = 1;
    if (!load_endpoint(0)) {
        return;
    }
    lose_peer();
    if (wait_for_failure()) {
        check_doing(test.run, "progressing after the error handler has "
                              "destroyed the endpoint");
        party_settle(test.party, 0.2);
        check_that(test.run, 18, test.party->failures == 1,
                   "the error handler was called %u times for one loss",
                   test.party->failures);
    }
}

/* Makes the peer send as many messages as it can without progress of this side.
 * Returns how many messages have left the peer. */
static uint64_t receive_nothing_yet(void)
{
    static peer_message_t message;

    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND_MANY;
    message.kind   = test.kind;
    message.length = size_max(party_min(test.party, test.kind),
                              size_min(test.length, LAST_LENGTH));
    message.count  = LAST_MAX;
    return (peer_post(test.peer, &message) && peer_await_answer(test.peer) &&
            peer_answer(test.peer, &message) && (message.status == UCS_OK)) ?
               message.value :
               0;
}

/* Checks that messages of the peer are delivered before its loss is reported,
 * even if a send of this side fails first. As many messages as possible wait,
 * so that one call of progress does not deliver all of them. */
static void check_last_words(void)
{
    uint64_t num_last;
    unsigned i;

    check_doing(test.run, "receiving the last messages of a peer");
    if (!load_endpoint(0) || !peer_tell(test.peer, PEER_RESET)) {
        return;
    }
    num_last = receive_nothing_yet();
    if (num_last == 0) {
        return; /* The peer's messages leave only while this side progresses:
                 * none can wait for delivery */
    }
    lose_peer();
    for (i = 0; i < NUM_PROBES; ++i) {
        if (test.party->attr->cap.flags & UCT_IFACE_FLAG_EP_CHECK) {
            uct_ep_check(test.party->ep, 0, NULL);
        } else {
            party_try(test.party, test.kind, test.length, 0, 1, NULL);
        }
    }
    if (wait_for_failure()) {
        check_that(test.run, 18, test.party->rx_at_failure >= num_last,
                   "the loss of the peer is reported after %u of %u messages "
                   "that it had sent before; deliver all of them first, even "
                   "if that takes several rounds of progress",
                   (unsigned)test.party->rx_at_failure, (unsigned)num_last);
    }
}

/* Checks that the transport's own keepalive detects the loss: this side sends
 * nothing and does not call ep_check. */
static void check_idle(void)
{
    if (!(test.party->attr->cap.flags & UCT_IFACE_FLAG_EP_KEEPALIVE) ||
        !load_endpoint(0)) {
        return;
    }
    lose_peer();
    check_doing(test.run, "waiting for keepalive to notice the loss of an idle "
                          "peer");
    check_that(test.run, 18,
               party_wait(test.party, test.party->failures > 0,
                          seconds_to_notice()),
               "%s %.0f s ago, which was idle, the keepalive interval is %.1f "
               "s, and the error handler was not called",
               what_happened(), seconds_to_notice(), test.run->keepalive);
}

static int begin(run_t *run, peer_t *peer, party_t *party, network_t *network)
{
    memset(&test, 0, sizeof(test));
    test.run     = run;
    test.peer    = peer;
    test.party   = party;
    test.network = network;
    if (network != NULL) {
        network_set(network, NETWORK_CLEAN);
    }
    if (!conversation_begin(run, peer, party, 0)) {
        return 0;
    }

    test.kind = party_some_kind(party, &test.length);
    if ((party->attr->cap.flags & UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE) &&
        (test.kind != PARTY_NUM_KINDS) && peer_is_other(peer)) {
        return 1;
    }
    check_skip(run, "it does not tell of lost peers");
    conversation_end(peer, party);
    return 0;
}

/* One test of the loss of a peer. Each case runs in a separate process. */
typedef struct lost_case {
    void (*body)(void);
    network_t *network; /* As lost_test_t.network */
    double keepalive;   /* Keepalive interval in seconds; 0: the default */
} lost_case_t;

static void run_case(run_t *run, void *arg)
{
    const lost_case_t *lost_case = arg;
    static party_t party;
    static peer_t peer;

    run->keepalive = lost_case->keepalive;
    if (begin(run, &peer, &party, lost_case->network)) {
        lost_case->body();
        conversation_end(&peer, &party);
    }
}

/* Runs a case in a separate process. Returns 0 if the case was skipped or has
 * failed; the caller then runs no other case, which would give the same
 * result. */
static int run_apart(run_t *run, void (*body)(void), network_t *network,
                     double keepalive, const char *what)
{
    lost_case_t lost_case = {body, network, keepalive};

    runner_apart(run, run_case, &lost_case,
                 ((network != NULL) ? run->notice : LOST_SECONDS) +
                     CASE_SECONDS,
                 18, what);
    return !run->record->skipped && !check_has_failed(run);
}

void lost_on_network(run_t *run, network_t *network)
{
    (void)(run_apart(run, check_idle, network, KEEPALIVE,
                     "waiting for keepalive on a network that was cut") &&
           run_apart(run, check_loss, network, 0,
                     "sending on a network that was cut"));
}

void check_lost(run_t *run)
{
    static party_t party;
    static peer_t peer;

    if (run_apart(run, check_destroy_inside, NULL, 0,
                  "destroying the endpoint inside the error handler") &&
        run_apart(run, check_last_words, NULL, 0,
                  "receiving the last messages of a peer") &&
        run_apart(run, check_idle, NULL, KEEPALIVE, "waiting for keepalive") &&
        begin(run, &peer, &party, NULL)) {
        check_loss();
        conversation_end(&peer, &party);
    }
}
