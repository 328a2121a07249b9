/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting the one timer of an interface or of a connection manager. */
#ifndef TCP_TIMER_H
#define TCP_TIMER_H

#include "plugin.h"

/* Makes the timerfd fire at `when` (the host's clock) unless it fires before
 * that anyway; *at is when it fires, 0 when it is not set. */
void tcp_timer_set(const ucx_host_t *host, int fd, double *at, double when);

#endif
