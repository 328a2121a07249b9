/* SPDX-License-Identifier: BSD-3-Clause */
/* How both sides of a test connect: by TCP, or as a process and its child. */
#ifndef PERFTEST_MEET_H
#define PERFTEST_MEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel.h"

/* Returns a listening socket; on failure -1, with a message in `error`. Port 0
 * is replaced by the number of a free port. */
int meet_listen(uint16_t *port_p, bool ipv6, char error[CHANNEL_ERROR_MAX]);

/* Waits for a client that sends a valid CHANNEL_HELLO. Other connections are
 * rejected, with a line on stderr. */
bool meet_accept(int listener, struct channel *channel);

bool meet_connect(const char *host, uint16_t port, bool ipv6,
                  struct channel *channel);

/* Returns the result of fork(), with a channel between the two processes. If
 * that cannot be opened, -1 is returned (in each process that fails), with a
 * message in channel->error. */
pid_t meet_fork(struct channel *channel);

#endif
