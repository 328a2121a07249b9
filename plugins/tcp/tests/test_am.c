/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages between two processes: every kind, sizes around every limit,
 * order, the flag UCT_SEND_FLAG_PEER_CHECK, the number of system calls, what
 * precedes data in them, and setting a tracer.
 */
#include "pattern.h"
#include "side.h"
#include "suite.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <unistd.h>

#define ID       3
#define ID_OTHER 31

/* Counts the plugin's calls of send() and sendmsg(): symbols of the executable
 * take precedence over those of the C library. */
static unsigned num_sends;

/* System calls in which data of a page or more begins 1 to 31 bytes later than in
 * its page, so that copying it is slow (align.c). */
static unsigned num_near;

static void count_near(const struct msghdr *msg)
{
    size_t begin = 0;
    uintptr_t base;

    for (size_t i = 0; i < msg->msg_iovlen; ++i) {
        base = (uintptr_t)msg->msg_iov[i].iov_base;
        num_near += (msg->msg_iov[i].iov_len >= 4096) &&
                    ((begin - base - 1) % 4096 < 31);
        begin += msg->msg_iov[i].iov_len;
    }
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    ++num_sends;
    return syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    ++num_sends;
    count_near(msg);
    return syscall(SYS_sendmsg, fd, msg, flags);
}

/* --- Receiving: the first 8 bytes are sequence and length ---------------- */

static volatile unsigned received;
static unsigned num_other;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    uint32_t head[2];

    EXPECT_EQ((uintptr_t)data % 8, 0);
    EXPECT_GE(length, sizeof(head));
    memcpy(head, data, sizeof(head));
    EXPECT_EQ(head[0], received);
    EXPECT_EQ(head[1], length);
    EXPECT_EQ(pattern_check((char *)data + sizeof(head), head[0],
                            length - sizeof(head)),
              -1);
    ++received;
    return UCS_OK;
}

static ucs_status_t on_other(void *arg, void *data, size_t length,
                             unsigned flags)
{
    ++num_other;
    return UCS_OK;
}

static void receiver_open(side_t *side)
{
    side_open(side, NULL);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID, on_am, NULL, 0),
              UCS_OK);
    EXPECT_EQ(uct_iface_set_am_handler(side->iface, ID_OTHER, on_other, NULL,
                                       0),
              UCS_OK);
}

/* Receives as many messages as the other side announces. */
static void receive_all(void *arg, int fd)
{
    unsigned count;
    uct_ep_h ep;
    side_t side;

    receiver_open(&side);
    ep = side_meet(&side, fd, NULL);
    side_read_later(&side, fd, &count, sizeof(count));
    side_wait(&side, &received, count, "messages");
    side_barrier(&side, fd);
    EXPECT_EQ(received, count);
    uct_ep_destroy(ep);
    side_close(&side);
}

/* --- Sending ------------------------------------------------------------- */

static side_t sender;
static uct_ep_h sender_ep;
static uint32_t sequence;
static uint8_t message[1 << 21];
static unsigned completed;
static unsigned send_flags; /* Flags of buffered and zero-copy sends */

static void on_complete(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    comp->count = 1;
    ++completed;
}

static uct_completion_t completion = {on_complete, 1, UCS_OK};

static void prepare(size_t length)
{
    uint32_t head[2] = {sequence, (uint32_t)length};

    memcpy(message, head, sizeof(head));
    pattern_fill(message + sizeof(head), sequence, length - sizeof(head));
    ++sequence;
}

static size_t pack(void *dst, void *arg)
{
    memcpy(dst, message, *(size_t *)arg);
    return *(size_t *)arg;
}

static void send_short(size_t length)
{
    uint64_t header;

    prepare(length);
    memcpy(&header, message, sizeof(header));
    side_am_short(&sender, sender_ep, ID, header, message + 8,
                  (unsigned)length - 8);
}

static void send_bcopy(size_t length)
{
    ssize_t n;

    prepare(length);
    while ((n = uct_ep_am_bcopy(sender_ep, ID, pack, &length, send_flags)) ==
           UCS_ERR_NO_RESOURCE) {
        side_progress(&sender);
    }
    EXPECT_EQ(n, length);
}

/* Sends one message of `length` bytes: the first `header` bytes as header, the
 * others as data of `pieces` entries. Waits until the buffer can be reused. */
static void send_zcopy(size_t length, size_t header, unsigned pieces)
{
    unsigned before = completed;
    uct_iov_t iov[16];
    ucs_status_t status;
    size_t done = header, part;

    prepare(length);
    for (unsigned i = 0; i < pieces; ++i) {
        part   = (i + 1 == pieces) ? length - done : (length - done) / 3;
        iov[i] = (uct_iov_t){message + done, part, NULL, 0, 1};
        done += part;
    }
    while ((status = uct_ep_am_zcopy(sender_ep, ID, message, (unsigned)header,
                                     iov, pieces, send_flags, &completion)) ==
           UCS_ERR_NO_RESOURCE) {
        side_progress(&sender);
    }
    if (status == UCS_INPROGRESS) {
        side_wait(&sender, &completed, before + 1, "a zero-copy send");
    } else {
        EXPECT_EQ(status, UCS_OK);
    }
}

static void send_short_iov(size_t length)
{
    uct_iov_t iov[3];
    ucs_status_t status;

    prepare(length);
    /* Three entries: the header, an empty one, and the rest. Stride and count
     * are ignored. */
    iov[0] = (uct_iov_t){message, 8, NULL, 0, 1};
    iov[1] = (uct_iov_t){NULL, 0, NULL, 0, 1};
    iov[2] = (uct_iov_t){message + 8, length - 8, NULL, 1, 3};
    while ((status = uct_ep_am_short_iov(sender_ep, ID, iov, 3)) ==
           UCS_ERR_NO_RESOURCE) {
        side_progress(&sender);
    }
    EXPECT_EQ(status, UCS_OK);
}

static void sender_open(int fd)
{
    sequence = 0;
    side_open(&sender, NULL);
    sender_ep = side_meet(&sender, fd, NULL);
}

static void sender_close(int fd)
{
    unsigned count = sequence;

    EXPECT_EQ(side_flush(&sender, sender_ep, 0), UCS_OK);
    side_write(fd, &count, sizeof(count));
    side_barrier(&sender, fd);
    uct_ep_destroy(sender_ep);
    side_close(&sender);
}

/* Calls send_one for sizes around every power of two up to the limit. */
static void each_size(size_t max, void (*send_one)(size_t length))
{
    for (size_t size = 8; size <= max; size *= 2) {
        for (size_t length = size - 1; length <= size + 1; ++length) {
            if ((length >= 8) && (length <= max)) {
                send_one(length);
            }
        }
    }
    send_one(max);
}

static void send_zcopy_simple(size_t length)
{
    send_zcopy(length, 0, 1);
}

static void sends_all_sizes(void *arg, int fd)
{
    sender_open(fd);
    each_size(sender.attr.cap.am.max_short, send_short);
    each_size(sender.attr.cap.am.max_bcopy, send_bcopy);
    each_size(sender.attr.cap.am.max_zcopy, send_zcopy_simple);
    for (size_t length = 8; length < 200; length += 2) {
        send_short_iov(length);
    }
    sender_close(fd);
}

static void sends_zcopy_shapes(void *arg, int fd)
{
    const size_t headers[] = {0, 1, 8, 63, 88, 89, 500, 8192};
    size_t max, header;

    sender_open(fd);
    max = sender.attr.cap.am.max_zcopy;
    for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); ++i) {
        header = headers[i];
        send_zcopy(header + 8, header, 1);
        send_zcopy(header + 9, header, 2);
        send_zcopy(header + 3000, header, 7);
        send_zcopy(max, header, 16);
        send_zcopy(max - 1, header, 3);
    }
    sender_close(fd);
}

/* Sends data from each multiple of 8 bytes of a page's first lines. */
static void sends_from_each_offset(void *arg, int fd)
{
    static uint8_t page[3 * 4096] __attribute__((aligned(4096)));
    uct_iov_t iov = {.length = 8192, .count = 1};
    ucs_status_t status;

    sender_open(fd);
    EXPECT_EQ(side_flush(&sender, sender_ep, 0), UCS_OK);
    num_near = 0;
    for (size_t offset = 0; offset < 256; offset += 8) {
        prepare(8 + iov.length);
        iov.buffer = memcpy(page + offset, message + 8, iov.length);
        while ((status = uct_ep_am_zcopy(sender_ep, ID, message, 8, &iov, 1, 0,
                                         &completion)) == UCS_ERR_NO_RESOURCE) {
            side_progress(&sender);
        }
        EXPECT_TRUE((status == UCS_OK) || (status == UCS_INPROGRESS));
        EXPECT_EQ(side_flush(&sender, sender_ep, 0), UCS_OK);
    }
    EXPECT_EQ(num_near, 0);
    sender_close(fd);
}

/* Sends messages of all kinds in a pseudo-random order. */
static void sends_a_mixture(void *arg, int fd)
{
    unsigned random = 12345;
    uint64_t other  = 0;

    sender_open(fd);
    for (unsigned i = 0; i < 30000; ++i) {
        random = random * 1103515245 + 12345;
        switch ((random >> 16) % 8) {
        case 0:
            send_bcopy(8 + (random >> 8) % 60000);
            break;
        case 1:
            send_zcopy(8 + (random >> 8) % 30000, (random >> 4) % 8,
                       1 + (random >> 12) % 5);
            break;
        case 2:
            side_progress(&sender);
            break;
        case 3:
            side_am_short(&sender, sender_ep, ID_OTHER, other, NULL, 0);
            break;
        default:
            send_short(8 + (random >> 8) % 64);
            break;
        }
    }
    sender_close(fd);
}

/* Sends all messages with the flag UCT_SEND_FLAG_PEER_CHECK, also the first
 * one, which opens the connection. */
static void sends_with_checks(void *arg, int fd)
{
    send_flags = UCT_SEND_FLAG_PEER_CHECK;
    sender_open(fd);
    for (unsigned i = 0; i < 500; ++i) {
        send_bcopy(8 + i);
        send_zcopy(8 + 50 * i, i % 8, 1 + i % 5);
        send_short(8 + i % 64);
    }
    sender_close(fd);
}

/* --- Tests --------------------------------------------------------------- */

PAIR_TEST(am_arrives_whole_at_every_size, sends_all_sizes, receive_all)
PAIR_TEST(am_zcopy_takes_every_shape, sends_zcopy_shapes, receive_all)
PAIR_TEST(am_zcopy_is_not_just_ahead_of_its_page, sends_from_each_offset,
          receive_all)
PAIR_TEST(am_keeps_its_order_among_kinds, sends_a_mixture, receive_all)
PAIR_TEST(am_that_checks_its_peer_arrives_once, sends_with_checks, receive_all)

static void sends_in_both_directions(void *arg, int fd)
{
    volatile unsigned *counter = &received;

    receiver_open(&sender);
    sequence  = 0;
    sender_ep = side_meet(&sender, fd, NULL);
    for (unsigned i = 0; i < 20000; ++i) {
        send_short(8 + i % 100);
        if (i % 100 == 0) {
            send_zcopy(200000, 8, 2);
        }
    }
    EXPECT_EQ(side_flush(&sender, sender_ep, 0), UCS_OK);
    side_wait(&sender, counter, 20200, "the other's messages");
    side_barrier(&sender, fd);
    uct_ep_destroy(sender_ep);
    side_close(&sender);
}

PAIR_TEST(am_goes_both_ways_at_once, sends_in_both_directions,
          sends_in_both_directions)

/* Messages between two rounds of progress are sent by very few system calls; a
 * single message is sent at once. */
static void sends_bursts(void *arg, int fd)
{
    unsigned before;

    sender_open(fd);
    send_short(16);
    EXPECT_EQ(side_flush(&sender, sender_ep, 0), UCS_OK);
    for (unsigned burst = 0; burst < 100; ++burst) {
        before = num_sends;
        for (unsigned i = 0; i < 64; ++i) {
            send_short(16);
        }
        EXPECT_EQ(num_sends - before, 1);
        side_progress(&sender);
        EXPECT_TRUE(num_sends - before <= 2);
    }
    for (unsigned i = 0; i < 100; ++i) {
        side_progress(&sender);
        before = num_sends;
        send_short(16);
        EXPECT_EQ(num_sends - before, 1);
    }
    sender_close(fd);
}

PAIR_TEST(am_short_bursts_leave_together, sends_bursts, receive_all)

static void trace(void *arg, uct_am_trace_type_t type, uint8_t id,
                  const void *data, size_t length, char *buffer, size_t max)
{
}

/* Only checks that a tracer can be set and removed. The conformance kit
 * (ucx-plugin-check) checks the calls of the tracer. */
static void sets_a_tracer(void *arg, int fd)
{
    side_t side;

    side_open(&side, NULL);
    EXPECT_EQ(uct_iface_set_am_tracer(side.iface, trace, NULL), UCS_OK);
    EXPECT_EQ(uct_iface_set_am_tracer(side.iface, NULL, NULL), UCS_OK);
    side_close(&side);
}

PAIR_TEST(am_can_be_traced, sets_a_tracer, sets_a_tracer)

SUITE_RUN("tcp am", am_arrives_whole_at_every_size, am_zcopy_takes_every_shape,
          am_zcopy_is_not_just_ahead_of_its_page,
          am_keeps_its_order_among_kinds, am_that_checks_its_peer_arrives_once,
          am_goes_both_ways_at_once, am_short_bursts_leave_together,
          am_can_be_traced)
