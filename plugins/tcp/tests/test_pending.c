/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behaviour without send resources: pending requests, their order, purging,
 * flushes by them, and cancelling operations in flight.
 */
#include "pattern.h"
#include "raw.h"
#include "side.h"
#include "suite.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ID 1

static volatile unsigned received;

static ucs_status_t on_am(void *arg, void *data, size_t length, unsigned flags)
{
    uint32_t number;

    memcpy(&number, data, sizeof(number));
    EXPECT_EQ(number, received);
    EXPECT_EQ(pattern_check((char *)data + 4, number, length - 4), -1);
    ++received;
    return UCS_OK;
}

/* --- Order --------------------------------------------------------------- */

#define NUM_MESSAGES 3000
#define LENGTH       20000

typedef struct request {
    uct_pending_req_t super;
    uct_ep_h ep;
    uint32_t number;
} request_t;

static unsigned num_pending, num_dispatched;

static size_t pack_number(void *dst, void *arg)
{
    uint32_t number = *(uint32_t *)arg;

    memcpy(dst, &number, sizeof(number));
    pattern_fill((char *)dst + 4, number, LENGTH - 4);
    return LENGTH;
}

static ucs_status_t send_number(uct_ep_h ep, uint32_t number)
{
    ssize_t n = uct_ep_am_bcopy(ep, ID, pack_number, &number, 0);

    return (n < 0) ? (ucs_status_t)n : UCS_OK;
}

static ucs_status_t send_again(uct_pending_req_t *super)
{
    request_t *req      = (request_t *)super;
    ucs_status_t status = send_number(req->ep, req->number);

    if (status != UCS_ERR_NO_RESOURCE) {
        EXPECT_EQ(status, UCS_OK);
        ++num_dispatched;
        free(req);
        return UCS_OK;
    }
    return status;
}

/* Sends NUM_MESSAGES messages. A message that finds no send resources becomes a
 * pending request, and the sending continues. The peer makes no progress for
 * 20 ms after the first message. */
static void sends_by_pending(void *arg, int fd)
{
    request_t *req;
    ucs_status_t status;
    uct_ep_h ep;
    side_t side;

    side_open(&side, NULL);
    ep = side_meet(&side, fd, NULL);
    for (uint32_t i = 0; i < NUM_MESSAGES; ++i) {
        status = send_number(ep, i);
        if (status == UCS_OK) {
            /* No send overtakes a pending request */
            EXPECT_EQ(num_pending, num_dispatched);
            continue;
        }
        EXPECT_EQ(status, UCS_ERR_NO_RESOURCE);
        req             = malloc(sizeof(*req));
        req->super.func = send_again;
        req->ep         = ep;
        req->number     = i;
        status          = uct_ep_pending_add(ep, &req->super, 0);
        if (status == UCS_ERR_BUSY) {
            free(req);
            --i;
            continue;
        }
        EXPECT_EQ(status, UCS_OK);
        ++num_pending;
        if (i % 500 == 0) {
            side_progress(&side);
        }
    }
    EXPECT_TRUE(num_pending > 100);
    side_wait(&side, &num_dispatched, num_pending, "pending requests");
    EXPECT_EQ(side_flush(&side, ep, 0), UCS_OK);
    side_barrier(&side, fd);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

static void receives_slowly(void *arg, int fd)
{
    uct_ep_h ep;
    side_t side;

    side_open(&side, NULL);
    EXPECT_EQ(uct_iface_set_am_handler(side.iface, ID, on_am, NULL, 0), UCS_OK);
    ep = side_meet(&side, fd, NULL);
    side_wait(&side, &received, 1, "the first message");
    usleep(20000);
    side_wait(&side, &received, NUM_MESSAGES, "messages");
    side_barrier(&side, fd);
    EXPECT_EQ(received, NUM_MESSAGES);
    uct_ep_destroy(ep);
    side_barrier(&side, fd);
    side_close(&side);
}

PAIR_TEST(pending_requests_keep_the_order, sends_by_pending, receives_slowly)

/* --- A peer that does not read ------------------------------------------- */

typedef struct stuck {
    side_t side;
    uct_ep_h ep;
    int fd; /* The peer's side of the connection */
} stuck_t;

/* Opens an endpoint whose peer sends a greeting and then reads nothing. The
 * peer connects, and the endpoint uses that connection. */
static void open_stuck(stuck_t *stuck)
{
    const uint64_t id = 0x7777, le = htole64(id);
    side_addr_t peer;

    side_open(&stuck->side, NULL);
    peer      = stuck->side.addr;
    stuck->fd = raw_peer(&stuck->side, id);
    memcpy(((tcp_wire_iface_addr_t *)peer.iface)->id, &le, sizeof(le));
    stuck->ep = side_connect(&stuck->side, &peer);
}

/* Destroys the endpoint. The peer closes its socket without having read all
 * data. */
static void close_stuck(stuck_t *stuck)
{
    uct_ep_destroy(stuck->ep);
    close(stuck->fd);
    for (int i = 0; i < 1000; ++i) {
        side_progress(&stuck->side);
    }
    side_close(&stuck->side);
}

static unsigned num_purged;

static void count_purged(uct_pending_req_t *req, void *arg)
{
    EXPECT_TRUE(arg == &num_purged);
    ++num_purged;
}

static ucs_status_t never_sent(uct_pending_req_t *req)
{
    return UCS_ERR_NO_RESOURCE;
}

static void purges(void *arg, int unused)
{
    uct_pending_req_t reqs[10];
    unsigned count = 0;
    stuck_t stuck;

    open_stuck(&stuck);
    while (send_number(stuck.ep, count) == UCS_OK) {
        ++count;
    }
    for (int i = 0; i < 10; ++i) {
        reqs[i].func = never_sent;
        EXPECT_EQ(uct_ep_pending_add(stuck.ep, &reqs[i], 0), UCS_OK);
    }
    for (int i = 0; i < 1000; ++i) {
        side_progress(&stuck.side);
    }
    uct_ep_pending_purge(stuck.ep, count_purged, &num_purged);
    EXPECT_EQ(num_purged, 10);
    uct_ep_pending_purge(stuck.ep, count_purged, &num_purged);
    EXPECT_EQ(num_purged, 10);
    close_stuck(&stuck);
}

static void does_nothing(void *arg, int fd)
{
}

PAIR_TEST(pending_requests_can_be_taken_back, purges, does_nothing)

/* uct_ep_flush() in the callback of a pending request does not fail because
 * later requests are queued. Outside of such a callback it returns
 * UCS_ERR_NO_RESOURCE while requests are queued. */
static unsigned num_turns;

static ucs_status_t flushes(uct_pending_req_t *super)
{
    ucs_status_t status = uct_ep_flush(((request_t *)super)->ep, 0, NULL);

    if (status == UCS_ERR_NO_RESOURCE) {
        return status;
    }
    EXPECT_TRUE(status >= 0);
    EXPECT_EQ(num_turns, 0);
    ++num_turns;
    return UCS_OK;
}

static ucs_status_t follows(uct_pending_req_t *super)
{
    EXPECT_EQ(num_turns, 1);
    ++num_turns;
    return UCS_OK;
}

static void flushes_in_turn(void *arg, int unused)
{
    double end               = side_now() + SIDE_TIMEOUT;
    uct_pending_req_t behind = {.func = follows};
    request_t first          = {.super.func = flushes};
    char sink[65536];
    stuck_t stuck;

    open_stuck(&stuck);
    first.ep = stuck.ep;
    while (send_number(stuck.ep, 0) == UCS_OK) {
    }
    EXPECT_EQ(uct_ep_pending_add(stuck.ep, &first.super, 0), UCS_OK);
    EXPECT_EQ(uct_ep_pending_add(stuck.ep, &behind, 0), UCS_OK);
    EXPECT_EQ(uct_ep_flush(stuck.ep, 0, NULL), UCS_ERR_NO_RESOURCE);
    while ((num_turns < 2) && (side_now() < end)) {
        side_progress(&stuck.side);
        EXPECT_TRUE(recv(stuck.fd, sink, sizeof(sink), MSG_DONTWAIT) != 0);
    }
    EXPECT_EQ(num_turns, 2);
    close_stuck(&stuck);
}

PAIR_TEST(a_pending_flush_has_its_turn, flushes_in_turn, does_nothing)

/* Cancelling completes all outstanding operations, and the stream stays in
 * order. */
static unsigned num_cancelled, num_good;

static void on_zcopy(uct_completion_t *comp)
{
    if (comp->status == UCS_ERR_CANCELED) {
        ++num_cancelled;
    } else {
        EXPECT_EQ(comp->status, UCS_OK);
        ++num_good;
    }
    free(comp);
}

static void on_flush(uct_completion_t *comp)
{
    EXPECT_EQ(comp->status, UCS_OK);
    ++*(unsigned *)(comp + 1);
}

/* Reads at the peer's side of the connection. */
static void read_all(stuck_t *stuck, uint8_t *data, size_t length)
{
    ssize_t n;

    for (size_t got = 0; got < length; got += (size_t)n) {
        side_progress(&stuck->side);
        n = recv(stuck->fd, data + got, length - got, MSG_DONTWAIT);
        EXPECT_TRUE(n != 0);
        n = (n < 0) ? 0 : n;
    }
}

static void cancels(void *arg, int unused)
{
    struct {
        uct_completion_t comp;
        unsigned done;
    } flush          = {{on_flush, 1, UCS_OK}, 0};
    size_t length    = 49 * 4096;
    uint8_t *buffer  = aligned_alloc(4096, length); /* see src/align.c */
    unsigned waiting = 0, whole = 0;
    uct_completion_t *comp;
    ucs_status_t status;
    uint8_t head[8], *sink;
    uct_iov_t iov;
    stuck_t stuck;

    open_stuck(&stuck);
    memset(buffer, 0xab, length);
    iov = (uct_iov_t){buffer, length, NULL, 0, 1};
    for (;;) {
        comp   = malloc(sizeof(*comp));
        *comp  = (uct_completion_t){on_zcopy, 1, UCS_OK};
        status = uct_ep_am_zcopy(stuck.ep, ID, NULL, 0, &iov, 1, 0, comp);
        if (status != UCS_INPROGRESS) {
            free(comp);
        }
        if (status == UCS_ERR_NO_RESOURCE) {
            break;
        }
        EXPECT_TRUE(status >= 0);
        waiting += (status == UCS_INPROGRESS);
    }
    EXPECT_TRUE(waiting > 2);
    EXPECT_EQ(uct_ep_flush(stuck.ep, UCT_FLUSH_FLAG_CANCEL, &flush.comp),
              UCS_INPROGRESS);
    EXPECT_EQ(num_cancelled, 0); /* Completions are called from progress only */
    side_wait(&stuck.side, &flush.done, 1, "a cancel");
    EXPECT_EQ(num_cancelled + num_good, waiting);
    EXPECT_TRUE(num_cancelled > 0);
    EXPECT_EQ(uct_ep_am_short(stuck.ep, ID, 0, NULL, 0), UCS_ERR_CANCELED);
    EXPECT_EQ(stuck.side.failures, 0);
    /* After the completion the user may change the memory; the peer must still
     * receive the old contents */
    memset(buffer, 0xcd, length);
    uct_ep_destroy(stuck.ep);

    /* The peer receives complete messages with the old contents, then CLOSE;
     * acknowledgements may precede messages */
    sink = malloc(length);
    for (;;) {
        read_all(&stuck, head, sizeof(head));
        if (head[0] == TCP_WIRE_CLOSE) {
            break;
        }
        if (head[0] == TCP_WIRE_PUT_ACK) {
            read_all(&stuck, head, sizeof(head));
            EXPECT_EQ(tcp_wire_load(head), 0);
            continue;
        }
        EXPECT_EQ(head[0], TCP_WIRE_AM);
        EXPECT_EQ(tcp_wire_load(head) >> 32, length);
        read_all(&stuck, sink, length);
        for (size_t i = 0; i < length; ++i) {
            EXPECT_EQ(sink[i], 0xab);
        }
        ++whole;
    }
    EXPECT_TRUE(whole > 0);
    close(stuck.fd);
    side_close(&stuck.side);
    free(sink);
    free(buffer);
}

PAIR_TEST(pending_sends_can_be_cancelled, cancels, does_nothing)

SUITE_RUN("tcp pending", pending_requests_keep_the_order,
          pending_requests_can_be_taken_back, a_pending_flush_has_its_turn,
          pending_sends_can_be_cancelled)
