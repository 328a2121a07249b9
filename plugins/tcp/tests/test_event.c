/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping instead of progressing: nothing is lost between arming and the
 * sleep, everything wakes, and idle means idle.
 */
#include "side.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ID 1

static volatile unsigned received;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void open_side(side_t *side)
{
    side_open(side, NULL);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID, on_am, NULL, 0),
              UCS_OK);
}

/* Sleeps until something happens, and progresses once; dies after 10 s. */
static void sleep_once(side_t *side)
{
    struct pollfd pfd = {.events = POLLIN};
    ucs_status_t status;
    int rc;

    EXPECT_EQ(uct_iface_event_fd_get(side->iface, &pfd.fd), UCS_OK);
    do {
        status = uct_iface_event_arm(side->iface, UCT_EVENT_SEND_COMP |
                                                  UCT_EVENT_RECV);
        if (status == UCS_OK) {
            rc = poll(&pfd, 1, 10000);
            EXPECT_EQ(rc, 1);
        } else {
            EXPECT_EQ(status, UCS_ERR_BUSY);
        }
    } while (status == UCS_ERR_BUSY && uct_worker_progress(side->worker) == 0);
    side_progress(side);
}

static void does_nothing(void *arg, int fd)
{
}

/* --- Ping-pong asleep ---------------------------------------------------- */

#define ROUNDS 3000

static void plays(int first, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    for (unsigned i = 0; i < ROUNDS; ++i) {
        if (first) {
            side_am_short(&side, ep, ID, i, NULL, 0);
        }
        while (received <= i) {
            sleep_once(&side);
        }
        if (!first) {
            side_am_short(&side, ep, ID, i, NULL, 0);
        }
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

static void plays_first(void *arg, int fd)
{
    plays(1, fd);
}

static void plays_second(void *arg, int fd)
{
    plays(0, fd);
}

PAIR_TEST(event_wakes_for_every_message, plays_first, plays_second)

/* --- Buffered sends ------------------------------------------------------ */

/* What has gathered leaves when its sender goes to sleep. */
static void sends_and_sleeps(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    for (unsigned round = 0; round < 100; ++round) {
        for (unsigned i = 0; i < 50; ++i) {
            side_am_short(&side, ep, ID, i, NULL, 0);
        }
        while (received <= round) {
            sleep_once(&side);
        }
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

static void answers_fifty(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    for (unsigned round = 0; round < 100; ++round) {
        while (received < 50 * (round + 1)) {
            sleep_once(&side);
        }
        side_am_short(&side, ep, ID, round, NULL, 0);
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(event_arm_sends_what_has_gathered, sends_and_sleeps, answers_fifty)

/* --- Room to send -------------------------------------------------------- */

static unsigned completed;

static void on_complete(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    comp->count = 1;
    ++completed;
}

/* Zero-copy sends that wait for a slow reader wake their sender. */
static void sends_much_asleep(void *arg, int fd)
{
    uct_completion_t comp = {on_complete, 1, UCS_OK};
    uint8_t *buffer       = calloc(1, 262144);
    uct_iov_t iov         = {buffer, 262144, NULL, 0, 1};
    unsigned waiting      = 0;
    ucs_status_t status;
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    for (unsigned i = 0; i < 400;) {
        status = uct_ep_am_zcopy(ep, ID, NULL, 0, &iov, 1, 0, &comp);
        if (status == UCS_ERR_NO_RESOURCE) {
            sleep_once(&side);
            continue;
        }
        waiting += (status == UCS_INPROGRESS);
        ++i;
    }
    EXPECT_TRUE(waiting > 0);
    while (completed < waiting) {
        sleep_once(&side);
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
    free(buffer);
}

static void reads_with_pauses(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    while (received < 401) {
        sleep_once(&side);
        usleep(500);
    }
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(event_wakes_when_there_is_room_again, sends_much_asleep,
          reads_with_pauses)

/* --- Idle ---------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Progresses until there is nothing more to do. */
static ucs_status_t arm(side_t *side)
{
    ucs_status_t status;

    do {
        side_progress(side);
        status = uct_iface_event_arm(side->iface, UCT_EVENT_RECV);
    } while (status == UCS_ERR_BUSY);
    return status;
}

/* With a connection up and nothing to do, one sleep lasts. */
static void sleeps_undisturbed(void *arg, int fd)
{
    struct pollfd pfd = {.events = POLLIN};
    int wakes         = 20;
    ucs_status_t status;
    double cpu;
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    side_wait(&side, &received, 1, "a message");
    side_barrier(&side, fd);
    EXPECT_EQ(uct_iface_event_fd_get(side.iface, &pfd.fd), UCS_OK);
    do {
        /* the connections of both sides crossed: one of them still ends */
        status = arm(&side);
    } while ((status == UCS_OK) && (poll(&pfd, 1, 200) != 0) && (--wakes > 0));
    EXPECT_TRUE(wakes > 0);
    status = arm(&side);
    EXPECT_EQ(status, UCS_OK);
    cpu = cpu_seconds();
    EXPECT_EQ(poll(&pfd, 1, 1000), 0);
    EXPECT_TRUE(cpu_seconds() - cpu < 0.02);
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(event_sleep_is_undisturbed_when_idle, sleeps_undisturbed,
          sleeps_undisturbed)

/* An interface that nobody talks through costs its worker few system calls:
 * many rounds of progress take little time. */
static void progresses_alone(void *arg, int fd)
{
    double start;
    side_t side;

    open_side(&side);
    for (int i = 0; i < 2000; ++i) {
        side_progress(&side);
    }
    start = side_now();
    for (int i = 0; i < 1000000; ++i) {
        side_progress(&side);
    }
    EXPECT_TRUE(side_now() - start < 0.5);
    side_close(&side);
}

PAIR_TEST(event_free_progress_is_cheap_when_idle, progresses_alone,
          does_nothing)

SUITE_RUN("tcp event", event_wakes_for_every_message,
          event_arm_sends_what_has_gathered,
          event_wakes_when_there_is_room_again,
          event_sleep_is_undisturbed_when_idle,
          event_free_progress_is_cheap_when_idle)
