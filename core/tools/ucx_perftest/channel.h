/* SPDX-License-Identifier: BSD-3-Clause */
/* The control connection beside the measured one: both sides agree on a test,
 * exchange addresses and synchronize. It carries frames, which are checked; a
 * peer with another protocol is distinguished from one that has ended. */
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
    CHANNEL_HELLO_MS    = 10000,
};

/*
 *  0      4        6      8        12
 *  | "UXPT" | version | type | length | payload ...     little endian
 */
enum channel_type {
    CHANNEL_HELLO = 1, /* both ways, first; the payload is the program's name */
    CHANNEL_TEST,      /* client: parameters, as text */
    CHANNEL_INFO,      /* addresses of one side */
    CHANNEL_SYNC,      /* both ways: ready; the client's has a number */
    CHANNEL_RESULT,    /* result of the server: wrong messages, as text */
    CHANNEL_REFUSE,    /* this test is not possible: the reason */
    CHANNEL_FAIL,      /* the sender aborts: the reason */
    CHANNEL_END,       /* client: no more tests */
};

struct channel {
    int fd;
    char peer[80];                 /* its address, for messages */
    char error[CHANNEL_ERROR_MAX]; /* why the last call failed */
};

struct channel_frame {
    enum channel_type type;
    size_t length;
    char *data; /* terminated by a '\0' that is not counted; free() it */
};

/* Takes ownership of the socket and greets. Closes it on failure. */
bool channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

bool channel_send(struct channel *channel, enum channel_type type,
                  const void *data, size_t length);

/* Calls idle(arg) repeatedly while nothing arrives, or sleeps if idle is
 * NULL. */
bool channel_recv(struct channel *channel, struct channel_frame *frame,
                  void (*idle)(void *arg), void *arg);

/* Has the peer ended; is there data? Each is a system call. */
bool channel_gone(const struct channel *channel);
bool channel_readable(const struct channel *channel);

#endif
