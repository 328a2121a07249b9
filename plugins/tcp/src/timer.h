/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the one timer of an interface or of a connection manager. */
#ifndef TCP_TIMER_H
#define TCP_TIMER_H

#include "plugin.h"

/* Sets the timerfd `fd` to expire at `when`, unless it is already set to expire
 * earlier. *at is the caller's record of the time at which the timer expires;
 * 0: it is not set. Times are host time in seconds. */
void tcp_timer_set(const ucx_host_t *host, int fd, double *at, double when);

#endif
