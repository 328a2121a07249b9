/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 18: a peer that dies is reported to the error handler once, in bounded
 * time, by the worker's thread, after what it has sent. Outstanding operations
 * complete, later ones fail, and the endpoint can be destroyed, even inside the
 * handler.
 */
#include "peer.h"
#include "runner.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUM_ZCOPY    16
#define NUM_LAST     8    /* every transport accepts so many small messages */
#define NUM_PROBES   10
#define KEEPALIVE    0.1  /* s */
#define LOST_SECONDS 30.0

typedef struct lost_test {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_kind_t kind;
    size_t length;
    party_done_t zcopies[NUM_ZCOPY];
    unsigned num_started;
    uct_pending_req_t request;
    int is_queued;
    unsigned request_calls; /* called or purged */
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

/* Establishes a connection, stops the peer, and sends as much as possible. */
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

/* Progresses, and checks or sends now and then as a user would, until the
 * handler is called. */
static int wait_for_failure(void)
{
    ucs_time_t end = ucs_get_time() + ucs_time_from_sec(LOST_SECONDS);

    check_doing(test.run, "waiting for the loss of the peer to be reported");
    while ((test.party->failures == 0) && (ucs_get_time() < end)) {
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
                      "a peer was killed %.0f s ago, and the error handler was "
                      "not called", LOST_SECONDS);
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

/* A failed endpoint queues nothing: nobody would call it. */
static void check_pending_add(void)
{
    static uct_pending_req_t late = {.func = handle_pending};
    ucs_status_t status;

    if (!(test.party->attr->cap.flags & UCT_IFACE_FLAG_PENDING)) {
        return;
    }
    status = uct_ep_pending_add(test.party->ep, &late, 0);
    check_that(test.run, 18, UCS_STATUS_IS_ERR(status) &&
               (status != UCS_ERR_NO_RESOURCE),
               "pending_add on a failed endpoint answers %s; it must be "
               "UCS_ERR_BUSY or the error of a send",
               ucs_status_string(status));
}

/* All accepted operations complete. */
static void check_end(void)
{
    ucs_status_t status;
    party_done_t done;
    unsigned i;

    check_doing(test.run, "sending on the failed endpoint");
    status = party_try(test.party, test.kind, test.length, 0, 1, NULL);
    check_that(test.run, 18, UCS_STATUS_IS_ERR(status) &&
               (status != UCS_ERR_NO_RESOURCE),
               "a send on a failed endpoint answers %s",
               ucs_status_string(status));

    check_doing(test.run, "purging and flushing the failed endpoint");
    uct_ep_pending_purge(test.party->ep, handle_purge, NULL);
    check_pending_add();
    check_that(test.run, 18, test.request_calls == (unsigned)test.is_queued,
               "a pending request of a failed endpoint was called or purged "
               "%u times in all", test.request_calls);

    party_done_init(&done, test.party);
    status = uct_ep_flush(test.party->ep, UCT_FLUSH_FLAG_CANCEL, &done.comp);
    if ((status == UCS_INPROGRESS) &&
        !party_wait(test.party, done.calls > 0, PARTY_PATIENCE)) {
        check_fail(test.run, 18, "flush of a failed endpoint does not complete "
                   "within %.0f s", PARTY_PATIENCE);
        check_give_up(test.run);
    }

    for (i = 0; i < test.num_started; ++i) {
        if (!check_that(test.run, 18, test.zcopies[i].calls == 1,
                        "the completion of an operation on a failed endpoint "
                        "was called %u times", test.zcopies[i].calls)) {
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
    peer_kill(test.peer);
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

/* The handler destroys the endpoint whose failure it reports. */
static void check_destroy_inside(void)
{
    test.party->destroy_on_failure = 1;
    if (!load_endpoint(0)) {
        return;
    }
    peer_kill(test.peer);
    if (wait_for_failure()) {
        check_doing(test.run, "progressing after the error handler has "
                    "destroyed the endpoint");
        party_settle(test.party, 0.2);
        check_that(test.run, 18, test.party->failures == 1,
                   "the error handler was called %u times for one loss",
                   test.party->failures);
    }
}

/* Sends from the peer without progress on our side. 0: not accepted. */
static int receive_nothing_yet(void)
{
    static peer_message_t message;

    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND;
    message.kind   = test.kind;
    message.length = test.length;
    message.count  = NUM_LAST;
    if (!peer_post(test.peer, &message) || !peer_await_answer(test.peer) ||
        !peer_answer(test.peer, &message) || (message.status != UCS_OK)) {
        return 0;
    }
    message.op = PEER_FLUSH;
    return peer_post(test.peer, &message) && peer_await_answer(test.peer) &&
           peer_answer(test.peer, &message) && (message.status == UCS_OK);
}

/* The failure is noticed by a send, before anything was received. */
static void check_last_words(void)
{
    unsigned i;

    check_doing(test.run, "receiving the last messages of a peer");
    if (!load_endpoint(0) || !peer_tell(test.peer, PEER_RESET) ||
        !receive_nothing_yet()) {
        return; /* needs our progress: then nothing is left to deliver */
    }
    peer_kill(test.peer);
    for (i = 0; i < NUM_PROBES; ++i) {
        if (test.party->attr->cap.flags & UCT_IFACE_FLAG_EP_CHECK) {
            uct_ep_check(test.party->ep, 0, NULL);
        } else {
            party_try(test.party, test.kind, test.length, 0, 1, NULL);
        }
    }
    if (wait_for_failure()) {
        check_that(test.run, 18, test.party->rx_at_failure == NUM_LAST,
                   "the loss of the peer is reported after %u of %u messages "
                   "that it had sent before", (unsigned)
                   test.party->rx_at_failure, NUM_LAST);
    }
}

/* Nothing is sent and no check is requested: the transport's own keepalive has
 * to notice it. */
static void check_idle(void)
{
    if (!(test.party->attr->cap.flags & UCT_IFACE_FLAG_EP_KEEPALIVE) ||
        !load_endpoint(0)) {
        return;
    }
    peer_kill(test.peer);
    check_doing(test.run, "waiting for keepalive to notice the loss of an idle "
                "peer");
    check_that(test.run, 18,
               party_wait(test.party, test.party->failures > 0, LOST_SECONDS),
               "an idle peer was killed %.0f s ago, the keepalive interval is "
               "%.1f s, and the error handler was not called", LOST_SECONDS,
               test.run->keepalive);
}

static int begin(run_t *run, peer_t *peer, party_t *party)
{
    memset(&test, 0, sizeof(test));
    test.run   = run;
    test.peer  = peer;
    test.party = party;
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

/* Runs `body` in a process that has loaded nothing: peers must be forked before
 * that. `what` names it if the process does not end as it should. */
static void run_apart(run_t *run, void (*body)(void), double keepalive,
                      const char *what)
{
    static party_t party;
    static peer_t peer;
    int status, timed_out;
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run->keepalive = keepalive;
        if (begin(run, &peer, &party)) {
            body();
            conversation_end(&peer, &party);
        }
        check_give_up(run);
    }

    status = runner_wait(pid, LOST_SECONDS * 3, &timed_out);
    run->record->finished = 0;
    check_that(run, 18, !timed_out && (status == 0), "%s ends in: %s", what,
               timed_out           ? "no end" :
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
                                     "an exit of the process");
}

void check_lost(run_t *run)
{
    static party_t party;
    static peer_t peer;

    run_apart(run, check_destroy_inside, 0,
              "destroying the endpoint inside the error handler");
    if (run->record->skipped || check_has_failed(run)) {
        return;
    }
    run_apart(run, check_last_words, 0,
              "receiving the last messages of a peer");
    if (check_has_failed(run)) {
        return;
    }
    run_apart(run, check_idle, KEEPALIVE, "waiting for keepalive");
    if (check_has_failed(run)) {
        return;
    }
    if (begin(run, &peer, &party)) {
        check_loss();
        conversation_end(&peer, &party);
    }
}
