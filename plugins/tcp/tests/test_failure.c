/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that are killed, stop, send invalid data, or never existed, and
 * shortage of descriptors: errors are reported in bounded time, other peers are
 * not affected, and nothing is leaked. Also: a busy peer does not fail; the
 * keepalive interval; closing an interface whose peer does not read.
 */
#include "pattern.h"
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID 1

static volatile unsigned received;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void open_side(side_t *side, const char *config)
{
    side_open(side, config);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID, on_am, NULL, 0),
              UCS_OK);
}

static void wait_failures(side_t *side, int count)
{
    double end = side_now() + SIDE_TIMEOUT;

    while (side->failures < count) {
        EXPECT_TRUE(side_now() < end);
        side_progress(side);
    }
    EXPECT_EQ(side->failures, count);
}

static void wait_fds(side_t *side, int count)
{
    double end = side_now() + SIDE_TIMEOUT;

    while ((side_count_fds() != count) && (side_now() < end)) {
        side_progress(side);
    }
    EXPECT_EQ(side_count_fds(), count);
}

static void progress_for(side_t *side, double seconds)
{
    double end = side_now() + seconds;

    while (side_now() < end) {
        side_progress(side);
    }
}

static void does_nothing(void *arg, int fd)
{
}

/* --- kill -9 ------------------------------------------------------------- */

static void echoes_forever(void *arg, int fd)
{
    side_t side;

    open_side(&side, NULL);
    side_meet(&side, fd, NULL);
    for (;;) {
        side_progress(&side);
    }
}

/* Receives one message, reports that by a byte on `fd`, and then makes no
 * progress. */
static void stops_reading(void *arg, int fd)
{
    side_t side;

    open_side(&side, NULL);
    side_meet(&side, fd, NULL);
    side_wait(&side, &received, 1, "a message");
    side_write(fd, "", 1);
    pause();
}

static unsigned completed;
static ucs_status_t completed_status;

static void on_complete(uct_completion_t *comp)
{
    ++completed;
    completed_status = comp->status;
    comp->count      = 1;
}

static unsigned num_purged;

static void count_purged(uct_pending_req_t *req, void *arg)
{
    ++num_purged;
}

static ucs_status_t never_sent(uct_pending_req_t *req)
{
    return UCS_ERR_NO_RESOURCE;
}

/* One peer is killed while zero-copy sends, a flush and a pending request to it
 * are outstanding. The endpoint to another peer continues to work. */
static void survives_a_kill(void *arg, int unused)
{
    uct_completion_t comp  = {on_complete, 1, UCS_OK};
    uct_completion_t fcomp = {on_complete, 1, UCS_OK};
    uint8_t *buffer        = malloc(250000);
    uct_iov_t iov          = {buffer, 250000, NULL, 0, 1};
    unsigned waiting       = 0;
    uct_pending_req_t req  = {.func = never_sent};
    uct_ep_h victim, other;
    ucs_status_t status;
    pid_t pid, good;
    int fd, good_fd;
    side_t side;

    memset(buffer, 1, 250000);
    pid  = side_fork(stops_reading, NULL, &fd);
    good = side_fork(echoes_forever, NULL, &good_fd);
    open_side(&side, NULL);
    victim = side_meet(&side, fd, NULL);
    other  = side_meet(&side, good_fd, NULL);
    side_am_short(&side, victim, ID, 0, NULL, 0);
    side_am_short(&side, other, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, victim, 0), UCS_OK);

    do {
        status = uct_ep_am_zcopy(victim, ID, NULL, 0, &iov, 1, 0, &comp);
        waiting += (status == UCS_INPROGRESS);
    } while (status != UCS_ERR_NO_RESOURCE);
    EXPECT_EQ(uct_ep_flush(victim, 0, &fcomp), UCS_INPROGRESS);
    EXPECT_EQ(uct_ep_pending_add(victim, &req, 0), UCS_OK);

    kill(pid, SIGKILL);
    wait_failures(&side, 1);
    EXPECT_TRUE(side.failed_ep == victim);
    EXPECT_EQ(side.failed_status, UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(completed, waiting + 1);
    EXPECT_EQ(completed_status, UCS_ERR_CONNECTION_RESET);
    uct_ep_pending_purge(victim, count_purged, NULL);
    EXPECT_EQ(num_purged, 1);
    EXPECT_EQ(uct_ep_am_short(victim, ID, 0, NULL, 0),
              UCS_ERR_CONNECTION_RESET);
    EXPECT_EQ(uct_ep_flush(victim, UCT_FLUSH_FLAG_CANCEL, NULL), UCS_OK);
    uct_ep_destroy(victim);

    for (int i = 0; i < 1000; ++i) {
        side_am_short(&side, other, ID, 0, NULL, 0);
    }
    EXPECT_EQ(side_flush(&side, other, 0), UCS_OK);
    EXPECT_EQ(side.failures, 1);
    kill(good, SIGKILL);
    wait_failures(&side, 2);
    uct_ep_destroy(other);
    waitpid(pid, NULL, 0);
    waitpid(good, NULL, 0);
    side_close(&side);
    free(buffer);
}

PAIR_TEST(failure_of_a_killed_peer_completes_everything, survives_a_kill,
          does_nothing)

/* --- Peers that do not exist ---------------------------------------------- */

static void calls_nobody(void *arg, int unused)
{
    side_addr_t gone;
    uct_ep_h ep, stale;
    side_t side;
    uint64_t id = htole64(0x99);
    uint16_t port;
    int held;

    open_side(&side, NULL);
    held = raw_hold_port(&side.addr, &port);
    gone = side.addr;
    tcp_wire_iface_set((void *)gone.iface, port, 0x98);
    ep = side_connect(&side, &gone);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    wait_failures(&side, 1);
    EXPECT_EQ(side.failed_status, UCS_ERR_UNREACHABLE);
    uct_ep_destroy(ep);

    /* uct_ep_check() alone detects it, too */
    ep = side_connect(&side, &gone);
    EXPECT_EQ(uct_ep_check(ep, 0, NULL), UCS_OK);
    wait_failures(&side, 2);
    uct_ep_destroy(ep);

    /* Another interface listens at the port: the id in the address differs from
     * the listener's */
    gone = side.addr;
    memcpy(((tcp_wire_iface_addr_t *)gone.iface)->id, &id, sizeof(id));
    stale = side_connect(&side, &gone);
    side_am_short(&side, stale, ID, 0, NULL, 0);
    wait_failures(&side, 3);
    EXPECT_EQ(side.failed_status, UCS_ERR_UNREACHABLE);
    uct_ep_destroy(stale);
    EXPECT_EQ(received, 0);
    close(held);
    side_close(&side);
}

PAIR_TEST(failure_of_a_peer_that_is_not_there_is_told, calls_nobody,
          does_nothing)

/* --- Noise on the port --------------------------------------------------- */

static void is_sprayed(void *arg, int unused)
{
    unsigned random = 4711;
    uint8_t noise[4096];
    int fds, fd, silent;
    side_t side;

    open_side(&side, "HANDSHAKE_TIMEOUT=300ms");
    fds = side_count_fds();

    /* Noise of 4 to 3984 bytes */
    for (unsigned round = 0; round < 200; ++round) {
        fd = raw_connect(&side.addr);
        EXPECT_GE(fd, 0);
        for (unsigned i = 0; i < sizeof(noise); ++i) {
            random   = random * 1103515245 + 12345;
            noise[i] = (uint8_t)(random >> 16);
        }
        (void)!send(fd, noise, 4 + round * 20, MSG_NOSIGNAL);
        raw_wait_closed(&side, fd);
        close(fd);
    }

    /* Noise after a valid greeting */
    for (unsigned round = 0; round < 200; ++round) {
        fd = raw_peer(&side, 0x1000 + round);
        for (unsigned i = 0; i < sizeof(noise); ++i) {
            random   = random * 1103515245 + 12345;
            noise[i] = (uint8_t)(random >> 16);
        }
        (void)!send(fd, noise, 8 + round * 20, MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        raw_wait_closed(&side, fd);
        close(fd);
    }

    /* A client that sends nothing, and a client that sends half a greeting */
    silent = raw_connect(&side.addr);
    fd     = raw_connect(&side.addr);
    raw_send(fd, "UCXT", 4);
    raw_wait_closed(&side, silent);
    raw_wait_closed(&side, fd);
    close(silent);
    close(fd);

    wait_fds(&side, fds);
    EXPECT_EQ(side.failures, 0);
    side_close(&side);
}

PAIR_TEST(failure_of_strangers_leaves_nothing, is_sprayed, does_nothing)

/* Opens more unknown connections than allowed: the oldest are closed, and peers
 * can still connect. */
static void is_crowded(void *arg, int unused)
{
    int fds[40], peer;
    side_t side;
    char byte;

    open_side(&side, "MAX_UNKNOWN_CONNS=16");
    for (int i = 0; i < 40; ++i) {
        fds[i] = raw_connect(&side.addr);
        EXPECT_GE(fds[i], 0);
        progress_for(&side, 0.001);
    }
    raw_wait_closed(&side, fds[0]);
    raw_wait_closed(&side, fds[23]);
    EXPECT_EQ(recv(fds[39], &byte, 1, MSG_DONTWAIT), -1);
    peer = raw_peer(&side, 0x5555);
    close(peer);
    for (int i = 0; i < 40; ++i) {
        close(fds[i]);
    }
    progress_for(&side, 0.01);
    side_close(&side);
}

PAIR_TEST(failure_of_a_crowd_of_strangers_is_bounded, is_crowded, does_nothing)

/* --- Cut in the middle --------------------------------------------------- */

static void gets_halves(void *arg, int unused)
{
    struct {
        uint64_t frame;
        uint8_t data[4096];
    } out;
    const uint64_t id = 0x4242, le = htole64(id);
    side_addr_t peer;
    side_t side;
    uct_ep_h ep;
    int fd, fds;

    open_side(&side, NULL);
    fds = side_count_fds();
    memset(&out, 0, sizeof(out));
    out.frame = tcp_wire_frame(TCP_WIRE_AM, ID, 4096);
    for (size_t cut = 1; cut < sizeof(out); cut += 173) {
        fd   = raw_peer(&side, id);
        peer = side.addr;
        memcpy(((tcp_wire_iface_addr_t *)peer.iface)->id, &le, sizeof(le));
        ep            = side_connect(&side, &peer);
        side.failures = 0;
        received      = 0;
        raw_send(fd, &out, sizeof(out));
        raw_send(fd, &out, cut);
        close(fd);
        wait_failures(&side, 1);
        EXPECT_TRUE(side.failed_ep == ep);
        EXPECT_EQ(received, 1); /* The complete message, not the partial one */
        uct_ep_destroy(ep);
    }
    wait_fds(&side, fds);
    side_close(&side);
}

PAIR_TEST(failure_in_the_middle_of_a_message_delivers_no_half, gets_halves,
          does_nothing)

/* --- A busy peer is not lost ---------------------------------------------- */

static void sleeps_a_while(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side, NULL);
    ep = side_meet(&side, fd, NULL);
    side_wait(&side, &received, 1, "a message");
    usleep(3000000);
    side_wait(&side, &received, 400, "the rest");
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

static size_t pack_zeros(void *dst, void *arg)
{
    memset(dst, 0, 60000);
    return 60000;
}

static void sends_to_a_sleeper(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_side(&side, "USER_TIMEOUT=1s");
    ep = side_meet(&side, fd, NULL);
    for (unsigned i = 0; i < 400; ++i) {
        while (uct_ep_am_bcopy(ep, ID, pack_zeros, NULL, 0) ==
               UCS_ERR_NO_RESOURCE) {
            side_progress(&side);
        }
    }
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures, 0);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(failure_is_not_seen_in_a_peer_that_is_busy, sends_to_a_sleeper,
          sleeps_a_while)

/* --- No descriptors ------------------------------------------------------ */

/* Without free descriptors the interface accepts no connection and does not
 * fail; when there are descriptors again, it accepts the peer that waits. */
static void runs_out_of_fds(void *arg, int fd)
{
    struct rlimit limit;
    int hoard[256], num = 0;
    side_t side;

    open_side(&side, NULL);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)side_count_fds() + 20;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while ((num < 256) && ((hoard[num] = dup(fd)) >= 0)) {
        ++num;
    }
    side_write(fd, &side.addr, sizeof(side.addr));
    progress_for(&side, 0.5);
    EXPECT_EQ(received, 0);
    for (int i = 0; i < num; ++i) {
        close(hoard[i]);
    }
    side_wait(&side, &received, 1, "a message after descriptors came back");
    side_barrier(&side, fd);
    side_barrier(&side, fd);
    side_close(&side);
}

static void connects_to_it(void *arg, int fd)
{
    side_addr_t peer;
    uct_ep_h ep;
    side_t side;

    open_side(&side, NULL);
    side_read(fd, &peer, sizeof(peer));
    ep = side_connect(&side, &peer);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures, 0);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(failure_to_get_a_descriptor_passes, runs_out_of_fds, connects_to_it)

/* An endpoint that only monitors its peer survives a shortage of descriptors,
 * and connects when they are available. */
static void watches_when_fds_are_back(void *arg, int fd)
{
    struct rlimit limit;
    int hoard[256], num = 0, sockets;
    side_addr_t peer;
    double end;
    uct_ep_h ep;
    side_t side;

    open_side(&side, "MAX_CONN_RETRIES=2");
    side_read(fd, &peer, sizeof(peer));
    ep = side_connect(&side, &peer);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)side_count_fds() + 20;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while ((num < 256) && ((hoard[num] = dup(fd)) >= 0)) {
        ++num;
    }
    EXPECT_EQ(uct_ep_check(ep, 0, NULL), UCS_OK);
    progress_for(&side, 0.3);
    EXPECT_EQ(side.failures, 0);
    while (num > 0) {
        close(hoard[--num]);
    }
    end     = side_now() + SIDE_TIMEOUT;
    sockets = side_count_sockets();
    while (side_count_sockets() == sockets) {
        side_progress(&side);
        EXPECT_TRUE(side_now() < end);
    }
    EXPECT_EQ(side.failures, 0);
    side_barrier(&side, fd);
    while (side.failures == 0) {
        side_progress(&side);
        EXPECT_TRUE(side_now() < end);
    }
    EXPECT_TRUE(side.failed_ep == ep);
    uct_ep_destroy(ep);
    side_close(&side);
}

static void is_watched(void *arg, int fd)
{
    side_t side;

    open_side(&side, NULL);
    side_write(fd, &side.addr, sizeof(side.addr));
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(failure_to_get_a_descriptor_does_not_end_a_watch,
          watches_when_fds_are_back, is_watched)

/* --- Keepalive ----------------------------------------------------------- */

/* Checks that the kernel's probes of every TCP socket of this process start
 * after `idle` seconds of silence; 0: there are no probes. */
static void expect_keepidle(int idle)
{
    int fd, value, num = 0;
    socklen_t length = sizeof(value);

    for (fd = 0; fd < 1024; ++fd) {
        if ((getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &length) != 0) ||
            (value != IPPROTO_TCP)) {
            continue;
        }
        ++num;
        EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &length), 0);
        EXPECT_EQ(value, idle > 0);
        if (idle > 0) {
            EXPECT_EQ(getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value,
                                 &length),
                      0);
            EXPECT_EQ(value, idle);
        }
    }
    EXPECT_EQ(num, 2); /* The listener and the connection */
}

typedef struct keepalive_case {
    ucs_time_t interval; /* Keepalive interval at opening; 0: not passed */
    const char *config;  /* Variables of the interface, or NULL */
    int idle;            /* Expected seconds until the first probe; 0: no
                          * probes */
} keepalive_case_t;

static const keepalive_case_t keepalive_cases[] = {
    {0, NULL, 10},
    {77000000000ul, NULL, 77},
    {1000, NULL, 1}, /* The kernel's minimum */
    {UCS_TIME_INFINITY, NULL, 0},
    {77000000000ul, "KEEPIDLE=33", 33},
    {77000000000ul, "KEEPIDLE=inf", 0},
};

static void keeps_alive(void *arg, int fd)
{
    const keepalive_case_t *last = keepalive_cases +
                                   sizeof(keepalive_cases) /
                                       sizeof(keepalive_cases[0]);
    const keepalive_case_t *c;
    side_t side;
    uct_ep_h ep;

    for (c = keepalive_cases; c != last; ++c) {
        side_keepalive = c->interval;
        open_side(&side, c->config);
        ep = side_meet(&side, fd, NULL);
        side_am_short(&side, ep, ID, 0, NULL, 0);
        EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
        side_barrier(&side, fd);
        expect_keepidle(c->idle);
        side_barrier(&side, fd);
        uct_ep_destroy(ep);
        side_close(&side);
    }
}

PAIR_TEST(failure_of_an_idle_peer_is_looked_for_as_often_as_told, keeps_alive,
          keeps_alive)

/* --- Closing ------------------------------------------------------------- */

/* Closing an interface does not wait for a peer that does not read. The peer is
 * killed only after the interface is closed, so that the test would time out if
 * closing waited for the peer. */
static void closes_on_a_stuck_peer(void *arg, int unused)
{
    uct_ep_h ep;
    side_t side;
    pid_t pid;
    char byte;
    int fd;

    pid = side_fork(stops_reading, NULL, &fd);
    open_side(&side, NULL);
    ep = side_meet(&side, fd, NULL);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_read_later(&side, fd, &byte, 1);
    while (uct_ep_am_bcopy(ep, ID, pack_zeros, NULL, 0) > 0) {
        side_progress(&side);
    }
    uct_ep_destroy(ep);
    side_close(&side);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

PAIR_TEST(failure_of_a_peer_to_read_does_not_hold_the_close,
          closes_on_a_stuck_peer, does_nothing)

SUITE_RUN("tcp failure", failure_of_a_killed_peer_completes_everything,
          failure_of_a_peer_that_is_not_there_is_told,
          failure_of_strangers_leaves_nothing,
          failure_of_a_crowd_of_strangers_is_bounded,
          failure_in_the_middle_of_a_message_delivers_no_half,
          failure_is_not_seen_in_a_peer_that_is_busy,
          failure_to_get_a_descriptor_passes,
          failure_to_get_a_descriptor_does_not_end_a_watch,
          failure_of_an_idle_peer_is_looked_for_as_often_as_told,
          failure_of_a_peer_to_read_does_not_hold_the_close)
