/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two sides of a test find each other: by TCP, or as a process and its
 * child. */
#ifndef PERFTEST_MEET_H
#define PERFTEST_MEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel.h"

/* A socket that listens; -1 and a message in `error` if there is none. Port 0
 * becomes one that is free. */
int meet_listen(uint16_t *port_p, bool ipv6, char error[CHANNEL_ERROR_MAX]);

/* Waits for somebody who greets; others are refused with a line on stderr. */
bool meet_accept(int listener, struct channel *channel);

bool meet_connect(const char *host, uint16_t port, bool ipv6,
                  struct channel *channel);

/* Returns what fork() did; both sides have a channel to each other. */
pid_t meet_fork(struct channel *channel);

#endif
