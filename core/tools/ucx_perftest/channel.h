/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection beside the one that is measured: by it both sides agree on a
 * test, swap addresses and wait for each other. It carries frames; whatever
 * comes is checked, and a peer that speaks something else is told from one that
 * is gone. */
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
    CHANNEL_HELLO_MS    = 10000
};

/*
 *  0      4        6      8        12
 *  | "UXPT" | version | type | length | payload ...     little endian
 */
enum channel_type {
    CHANNEL_HELLO = 1, /* both ways, first; the payload names the program */
    CHANNEL_TEST,      /* client: parameters, as text */
    CHANNEL_INFO,      /* addresses of one side */
    CHANNEL_SYNC,      /* both ways: here I am; the client's has a number */
    CHANNEL_RESULT,    /* what the server found: wrong messages, as text */
    CHANNEL_REFUSE,    /* this test is not possible: why */
    CHANNEL_FAIL,      /* the sender gives up: why */
    CHANNEL_END        /* client: that was all */
};

struct channel {
    int fd;
    char peer[80];                 /* its address, for messages */
    char error[CHANNEL_ERROR_MAX]; /* why the last call failed */
};

struct channel_frame {
    enum channel_type type;
    size_t length;
    char *data; /* ends with a '\0' that is not counted; free() it */
};

/* Takes the socket over and greets. Closes it if that fails. */
bool channel_open(struct channel *channel, int fd);
void channel_close(struct channel *channel);

bool channel_send(struct channel *channel, enum channel_type type,
                  const void *data, size_t length);

/* Calls idle(arg) again and again while nothing comes, or sleeps if idle is
 * NULL. */
bool channel_recv(struct channel *channel, struct channel_frame *frame,
                  void (*idle)(void *arg), void *arg);

/* Whether the peer has gone, and whether something has come: system calls. */
bool channel_gone(const struct channel *channel);
bool channel_readable(const struct channel *channel);

#endif
