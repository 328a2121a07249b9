/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many messages at once, in both directions, large and small. The memory of the
 * sender, the receiver or both is inaccessible to the processor (memory.h), so
 * that the library copies it through its own buffers.
 */
#include "common/data.h"
#include "common/talk.h"

enum {
    MOST  = 4 * 1024 * 1024,
    GUARD = MEMORY_GUARD,
    CROWD = 6,
    BURST = 100,
};

/* Large messages in both directions at once: together they have more fragments
 * than the library has buffers for, so that fragments must wait. */
static void test_crowd(struct talk *talk, int from, int to)
{
    const size_t length       = MOST / CROWD / 64 * 64 - GUARD;
    struct memory *out        = &talk->memory[from];
    struct memory *in         = &talk->memory[to];
    uint64_t mine             = 1000 + 100 * (uint64_t)talk->team->rank;
    uint64_t theirs           = 1100 - 100 * (uint64_t)talk->team->rank;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t requests[2 * CROWD];
    size_t stride = length + GUARD;
    struct memory one;
    int i;

    if (from == to) {
        /* this side would send from the memory into which it receives */
        return;
    }
    for (i = 0; i < CROWD; ++i) {
        one = (struct memory){.view = in->view + i * stride};
        memory_prepare(&one, length);
        data_fill(out->view + i * stride, length, mine + i);
    }
    talk_agree(talk);
    for (i = 0; i < CROWD; ++i) {
        requests[i]         = ucp_tag_recv_nbx(talk->side.worker,
                                               in->address + i * stride, length,
                                               theirs + i, UINT64_MAX, &param);
        requests[CROWD + i] = ucp_tag_send_nbx(talk->ep->ep,
                                               out->address + i * stride,
                                               length, mine + i, &param);
    }
    for (i = 0; i < 2 * CROWD; ++i) {
        EXPECT_OK(talk_finish(talk, requests[i]));
    }
    for (i = 0; i < CROWD; ++i) {
        one = (struct memory){.view = in->view + i * stride};
        memory_verify(&one, length, theirs + i);
    }
    talk_agree(talk);
}

/* Returns the length of a message of a burst: most are small. */
static size_t burst_length(int i)
{
    return ((i % 16) == 15) ? 9000 : (size_t)(i * 37) % 4200;
}

/* Returns the kind of memory of a message: every fifth one of a burst uses
 * ordinary memory. */
static int burst_kind(int i, int kind)
{
    return ((i % 5) == 4) ? 0 : kind;
}

/* Sends many small messages in both directions at once, all with one tag: they
 * arrive in order, although messages of inaccessible memory wait for copies and
 * others do not. Half of the receives are posted before the sends. */
static void test_burst(struct talk *talk, int from, int to)
{
    const uint64_t mine       = 2000 + (uint64_t)talk->team->rank;
    const uint64_t theirs     = 2001 - (uint64_t)talk->team->rank;
    const size_t stride       = MOST / BURST / 2 / 64 * 64;
    ucp_request_param_t param = {0};
    ucs_status_ptr_t sends[BURST], recvs[BURST];
    struct memory one;
    size_t at, length;
    int i, kind;

    for (i = 0; i < BURST; ++i) {
        at   = (size_t)i * stride;
        kind = burst_kind(i, from);
        data_fill(talk->memory[kind].view + MOST / 2 + at, burst_length(i),
                  mine * BURST + i);
        kind = burst_kind(i, to);
        one  = (struct memory){.view = talk->memory[kind].view + at};
        memory_prepare(&one, burst_length(i));
    }
    talk_agree(talk);
    for (i = 0; i < BURST; ++i) {
        if (i == BURST / 2) {
            for (kind = 0; kind < BURST; ++kind) {
                sends[kind] = ucp_tag_send_nbx(
                    talk->ep->ep,
                    talk->memory[burst_kind(kind, from)].address + MOST / 2 +
                        (size_t)kind * stride,
                    burst_length(kind), mine, &param);
            }
        }
        recvs[i] = ucp_tag_recv_nbx(talk->side.worker,
                                    talk->memory[burst_kind(i, to)].address +
                                        (size_t)i * stride,
                                    burst_length(i), theirs, UINT64_MAX,
                                    &param);
    }
    for (i = 0; i < BURST; ++i) {
        EXPECT_OK(talk_finish(talk, sends[i]));
        EXPECT_OK(talk_finish(talk, recvs[i]));
    }
    for (i = 0; i < BURST; ++i) {
        length = burst_length(i);
        kind   = burst_kind(i, to);
        one    = (struct memory){.view = talk->memory[kind].view + i * stride};
        memory_verify(&one, length, theirs * BURST + i);
    }
    talk_agree(talk);
}

static void work(struct team *team, void *arg)
{
    struct talk talk;

    if (team->rank == PEER) {
        memory_delay("50");
    }
    talk_open(&talk, team, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, MOST + GUARD);
    talk_pairs(&talk, "crowd", test_crowd);
    talk_pairs(&talk, "burst", test_burst);
    talk_close(&talk);
}

int main(void)
{
    struct team team = {.limit = 120};

    return team_run(&team, 2, work, NULL);
}
