/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flush of an endpoint and of an interface, idle, after sends, and while the
 * peer does not progress. The completion of a flush is called once, and not
 * before the completions of earlier operations.
 */
#include "peer.h"

#include <string.h>

#define NUM_ZCOPY 32
#define NUM_OTHER 200
#define ROUNDS    20

typedef struct flush_test {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_kind_t kind;
    size_t length;
    party_rx_t sent;
    party_done_t zcopies[NUM_ZCOPY];
    unsigned num_started; /* Number of entries of `zcopies` whose operations
                           * returned UCS_INPROGRESS */
} flush_test_t;

/* Starts zero-copy messages without waiting for their completions, until there
 * are no send resources. Only the first message is retried: it must be accepted
 * when resources become available. */
static void start_zcopies(flush_test_t *test)
{
    party_t *party      = test->party;
    size_t length       = size_max(party_min(party, PARTY_ZCOPY),
                                   size_min(party_max(party, PARTY_ZCOPY), 16384));
    ucs_status_t status = UCS_OK;
    party_done_t *done;
    unsigned i;

    test->num_started = 0;
    for (i = 0; (i < NUM_ZCOPY) && party_has(party, PARTY_ZCOPY); ++i) {
        done = &test->zcopies[test->num_started];
        party_done_init(done, party);
        party_wait(party,
                   (status = party_try(party, PARTY_ZCOPY, length, 0, 1,
                                       done)) != UCS_ERR_NO_RESOURCE,
                   (i == 0) ? PARTY_PATIENCE : 0.0);
        if (status == UCS_ERR_NO_RESOURCE) {
            break;
        } else if (!check_that(test->run, 26, !UCS_STATUS_IS_ERR(status),
                               "am_zcopy of %zu bytes answers %s", length,
                               ucs_status_string(status))) {
            break;
        }
        party_expect(&test->sent, length);
        test->num_started += (status == UCS_INPROGRESS);
    }
}

static void expect_zcopies(flush_test_t *test, const char *what)
{
    unsigned i;

    for (i = 0; i < test->num_started; ++i) {
        if (!check_that(test->run, 26, test->zcopies[i].calls == 1,
                        "%s is through, but the completion of a zero-copy "
                        "message before it was called %u times",
                        what, test->zcopies[i].calls) ||
            !check_that(test->run, 26, test->zcopies[i].comp.status == UCS_OK,
                        "a zero-copy message ended with %s",
                        ucs_status_string(test->zcopies[i].comp.status))) {
            return;
        }
    }
}

static ucs_status_t call_flush(flush_test_t *test, int whole_iface,
                               uct_completion_t *comp)
{
    return whole_iface ?
               uct_iface_flush(test->party->iface, UCT_FLUSH_FLAG_LOCAL, comp) :
               uct_ep_flush(test->party->ep, UCT_FLUSH_FLAG_LOCAL, comp);
}

/* Flushes with a completion and waits for it. `what` names the flush in
 * findings. Returns 0 with a finding if the flush fails. */
static int flush_once(flush_test_t *test, int whole_iface, const char *what)
{
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    party_done_t done;

    check_doing(test->run, "flushing: %s", what);
    party_done_init(&done, test->party);
    party_wait(test->party,
               (status = call_flush(test, whole_iface, &done.comp)) !=
                   UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    if (status == UCS_INPROGRESS) {
        if (!party_wait(test->party, done.calls > 0, PARTY_PATIENCE)) {
            check_fail(test->run, 26, "%s does not complete within %.0f s",
                       what, PARTY_PATIENCE);
            check_give_up(test->run);
        }
        check_that(test->run, 16, done.foreign == 0,
                   "the completion of %s comes from another thread", what);
        status = done.comp.status;
    } else {
        check_that(test->run, 26, done.calls == 0,
                   "%s answers %s and calls the completion too", what,
                   ucs_status_string(status));
    }
    if (!check_that(test->run, 26, status == UCS_OK, "%s ends with %s", what,
                    ucs_status_string(status))) {
        return 0;
    }

    expect_zcopies(test, what);
    party_settle(test->party, 0.001);
    return check_that(test->run, 26, done.calls <= 1,
                      "the completion of %s was called %u times", what,
                      done.calls);
}

/* Flushes without a completion: repeats the call until it no longer returns
 * UCS_INPROGRESS or UCS_ERR_NO_RESOURCE. */
static void flush_by_asking(flush_test_t *test, int whole_iface,
                            const char *what)
{
    ucs_status_t status = UCS_INPROGRESS;

    check_doing(test->run, "asking by flush: %s", what);
    party_wait(test->party,
               ((status = call_flush(test, whole_iface, NULL)) !=
                UCS_INPROGRESS) &&
                   (status != UCS_ERR_NO_RESOURCE),
               PARTY_PATIENCE);
    check_that(test->run, 26, status == UCS_OK,
               "%s without a completion does not come to UCS_OK, but %s", what,
               ucs_status_string(status));
}

static void send_some(flush_test_t *test)
{
    unsigned i;

    for (i = 0; i < NUM_OTHER; ++i) {
        if (party_try(test->party, test->kind, test->length, 0, 1, NULL) ==
            UCS_ERR_NO_RESOURCE) {
            party_progress(test->party);
        } else {
            party_expect(&test->sent, test->length);
        }
    }
}

static void check_rounds(flush_test_t *test)
{
    party_rx_t rx;
    unsigned i;

    if (!flush_once(test, 0, "flush of an endpoint that has not sent") ||
        !flush_once(test, 1, "flush of an interface that has not sent")) {
        return;
    }

    for (i = 0; (i < ROUNDS) && !check_has_failed(test->run); ++i) {
        if (test->kind != PARTY_ZCOPY) {
            send_some(test);
        }
        start_zcopies(test);
        if (i % 4 == 0) {
            flush_once(test, 0, "flush of an endpoint");
        } else if (i % 4 == 1) {
            flush_once(test, 1, "flush of an interface");
        } else {
            flush_by_asking(test, i % 4 == 3, "flush");
            expect_zcopies(test, "flush");
        }
        uct_ep_fence(test->party->ep, 0);
    }

    check_doing(test->run, "waiting for the messages to arrive");
    if (conversation_await(test->peer, &test->sent, &rx)) {
        conversation_compare(test->run, "the peer", &rx, &test->sent);
    }
}

/* Checks a flush while the peer does not progress. If the flush returns
 * UCS_INPROGRESS, it must complete when the peer progresses again. */
static void check_held(flush_test_t *test)
{
    party_done_t done;
    ucs_status_t status;
    party_rx_t rx;

    if (!peer_is_other(test->peer) || !peer_tell(test->peer, PEER_HOLD)) {
        return;
    }

    party_fill(test->party, test->kind, test->length, &test->sent);
    check_doing(test->run, "flushing to a peer that stands still");
    party_done_init(&done, test->party);
    status = uct_ep_flush(test->party->ep, UCT_FLUSH_FLAG_LOCAL, &done.comp);
    check_that(test->run, 26,
               (status == UCS_OK) || (status == UCS_INPROGRESS) ||
                   (status == UCS_ERR_NO_RESOURCE),
               "flush to a peer that stands still answers %s",
               ucs_status_string(status));

    if (!peer_tell(test->peer, PEER_STATS)) {
        check_give_up(test->run); /* `done` may still be called */
    }
    if ((status == UCS_INPROGRESS) &&
        !party_wait(test->party, done.calls > 0, PARTY_PATIENCE)) {
        check_fail(test->run, 26,
                   "flush does not complete within %.0f s after "
                   "the peer went on",
                   PARTY_PATIENCE);
        check_give_up(test->run);
    }
    if (conversation_await(test->peer, &test->sent, &rx)) {
        conversation_compare(test->run, "the peer", &rx, &test->sent);
    }
}

void check_flush(run_t *run)
{
    static party_t party;
    static peer_t peer;
    static flush_test_t test;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    test      = (flush_test_t){.run = run, .peer = &peer, .party = &party};
    test.kind = party_some_kind(&party, &test.length);
    if (test.kind == PARTY_NUM_KINDS) {
        flush_once(&test, 0, "flush of an endpoint that has not sent");
        flush_once(&test, 1, "flush of an interface that has not sent");
    } else {
        check_rounds(&test);
        if (!check_has_failed(run)) {
            check_held(&test);
        }
    }
    conversation_end(&peer, &party);
}
