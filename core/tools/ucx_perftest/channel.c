/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames over a socket, which meet.c connects. */
#include "channel.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char MAGIC[4] = {'U', 'X', 'P', 'T'};
static const char NAME[]   = "ucx_perftest";

enum {
    KEEPALIVE_IDLE  = 5, /* seconds without data until TCP probes the peer, to
                          * detect a lost host */
    /* Seconds between two probes, and number of probes without an answer */
    KEEPALIVE_EVERY = 2,
    KEEPALIVE_COUNT = 3,
};

static bool fail(struct channel *channel, const char *what, const char *why)
{
    snprintf(channel->error, sizeof(channel->error), "%s%s%s", what,
             (why == NULL) ? "" : ": ", (why == NULL) ? "" : why);
    return false;
}

/* Sets TCP options. A socket pair (both sides in one command) has none. */
static void set_options(int fd)
{
    int on = 1, idle = KEEPALIVE_IDLE, every = KEEPALIVE_EVERY;
    int count = KEEPALIVE_COUNT;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static bool poll_for(const struct channel *channel, short events, int timeout)
{
    struct pollfd poller = {.fd = channel->fd, .events = events};

    return (poll(&poller, 1, timeout) > 0) && (poller.revents != 0);
}

bool channel_gone(const struct channel *channel)
{
    return poll_for(channel, POLLRDHUP, 0);
}

bool channel_readable(const struct channel *channel)
{
    return poll_for(channel, POLLIN | POLLRDHUP, 0);
}

static bool send_all(struct channel *channel, const void *data, size_t length)
{
    const char *next = data;
    ssize_t done;

    while (length > 0) {
        done = send(channel->fd, next, length, MSG_NOSIGNAL);
        if (done > 0) {
            next += done;
            length -= done;
        } else if ((done < 0) && (errno != EINTR)) {
            return fail(channel, "the peer is gone", strerror(errno));
        }
    }
    return true;
}

bool channel_send(struct channel *channel, enum channel_type type,
                  const void *data, size_t length)
{
    uint16_t version = htole16(CHANNEL_VERSION), kind = htole16(type);
    uint32_t size = htole32(length);
    char header[CHANNEL_HEADER];

    if (length > CHANNEL_MAX_PAYLOAD) {
        return fail(channel, "the message to the peer is too long", NULL);
    }
    memcpy(header, MAGIC, sizeof(MAGIC));
    memcpy(header + 4, &version, sizeof(version));
    memcpy(header + 6, &kind, sizeof(kind));
    memcpy(header + 8, &size, sizeof(size));
    return send_all(channel, header, sizeof(header)) &&
           ((length == 0) || send_all(channel, data, length));
}

/* Receives `length` bytes. While no data arrives, calls idle(arg) repeatedly,
 * without a timeout. If `idle` is NULL, sleeps instead, and fails after
 * `timeout` ms without data, unless that is negative. */
static bool recv_all(struct channel *channel, char *data, size_t length,
                     void (*idle)(void *arg), void *arg, int timeout)
{
    ssize_t done;

    while (length > 0) {
        done = recv(channel->fd, data, length, MSG_DONTWAIT);
        if (done > 0) {
            data += done;
            length -= done;
        } else if (done == 0) {
            return fail(channel, "the peer has closed the connection", NULL);
        } else if ((errno != EAGAIN) && (errno != EINTR)) {
            return fail(channel, "the peer is gone", strerror(errno));
        } else if (idle != NULL) {
            idle(arg);
        } else if (!poll_for(channel, POLLIN, timeout) && (errno != EINTR)) {
            return fail(channel,
                        "the peer does not answer; is it a "
                        "ucx_perftest?",
                        NULL);
        }
    }
    return true;
}

/* Skips the data of a frame that cannot be stored, so that the next bytes are
 * the start of a frame. */
static void discard(struct channel *channel, size_t length,
                    void (*idle)(void *arg), void *arg)
{
    char data[256];
    size_t part;

    for (; length > 0; length -= part) {
        part = (length < sizeof(data)) ? length : sizeof(data);
        if (!recv_all(channel, data, part, idle, arg, CHANNEL_HELLO_MS)) {
            return;
        }
    }
}

static bool recv_frame(struct channel *channel, struct channel_frame *frame,
                       void (*idle)(void *arg), void *arg, int timeout)
{
    uint16_t version, kind;
    uint32_t size;
    char header[CHANNEL_HEADER], text[96];

    frame->data = NULL;
    if (!recv_all(channel, header, sizeof(header), idle, arg, timeout)) {
        return false;
    }
    if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0) {
        return fail(channel,
                    "the peer does not speak the protocol of "
                    "this program (is it another ucx_perftest, or another "
                    "service at that port?)",
                    NULL);
    }
    memcpy(&version, header + 4, sizeof(version));
    memcpy(&kind, header + 6, sizeof(kind));
    memcpy(&size, header + 8, sizeof(size));
    version = le16toh(version);
    kind    = le16toh(kind);
    size    = le32toh(size);
    if (version != CHANNEL_VERSION) {
        snprintf(text, sizeof(text),
                 "the peer uses version %u of the "
                 "protocol, this process version %u",
                 version, CHANNEL_VERSION);
        return fail(channel, text, "use the same ucx_perftest on both");
    }
    if ((kind < CHANNEL_HELLO) || (kind > CHANNEL_END) ||
        (size > CHANNEL_MAX_PAYLOAD)) {
        snprintf(text, sizeof(text),
                 "a frame of type %u and %u bytes is "
                 "invalid",
                 kind, size);
        return fail(channel, text, "the connection is closed");
    }
    frame->type   = kind;
    frame->length = size;
    frame->data   = malloc((size_t)size + 1);
    if (frame->data == NULL) {
        discard(channel, size, idle, arg);
        return fail(channel, "no memory for a frame", NULL);
    }
    frame->data[size] = '\0';
    /* the payload follows the header at once: wait for it with a timeout (if
     * `idle` is NULL), even if the wait for the header had none */
    if (!recv_all(channel, frame->data, size, idle, arg, CHANNEL_HELLO_MS)) {
        free(frame->data);
        frame->data = NULL;
        return false;
    }
    return true;
}

bool channel_recv(struct channel *channel, struct channel_frame *frame,
                  void (*idle)(void *arg), void *arg)
{
    return recv_frame(channel, frame, idle, arg, -1);
}

bool channel_open(struct channel *channel, int fd)
{
    struct channel_frame frame;
    bool good;

    channel->fd       = fd;
    channel->error[0] = '\0';
    set_options(fd);
    good = channel_send(channel, CHANNEL_HELLO, NAME, sizeof(NAME) - 1) &&
           recv_frame(channel, &frame, NULL, NULL, CHANNEL_HELLO_MS);
    if (good) {
        if (frame.type != CHANNEL_HELLO) {
            good = fail(channel, "the peer did not send its greeting", NULL);
        }
        free(frame.data);
    }
    if (!good) {
        channel_close(channel);
    }
    return good;
}

void channel_close(struct channel *channel)
{
    close(channel->fd);
    channel->fd = -1;
}
