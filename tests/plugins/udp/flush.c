/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests flushes of the example plugin udp. A flush of the interface completes
 * while an endpoint continues to send, and also if the endpoint is destroyed.
 * When the interface is closed, an outstanding flush is dropped. An endpoint
 * whose operations were cancelled is not reported as failed, although its peer
 * never acknowledges them.
 */
#include "opened.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 1000 /* ms, UCX_UDP_TIMEOUT of this test */, ROUNDS = 100000 };

static unsigned num_received, num_flushed;
static uct_ep_h sender;

/* Sends until the send window of the endpoint is full. */
static void fill(uct_ep_h ep)
{
    while (uct_ep_am_short(ep, 1, 0, NULL, 0) == UCS_OK) {
    }
}

static ucs_status_t on_message(void *arg, void *data, size_t length,
                               unsigned flags)
{
    (void)arg;
    (void)data;
    (void)length;
    (void)flags;
    ++num_received;
    return UCS_OK;
}

/* A pending request that sends as many messages as the send window permits, and
 * returns an error, so that it is called again. */
static ucs_status_t on_open(uct_pending_req_t *req)
{
    (void)req;
    fill(sender);
    return UCS_ERR_NO_RESOURCE;
}

static void on_flushed(uct_completion_t *comp)
{
    udp_require(comp->status == UCS_OK, "status of the flush");
    ++num_flushed;
}

static void flush_completes(const opened_t *opened, int destroys)
{
    uct_completion_t comp = {.func = on_flushed, .count = 1, .status = UCS_OK};
    uct_pending_req_t req = {.func = on_open};
    uct_ep_h ep           = udp_connect(opened);
    unsigned left;

    num_flushed = 0;
    fill(ep);
    udp_require(uct_iface_flush(opened->iface, 0, &comp) == UCS_INPROGRESS,
                "an outstanding flush");
    if (destroys) {
        uct_ep_destroy(ep);
    } else {
        sender = ep;
        udp_require(uct_ep_pending_add(ep, &req, 0) == UCS_OK, "waiting");
    }
    for (left = ROUNDS; (num_flushed == 0) && (left > 0); --left) {
        uct_worker_progress(opened->worker);
    }
    udp_require(num_flushed == 1, "the flush completes");
    if (!destroys) {
        uct_ep_pending_purge(ep, NULL, NULL);
        uct_ep_destroy(ep);
    }
}

/* Returns a socket that never acknowledges messages. *port_p receives its port
 * in network byte order. */
static int open_silent(uint16_t *port_p)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t length        = sizeof(addr);
    int fd                  = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    udp_require((bind(fd, (struct sockaddr *)&addr, length) == 0) &&
                    (getsockname(fd, (struct sockaddr *)&addr, &length) == 0),
                "a socket");
    *port_p = addr.sin_port;
    return fd;
}

static void cancelled_is_silent(const opened_t *opened)
{
    uint16_t port;
    int fd      = open_silent(&port), i;
    uct_ep_h ep = udp_connect_port(opened, port);

    fill(ep);
    udp_require(uct_ep_flush(ep, UCT_FLUSH_FLAG_CANCEL, NULL) == UCS_OK,
                "cancel");
    for (i = 0; i < 2 * LIMIT; ++i) {
        uct_worker_progress(opened->worker);
        poll(NULL, 0, 1);
    }
    udp_require(udp_failure == UCS_OK, "no failure after cancel");
    uct_ep_destroy(ep);
    close(fd);
}

/* The interface is closed before a flush of it has completed: the completion is
 * not called. A sanitizer checks that nothing is leaked. */
static void close_drops_flush(opened_t *opened)
{
    static uct_completion_t comp = {.func = on_flushed, .count = 1};
    uct_ep_h ep                  = udp_connect(opened);

    num_flushed = 0;
    fill(ep);
    udp_require(uct_iface_flush(opened->iface, 0, &comp) == UCS_INPROGRESS,
                "an outstanding flush");
    uct_ep_destroy(ep);
    udp_close(opened);
    udp_require(num_flushed == 0, "no completion by close");
}

int main(void)
{
    opened_t opened;

    udp_open(&opened);
    udp_require(uct_iface_set_am_handler(opened.iface, 1, on_message, NULL,
                                         0) == UCS_OK,
                "handler");
    flush_completes(&opened, 0);
    flush_completes(&opened, 1);
    cancelled_is_silent(&opened);
    udp_require(num_received > 0, "messages arrive");
    close_drops_flush(&opened);
    return 0;
}
