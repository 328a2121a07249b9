/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 27 over many rounds: opens, uses and closes a domain, an interface and a
 * connection. Descriptors, threads and memory return to their counts, here and
 * at the peer.
 */
#include "peer.h"
#include "usage.h"

#include <string.h>
#include <unistd.h>

#define ROUNDS        100
#define WARM_ROUNDS   20
#define HEAP_SLACK    16384   /* allowed growth of tables */
#define RESIDENT_SLACK ((size_t)4 << 20)

/* Sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_COUNTS 0
#else
#define MEMORY_COUNTS 1
#endif

static int run_round(run_t *run, peer_t *peer, party_t *party)
{
    party_rx_t sent = {0}, rx;
    party_kind_t kind;
    size_t length;
    int result = 0;

    if (!party_open(run, party, 0)) {
        return 0;
    }

    peer->party = party;
    if (!(party->attr->cap.flags & (UCT_IFACE_FLAG_CONNECT_TO_IFACE |
                                    UCT_IFACE_FLAG_CONNECT_TO_EP))) {
        result = 1;
    } else if (conversation_connect(peer, party)) {
        kind   = party_some_kind(party, &length);
        result = 1;
        if (kind != PARTY_NUM_KINDS) {
            result = (party_send(party, kind, length, 0, 1) == UCS_OK);
            party_expect(&sent, length);
            result = result && peer_tell(peer, PEER_RESET) &&
                     conversation_await(peer, &(party_rx_t){0}, &rx);
        }
    }
    conversation_disconnect(peer, party);
    peer->party = NULL;
    party_close(party);
    return result;
}

/* The other side closes connections a moment later. */
static void check_peer(run_t *run, peer_t *peer, uint64_t before)
{
    static peer_message_t message;
    ucs_time_t end = ucs_get_time() + ucs_time_from_sec(PARTY_PATIENCE);

    do {
        memset(&message, 0, sizeof(message));
        message.op = PEER_USAGE;
        if (!peer_call(peer, &message, &message)) {
            return;
        }
    } while ((message.count > before) && (ucs_get_time() < end));
    check_that(run, 27, message.count <= before,
               "the peer has %llu descriptors open after %d connections that "
               "came and went, there were %llu",
               (unsigned long long)message.count, ROUNDS,
               (unsigned long long)before);
}

static int heap_is_back(const usage_t *before, const usage_t *after)
{
    return !MEMORY_COUNTS || (after->heap <= before->heap + HEAP_SLACK);
}

static int memory_is_back(const usage_t *before, const usage_t *after)
{
    return !MEMORY_COUNTS ||
           (after->resident <= before->resident + RESIDENT_SLACK);
}

/* A thread that is asked to exit needs processor time before it releases its
 * resources: count until everything is released or time is up. */
static void count_left(const usage_t *before, usage_t *after)
{
    ucs_time_t end = ucs_get_time() + ucs_time_from_sec(USAGE_PATIENCE);

    for (;;) {
        usage_take(after);
        if (((after->fds <= before->fds) && (after->tasks <= before->tasks) &&
             heap_is_back(before, after) && memory_is_back(before, after)) ||
            (ucs_get_time() > end)) {
            return;
        }
        usleep(1000);
    }
}

static void compare(run_t *run, const usage_t *before, const usage_t *after)
{
    const int rounds = ROUNDS - WARM_ROUNDS;

    check_that(run, 27, after->fds <= before->fds,
               "%u descriptors more after %d rounds of open and close",
               after->fds - before->fds, rounds);
    check_that(run, 27, after->tasks <= before->tasks,
               "%u threads more after %d rounds of open and close",
               after->tasks - before->tasks, rounds);
    check_that(run, 27, heap_is_back(before, after),
               "the heap has grown by %zu bytes in %d rounds of open and "
               "close (%zu a round)", after->heap - before->heap, rounds,
               (after->heap - before->heap) / rounds);
    check_that(run, 27, memory_is_back(before, after),
               "memory has grown by %zu bytes in %d rounds of open and close",
               after->resident - before->resident, rounds);
}

void check_growth(run_t *run)
{
    static peer_message_t message;
    static party_t party;
    static peer_t peer;
    usage_t before, after;
    unsigned round;

    if (!peer_start(run, &peer, 0)) {
        return;
    }

    for (round = 0; round < ROUNDS; ++round) {
        if (round == WARM_ROUNDS) {
            message.op = PEER_USAGE;
            if (peer_is_other(&peer)) {
                peer_call(&peer, &message, &message);
            }
            usage_take(&before);
        }
        if (!run_round(run, &peer, &party) || check_has_failed(run) ||
            run->record->skipped) {
            goto out;
        }
    }

    check_doing(run, "counting what is left");
    count_left(&before, &after);
    compare(run, &before, &after);
    if (peer_is_other(&peer)) {
        check_peer(run, &peer, message.count);
    }
out:
    peer_stop(&peer);
}
