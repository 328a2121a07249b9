/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer of an interface or of a connection manager: see timer.h. */
#include "timer.h"

#include <string.h>
#include <sys/timerfd.h>

void tcp_timer_set(const ucx_host_t *host, int fd, double *at, double when)
{
    struct itimerspec spec;
    double delay;

    if ((*at != 0) && (*at <= when)) {
        return;
    }
    delay = when - host->time();
    if (delay < 1e-4) {
        delay = 1e-4;
    } else if (delay > 1e6) {
        delay = 1e6;
    }
    memset(&spec, 0, sizeof(spec));
    spec.it_value.tv_sec  = (time_t)delay;
    spec.it_value.tv_nsec = (long)((delay - (double)spec.it_value.tv_sec) *
                                   1e9);
    timerfd_settime(fd, 0, &spec, NULL);
    *at = when;
}
