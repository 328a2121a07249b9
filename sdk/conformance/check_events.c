/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: a process that arms the event descriptor and sleeps on it is woken by
 * a message and by send resources for a pending request, whatever the timing.
 * The process is not woken when nothing happens.
 */
#include "peer.h"

#include <fcntl.h>
#include <string.h>

#define ROUNDS 300
#define EDGES  5
#define LATE_MS \
    1000 /* Milliseconds after which the peer is asked whether
          * it has sent */
#define SLEEP_MS \
    10000 /* Milliseconds without an event after the peer has
           * sent, which is a finding */
#define SILENCE_MS 20

typedef struct events_test {
    run_t *run;
    peer_t *peer;
    party_t *party;
    party_kind_t kind;
    size_t length;
    unsigned events;     /* UCT_EVENT_* that the interface supports */
    int fd;              /* Event descriptor of the interface */
    unsigned num_posted; /* Number of requests of post() that the peer has not
                          * answered yet */
} events_test_t;

/* Sends a request to the peer. peer_call() is not used, because it would
 * progress this side. */
static int post(events_test_t *test, peer_op_t op)
{
    static peer_message_t message;

    memset(&message, 0, sizeof(message));
    message.op = op;
    if (!peer_post(test->peer, &message)) {
        return 0;
    }
    ++test->num_posted;
    return 1;
}

static int collect_answer(events_test_t *test)
{
    static peer_message_t message;

    --test->num_posted;
    return peer_answer(test->peer, &message);
}

/*
 * Sleeps until the peer has finished: it answers PEER_STATS after it has
 * executed all earlier requests and is idle. Returns 0 if nothing woke this
 * side meanwhile, or if the peer is lost, which is a finding.
 */
static int sleep_for_peer(events_test_t *test)
{
    int woken = 0;

    if (!post(test, PEER_STATS)) {
        return 0;
    }
    while (test->num_posted > 0) {
        if (!woken && !peer_has_answered(test->peer)) {
            woken = party_sleep(test->party, test->fd, SILENCE_MS);
        } else if (!collect_answer(test)) {
            return 0;
        }
    }
    return woken;
}

/* Sleeps on the armed descriptor. Returns 0 if nothing wakes this side. A peer
 * that waits for a processor sends late, so only SLEEP_MS of silence after the
 * peer has finished count as no wake-up. */
static int sleep_armed(events_test_t *test)
{
    return party_sleep(test->party, test->fd, LATE_MS) ||
           sleep_for_peer(test) ||
           (!check_has_failed(test->run) &&
            party_sleep(test->party, test->fd, SLEEP_MS));
}

/*
 * Waits until `*count` has reached `wanted` in the way of a program: progress
 * until idle, arm, sleep. `what` names the awaited event in findings. Returns 0
 * with a finding if it does not come.
 */
static int sleep_until(events_test_t *test, const uint64_t *count,
                       uint64_t wanted, const char *what)
{
    ucs_status_t status;

    for (;;) {
        while (party_progress(test->party) > 0) {
        }
        if (*count >= wanted) {
            return 1;
        }

        status = uct_iface_event_arm(test->party->iface, test->events);
        if (status == UCS_ERR_BUSY) {
            continue;
        } else if (!check_that(test->run, 26, status == UCS_OK,
                               "event_arm answers %s",
                               ucs_status_string(status))) {
            return 0;
        }

        if (!sleep_armed(test)) {
            while (party_progress(test->party) > 0) {
            }
            check_that(
                test->run, 26, check_has_failed(test->run),
                (*count >= wanted) ?
                    "a wake-up was lost: %s was there, the armed descriptor "
                    "stayed silent for %d s after the peer had done its "
                    "part" :
                    "%s did not come while the armed descriptor was slept "
                    "on for %d s after the peer had done its part",
                what, SLEEP_MS / 1000);
            return 0;
        }
    }
}

/* Requests a message from the peer, which sends it after a delay that depends
 * on `round`, so that messages arrive at different moments between this side's
 * last progress and its sleep. */
static int ask_for_message(events_test_t *test, unsigned round)
{
    static peer_message_t message;

    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND_LATER;
    message.kind   = test->kind;
    message.length = test->length;
    message.count  = 1;
    message.value  = (round % 10 == 0) ? 3000 : (round * 7) % 200;
    return peer_call(test->peer, &message, &message);
}

/* Checks that an armed descriptor stays silent while nothing arrives. First
 * waits until both sides have finished the work of connecting. */
static void check_silence(events_test_t *test)
{
    double end = clock_now() + SLEEP_MS * 1e-3;
    ucs_status_t status;

    check_doing(test->run, "sleeping while nothing happens");
    do {
        while (party_progress(test->party) > 0) {
        }
        status = uct_iface_event_arm(test->party->iface, test->events);
        if (status != UCS_OK) {
            sched_yield();
        } else if (!party_sleep(test->party, test->fd, SILENCE_MS)) {
            return;
        }
    } while (clock_now() < end);
    check_fail(test->run, 26,
               "the descriptor is readable, or arming answers "
               "BUSY, for %d s though nothing happens: nobody can sleep",
               SLEEP_MS / 1000);
}

/* Checks messages that arrive between the last progress and arming. */
static void check_edge(events_test_t *test)
{
    static peer_message_t message;
    const uint64_t before = test->party->rx.count;
    ucs_status_t status;

    check_doing(test->run, "arming after a message has arrived");
    while (party_progress(test->party) > 0) {
    }
    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND;
    message.kind   = test->kind;
    message.length = test->length;
    message.count  = 1;
    if (!peer_post(test->peer, &message) || !peer_await_answer(test->peer)) {
        return;
    }

    status = uct_iface_event_arm(test->party->iface, test->events);
    if (status == UCS_OK) {
        check_that(test->run, 26, party_sleep(test->party, test->fd, SLEEP_MS),
                   "event_arm answers UCS_OK after a message has arrived, and "
                   "the descriptor stays silent for %d s",
                   SLEEP_MS / 1000);
    }
    if (peer_answer(test->peer, &message)) {
        party_wait(test->party, test->party->rx.count > before, PARTY_PATIENCE);
    }
}

static void check_messages_wake(events_test_t *test)
{
    uint64_t wanted;

    for (wanted = test->party->rx.count + 1; wanted <= ROUNDS; ++wanted) {
        check_doing(test->run, "sleeping for message %u", (unsigned)wanted);
        if (!ask_for_message(test, (unsigned)wanted) ||
            !sleep_until(test, &test->party->rx.count, wanted, "a message")) {
            return;
        }
    }
}

typedef struct waiter {
    uct_pending_req_t super;
    uint64_t calls;
} waiter_t;

static ucs_status_t handle_waiter(uct_pending_req_t *self)
{
    ++ucs_container_of(self, waiter_t, super)->calls;
    return UCS_OK;
}

static void drop_waiter(uct_pending_req_t *self, void *arg)
{
}

/* Checks that send resources for a pending request cause an event. */
static void check_resources_wake(events_test_t *test)
{
    waiter_t waiter     = {.super.func = handle_waiter};
    party_rx_t expected = {0};

    if (!(test->party->attr->cap.flags & UCT_IFACE_FLAG_PENDING) ||
        !(test->events & UCT_EVENT_SEND_COMP) ||
        !peer_tell(test->peer, PEER_HOLD) ||
        !party_fill(test->party, test->kind, test->length, &expected)) {
        return;
    }

    check_doing(test->run, "sleeping for resources");
    if (uct_ep_pending_add(test->party->ep, &waiter.super, 0) == UCS_OK) {
        if (post(test, PEER_RESET)) { /* Any request makes the peer progress
                                       * again */
            sleep_until(test, &waiter.calls, 1,
                        "the turn of a pending "
                        "request");
        }
        uct_ep_pending_purge(test->party->ep, drop_waiter, NULL);
        if (test->num_posted > 0) {
            collect_answer(test);
        }
    } else {
        peer_tell(test->peer, PEER_RESET);
    }
}

static int arm_descriptor(events_test_t *test)
{
    const uint64_t flags = test->party->attr->cap.event_flags;
    ucs_status_t status;
    int again;

    if (flags & UCT_IFACE_FLAG_EVENT_SEND_COMP) {
        test->events |= UCT_EVENT_SEND_COMP;
    }
    if (flags & UCT_IFACE_FLAG_EVENT_RECV) {
        test->events |= UCT_EVENT_RECV;
    }

    check_doing(test->run, "getting the event descriptor");
    status = uct_iface_event_fd_get(test->party->iface, &test->fd);
    if (!check_that(test->run, 26,
                    (status == UCS_OK) && (fcntl(test->fd, F_GETFD) >= 0),
                    "there is no event descriptor: %s",
                    ucs_status_string(status))) {
        return 0;
    }
    check_that(test->run, 26,
               (uct_iface_event_fd_get(test->party->iface, &again) == UCS_OK) &&
                   (again == test->fd),
               "the event descriptor is not always the "
               "same");
    return 1;
}

void check_events(run_t *run)
{
    static party_t party;
    static peer_t peer;
    static events_test_t test;
    unsigned i;

    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }

    test      = (events_test_t){.run = run, .peer = &peer, .party = &party};
    test.kind = party_some_kind(&party, &test.length);
    if (!(party.attr->cap.event_flags & UCT_IFACE_FLAG_EVENT_FD)) {
        check_skip(run, "it has no event descriptor");
    } else if (arm_descriptor(&test)) {
        check_silence(&test);
        if ((party.attr->cap.event_flags & UCT_IFACE_FLAG_EVENT_RECV) &&
            peer_is_other(&peer) && (test.kind != PARTY_NUM_KINDS)) {
            for (i = 0; (i < EDGES) && !check_has_failed(run); ++i) {
                check_edge(&test);
            }
            check_messages_wake(&test);
            if (!check_has_failed(run)) {
                check_resources_wake(&test);
                check_silence(&test);
            }
        }
    }
    conversation_end(&peer, &party);
}
