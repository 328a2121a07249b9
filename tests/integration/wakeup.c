/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wakeup: a worker that sleeps, on its descriptor or in ucp_worker_wait(),
 * wakes for every message, also for one that arrives between arming and
 * sleeping. ucp_worker_signal() wakes it, and it uses no processor time while
 * idle.
 */
#include "common/data.h"
#include "common/side.h"
#include "common/usage.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    MESSAGES  = 400,
    LARGE     = 300 * 1024,
    IDLE_MSEC = 200, /* Length of an idle period */
    PERIODS   = 5,   /* Number of idle periods */
    /* Maximum number of further idle periods. They run only if each of the
     * first ones used too much processor time. */
    MORE      = 45,
    /* Maximum number of events without a cause, in all idle periods */
    SPURIOUS  = 20,
};

static const ucp_tag_t ALL = ~(ucp_tag_t)0;

struct talk {
    struct team *team;
    struct side side;
    struct side_ep *ep;
    int fd;
    char *buffer;
    struct random random;
};

typedef void (*sleeper_t)(struct talk *talk, const struct side_op *op);

/* Sleeps once on the worker's descriptor, unless `op` is complete or the worker
 * has events. Fails the test if nothing wakes it within the time limit. */
static void sleep_by_fd(struct talk *talk, const struct side_op *op)
{
    struct pollfd fd = {.fd = talk->fd, .events = POLLIN};
    ucs_status_t status;

    while (ucp_worker_progress(talk->side.worker) != 0) {
    }
    if (op->done) {
        return;
    }
    status = ucp_worker_arm(talk->side.worker);
    if (status == UCS_ERR_BUSY) {
        return;
    }
    EXPECT_OK(status);
    if (poll(&fd, 1, (int)(test_seconds(20) * 1e3)) != 1) {
        FAIL("asleep for %.0f s: an event was lost", test_seconds(20));
    }
}

static void sleep_by_wait(struct talk *talk, const struct side_op *op)
{
    while (ucp_worker_progress(talk->side.worker) != 0) {
    }
    if (!op->done) {
        EXPECT_OK(ucp_worker_wait(talk->side.worker));
    }
}

static void receive_asleep(struct talk *talk, ucp_tag_t tag, size_t size,
                           sleeper_t fall_asleep)
{
    struct side_op op;

    side_recv(&talk->side, &op, talk->buffer, LARGE, tag, ALL);
    while (!op.done) {
        fall_asleep(talk, &op);
    }
    EXPECT_OK(op.status);
    EXPECT_INT(op.info.length, ==, size);
    data_verify(talk->buffer, size, tag);
}

static void send_asleep(struct talk *talk, ucp_tag_t tag, size_t size,
                        sleeper_t fall_asleep)
{
    struct side_op op;

    data_fill(talk->buffer, size, tag);
    side_send(talk->ep, &op, talk->buffer, size, tag);
    while (!op.done) {
        fall_asleep(talk, &op);
    }
    EXPECT_OK(op.status);
}

/* A random pause before a send: the message then arrives before, between or
 * after the peer's arming and sleeping. */
static void pause_a_little(struct talk *talk)
{
    struct timespec pause = {
        .tv_nsec = (long)random_below(&talk->random, 200000),
    };

    if (random_below(&talk->random, 2) == 0) {
        nanosleep(&pause, NULL);
    }
}

static size_t size_of(int message)
{
    return (message % 23 == 22) ? (size_t)(LARGE - message) :
                                  (size_t)message * 5;
}

/* Each side sleeps until the other's message has arrived, then sends one. */
static void no_event_is_lost(struct talk *talk, ucp_tag_t base,
                             sleeper_t fall_asleep)
{
    int i;

    for (i = 0; i < MESSAGES; ++i) {
        if (i % 2 == talk->team->rank) {
            pause_a_little(talk);
            send_asleep(talk, base + i, size_of(i), fall_asleep);
        } else {
            receive_asleep(talk, base + i, size_of(i), fall_asleep);
        }
    }
    team_barrier(talk->team, side_progress, &talk->side);
}

static void *signal_later(void *arg)
{
    struct timespec pause = {.tv_nsec = 50000000};

    nanosleep(&pause, NULL);
    EXPECT_OK(ucp_worker_signal((ucp_worker_h)arg));
    return NULL;
}

static void signal_wakes(struct talk *talk)
{
    struct side_op never = {.done = false};
    pthread_t thread;

    EXPECT(pthread_create(&thread, NULL, signal_later, talk->side.worker) == 0);
    sleep_by_fd(talk, &never);
    pthread_join(thread, NULL);
    /* A signal before the sleep is not lost either. */
    EXPECT_OK(ucp_worker_signal(talk->side.worker));
    EXPECT_OK(ucp_worker_wait(talk->side.worker));
    team_barrier(talk->team, side_progress, &talk->side);
}

/* Sleeps until the end of the period like an idle program. Returns the number
 * of events: progress with work, UCS_ERR_BUSY from arming, or a wake-up. */
static unsigned idle_spell(struct talk *talk)
{
    struct pollfd fd = {.fd = talk->fd, .events = POLLIN};
    double deadline  = test_now() + (IDLE_MSEC * 1e-3);
    unsigned turns   = 0;
    ucs_status_t status;
    double left;

    while ((left = deadline - test_now()) > 0) {
        while (ucp_worker_progress(talk->side.worker) != 0) {
            ++turns;
        }
        status = ucp_worker_arm(talk->side.worker);
        if (status == UCS_OK) {
            turns += (poll(&fd, 1, (int)(left * 1e3) + 1) != 0);
        } else {
            EXPECT_STATUS(status, UCS_ERR_BUSY);
            ++turns;
        }
    }
    return turns;
}

/* Connected and idle: at least one period uses less than 10 ms of processor
 * time (test_seconds()), and there are few events. A busy thread of this
 * process would use processor time in every period; other processes on the core
 * affect only some periods. */
static void idle_costs_nothing(struct talk *talk)
{
    double cpu, least = IDLE_MSEC * 1e-3;
    unsigned turns = 0;
    int i;

    for (i = 0; (i < PERIODS) ||
                ((i < PERIODS + MORE) && (least >= test_seconds(0.01)));
         ++i) {
        cpu = usage_cpu();
        turns += idle_spell(talk);
        cpu   = usage_cpu() - cpu;
        least = (cpu < least) ? cpu : least;
        EXPECT_INT(turns, <=, SPURIOUS);
    }
    EXPECT_INT(least * 1e3, <, test_seconds(0.01) * 1e3);
    team_barrier(talk->team, NULL, NULL);
}

static void member(struct team *team, void *arg)
{
    const uint64_t *seed = arg;
    struct talk talk     = {
            .team   = team,
            .buffer = malloc(LARGE),
            .random = {.state = *seed + team->rank},
    };

    EXPECT(talk.buffer != NULL);
    side_open(&talk.side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP);
    EXPECT_OK(ucp_worker_get_efd(talk.side.worker, &talk.fd));
    talk.ep = side_meet(&talk.side, team, 1 - team->rank);
    no_event_is_lost(&talk, 0x1000, sleep_by_fd);
    no_event_is_lost(&talk, 0x2000, sleep_by_wait);
    signal_wakes(&talk);
    idle_costs_nothing(&talk);
    no_event_is_lost(&talk, 0x3000, sleep_by_fd);
    EXPECT_OK(side_close_ep(talk.ep, 0));
    team_barrier(team, side_progress, &talk.side);
    side_close(&talk.side);
    free(talk.buffer);
}

int main(int argc, char **argv)
{
    uint64_t seed    = random_seed(argc, argv);
    struct team team = {.limit = 60};

    return team_run(&team, 2, member, &seed);
}
