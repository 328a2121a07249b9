/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the one timer of an interface or of a connection manager. */
#ifndef TCP_TIMER_H
#define TCP_TIMER_H

#include "plugin.h"

/* Sets the timerfd to expire at `when` (the host's clock) unless it expires
 * earlier; *at is its expiry, 0 when it is not set. */
void tcp_timer_set(const ucx_host_t *host, int fd, double *at, double when);

#endif
