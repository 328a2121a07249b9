/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests a receiver of the example plugin udp whose user does not call progress
 * for long. The service thread of the receiving interface acknowledges
 * messages, keeps those that arrive, makes the sender wait when it cannot keep
 * more, and wakes a user that sleeps on the event descriptor. Progress then
 * delivers all messages in order.
 */
#include "opened.h"
#include "udp.h"

#include <poll.h>
#include <time.h>

enum {
    MANY     = 200,  /* Messages; more than the service thread keeps */
    LIMIT    = 1,    /* s, UCX_UDP_TIMEOUT of this test */
    PATIENCE = 30000 /* ms, of a poll() */
};

static unsigned num_received, num_flushed, num_sent;
static uct_ep_h sender;

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    (void)arg;
    (void)flags;
    udp_require(length == sizeof(uint64_t), "length");
    udp_require(*(uint64_t *)data == num_received, "order");
    ++num_received;
    return UCS_OK;
}

static void on_flushed(uct_completion_t *comp)
{
    udp_require(comp->status == UCS_OK, "status of the flush");
    ++num_flushed;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_up_to(unsigned last)
{
    while ((num_sent < last) &&
           (uct_ep_am_short(sender, 1, num_sent, NULL, 0) == UCS_OK)) {
        ++num_sent;
    }
}

/* Flushes the sender's endpoint while only the sender progresses, so that the
 * receiver's service thread must acknowledge. */
static void flush(const opened_t *opened)
{
    uct_completion_t comp = {.func = on_flushed, .count = 1, .status = UCS_OK};
    ucs_status_t status   = uct_ep_flush(sender, 0, &comp);

    num_flushed = (status == UCS_OK);
    udp_require((status == UCS_OK) || (status == UCS_INPROGRESS), "flush");
    while (num_flushed == 0) {
        uct_worker_progress(opened->worker);
        udp_require(udp_failure == UCS_OK, "the receiver acknowledges");
    }
}

static void acknowledges(const opened_t *opened)
{
    send_up_to(1);
    udp_require(num_sent == 1, "a send");
    flush(opened);
    udp_require(num_received == 0, "no message without progress");
}

/* The receiver sleeps on its event descriptor until a message arrives. Even if
 * the service thread receives the message first, the descriptor must become
 * readable. */
static void wakes(const opened_t *from, const opened_t *to)
{
    struct pollfd pfd = {.events = POLLIN};

    udp_require(uct_iface_event_fd_get(to->iface, &pfd.fd) == UCS_OK,
                "a descriptor");
    while (uct_iface_event_arm(to->iface, UCT_EVENT_RECV) == UCS_ERR_BUSY) {
        uct_worker_progress(to->worker);
    }
    udp_require(num_received == num_sent, "all messages before");
    send_up_to(num_sent + 1);
    flush(from);
    udp_require(poll(&pfd, 1, PATIENCE) == 1, "the sleeper wakes");
    udp_require(uct_iface_event_arm(to->iface, UCT_EVENT_RECV) == UCS_ERR_BUSY,
                "no sleep before the message is delivered");
    uct_worker_progress(to->worker);
    udp_require(num_received == num_sent, "the message");
}

/* The receiver does not progress for longer than UCX_UDP_TIMEOUT, and more
 * messages are sent than its service thread keeps. The sender must wait without
 * a failure. */
static void holds(const opened_t *from, const opened_t *to)
{
    const unsigned before = num_received;
    double end            = now() + 2.5 * LIMIT;

    while (now() < end) {
        send_up_to(before + MANY);
        uct_worker_progress(from->worker);
        udp_require(udp_failure == UCS_OK, "a busy receiver is not lost");
    }
    udp_require(num_received == before, "no message without progress");
    udp_require(num_sent < before + MANY, "the sender waits");
    while (num_received < before + MANY) {
        send_up_to(before + MANY);
        uct_worker_progress(from->worker);
        uct_worker_progress(to->worker);
        udp_require(udp_failure == UCS_OK, "the messages arrive");
    }
}

int main(void)
{
    udp_iface_addr_t addr;
    opened_t from, to;

    udp_open(&from);
    udp_open(&to);
    udp_require(uct_iface_get_address(to.iface, (void *)&addr) == UCS_OK,
                "address");
    udp_require(uct_iface_set_am_handler(to.iface, 1, on_message, NULL, 0) ==
                    UCS_OK,
                "handler");
    sender = udp_connect_port(&from, addr.port);
    acknowledges(&from);
    wakes(&from, &to);
    holds(&from, &to);
    /* Nothing progresses the receiver any more: closing it must drop this
     * message */
    send_up_to(num_sent + 1);
    flush(&from);
    uct_ep_destroy(sender);
    udp_close(&from);
    udp_close(&to);
    return 0;
}
