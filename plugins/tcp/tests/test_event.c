/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping instead of polling: no event between arming and sleeping is lost,
 * every event wakes, arming sends buffered data (and returns UCS_ERR_BUSY if
 * that fails), and an idle worker sleeps. An idle interface that is polled
 * makes few system calls.
 */
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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

/* Sleeps until an event, and progresses once; exits with an error on
 * timeout. */
static void sleep_once(side_t *side)
{
    struct pollfd pfd = {.events = POLLIN};
    ucs_status_t status;
    int rc;

    EXPECT_EQ(uct_iface_event_fd_get(side->iface, &pfd.fd), UCS_OK);
    do {
        status = uct_iface_event_arm(side->iface,
                                     UCT_EVENT_SEND_COMP | UCT_EVENT_RECV);
        if (status == UCS_OK) {
            rc = poll(&pfd, 1, (int)(SIDE_TIMEOUT * 1e3));
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

/* --- Ping-pong with sleeping --------------------------------------------- */

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

/* Arming sends the data that the transport has buffered. Otherwise both sides
 * would sleep forever. */
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

/* --- Send resources ------------------------------------------------------ */

static unsigned completed;

static void on_complete(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    comp->count = 1;
    ++completed;
}

/* Zero-copy sends that wait for a reader wake their sender: the reader reads
 * nothing until one of them waits, and then reads slowly. */
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
    side_write(fd, "", 1);
    for (unsigned i = 0; i < 400;) {
        status = uct_ep_am_zcopy(ep, ID, NULL, 0, &iov, 1, 0, &comp);
        if (status == UCS_ERR_NO_RESOURCE) {
            sleep_once(&side);
            continue;
        }
        if ((status == UCS_INPROGRESS) && (waiting++ == 0)) {
            side_write(fd, "", 1);
        }
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
    char byte;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    side_read_later(&side, fd, &byte, 1); /* The first message has arrived */
    side_read(fd, &byte, 1);              /* The connection is full */
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

static atomic_uint looks;

/* Replaces the C library's function, to count the plugin's calls. */
__attribute__((visibility("default"))) int
epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    ++looks;
    return epoll_pwait(fd, events, max, timeout, NULL);
}

/* --- Peers that are lost before the sleep --------------------------------- */

/* Returns an endpoint to a peer whose socket is *fd_p. */
static uct_ep_h connect_raw(side_t *side, uint64_t id, int *fd_p)
{
    const uint64_t le = htole64(id);
    side_addr_t peer  = side->addr;

    *fd_p = raw_peer(side, id);
    memcpy(((tcp_wire_iface_addr_t *)peer.iface)->id, &le, sizeof(le));
    return side_connect(side, &peer);
}

static void loses_all_peers(void *arg, int unused)
{
    enum { PEERS = 8 };

    const struct linger reset = {.l_onoff = 1};
    double end                = side_now() + SIDE_TIMEOUT;
    uct_ep_h eps[PEERS];
    int fds[PEERS];
    side_t side;

    open_side(&side);
    for (unsigned i = 0; i < PEERS; ++i) {
        eps[i] = connect_raw(&side, 0x7700 + i, &fds[i]);
    }
    for (unsigned i = 0; i < PEERS; ++i) {
        setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fds[i]);
        side_am_short(&side, eps[i], ID, 0, NULL, 0);
    }
    /* Each of the buffered messages fails to be sent. */
    EXPECT_EQ(uct_iface_event_arm(side.iface, UCT_EVENT_RECV), UCS_ERR_BUSY);
    while ((side.failures < PEERS) && (side_now() < end)) {
        side_progress(&side);
    }
    EXPECT_EQ(side.failures, PEERS);
    for (unsigned i = 0; i < PEERS; ++i) {
        uct_ep_destroy(eps[i]);
    }
    side_close(&side);
}

PAIR_TEST(event_arm_while_peers_are_lost, loses_all_peers, does_nothing)

/* Progresses until the interface can be armed: there is no more work. */
static ucs_status_t arm(side_t *side)
{
    ucs_status_t status;

    do {
        side_progress(side);
        status = uct_iface_event_arm(side->iface, UCT_EVENT_RECV);
    } while (status == UCS_ERR_BUSY);
    return status;
}

/* With an idle connection there are few wake-ups in a second. A few are
 * allowed: if both sides connected at the same time, one connection still
 * closes, and a timer may expire that was not cancelled. */
static void sleeps_undisturbed(void *arg, int fd)
{
    struct pollfd pfd = {.events = POLLIN};
    unsigned wakes    = 0;
    ucs_status_t status;
    double left, end;
    uct_ep_h ep;
    side_t side;

    open_side(&side);
    ep = side_meet(&side, fd, NULL);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    side_wait(&side, &received, 1, "a message");
    side_barrier(&side, fd);
    EXPECT_EQ(uct_iface_event_fd_get(side.iface, &pfd.fd), UCS_OK);
    looks = 0;
    end   = side_now() + 1;
    while ((left = end - side_now()) > 0) {
        status = arm(&side);
        EXPECT_EQ(status, UCS_OK);
        wakes += (poll(&pfd, 1, (int)(left * 1e3) + 1) != 0);
    }
    EXPECT_GE(20, wakes);
    EXPECT_GE(200, looks);
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(event_sleep_is_undisturbed_when_idle, sleeps_undisturbed,
          sleeps_undisturbed)

/* An idle interface costs its worker few system calls: on average at most one
 * in four rounds of progress. */
static void progresses_alone(void *arg, int fd)
{
    const unsigned rounds = 100000;
    side_t side;

    open_side(&side);
    for (unsigned i = 0; i < 2000; ++i) {
        side_progress(&side);
    }
    EXPECT_TRUE(looks > 0);
    looks = 0;
    for (unsigned i = 0; i < rounds; ++i) {
        side_progress(&side);
    }
    EXPECT_GE(rounds / 4, looks);
    side_close(&side);
}

PAIR_TEST(event_free_progress_is_cheap_when_idle, progresses_alone,
          does_nothing)

SUITE_RUN("tcp event", event_wakes_for_every_message,
          event_arm_sends_what_has_gathered,
          event_wakes_when_there_is_room_again, event_arm_while_peers_are_lost,
          event_sleep_is_undisturbed_when_idle,
          event_free_progress_is_cheap_when_idle)
