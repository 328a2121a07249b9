/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two hosts and a network (network.h) that loses, repeats, delays and reorders
 * packets: messages arrive once, in order and undamaged; an idle peer is not
 * reported as lost; a completed flush means that the messages arrive; a peer
 * that was stopped for a while receives what was sent to it; a peer is reported
 * as lost when the network goes silent. Only for transports that use network
 * devices of the kernel; the device that this check creates exists only in its
 * network namespaces.
 */
#include "lost.h"
#include "peer.h"
#include "runner.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define NUM_MESSAGES 40
#define NUM_STOPPED  20
#define NUM_FLUSHED  8
#define LENGTH_MAX   20000
#define KEEPALIVE    0.1 /* Interval in seconds */
#define IDLE_SECONDS 2.0
#define STOP_SECONDS 1.0
#define DARK_SECONDS 0.3
#define QUIET_SECONDS \
    10.0 /* Seconds without a frame after which no retransmission is
          * expected */
#define CASE_SECONDS 150.0

typedef struct talk {
    run_t *run;
    network_t *network;
    party_t *party;
    peer_t *peer;
    party_rx_t sent, replies;
} talk_t;

/* --- Messages ------------------------------------------------------------ */

static size_t limit_of(const party_t *party, party_kind_t kind)
{
    return size_max(party_min(party, kind),
                    size_min(party_max(party, kind), LENGTH_MAX));
}

static int ask_for_messages(talk_t *talk, party_kind_t kind, size_t length,
                            unsigned count)
{
    static peer_message_t message;
    unsigned i;

    memset(&message, 0, sizeof(message));
    message.op     = PEER_SEND;
    message.kind   = kind;
    message.length = length;
    message.count  = count;
    if (!peer_call(talk->peer, &message, &message)) {
        return 0;
    }
    for (i = 0; i < count; ++i) {
        party_expect(&talk->replies, length);
    }
    return 1;
}

static int send_messages(talk_t *talk, party_kind_t kind, size_t length,
                         unsigned count)
{
    ucs_status_t status;
    unsigned i;

    for (i = 0; i < count; ++i) {
        status = party_send(talk->party, kind, length, 0, 1);
        if (!check_that(talk->run, 26, status == UCS_OK,
                        "sending over a network that loses packets: %s",
                        ucs_status_string(status))) {
            return 0;
        }
        party_expect(&talk->sent, length);
    }
    return 1;
}

/* Waits until the peer has received everything that was sent, or no frame was
 * sent for QUIET_SECONDS. *rx receives the peer's counters. Returns 0 if the
 * peer does not answer. */
static int await_peer(talk_t *talk, party_rx_t *rx)
{
    uint64_t frames = UINT64_MAX;
    double end      = 0;
    uint64_t now;

    do {
        if (!peer_tell(talk->peer, PEER_STATS)) {
            return 0;
        }
        peer_last_rx(rx);
        now = atomic_load(talk->network->frames);
        if (now != frames) {
            frames = now;
            end    = clock_now() + QUIET_SECONDS;
        }
    } while ((rx->count < talk->sent.count) && (clock_now() < end));
    return 1;
}

/* Compares the messages that each side has received with those that were
 * sent. */
static void compare(talk_t *talk)
{
    party_rx_t rx;

    check_doing(talk->run, "waiting for the messages to arrive");
    if (!await_peer(talk, &rx)) {
        return;
    }
    party_wait(talk->party, talk->party->rx.count >= talk->replies.count,
               QUIET_SECONDS);
    party_settle(talk->party, 0.1); /* Repeated packets arrive late */
    if (peer_tell(talk->peer, PEER_STATS)) {
        peer_last_rx(&rx);
        conversation_compare(talk->run, "the peer", &rx, &talk->sent);
        conversation_compare(talk->run, "this side", &talk->party->rx,
                             &talk->replies);
    }
}

static void check_unfailed(talk_t *talk, const char *when)
{
    check_that(talk->run, 18, talk->party->failures == 0,
               "an endpoint failed %s, though its peer lives: %s", when,
               ucs_status_string(talk->party->failure));
}

/* --- The cases ----------------------------------------------------------- */

static void talk_lossy(talk_t *talk)
{
    party_kind_t kind;

    network_set(talk->network, NETWORK_LOSSY);
    for (kind = 0; kind < PARTY_NUM_KINDS; ++kind) {
        if ((kind != PARTY_SHORT_IOV) && party_has(talk->party, kind) &&
            (!send_messages(talk, kind, party_min(talk->party, kind),
                            NUM_MESSAGES) ||
             !ask_for_messages(talk, kind, limit_of(talk->party, kind),
                               NUM_MESSAGES) ||
             !send_messages(talk, kind, limit_of(talk->party, kind),
                            NUM_MESSAGES))) {
            return;
        }
    }
    compare(talk);
    check_unfailed(talk, "on a network that loses packets");
}

/* Checks that an idle peer is not reported as lost because the network loses
 * frames of keepalive. */
static void talk_idle(talk_t *talk)
{
    size_t length;
    party_kind_t kind = party_some_kind(talk->party, &length);

    network_set(talk->network, NETWORK_LOSSY);
    check_doing(talk->run,
                "doing nothing for %.0f s, with keepalive every "
                "%.1f s",
                IDLE_SECONDS, KEEPALIVE);
    party_wait(talk->party, talk->party->failures > 0, IDLE_SECONDS);
    check_unfailed(talk, "while it was idle");
    if (!check_has_failed(talk->run) && send_messages(talk, kind, length, 1)) {
        compare(talk);
    }
}

/* Checks that messages to a stopped process arrive after it continues. The
 * transport may instead report the peer as lost; then nothing is checked. */
static void talk_stopped(talk_t *talk)
{
    size_t length;
    party_kind_t kind = party_some_kind(talk->party, &length);
    double end        = clock_now() + STOP_SECONDS;
    ucs_status_t status;
    unsigned i;

    check_doing(talk->run, "sending to a stopped peer");
    kill(talk->peer->pid, SIGSTOP);
    for (i = 0; (i < NUM_STOPPED) && (clock_now() < end);) {
        status = party_try(talk->party, kind, length, 0, 1, NULL);
        if ((status == UCS_OK) || (status == UCS_INPROGRESS)) {
            party_expect(&talk->sent, length);
            ++i;
        } else if (status != UCS_ERR_NO_RESOURCE) {
            break;
        }
        party_progress(talk->party);
    }
    party_wait(talk->party, clock_now() >= end, STOP_SECONDS);
    kill(talk->peer->pid, SIGCONT);
    if (talk->party->failures == 0) {
        compare(talk);
    }
}

/* Checks that messages arrive after their flush has completed, even if the
 * interface is closed then and the network was silent before. */
static void talk_flushed(talk_t *talk)
{
    size_t length;
    party_kind_t kind   = party_some_kind(talk->party, &length);
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    party_done_t done;
    party_rx_t rx;

    if (!send_messages(talk, kind, length, 1)) {
        return;
    }
    compare(talk);
    network_set(talk->network, NETWORK_BLACK_HOLE);
    if (!send_messages(talk, kind, length, NUM_FLUSHED)) {
        return;
    }

    check_doing(talk->run, "flushing on a network that is silent for a while");
    party_done_init(&done, talk->party);
    party_wait(talk->party,
               (status = uct_ep_flush(talk->party->ep, UCT_FLUSH_FLAG_LOCAL,
                                      &done.comp)) != UCS_ERR_NO_RESOURCE,
               PARTY_PATIENCE);
    if (status == UCS_INPROGRESS) {
        party_wait(talk->party, done.calls > 0, DARK_SECONDS);
        if (done.calls == 0) {
            network_set(talk->network, NETWORK_CLEAN);
            party_wait(talk->party, done.calls > 0, PARTY_PATIENCE);
        }
        status = (done.calls > 0) ? done.comp.status : UCS_ERR_TIMED_OUT;
    }
    if (!check_that(talk->run, 26, status == UCS_OK,
                    "a flush over a network that was silent for %.1f s ends "
                    "with %s",
                    DARK_SECONDS, ucs_status_string(status))) {
        check_give_up(talk->run);
    }

    check_doing(talk->run, "closing the interface after a flush");
    uct_ep_destroy(talk->party->ep);
    party_close(talk->party);
    talk->peer->party = NULL;
    network_set(talk->network, NETWORK_CLEAN);
    if (await_peer(talk, &rx)) {
        check_that(talk->run, 26, rx.count == talk->sent.count,
                   "%llu of %llu messages arrived: the flush that covered them "
                   "completed while they could still be lost",
                   (unsigned long long)rx.count,
                   (unsigned long long)talk->sent.count);
    }
    talk->party = NULL;
}

typedef struct network_case {
    const char *what;
    void (*talk)(talk_t *talk);
    double keepalive; /* Keepalive interval in seconds; 0: the default */
} network_case_t;

static const network_case_t cases[] = {
    {"sending over a network that loses packets", talk_lossy, 0},
    {"doing nothing on a network that loses packets", talk_idle, KEEPALIVE},
    {"flushing on a network that is silent for a while", talk_flushed, 0},
    {"sending to a stopped peer", talk_stopped, 0},
};

typedef struct case_args {
    const network_case_t *entry;
    network_t *network;
} case_args_t;

static void run_case(run_t *run, void *arg)
{
    const case_args_t *args = arg;
    static party_t party;
    static peer_t peer;
    size_t length;
    talk_t talk = {
        .run     = run,
        .network = args->network,
        .party   = &party,
        .peer    = &peer,
    };

    run->keepalive = args->entry->keepalive;
    network_set(args->network, NETWORK_CLEAN);
    if (!conversation_begin(run, &peer, &party, 0)) {
        return;
    }
    if (party_some_kind(&party, &length) == PARTY_NUM_KINDS) {
        check_skip(run, "it has no active messages");
    } else {
        args->entry->talk(&talk);
        party_check_calls(&party);
    }
    if (talk.party != NULL) {
        conversation_end(&peer, &party);
    } else {
        peer_stop(&peer);
    }
}

/* --- The devices --------------------------------------------------------- */

static void list_here(run_t *run, void *arg)
{
    (void)arg;
    list_resources(run);
}

static void run_on(run_t *run, network_t *network, const resource_t *resource)
{
    run_t here       = *run;
    case_args_t args = {.network = network};
    unsigned i;

    here.resource  = resource;
    here.peer_host = network->host[1];
    for (i = 0; (i < ucs_static_array_size(cases)) && !run->record->skipped &&
                !check_has_failed(run);
         ++i) {
        args.entry = &cases[i];
        runner_apart(&here, run_case, &args, CASE_SECONDS, 26, cases[i].what);
    }
    if (!run->record->skipped && !check_has_failed(run)) {
        lost_on_network(&here, network);
    }
}

static int reaches_hosts(const run_t *run, const resource_t *resource)
{
    run_t here = *run;

    here.resource = resource;
    return !!(run_transport(&here)->reach & UCX_MANIFEST_REACH_NETWORK);
}

void check_network(run_t *run)
{
    record_t *record = run->record;
    resource_t *resource;
    unsigned ran = 0, i;
    network_t network;

    if (!network_start(run, &network)) {
        return;
    }
    runner_apart(run, list_here, NULL, PARTY_PATIENCE, 26,
                 "listing the devices of a new host");
    for (i = 0; (i < record->num_resources) && !record->skipped &&
                !check_has_failed(run);
         ++i) {
        resource = &record->resources[i];
        if (!strcmp(resource->dev, NETWORK_DEVICE) &&
            reaches_hosts(run, resource)) {
            run_on(run, &network, resource);
            ++ran;
        }
    }
    if ((ran == 0) && !record->skipped) {
        check_skip(run, "no transport of it reaches other hosts over network "
                        "devices of the kernel");
    }
    network_stop(&network);
}
