/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work that continues while the user does not call progress: a timer on the
 * core's service thread receives and acknowledges datagrams, retransmits, and
 * probes idle peers. Otherwise a process whose user does not call progress for
 * longer than the timeout would count as lost at its peers.
 *
 * The guard (<ucx/guard.h>) prevents that the service thread and a call of the
 * user access the interface at the same time: each such call begins with
 * UCX_EXCLUDE_SERVICE(). The service thread calls no callback of the user:
 * messages, completions and failures wait for the next progress.
 */
#include "udp.h"

#include <stdlib.h>
#include <sys/timerfd.h>

enum {
    DATAGRAMS_A_TICK = 64, /* Maximum that one call of the timer receives */
    ARRIVED_MAX      = 64, /* If so many messages wait for progress, further
                            * datagrams are dropped, and the sender is asked to
                            * wait */
};

/* Interval of the timer in seconds; much less than the timeout of any peer. */
#define TICK 0.05

int udp_service_is_open(const udp_iface_t *iface)
{
    return iface->service.num_arrived < ARRIVED_MAX;
}

void udp_service_defer(udp_iface_t *iface, udp_kept_t *kept)
{
    udp_service_t *service = &iface->service;

    kept->rx.next          = NULL;
    *service->arrived_tail = &kept->rx;
    service->arrived_tail  = &kept->rx.next;
    ++service->num_arrived;
}

static udp_kept_t *take_arrived(udp_service_t *service)
{
    ucx_window_rx_t *rx = service->arrived;

    if (rx != NULL) {
        service->arrived = rx->next;
        if (rx->next == NULL) {
            service->arrived_tail = &service->arrived;
        }
        --service->num_arrived;
    }
    return (udp_kept_t *)rx;
}

unsigned udp_service_deliver(udp_iface_t *iface)
{
    unsigned count = 0;
    udp_kept_t *kept;

    while ((kept = take_arrived(&iface->service)) != NULL) {
        udp_deliver(iface, kept);
        ++count;
    }
    return count;
}

/* Wakes a user that sleeps on the event descriptor, by the timer in it. The
 * datagrams that would have made the descriptor readable were received by the
 * service thread. */
static void wake(const udp_iface_t *iface)
{
    const struct itimerspec now = {.it_value = {0, 1}};

    timerfd_settime(iface->timer, 0, &now, NULL);
}

/* Receives datagrams and checks the timeouts of the streams. Stops receiving if
 * a call of the user waits for the guard. */
static void serve(udp_iface_t *iface)
{
    const double now = iface->host->time();
    unsigned count   = 0, i;
    udp_stream_t *stream;

    for (i = 0; (i < DATAGRAMS_A_TICK) && !ucx_guard_is_wanted(&iface->guard) &&
                udp_receive(iface, &count);
         ++i) {
    }
    if (i == DATAGRAMS_A_TICK) {
        return; /* More datagrams may wait, and an acknowledgement may be among
                 * them: do not check timeouts yet */
    }
    for (stream = iface->streams; stream != NULL; stream = stream->next) {
        udp_stream_check_time(stream, now);
    }
}

static void on_tick(void *arg)
{
    udp_iface_t *iface     = arg;
    udp_service_t *service = &iface->service;

    if (!ucx_guard_try(&iface->guard)) {
        return; /* A call of the user has the guard */
    }
    if (iface->rounds == service->seen_rounds) {
        service->is_running = 1;
        serve(iface);
        service->is_running = 0;
        if ((service->arrived != NULL) || (iface->done != NULL) ||
            (iface->num_failed > 0)) {
            wake(iface);
        }
    }
    service->seen_rounds = iface->rounds;
    ucx_guard_give(&iface->guard);
}

void udp_service_start(udp_iface_t *iface)
{
    iface->service.arrived_tail = &iface->service.arrived;
    if (iface->host->async_add_timer(iface->super.worker, TICK, on_tick, iface,
                                     &iface->service.timer) != UCS_OK) {
        iface->service.timer = 0; /* There is no timer: only progress
                                   * acknowledges */
    }
}

void udp_service_stop(udp_iface_t *iface)
{
    udp_kept_t *kept;

    iface->host->async_remove(iface->service.timer);
    while ((kept = take_arrived(&iface->service)) != NULL) {
        free(kept);
    }
}
