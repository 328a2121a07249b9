/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: opened on demand, by either side or both, also to the own
 * interface; shared by all endpoints to a peer; closed when unused, without a
 * leak or lost messages; congestion control over the loopback.
 */
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ID 1

static volatile unsigned received;
static uint64_t expected;

/* Messages of one sender have increasing numbers. */
static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    uint64_t header;

    EXPECT_EQ(length, sizeof(header));
    memcpy(&header, data, sizeof(header));
    EXPECT_EQ(header, expected);
    ++expected;
    ++received;
    return UCS_OK;
}

static ucs_status_t on_any(void *arg, void *data, size_t length, unsigned flags)
{
    ++received;
    return UCS_OK;
}

static void open_with(side_t *side, uct_am_callback_t handler)
{
    side_open(side, NULL);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID, handler, NULL, 0),
              UCS_OK);
}

static void wait_sockets(side_t *side, int count)
{
    double end = side_now() + SIDE_TIMEOUT;

    while (side_count_sockets() != count) {
        for (int i = 0; i < 20; ++i) {
            side_progress(side);
        }
        sched_yield();
        if (side_now() > end) {
            EXPECT_EQ(side_count_sockets(), count);
        }
    }
}

/* --- Both sides connect at once ------------------------------------------- */

/* Both sides send before either has received anything. One connection remains,
 * nothing is lost or reordered, and it is closed afterwards. */
static void connects_at_once(void *arg, int fd)
{
    int base;
    uct_ep_h ep;
    side_t side;

    open_with(&side, on_am);
    base = side_count_sockets();
    for (unsigned round = 0; round < 200; ++round) {
        received = 0;
        expected = 0;
        ep       = side_meet(&side, fd, NULL);
        side_barrier(&side, fd);
        for (uint64_t i = 0; i < 50; ++i) {
            side_am_short(&side, ep, ID, i, NULL, 0);
            if ((round % 3) == (i % 3)) {
                side_progress(&side);
            }
        }
        side_wait(&side, &received, 50, "the peer's messages");
        EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
        side_barrier(&side, fd);
        wait_sockets(&side, base + 1);
        EXPECT_EQ(received, 50);
        uct_ep_destroy(ep);
        side_barrier(&side, fd);
        wait_sockets(&side, base);
    }
    EXPECT_EQ(side.failures, 0);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(connect_from_both_sides_makes_one_connection, connects_at_once,
          connects_at_once)

/* --- Many endpoints ------------------------------------------------------ */

#define NUM_PEERS 64

static void is_reached_by_many(void *arg, int fd)
{
    side_t side;

    open_with(&side, on_any);
    side_write(fd, &side.addr, sizeof(side.addr));
    side_wait(&side, &received, NUM_PEERS * 100, "messages of all");
    side_barrier(&side, fd);
    EXPECT_EQ(received, NUM_PEERS * 100);
    EXPECT_EQ(side.failures, 0);
    side_barrier(&side, fd);
    side_close(&side);
}

static void reaches_from_many(void *arg, int fd)
{
    uct_iface_h ifaces[NUM_PEERS];
    uct_ep_h eps[NUM_PEERS];
    side_addr_t peer, own;
    uct_iface_h first;
    side_t side;

    side_open(&side, NULL);
    first = side.iface;
    side_read(fd, &peer, sizeof(peer));
    for (int i = 0; i < NUM_PEERS; ++i) {
        ifaces[i]  = side_open_iface(&side, NULL, &own);
        side.iface = ifaces[i];
        eps[i]     = side_connect(&side, &peer);
    }
    for (int j = 0; j < 100; ++j) {
        for (int i = 0; i < NUM_PEERS; ++i) {
            side_am_short(&side, eps[i], ID, (uint64_t)j, NULL, 0);
        }
        side_progress(&side);
    }
    for (int i = 0; i < NUM_PEERS; ++i) {
        EXPECT_EQ(side_flush(&side, eps[i], 0), UCS_OK);
    }
    side_barrier(&side, fd);
    for (int i = 0; i < NUM_PEERS; ++i) {
        uct_ep_destroy(eps[i]);
    }
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures, 0);
    for (int i = 0; i < NUM_PEERS; ++i) {
        uct_iface_close(ifaces[i]);
    }
    side.iface = first;
    side_close(&side);
}

PAIR_TEST(connect_of_many_peers_to_one_interface, is_reached_by_many,
          reaches_from_many)

/* Endpoints use no descriptor until the first send, and then share one. */
static void makes_many_endpoints(void *arg, int fd)
{
    uct_ep_h eps[1000];
    struct mallinfo2 before, after;
    side_addr_t peer;
    side_t side;
    int base;

    open_with(&side, on_any);
    eps[0] = side_meet(&side, fd, &peer);
    base   = side_count_sockets();
    before = mallinfo2();
    for (int i = 1; i < 1000; ++i) {
        eps[i] = side_connect(&side, &peer);
    }
    after = mallinfo2();
    EXPECT_TRUE((after.uordblks - before.uordblks) / 999 < 512);
    EXPECT_EQ(side_count_sockets(), base);
    for (int i = 0; i < 1000; ++i) {
        side_am_short(&side, eps[i], ID, (uint64_t)i, NULL, 0);
    }
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(side_flush(&side, eps[i], 0), UCS_OK);
    }
    EXPECT_EQ(side_count_sockets(), base + 1);
    side_barrier(&side, fd);
    for (int i = 0; i < 1000; ++i) {
        uct_ep_destroy(eps[i]);
    }
    side_barrier(&side, fd);
    side_close(&side);
}

static void receives_in_order(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_with(&side, on_am);
    ep = side_meet(&side, fd, NULL);
    side_wait(&side, &received, 1000, "messages");
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(connect_of_many_endpoints_to_one_peer_shares_it, makes_many_endpoints,
          receives_in_order)

/* --- Peers without an endpoint, or with a late one ------------------------ */

static void answers_late(void *arg, int fd)
{
    side_addr_t peer;
    uct_ep_h ep;
    side_t side;
    int count;

    open_with(&side, on_any);
    side_write(fd, &side.addr, sizeof(side.addr));
    side_read_later(&side, fd, &peer, sizeof(peer));
    side_wait(&side, &received, 10, "messages without an endpoint");
    count = side_count_sockets();
    ep    = side_connect(&side, &peer);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    EXPECT_EQ(side_count_sockets(), count);
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

static void asks_early(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    open_with(&side, on_any);
    ep = side_meet(&side, fd, NULL);
    for (int i = 0; i < 10; ++i) {
        side_am_short(&side, ep, ID, (uint64_t)i, NULL, 0);
    }
    side_wait(&side, &received, 1, "the answer");
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    EXPECT_EQ(side.failures, 0);
    side_close(&side);
}

PAIR_TEST(connect_of_the_peer_serves_a_later_endpoint, answers_late, asks_early)

/* --- Connections to the own interface ------------------------------------- */

static void talks_to_itself(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;
    int base;

    open_with(&side, on_am);
    base = side_count_sockets();
    ep   = side_connect(&side, &side.addr);
    for (uint64_t i = 0; i < 1000; ++i) {
        side_am_short(&side, ep, ID, i, NULL, 0);
    }
    side_wait(&side, &received, 1000, "own messages");
    uct_ep_destroy(ep);
    wait_sockets(&side, base);
    side_close(&side);
}

static void does_nothing(void *arg, int fd)
{
}

PAIR_TEST(connect_to_oneself_works, talks_to_itself, does_nothing)

/* --- Repeated connections ------------------------------------------------- */

#define WINDOW      100 /* Connections in a window */
#define NUM_WINDOWS 4
#define NUM_SAMPLES 5 /* Samples of the used memory at the end of a window */

/* Connects and disconnects WINDOW times. Returns the bytes of allocated memory:
 * the least of several samples at the end, which excludes temporary use. The
 * memory may grow in some windows, when both sides connect at once more often
 * than before, but not in every window. */
static size_t reconnect(side_t *side, int fd, int sockets)
{
    size_t used, least = SIZE_MAX;
    uct_ep_h ep;

    for (unsigned i = 0; i < WINDOW; ++i) {
        received = 0;
        ep       = side_meet(side, fd, NULL);
        if (i % 2) {
            side_am_short(side, ep, ID, i, NULL, 0);
            EXPECT_EQ(side_flush(side, ep, 0), UCS_OK);
        }
        side_barrier(side, fd);
        uct_ep_destroy(ep);
        side_barrier(side, fd);
        if (i >= WINDOW - NUM_SAMPLES) {
            wait_sockets(side, sockets);
            used  = mallinfo2().uordblks;
            least = (used < least) ? used : least;
        }
    }
    return least;
}

static void connects_again(void *arg, int fd)
{
    size_t before, used, more, growth = SIZE_MAX;
    int sockets, fds;
    side_t side;

    open_with(&side, on_any);
    sockets = side_count_sockets();
    before  = reconnect(&side, fd, sockets);
    fds     = side_count_fds();
    for (unsigned i = 0; i < NUM_WINDOWS; ++i) {
        used   = reconnect(&side, fd, sockets);
        more   = (used > before) ? used - before : 0;
        growth = (more < growth) ? more : growth;
        before = used;
    }
    EXPECT_EQ(side_count_fds(), fds);
    EXPECT_GE(WINDOW * 10, growth);
    EXPECT_EQ(side.failures, 0);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(connect_and_disconnect_leak_nothing, connects_again, connects_again)

/* No message is lost when an endpoint is destroyed and created again at once,
 * while the other side agrees to close the connection. */
static void reconnects_while_closing(void *arg, int fd)
{
    side_addr_t peer;
    uct_ep_h ep;
    side_t side;

    open_with(&side, on_any);
    ep = side_meet(&side, fd, &peer);
    for (unsigned i = 0; i < 3000; ++i) {
        side_am_short(&side, ep, ID, i, NULL, 0);
        uct_ep_destroy(ep);
        for (unsigned j = 0; j < (i * 7) % 11; ++j) {
            side_progress(&side);
        }
        ep = side_connect(&side, &peer);
    }
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_wait(&side, &received, 3000, "all messages");
    side_barrier(&side, fd);
    EXPECT_EQ(received, 3000);
    EXPECT_EQ(side.failures, 0);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(connect_while_closing_loses_nothing, reconnects_while_closing,
          reconnects_while_closing)

/* --- A new connection before the end of the old one ------------------------ */

/* Progresses `side` until a frame has arrived, and returns its type. The frame
 * and its payload are `size` bytes. */
static unsigned next_frame(side_t *side, int fd, size_t size)
{
    double end = side_now() + SIDE_TIMEOUT;
    uint8_t frame[256];
    size_t got = 0;
    ssize_t n;

    EXPECT_GE(sizeof(frame), size);
    while (got < size) {
        EXPECT_TRUE(side_now() < end);
        side_progress(side);
        n = recv(fd, frame + got, size - got, MSG_DONTWAIT);
        EXPECT_TRUE(n != 0);
        got += (n > 0) ? (size_t)n : 0;
    }
    return frame[0];
}

/* The peer agrees to close the connection and connects again. Its new greeting
 * arrives before the last frames on the old socket: the acknowledgement of a
 * put, a message, and the agreement. */
static void is_greeted_before_the_end(void *arg, int unused)
{
    const size_t put_size = tcp_wire_frame_size(sizeof(tcp_wire_put_t) + 8);
    const uint64_t id = htole64(0x4343), one = htole64(1);
    const uint64_t ends[]  = {tcp_wire_frame(TCP_WIRE_PUT_ACK, 0, 8), one,
                              tcp_wire_frame(TCP_WIRE_AM, ID, 8), 0,
                              tcp_wire_frame(TCP_WIRE_CLOSE_YES, 0, 0)};
    tcp_wire_rkey_t packed = {one};
    uct_rkey_bundle_t key;
    uint64_t word = 0;
    side_addr_t peer;
    side_t side;
    uct_ep_h ep;
    int old, new;

    received = 0;
    open_with(&side, on_any);
    EXPECT_EQ(uct_rkey_unpack(side.component, &packed, &key), UCS_OK);
    old  = raw_peer(&side, le64toh(id));
    peer = side.addr;
    memcpy(((tcp_wire_iface_addr_t *)peer.iface)->id, &id, sizeof(id));
    ep = side_connect(&side, &peer);
    EXPECT_EQ(uct_ep_put_short(ep, &word, sizeof(word), 0, key.rkey), UCS_OK);
    EXPECT_EQ(next_frame(&side, old, put_size), TCP_WIRE_PUT);
    uct_ep_destroy(ep);
    EXPECT_EQ(next_frame(&side, old, TCP_WIRE_HDR), TCP_WIRE_CLOSE);

    ep = side_connect(&side, &peer);
    EXPECT_EQ(uct_ep_put_short(ep, &word, sizeof(word), 0, key.rkey), UCS_OK);
    new = raw_connect(&side.addr);
    raw_hello_again(new, &side.addr, le64toh(id), 2);
    raw_wait_ack(&side, new);
    EXPECT_EQ(next_frame(&side, new, put_size), TCP_WIRE_PUT);
    raw_send(old, ends, sizeof(ends));
    side_wait(&side, &received, 1, "the message on the old socket");
    raw_send(new, ends, 2 * sizeof(ends[0]));
    EXPECT_EQ(side_flush(&side, ep, UCT_FLUSH_FLAG_REMOTE), UCS_OK);
    EXPECT_EQ(side.failures, 0);
    uct_ep_destroy(ep);
    uct_rkey_release(side.component, &key);
    close(old);
    close(new);
    side_close(&side);
}

PAIR_TEST(connect_before_the_old_connection_ends_loses_nothing,
          is_greeted_before_the_end, does_nothing)

/* --- Congestion control -------------------------------------------------- */

/* The sockets of the connection at both sides, and the listening socket, use
 * the congestion control reno regardless of the system's default. */
static void does_not_pace(void *arg, int fd)
{
    char name[16];
    socklen_t length;
    side_t side;
    uct_ep_h ep;
    int num = 0;

    open_with(&side, on_any);
    ep = side_meet(&side, fd, NULL);
    side_am_short(&side, ep, ID, 0, NULL, 0);
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_barrier(&side, fd);
    for (int i = 0; i < 1024; ++i) {
        length = sizeof(name);
        if (getsockopt(i, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0) {
            EXPECT_EQ(strncmp(name, "reno", length), 0);
            ++num;
        }
    }
    EXPECT_EQ(num, 2); /* The listener and the connection */
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_close(&side);
}

PAIR_TEST(connect_over_the_loopback_does_not_pace, does_not_pace, does_not_pace)

SUITE_RUN("tcp connect", connect_from_both_sides_makes_one_connection,
          connect_of_many_peers_to_one_interface,
          connect_of_many_endpoints_to_one_peer_shares_it,
          connect_of_the_peer_serves_a_later_endpoint, connect_to_oneself_works,
          connect_and_disconnect_leak_nothing,
          connect_while_closing_loses_nothing,
          connect_before_the_old_connection_ends_loses_nothing,
          connect_over_the_loopback_does_not_pace)
