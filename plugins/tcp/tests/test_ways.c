/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that are not reachable at their first address, but at another of their
 * listeners or at none; truncated addresses; and peers that are reachable but
 * busy.
 */
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ID 1

static volatile unsigned received;
static uint64_t last_header;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    memcpy(&last_header, data, sizeof(last_header));
    ++received;
    return UCS_OK;
}

static void open_side(side_t *side, const char *config)
{
    side_open(side, config);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID, on_am, NULL, 0),
              UCS_OK);
}

/* Returns a loopback port that accepts no connection while the sockets `fds`
 * are open. Without `takes_nobody` there is no listener, so connections are
 * refused. With it there is a listener whose queue is full, so the kernel drops
 * connection requests. */
static uint16_t dead_port(int takes_nobody, int fds[4])
{
    struct sockaddr_in in = {
        .sin_family      = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t length = sizeof(in);

    for (int i = 0; i < 4; ++i) {
        fds[i] = socket(AF_INET,
                        SOCK_STREAM | SOCK_CLOEXEC |
                            ((i > 0) ? SOCK_NONBLOCK : 0),
                        0);
        EXPECT_GE(fds[i], 0);
    }
    EXPECT_EQ(bind(fds[0], (void *)&in, length), 0);
    EXPECT_EQ(getsockname(fds[0], (void *)&in, &length), 0);
    if (takes_nobody) {
        EXPECT_EQ(listen(fds[0], 0), 0);
        for (int i = 1; i < 4; ++i) {
            (void)!connect(fds[i], (void *)&in, length);
        }
    }
    return ntohs(in.sin_port);
}

static void close_dead(int fds[4])
{
    for (int i = 0; i < 4; ++i) {
        close(fds[i]);
    }
}

/* Writes to *addr an address of `peer` that begins with a wrong listener, of
 * this port and id. Two alternative addresses follow: an unused entry of zeros,
 * and the peer's real listener. Returns the length of the interface address. */
static size_t lead_astray(side_addr_t *addr, const side_addr_t *peer,
                          uint16_t port, uint64_t id)
{
    size_t ip = (peer->dev[0] == 4) ? 4 : 16;
    tcp_wire_iface_addr_t first;
    char *others;

    tcp_wire_iface_set(&first, port, id);
    *addr  = *peer;
    others = (char *)addr->iface + sizeof(first);
    memcpy(addr->iface, &first, sizeof(first));
    memset(others, 0, ip + sizeof(first));
    others += ip + sizeof(first);
    memcpy(others, peer->dev + TCP_WIRE_DEV_HEAD, ip);
    memcpy(others + ip, peer->iface, sizeof(first));
    return sizeof(first) + 2 * (ip + sizeof(first));
}

static ucs_status_t connect_to(side_t *side, const side_addr_t *peer,
                               size_t length, uct_ep_h *ep_p)
{
    uct_ep_params_t params = {
        .field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR |
                      UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH,
        .iface             = side->iface,
        .dev_addr          = (void *)peer->dev,
        .iface_addr        = (void *)peer->iface,
        .iface_addr_length = length,
    };

    return uct_ep_create(&params, ep_p);
}

/* Sends its address, and receives two messages. */
static void is_found(void *arg, int fd)
{
    side_t side;

    open_side(&side, NULL);
    side_write(fd, &side.addr, sizeof(side.addr));
    side_wait(&side, &received, 2, "messages");
    EXPECT_EQ(last_header, 2);
    side_barrier(&side, fd);
    EXPECT_EQ(received, 2);
    EXPECT_EQ(side.failures, 0);
    side_close(&side);
}

/* Sends two messages by two endpoints, which arrive over one connection in
 * order. */
static void finds(side_t *side, const side_addr_t *addr, size_t length, int fd)
{
    int sockets = side_count_sockets();
    uct_ep_h first, second;

    EXPECT_EQ(connect_to(side, addr, length, &first), UCS_OK);
    side_am_short(side, first, ID, 1, NULL, 0);
    EXPECT_EQ(side_flush(side, first, 0), UCS_OK);
    EXPECT_EQ(connect_to(side, addr, length, &second), UCS_OK);
    side_am_short(side, second, ID, 2, NULL, 0);
    EXPECT_EQ(side_flush(side, second, 0), UCS_OK);
    EXPECT_EQ(side_count_sockets(), sockets + 1);
    side_barrier(side, fd);
    EXPECT_EQ(side->failures, 0);
    uct_ep_destroy(second);
    uct_ep_destroy(first);
}

static void goes_round(int takes_nobody, int fd)
{
    side_addr_t peer, addr;
    uint16_t port;
    size_t length;
    side_t side;
    int dead[4];

    open_side(&side, NULL);
    side_read(fd, &peer, sizeof(peer));
    port   = dead_port(takes_nobody, dead);
    length = lead_astray(&addr, &peer, port, 77);
    finds(&side, &addr, length, fd);
    close_dead(dead);
    side_close(&side);
}

static void goes_round_a_closed_port(void *arg, int fd)
{
    goes_round(0, fd);
}

static void goes_round_a_silent_port(void *arg, int fd)
{
    goes_round(1, fd);
}

static void goes_round_another_process(void *arg, int fd)
{
    side_addr_t peer, addr;
    side_t side, other;
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    double end        = side_now() + SIDE_TIMEOUT;
    size_t length;
    uct_ep_h ep;

    open_side(&side, NULL);
    open_side(&other, NULL);
    side_read(fd, &peer, sizeof(peer));
    /* `other` listens at the wrong address, and rejects the attempt when it is
     * progressed */
    length = lead_astray(&addr, &peer,
                         tcp_wire_iface_port((const void *)other.addr.iface),
                         77);
    EXPECT_EQ(connect_to(&side, &addr, length, &ep), UCS_OK);
    side_am_short(&side, ep, ID, 1, NULL, 0);
    side_am_short(&side, ep, ID, 2, NULL, 0);
    while (poll(&pfd, 1, 0) == 0) {
        side_progress(&side);
        side_progress(&other);
        EXPECT_TRUE(side_now() < end);
    }
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures + other.failures, 0);
    EXPECT_EQ(received, 0);
    uct_ep_destroy(ep);
    side_close(&other);
    side_close(&side);
}

static void does_nothing(void *arg, int fd)
{
}

/* Waits until the failure of `ep` is reported. Nothing else may be reported. */
static void wait_for_failure(side_t *side, uct_ep_h ep)
{
    double end = side_now() + SIDE_TIMEOUT;

    while (side->failures == 0) {
        EXPECT_TRUE(side_now() < end);
        side_progress(side);
    }
    EXPECT_EQ(side->failures, 1);
    EXPECT_TRUE(side->failed_ep == ep);
}

static void finds_nobody(void *arg, int unused)
{
    uint16_t port, port2;
    int dead[4], dead2[4];
    side_addr_t addr, peer;
    size_t length;
    side_t side;
    uct_ep_h ep;

    open_side(&side, NULL);
    port  = dead_port(0, dead);
    port2 = dead_port(0, dead2);
    peer  = side.addr;
    tcp_wire_iface_set((void *)peer.iface, port2, 78);
    length = lead_astray(&addr, &peer, port, 77);
    EXPECT_EQ(connect_to(&side, &addr, length, &ep), UCS_OK);
    side_am_short(&side, ep, ID, 1, NULL, 0);
    wait_for_failure(&side, ep);
    EXPECT_EQ(side.failed_status, UCS_ERR_UNREACHABLE);
    uct_ep_destroy(ep);
    close_dead(dead2);
    close_dead(dead);
    side_close(&side);
}

/* The attempt at the first address gets no answer. Meanwhile the peer opens a
 * connection with the id of the alternative address, so that this address is
 * skipped, and the first attempt continues until CONNECT_TIMEOUT. */
static void loses_the_other_way(void *arg, int unused)
{
    side_addr_t addr, peer;
    uint16_t port;
    size_t length;
    int dead[4], fd;
    side_t side;
    uct_ep_h ep;

    open_side(&side, "CONNECT_TIMEOUT=2s");
    port = dead_port(1, dead);
    peer = side.addr;
    tcp_wire_iface_set((void *)peer.iface, port, 78);
    length = lead_astray(&addr, &peer, port, 77);
    /* The connection is in the listen queue when the first attempt begins, and
     * the next progress accepts it: before any timer, however late that
     * progress is */
    fd     = raw_connect(&side.addr);
    EXPECT_GE(fd, 0);
    raw_hello(fd, &side.addr, 78);
    EXPECT_EQ(connect_to(&side, &addr, length, &ep), UCS_OK);
    side_am_short(&side, ep, ID, 1, NULL, 0);
    raw_wait_ack(&side, fd);
    wait_for_failure(&side, ep);
    uct_ep_destroy(ep);
    close(fd);
    close_dead(dead);
    side_close(&side);
}

/* Cuts an interface address at each length. It is rejected if its first entry
 * (port and id) is incomplete. Otherwise it is accepted, and an incomplete last
 * entry is ignored. No byte after the end is read. */
static void reads_short_addresses(void *arg, int unused)
{
    size_t length, least = sizeof(tcp_wire_iface_addr_t);
    side_addr_t addr;
    side_t side;
    uct_ep_h ep;

    open_side(&side, NULL);
    length = lead_astray(&addr, &side.addr, 1, 77);
    for (size_t cut = 0; cut <= length; ++cut) {
        side_addr_t *copy = malloc(sizeof(addr.dev) + cut);

        /* With the address sanitizer, reading the byte after the address ends
         * the test */
        memcpy(copy->dev, addr.dev, sizeof(addr.dev));
        memcpy(copy->iface, addr.iface, cut);
        if (cut < least) {
            EXPECT_EQ(connect_to(&side, copy, cut, &ep), UCS_ERR_INVALID_ADDR);
        } else {
            EXPECT_EQ(connect_to(&side, copy, cut, &ep), UCS_OK);
            uct_ep_destroy(ep);
        }
        free(copy);
    }
    side_close(&side);
}

/* --- A busy peer --------------------------------------------------------- */

static void computes_first(void *arg, int fd)
{
    side_t side;
    char byte;

    open_side(&side, NULL);
    side_write(fd, &side.addr, sizeof(side.addr));
    side_read(fd, &byte, 1);
    side_wait(&side, &received, 1, "a message");
    side_barrier(&side, fd);
    side_close(&side);
}

/* The kernel accepts the connection, but the process does not read the greeting
 * for longer than the connect timeout. */
static void has_patience(void *arg, int fd)
{
    side_addr_t peer;
    char byte = 'b';
    side_t side;
    uct_ep_h ep;
    double end;

    open_side(&side, "CONNECT_TIMEOUT=100ms,USER_TIMEOUT=200ms");
    side_read(fd, &peer, sizeof(peer));
    ep = side_connect(&side, &peer);
    side_am_short(&side, ep, ID, 1, NULL, 0);
    for (end = side_now() + 0.5; side_now() < end;) {
        side_progress(&side);
    }
    EXPECT_EQ(side.failures, 0);
    side_write(fd, &byte, 1);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures, 0);
    uct_ep_destroy(ep);
    side_close(&side);
}

PAIR_TEST(ways_lead_round_a_closed_port, goes_round_a_closed_port, is_found)
PAIR_TEST(ways_lead_round_a_silent_port, goes_round_a_silent_port, is_found)
PAIR_TEST(ways_lead_round_another_process, goes_round_another_process, is_found)
PAIR_TEST(ways_that_all_fail_are_told_once, finds_nobody, does_nothing)
PAIR_TEST(ways_that_are_taken_meanwhile_are_left, loses_the_other_way,
          does_nothing)
PAIR_TEST(ways_are_read_as_far_as_they_go, reads_short_addresses, does_nothing)
PAIR_TEST(ways_are_kept_while_the_peer_is_busy, has_patience, computes_first)

SUITE_RUN("ways", ways_lead_round_a_closed_port, ways_lead_round_a_silent_port,
          ways_lead_round_another_process, ways_that_all_fail_are_told_once,
          ways_that_are_taken_meanwhile_are_left,
          ways_are_read_as_far_as_they_go, ways_are_kept_while_the_peer_is_busy)
