/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads of each process send and receive memory that is inaccessible
 * to the processor (memory.h), through one worker.
 */
#include "common/data.h"
#include "common/memory.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 12, MOST = 600000 };

static const size_t sizes[] = {8, 5000, 100000, MOST};

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
};

struct lane {
    struct talk *talk;
    uint64_t number;
    struct memory out, in;
    pthread_t thread;
};

/* Waits until a request has ended. It does not sleep, because another thread
 * may call the progress that completes the request, and then no event
 * follows. */
static void finish(struct talk *talk, ucs_status_ptr_t request)
{
    double end = test_now() + test_seconds(30);

    if (!UCS_PTR_IS_PTR(request)) {
        EXPECT_OK(UCS_PTR_RAW_STATUS(request));
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        side_progress(&talk->side);
        if (test_now() > end) {
            FAIL("an operation is not over after 30 s");
        }
    }
    EXPECT_OK(ucp_request_check_status(request));
    ucp_request_free(request);
}

static void *run(void *arg)
{
    static const ucp_request_param_t none = {0};
    struct lane *lane                     = arg;
    struct talk *talk                     = lane->talk;
    uint64_t mine   = 1000 * (uint64_t)talk->team->rank + 100 * lane->number;
    uint64_t theirs = 1000 - 1000 * (uint64_t)talk->team->rank +
                      100 * lane->number;
    ucs_status_ptr_t recv, send;
    size_t length;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        length = sizes[(i + lane->number) % (sizeof(sizes) / sizeof(sizes[0]))];
        data_fill(lane->out.view, length, mine + i);
        recv = ucp_tag_recv_nbx(talk->side.worker, lane->in.address, length,
                                theirs + i, UINT64_MAX, &none);
        send = ucp_tag_send_nbx(talk->ep->ep, lane->out.address, length,
                                mine + i, &none);
        finish(talk, recv);
        finish(talk, send);
        data_verify(lane->in.view, length, theirs + i);
    }
    return NULL;
}

/* Like side_open(), with a worker that several threads may use. */
static void open_side(struct side *side)
{
    ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_MULTI,
    };

    side_open(side, UCP_FEATURE_TAG);
    ucp_worker_destroy(side->worker);
    EXPECT_OK(ucp_worker_create(side->context, &params, &side->worker));
}

static void work(struct team *team, void *arg)
{
    struct talk talk = {.team = team};
    struct lane lanes[THREADS];
    int i;

    open_side(&talk.side);
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    for (i = 0; i < THREADS; ++i) {
        lanes[i].talk   = &talk;
        lanes[i].number = (uint64_t)i;
        /* the last thread receives into ordinary memory */
        memory_make(&talk.side, &lanes[i].out, MOST, 1);
        memory_make(&talk.side, &lanes[i].in, MOST, i < THREADS - 1);
    }
    team_barrier(team, side_progress, &talk.side);
    for (i = 0; i < THREADS; ++i) {
        EXPECT_INT(pthread_create(&lanes[i].thread, NULL, run, &lanes[i]), ==,
                   0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(lanes[i].thread, NULL);
    }
    team_barrier(team, side_progress, &talk.side);
    for (i = 0; i < THREADS; ++i) {
        memory_drop(&talk.side, &lanes[i].out);
        memory_drop(&talk.side, &lanes[i].in);
    }
    side_close_ep(talk.ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&talk.side);
}

int main(void)
{
    struct team team = {.limit = 60};

    return team_run(&team, 2, work, NULL);
}
