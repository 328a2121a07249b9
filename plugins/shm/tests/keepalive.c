/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often an interface checks its peers. The interval is that of the variable
 * UCX_POSIX_KEEPALIVE or UCX_SYSV_KEEPALIVE, else that of the parameter of
 * uct_iface_open, else the default. A message with UCT_SEND_FLAG_PEER_CHECK
 * causes a check at once. A sleeping interface sets a timer for the next check.
 *
 * This process, which does not use the library, forks both sides.
 */
#include "child.h"
#include "kill_side.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MSEC 1000000ul
#define HOUR (3600000 * MSEC)

/* Seconds for which the test continues after all sides that check their peers
 * have detected the failure. SELDOM and NEVER must not detect it in this
 * time. */
#define BEYOND 0.5
/* Limit in seconds for a step of about a second; only a hang reaches it. */
#define TIMEOUT 120.0

/* Interfaces of the survivor, which differ in their interval: see
 * open_sides(). */
enum { BY_PARAMETER, BY_VARIABLE, BY_DEFAULT, NEVER, SELDOM, NUM_SIDES };

/* Intercepts the plugin's calls of timerfd_settime(): symbols of the executable
 * take precedence. */
static unsigned num_timers;

int timerfd_settime(int fd, int flags, const struct itimerspec *spec,
                    struct itimerspec *old)
{
    EXPECT_TRUE(
        (spec->it_value.tv_sec >= 0) && (spec->it_value.tv_sec <= 1000000) &&
        (spec->it_value.tv_nsec >= 0) && (spec->it_value.tv_nsec < 1000000000));
    ++num_timers;
    return (int)syscall(SYS_timerfd_settime, fd, flags, spec, old);
}

static void give(int fd, const void *data, size_t length)
{
    EXPECT_EQ(send(fd, data, length, MSG_NOSIGNAL), length);
}

static void take(int fd, void *data, size_t length)
{
    EXPECT_EQ(recv(fd, data, length, MSG_WAITALL), length);
}

static void victim_main(void *tl, int fd)
{
    kill_side_t side;

    kill_side_open(&side, tl);
    give(fd, &side.card, sizeof(side.card));
    for (;;) {
        pause();
    }
}

static void open_sides(kill_side_t *sides, const char *tl)
{
    const char *variable = (strcmp(tl, "posix") == 0) ? "UCX_POSIX_KEEPALIVE" :
                                                        "UCX_SYSV_KEEPALIVE";

    kill_side_open_keepalive(&sides[NEVER], tl, UCS_TIME_INFINITY);
    kill_side_open_keepalive(&sides[SELDOM], tl, HOUR);
    kill_side_open_keepalive(&sides[BY_DEFAULT], tl, 0);
    kill_side_open_keepalive(&sides[BY_PARAMETER], tl, 10 * MSEC);
    setenv(variable, "10ms", 1);
    kill_side_open_keepalive(&sides[BY_VARIABLE], tl, HOUR);
    unsetenv(variable);
}

static void progress(kill_side_t *sides)
{
    unsigned i;

    for (i = 0; i < NUM_SIDES; ++i) {
        uct_worker_progress(sides[i].worker);
    }
}

/* Arms all interfaces, with finite and infinite intervals. */
static void sleep_and_wake(kill_side_t *sides)
{
    unsigned i;
    int fd;

    for (i = 0; i < NUM_SIDES; ++i) {
        num_timers = 0;
        EXPECT_EQ(uct_iface_event_fd_get(sides[i].iface, &fd), UCS_OK);
        EXPECT_EQ(uct_iface_event_arm(sides[i].iface, UCT_EVENT_RECV), UCS_OK);
        EXPECT_EQ(num_timers, 1);
    }
    progress(sides);
}

static size_t pack_nothing(void *dest, void *arg)
{
    return 0;
}

/* An interface with an infinite interval does not detect a failure by sending,
 * but does so if the message has UCT_SEND_FLAG_PEER_CHECK. */
static void check_by_sending(kill_side_t *side, kill_link_t *link)
{
    double end = kill_now() + TIMEOUT;
    unsigned i;

    EXPECT_EQ(uct_ep_am_bcopy(link->ep, KILL_AM_ID, pack_nothing, NULL, 0), 0);
    for (i = 0; i < 10000; ++i) {
        uct_worker_progress(side->worker);
    }
    EXPECT_EQ(side->failures, 0);

    (void)uct_ep_am_bcopy(link->ep, KILL_AM_ID, pack_nothing, NULL,
                          UCT_SEND_FLAG_PEER_CHECK);
    while (side->failures == 0) {
        EXPECT_TRUE(kill_now() < end);
        uct_worker_progress(side->worker);
    }
}

static void survivor_main(void *tl, int fd)
{
    double end = kill_now() + TIMEOUT;
    kill_side_t sides[NUM_SIDES];
    kill_link_t links[NUM_SIDES];
    kill_card_t card;
    unsigned i;
    char byte;

    open_sides(sides, tl);
    sleep_and_wake(sides);
    take(fd, &card, sizeof(card));
    for (i = 0; i < NUM_SIDES; ++i) {
        EXPECT_TRUE(kill_link_open(&links[i], &sides[i], &card));
    }
    give(fd, "s", 1);
    take(fd, &byte, 1);

    while ((sides[BY_PARAMETER].failures == 0) ||
           (sides[BY_VARIABLE].failures == 0) ||
           (sides[BY_DEFAULT].failures == 0)) {
        EXPECT_TRUE(kill_now() < end);
        progress(sides);
    }
    end = kill_now() + BEYOND;
    while (kill_now() < end) {
        progress(sides);
    }
    EXPECT_EQ(sides[SELDOM].failures, 0);
    EXPECT_EQ(sides[NEVER].failures, 0);
    check_by_sending(&sides[NEVER], &links[NEVER]);

    for (i = 0; i < NUM_SIDES; ++i) {
        kill_link_close(&links[i]);
        kill_side_close(&sides[i]);
    }
}

static void run(char *tl)
{
    int victim_fd, survivor_fd, status;
    pid_t victim, survivor;
    kill_card_t card;
    char byte;

    victim   = child_start(victim_main, tl, &victim_fd);
    survivor = child_start(survivor_main, tl, &survivor_fd);
    take(victim_fd, &card, sizeof(card));
    give(survivor_fd, &card, sizeof(card));
    take(survivor_fd, &byte, 1);
    EXPECT_EQ(kill(victim, SIGKILL), 0);
    EXPECT_EQ(waitpid(victim, &status, 0), victim);
    give(survivor_fd, "k", 1);
    EXPECT_EQ(waitpid(survivor, &status, 0), survivor);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    close(victim_fd);
    close(survivor_fd);
}

int main(void)
{
    run("posix");
    run("sysv");
    return 0;
}
