/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pending queue of an endpoint accepts a request when there are no send
 * resources; otherwise pending_add returns UCS_ERR_BUSY. Progress calls
 * requests in order and keeps a request that returns UCS_ERR_NO_RESOURCE. A
 * purge removes all requests.
 */
#include "peer.h"

#include <string.h>

#define NUM_REQUESTS 4
#define BUSY_SECONDS \
    10.0 /* Seconds within which a send or pending_add must succeed */

struct pending;

typedef struct request {
    uct_pending_req_t super;
    struct pending *test;
    unsigned calls;
    int done; /* The request has returned UCS_OK and is not queued any more */
    int purged;
} request_t;

typedef struct pending {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_kind_t kind;
    size_t length;
    party_rx_t sent;
    request_t requests[NUM_REQUESTS];
    unsigned num_done;
    unsigned num_purged;
    unsigned rejections; /* How many further calls of the first request return
                          * UCS_ERR_NO_RESOURCE; it must stay queued then */
    unsigned inside;     /* Number of calls of requests that have not returned
                          * yet */
} pending_t;

/* --- Callbacks ----------------------------------------------------------- */

static ucs_status_t send_pending(request_t *request)
{
    pending_t *test = request->test;
    ucs_status_t status;

    check_that(test->run, 26, !test->party->sending,
               "a pending request is called from inside a send or "
               "pending_add; it has to come from progress");
    check_that(test->run, 26, !request->done && !request->purged,
               "a pending request is called again after it was taken off");
    check_that(test->run, 26, request == &test->requests[test->num_done],
               "pending requests are not called in their order: number %d "
               "before %u",
               (int)(request - test->requests), test->num_done);

    ++request->calls;
    if ((request == &test->requests[0]) && (test->rejections > 0)) {
        --test->rejections;
        return UCS_ERR_NO_RESOURCE; /* As if there were no send resources */
    }

    status = party_try(test->party, test->kind, test->length, 0, 1, NULL);
    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    check_that(test->run, 26, (status == UCS_OK) || (status == UCS_INPROGRESS),
               "sending from a pending request answers %s",
               ucs_status_string(status));
    party_expect(&test->sent, test->length);
    request->done = 1;
    ++test->num_done;
    return UCS_OK;
}

static ucs_status_t handle_pending(uct_pending_req_t *self)
{
    request_t *request = ucs_container_of(self, request_t, super);
    ucs_status_t status;

    ++request->test->inside;
    status = send_pending(request);
    --request->test->inside;
    return status;
}

/* Checks that each request that the transport has called has returned: a
 * transport could leave it by longjmp(). */
static int check_returned(const pending_t *test)
{
    return check_that(test->run, 20, test->inside == 0,
                      "a pending request was called, and never returned: a "
                      "send that it made has left it by longjmp or by an "
                      "exception");
}

static void handle_purge(uct_pending_req_t *self, void *arg)
{
    request_t *request = ucs_container_of(self, request_t, super);
    pending_t *test    = arg;

    check_that(test->run, 26, !request->done && !request->purged,
               "the purge shows a request that was taken off already");
    check_that(test->run, 26,
               request == &test->requests[test->num_done + test->num_purged],
               "the purge does not show requests in their order");
    request->purged = 1;
    ++test->num_purged;
}

/* --- Steps --------------------------------------------------------------- */

static void reset_requests(pending_t *test)
{
    unsigned i;

    memset(test->requests, 0, sizeof(test->requests));
    for (i = 0; i < NUM_REQUESTS; ++i) {
        test->requests[i].super.func = handle_pending;
        test->requests[i].test       = test;
    }
    test->num_done   = 0;
    test->num_purged = 0;
    test->rejections = 0;
    test->inside     = 0;
}

static ucs_status_t add(pending_t *test, request_t *request)
{
    ucs_status_t status;

    test->party->sending = 1; /* A request that is called during this call is a
                               * finding, as during a send */
    status = uct_ep_pending_add(test->party->ep, &request->super, 0);
    test->party->sending = 0;
    return status;
}

/* Queues a request. If pending_add returns UCS_ERR_BUSY, a send may succeed:
 * then sends a message and tries again, until the send resources are used up.
 * Returns 0 with a finding on failure. */
static int queue(pending_t *test, unsigned index)
{
    double end = clock_now() + BUSY_SECONDS;
    ucs_status_t status;

    do {
        status = add(test, &test->requests[index]);
        if (status == UCS_OK) {
            return 1;
        } else if (!check_that(test->run, 26, status == UCS_ERR_BUSY,
                               "pending_add answers %s",
                               ucs_status_string(status))) {
            return 0;
        }

        status = party_try(test->party, test->kind, test->length, 0, 1, NULL);
        if ((status == UCS_OK) || (status == UCS_INPROGRESS)) {
            party_expect(&test->sent, test->length);
        }
    } while (clock_now() < end);
    check_fail(test->run, 26,
               "a send answers NO_RESOURCE and pending_add "
               "BUSY, again and again for %.0f s: nobody gets on",
               BUSY_SECONDS);
    return 0;
}

/* Checks that the queue accepts nothing while send resources are available. */
static int check_busy(pending_t *test)
{
    ucs_status_t status;
    party_rx_t rx;

    reset_requests(test);
    status = party_send(test->party, test->kind, test->length, 0, 1);
    if (!check_that(test->run, 26, status == UCS_OK,
                    "%s of %zu bytes answers "
                    "%s",
                    party_kind_names[test->kind], test->length,
                    ucs_status_string(status))) {
        return 0;
    }
    party_expect(&test->sent, test->length);
    if (!conversation_await(test->peer, &test->sent, &rx)) {
        return 0;
    }

    check_doing(test->run, "adding a request while there are resources");
    status = add(test, &test->requests[0]);
    if (!check_that(test->run, 26, status == UCS_ERR_BUSY,
                    "pending_add on an idle endpoint answers %s; it must be "
                    "UCS_ERR_BUSY",
                    ucs_status_string(status))) {
        return 0;
    }
    party_settle(test->party, 0.02);
    return check_that(test->run, 26, test->requests[0].calls == 0,
                      "a request is called that was rejected as BUSY");
}

/* Checks that all queued requests are called after the peer resumes. */
static void check_calls(pending_t *test)
{
    party_rx_t rx;
    unsigned i;

    reset_requests(test);
    test->rejections = 3;
    for (i = 0; i < NUM_REQUESTS; ++i) {
        if (!queue(test, i)) {
            return;
        }
    }

    check_doing(test->run, "waiting for pending requests to be called");
    if (!peer_tell(test->peer, PEER_STATS)) {
        return;
    }
    party_wait(test->party,
               (test->num_done == NUM_REQUESTS) || (test->inside > 0),
               PARTY_PATIENCE);
    if (!check_returned(test)) {
        check_give_up(test->run);
    }
    check_that(test->run, 26, test->num_done == NUM_REQUESTS,
               "%u of %u pending requests were not called within %.0f s after "
               "the peer went on",
               NUM_REQUESTS - test->num_done, NUM_REQUESTS, PARTY_PATIENCE);
    check_that(test->run, 26, test->rejections == 0,
               "a pending request that answers NO_RESOURCE is not called "
               "again");

    check_doing(test->run, "waiting for the messages to arrive");
    if (conversation_await(test->peer, &test->sent, &rx)) {
        conversation_compare(test->run, "the peer", &rx, &test->sent);
    }
}

static void check_purge(pending_t *test)
{
    party_rx_t rx;
    unsigned i;

    reset_requests(test);
    for (i = 0; i < NUM_REQUESTS; ++i) {
        if (!queue(test, i)) {
            return;
        }
    }

    check_doing(test->run, "purging pending requests");
    uct_ep_pending_purge(test->party->ep, handle_purge, test);
    check_that(test->run, 26, test->num_purged + test->num_done == NUM_REQUESTS,
               "the purge shows %u of %u requests", test->num_purged,
               NUM_REQUESTS - test->num_done);

    if (peer_tell(test->peer, PEER_STATS)) {
        party_settle(test->party, 0.05); /* A purged request that is called here
                                          * records a finding */
        if (conversation_await(test->peer, &test->sent, &rx)) {
            conversation_compare(test->run, "the peer", &rx, &test->sent);
        }
    }
}

static int fill(pending_t *test)
{
    return peer_tell(test->peer, PEER_HOLD) &&
           party_fill(test->party, test->kind, test->length, &test->sent);
}

static void check_queue(pending_t *test)
{
    if (!check_busy(test)) {
        return;
    } else if (!peer_is_other(test->peer)) {
        check_note(test->run, "it reaches only its own process: nobody can be "
                              "made to stand still");
        return;
    }

    if (!fill(test)) {
        if (!check_has_failed(test->run)) {
            check_note(test->run,
                       "it takes messages without end for a peer "
                       "that stands still: the queue was not seen at work");
        }
        return;
    }
    check_calls(test);
    if (!check_has_failed(test->run) && fill(test)) {
        check_purge(test);
    }
    party_check_calls(test->party);
}

void check_pending(run_t *run)
{
    static party_t party;
    static peer_t peer;
    static pending_t test;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    test      = (pending_t){.run = run, .peer = &peer, .party = &party};
    test.kind = party_some_kind(&party, &test.length);
    if (!(party.attr->cap.flags & UCT_IFACE_FLAG_PENDING)) {
        check_skip(run, "it has no pending queue");
    } else if (test.kind == PARTY_NUM_KINDS) {
        check_skip(run, "it has no active messages to wait with");
    } else {
        check_queue(&test);
        if (check_has_failed(run)) {
            uct_ep_pending_purge(party.ep, handle_purge, &test);
        }
    }
    conversation_end(&peer, &party);
}
