/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Destruction of endpoints that were never used; of endpoints that have just
 * sent messages, all of which must arrive; and of endpoints whose operations
 * are cancelled. Closing of an interface to which messages are in flight.
 */
#include "peer.h"

#include <string.h>

#define NUM_ZCOPY    32
#define NUM_MESSAGES 100
#define ROUNDS       10

typedef struct teardown {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_kind_t kind;
    size_t length;
    party_rx_t sent;
    party_done_t zcopies[NUM_ZCOPY];
    unsigned num_started; /* Number of entries of `zcopies` whose operations
                           * returned UCS_INPROGRESS */
    uct_pending_req_t request;
} teardown_t;

static ucs_status_t handle_pending(uct_pending_req_t *self)
{
    return UCS_OK;
}

static void handle_purge(uct_pending_req_t *self, void *arg)
{
}

/* Destroys the endpoints of both sides, if they exist, and connects new
 * ones. */
static int renew(teardown_t *test)
{
    conversation_disconnect(test->peer, test->party);
    return conversation_connect(test->peer, test->party);
}

static void check_unused(teardown_t *test)
{
    unsigned i;

    for (i = 0; i < ROUNDS; ++i) {
        if (!renew(test)) {
            return;
        }
    }
}

/* Checks that messages which the transport has accepted arrive although the
 * sender destroys its endpoint at once. */
static void check_delivered(teardown_t *test)
{
    party_rx_t rx;
    unsigned i, round;

    for (round = 0; round < ROUNDS; ++round) {
        if (!renew(test)) {
            return;
        }
        for (i = 0; i < NUM_MESSAGES; ++i) {
            if (party_send(test->party, test->kind, test->length, 0, 1) ==
                UCS_OK) {
                party_expect(&test->sent, test->length);
            }
        }

        check_doing(test->run, "destroying an endpoint right after sends");
        uct_ep_destroy(test->party->ep);
        test->party->ep = NULL;
        if (!conversation_await(test->peer, &test->sent, &rx)) {
            return;
        }
        conversation_compare(test->run,
                             "after the sender's endpoint was "
                             "destroyed the peer",
                             &rx, &test->sent);
        if (check_has_failed(test->run)) {
            return;
        }
    }
}

static void start_zcopies(teardown_t *test)
{
    size_t length = size_max(party_min(test->party, PARTY_ZCOPY),
                             size_min(party_max(test->party, PARTY_ZCOPY),
                                      65536));
    ucs_status_t status;
    unsigned i;

    for (i = 0; (i < NUM_ZCOPY) && party_has(test->party, PARTY_ZCOPY); ++i) {
        party_done_init(&test->zcopies[test->num_started], test->party);
        status = party_try(test->party, PARTY_ZCOPY, length, 0, 1,
                           &test->zcopies[test->num_started]);
        if (status == UCS_ERR_NO_RESOURCE) {
            return;
        }
        test->num_started += (status == UCS_INPROGRESS);
    }
}

/* Stops the peer's progress, cancels all operations by a flush with
 * UCT_FLUSH_FLAG_CANCEL, and destroys the endpoint. */
static void check_cancelled(teardown_t *test)
{
    party_rx_t unused = {0};
    ucs_status_t status;
    party_done_t done;
    unsigned i;

    if (!peer_is_other(test->peer) || !renew(test) ||
        (party_send(test->party, test->kind, test->length, 0, 1) != UCS_OK) ||
        !peer_tell(test->peer, PEER_HOLD)) {
        return;
    }

    start_zcopies(test);
    if (party_fill(test->party, test->kind, test->length, &unused) &&
        (test->party->attr->cap.flags & UCT_IFACE_FLAG_PENDING)) {
        test->request.func = handle_pending;
        uct_ep_pending_add(test->party->ep, &test->request, 0);
    }

    check_doing(test->run, "cancelling what is outstanding");
    uct_ep_pending_purge(test->party->ep, handle_purge, NULL);
    party_done_init(&done, test->party);
    status = uct_ep_flush(test->party->ep, UCT_FLUSH_FLAG_CANCEL, &done.comp);
    if ((status == UCS_INPROGRESS) &&
        !party_wait(test->party, done.calls > 0, PARTY_PATIENCE)) {
        check_fail(test->run, 26,
                   "flush with UCT_FLUSH_FLAG_CANCEL does not "
                   "complete within %.0f s while the peer stands still",
                   PARTY_PATIENCE);
        check_give_up(test->run);
    }
    check_that(test->run, 26,
               !UCS_STATUS_IS_ERR(status) || (status == UCS_ERR_CANCELED),
               "flush with UCT_FLUSH_FLAG_CANCEL answers %s",
               ucs_status_string(status));
    for (i = 0; i < test->num_started; ++i) {
        if (!check_that(test->run, 26, test->zcopies[i].calls == 1,
                        "after a cancelling flush the completion of a "
                        "zero-copy message was called %u times",
                        test->zcopies[i].calls)) {
            check_give_up(test->run);
        }
    }

    check_doing(test->run, "sending by a cancelled endpoint");
    status = party_try(test->party, test->kind, test->length, 0, 1, NULL);
    check_that(test->run, 26, status == UCS_ERR_CANCELED,
               "a send after a cancelling flush answers %s; it must be "
               "UCS_ERR_CANCELED",
               ucs_status_string(status));

    check_doing(test->run, "destroying a cancelled endpoint");
    uct_ep_destroy(test->party->ep);
    test->party->ep = NULL;
    party_settle(test->party, 0.02);
    peer_tell(test->peer, PEER_RESET);
    memset(&test->sent, 0, sizeof(test->sent));
}

/* Makes the peer send messages while check_teardown() closes the interface to
 * which they are sent. */
static void leave_in_between(teardown_t *test)
{
    static peer_message_t message;

    if (!peer_is_other(test->peer) || !renew(test)) {
        return;
    }
    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND_LATER;
    message.kind   = test->kind;
    message.length = test->length;
    message.count  = 20;
    peer_call(test->peer, &message, &message);
    check_doing(test->run, "closing while messages come in");
}

void check_teardown(run_t *run)
{
    static teardown_t test;
    static party_t party;
    static peer_t peer;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    test      = (teardown_t){.run = run, .peer = &peer, .party = &party};
    test.kind = party_some_kind(&party, &test.length);
    check_unused(&test);
    if ((test.kind != PARTY_NUM_KINDS) && !check_has_failed(run)) {
        check_delivered(&test);
        if (!check_has_failed(run)) {
            check_cancelled(&test);
        }
        if (!check_has_failed(run)) {
            leave_in_between(&test);
        }
    }
    conversation_end(&peer, &party);
}
