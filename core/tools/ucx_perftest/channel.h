/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection, which is separate from the measured connection: both
 * sides agree on a test, exchange addresses and synchronize. It carries frames,
 * which are checked: an error message distinguishes a peer with another
 * protocol from a peer that has exited. */
#ifndef PERFTEST_CHANNEL_H
#define PERFTEST_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHANNEL_VERSION     = 1,
    CHANNEL_HEADER      = 12,
    CHANNEL_MAX_PAYLOAD = 4 << 20,
    CHANNEL_ERROR_MAX   = 256,
    /* Milliseconds to wait for the peer's greeting, or for the payload of a
     * frame */
    CHANNEL_HELLO_MS    = 10000,
};

/*
 *  0      4        6      8        12
 *  | "UXPT" | version | type | length | payload ...     little endian
 */
enum channel_type {
    CHANNEL_HELLO = 1, /* both ways, first; the payload is the program's name */
    CHANNEL_TEST,      /* client: parameters, as text */
    CHANNEL_INFO,      /* addresses and keys of one side */
    CHANNEL_SYNC,      /* both ways: ready. To begin a pass (session.c), the
                        * client sends its number of operations and its kind */
    CHANNEL_RESULT,    /* from the server: the number of wrong messages, as
                        * text */
    CHANNEL_REFUSE,    /* this test is not possible; contains the reason */
    CHANNEL_FAIL,      /* the sender aborts; contains the reason */
    CHANNEL_END,       /* from the client: no more tests */
};

struct channel {
    int fd;
    char peer[80];                 /* address of the peer, for messages */
    char error[CHANNEL_ERROR_MAX]; /* why the last call failed */
};

struct channel_frame {
    enum channel_type type;
    size_t length;
    char *data; /* terminated by a '\0' that is not counted; free() it */
};

/* Takes ownership of the socket and exchanges CHANNEL_HELLO. Closes the socket
 * on failure. */
bool channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

bool channel_send(struct channel *channel, enum channel_type type,
                  const void *data, size_t length);

/* Receives a frame. While nothing arrives, calls idle(arg) repeatedly, or
 * sleeps if `idle` is NULL. Returns false, after setting channel->error, if the
 * connection fails or the frame is invalid. */
bool channel_recv(struct channel *channel, struct channel_frame *frame,
                  void (*idle)(void *arg), void *arg);

/* channel_gone() returns whether the peer has closed the connection.
 * channel_readable() returns whether data has arrived or the peer has closed
 * the connection. Each makes a system call. */
bool channel_gone(const struct channel *channel);
bool channel_readable(const struct channel *channel);

#endif
