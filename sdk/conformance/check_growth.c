/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 27 of sdk/ABI.md: each of many rounds opens, uses and closes a domain,
 * an interface and a connection. After the last round this process has no more
 * descriptors, threads and (within limits) memory than after WARM_ROUNDS
 * rounds, and the peer no more descriptors.
 */
#include "peer.h"
#include "usage.h"

#include <string.h>
#include <unistd.h>

#define ROUNDS      100
#define WARM_ROUNDS 20
#define HALF_ROUNDS ((ROUNDS + WARM_ROUNDS) / 2)
/* Growth in bytes that is allowed in each half of the rounds. Only growth in
 * both halves is a leak: a table or a pool that grows once, by any size, grows
 * in one half only. */
#define HEAP_SLACK     8192
#define RESIDENT_SLACK ((size_t)2 << 20)

/* Memory is not compared with sanitizers, which keep freed memory for a
 * while. */
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
    if (!(party->attr->cap.flags &
          (UCT_IFACE_FLAG_CONNECT_TO_IFACE | UCT_IFACE_FLAG_CONNECT_TO_EP))) {
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

/* Checks that the number of descriptors in the peer returns to `before`.
 * Repeats the query, because the peer closes connections a moment later than
 * this side. */
static void check_peer(run_t *run, peer_t *peer, uint64_t before)
{
    static peer_message_t message;
    double end = clock_now() + PARTY_PATIENCE;

    do {
        memset(&message, 0, sizeof(message));
        message.op = PEER_USAGE;
        if (!peer_call(peer, &message, &message)) {
            return;
        }
    } while ((message.count > before) && (clock_now() < end));
    check_that(run, 27, message.count <= before,
               "the peer has %llu descriptors open after %d connections that "
               "came and went, there were %llu",
               (unsigned long long)message.count, ROUNDS,
               (unsigned long long)before);
}

/* Resource counts of this process after WARM_ROUNDS, after HALF_ROUNDS and at
 * the end. */
typedef struct {
    usage_t before, half, after;
} growth_t;

static int is_back(size_t before, size_t half, size_t after, size_t slack)
{
    return !MEMORY_COUNTS || (half <= before + slack) ||
           (after <= half + slack);
}

static int heap_is_back(const growth_t *growth)
{
    return is_back(growth->before.heap, growth->half.heap, growth->after.heap,
                   HEAP_SLACK);
}

static int memory_is_back(const growth_t *growth)
{
    return is_back(growth->before.resident, growth->half.resident,
                   growth->after.resident, RESIDENT_SLACK);
}

/* Stores the final counts. A thread that was asked to exit needs processor time
 * before it releases its resources, so counting is repeated until everything is
 * released or the time limit is reached. */
static void count_left(growth_t *growth)
{
    const usage_t *before = &growth->before, *after = &growth->after;
    double end = clock_now() + USAGE_PATIENCE;

    for (;;) {
        usage_take(&growth->after);
        if (((after->fds <= before->fds) && (after->tasks <= before->tasks) &&
             heap_is_back(growth) && memory_is_back(growth)) ||
            (clock_now() > end)) {
            return;
        }
        usleep(1000);
    }
}

static void compare(run_t *run, const growth_t *growth)
{
    const usage_t *before = &growth->before, *after = &growth->after;
    const int rounds = ROUNDS - WARM_ROUNDS;

    check_that(run, 27, after->fds <= before->fds,
               "%u descriptors more after %d rounds of open and close",
               after->fds - before->fds, rounds);
    check_that(run, 27, after->tasks <= before->tasks,
               "%u threads more after %d rounds of open and close",
               after->tasks - before->tasks, rounds);
    check_that(run, 27, heap_is_back(growth),
               "the heap has grown by %zu bytes in %d rounds of open and "
               "close (%zu a round)",
               after->heap - before->heap, rounds,
               (after->heap - before->heap) / rounds);
    check_that(run, 27, memory_is_back(growth),
               "memory has grown by %zu bytes in %d rounds of open and close",
               after->resident - before->resident, rounds);
}

void check_growth(run_t *run)
{
    static peer_message_t message;
    static party_t party;
    static peer_t peer;
    growth_t growth;
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
            usage_take(&growth.before);
        } else if (round == HALF_ROUNDS) {
            usage_take(&growth.half);
        }
        if (!run_round(run, &peer, &party) || check_has_failed(run) ||
            run->record->skipped) {
            goto out;
        }
    }

    check_doing(run, "counting what is left");
    count_left(&growth);
    compare(run, &growth);
    if (peer_is_other(&peer)) {
        check_peer(run, &peer, message.count);
    }
out:
    peer_stop(&peer);
}
