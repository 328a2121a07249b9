/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acknowledges and retransmits while the program computes. A timer runs on the
 * core's service thread; a tick is one call of the timer's handler, on_tick().
 * If the user has made no progress since the last tick, the thread receives
 * packets, acknowledges them, and handles deadlines. The thread calls no
 * callback: messages, completions and failures wait for the user's next
 * progress. The timer also makes progress call ud_service_check(), which
 * detects lost peers of endpoints that do not belong to the user.
 *
 * The timer stops while the user sleeps and nothing is in flight. The
 * completion channel or the user's next progress restarts it.
 */
#include "ud_service.h"
#include "ud_am.h"
#include "ud_send.h"

#include <limits.h>

enum {
    TICK_RTOS   = 2,  /* Interval of ticks, as a multiple of the smallest
                       * retransmission timeout */
    SLOW        = 5,  /* Factor of the interval while there is no connection,
                       * or while the user makes progress */
    BUSY_TICKS  = 10, /* Number of consecutive ticks with progress after which
                       * the interval is multiplied by SLOW */
    QUIET_TICKS = 25, /* Number of consecutive ticks without work after which
                       * the timer stops if the user sleeps */
    MAX_ROUNDS  = 64, /* Maximum number of calls of ud_recv_poll() in one
                       * tick */
    MAX_CHECKS  = 32, /* Maximum number of endpoints from which one call of
                       * ud_service_check() sends a packet */
};

/* Returns whether the user sleeps and nothing is in flight. */
static int is_quiet(const ud_iface_t *iface)
{
    return iface->armed && !iface->has_deferred && !iface->is_down &&
           ib_link_is_alone(&iface->active) &&
           ib_link_is_alone(&iface->owing) &&
           ib_link_is_alone(&iface->resending);
}

/* Receives, acknowledges and handles deadlines. Returns whether there were
 * packets, completions or acknowledgements to handle. */
static int serve(ud_iface_t *iface)
{
    unsigned rounds = 0;

    iface->in_service = 1;
    while ((rounds < MAX_ROUNDS) && !ucx_guard_is_wanted(&iface->guard) &&
           (ud_recv_poll(iface) > 0)) {
        ++rounds;
        ud_send_acks(iface, 1);
    }
    if (iface->num_signaled > 0) {
        rounds += ud_poll_sends(iface);
    }
    rounds += !ib_link_is_alone(&iface->owing);
    ud_time(iface);
    ud_send_acks(iface, 1);
    ud_handle_deadlines(iface);
    iface->in_service = 0;
    iface->has_deferred |= (rounds > 0);
    return rounds > 0;
}

/* Returns whether the endpoint has no user and nothing to send. Without a
 * check, nothing would show that the peer of such an endpoint was lost. */
static int is_forsaken(const ud_ep_t *ep)
{
    const uint16_t mask = UD_EP_CONNECTED | UD_EP_USED | UD_EP_GONE |
                          UD_EP_FAILED;

    return ((ep->state & mask) == UD_EP_CONNECTED) &&
           ucx_window_is_idle(&ep->window);
}

void ud_service_check(ud_iface_t *iface)
{
    ud_service_t *service = &iface->service;
    unsigned left         = MAX_CHECKS;
    ud_ep_t *ep;

    ud_time(iface);
    for (; service->next_slot < iface->num_slots; ++service->next_slot) {
        ep = iface->slots[service->next_slot].ep;
        if ((ep == NULL) || !is_forsaken(ep)) {
            continue;
        }
        if ((left-- == 0) || !ud_send_empty(iface, ep, UD_NOTHING)) {
            iface->has_deferred = 1; /* The next progress continues here */
            return;
        }
    }
    service->next_slot = 0;
    service->is_due    = 0;
}

static void on_channel(int fd, int events, void *arg);
static void on_tick(void *arg);

static int is_unused(const ud_iface_t *iface)
{
    return __atomic_load_n(&iface->num_eps, __ATOMIC_RELAXED) == 0;
}

/* Returns whether the longer interval is sufficient for the timer. This is so
 * if the interface has no endpoints, because the only packets are then
 * connection requests, which the peer repeats. It is also so while the user
 * makes progress all the time, because ticks have nothing to do then. */
static int may_be_slow(const ud_iface_t *iface)
{
    return is_unused(iface) ||
           (__atomic_load_n(&iface->service.busy, __ATOMIC_RELAXED) >=
            BUSY_TICKS);
}

/* Returns whether the timer has the wrong interval. */
static int is_mistimed(const ud_iface_t *iface)
{
    return may_be_slow(iface) !=
           __atomic_load_n(&iface->service.is_slow, __ATOMIC_RELAXED);
}

/* Counts consecutive ticks between which the user made progress. */
static void count_busy(ud_service_t *service, int has_progressed)
{
    unsigned busy = __atomic_load_n(&service->busy, __ATOMIC_RELAXED);

    busy = has_progressed ? busy + (busy < BUSY_TICKS) : 0;
    __atomic_store_n(&service->busy, busy, __ATOMIC_RELAXED);
}

/* Starts the timer. */
static int start_timer(ud_iface_t *iface, ucx_async_id_t *timer_p)
{
    const ucx_window_params_t *params = &iface->window_params;
    const ucx_host_t *host            = iface->host;
    double tick                       = params->min_rto * TICK_RTOS;
    int is_slow                       = may_be_slow(iface);
    double ticks;

    __atomic_store_n(&iface->service.is_slow, is_slow, __ATOMIC_RELAXED);
    tick *= is_slow ? SLOW : 1;
    tick  = (tick < params->timeout / 8) ? tick : params->timeout / 8;
    ticks = params->timeout / 2 / tick;
    iface->service.check_ticks = (ticks < UINT_MAX) ? (unsigned)ticks :
                                                      UINT_MAX;
    return host->async_add_timer(iface->super.worker, tick, on_tick, iface,
                                 timer_p) == UCS_OK;
}

/* Stops the timer, because it had nothing to do for a while, and the user
 * sleeps. */
static void pause_timer(ud_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    ucx_async_id_t channel;

    if (host->async_add_fd(iface->super.worker, iface->channel->fd,
                           UCS_EVENT_SET_EVREAD, on_channel, iface,
                           &channel) == UCS_OK) {
        host->async_remove(iface->service.id);
        iface->service.id        = channel;
        iface->service.is_paused = 1;
        iface->has_deferred      = 1; /* Progress resumes the timer */
    }
    iface->service.quiet = 0;
}

void ud_service_resume(ud_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    ucx_async_id_t timer;

    if (start_timer(iface, &timer)) {
        host->async_remove(iface->service.id);
        iface->service.id        = timer;
        iface->service.is_paused = 0;
    }
}

/* Called in each tick with progress. In one of `check_ticks` calls, makes the
 * user's next progress call ud_service_check(). Must not be called while the
 * user sleeps, because has_deferred would keep the timer running. */
static void request_check(ud_iface_t *iface)
{
    ud_service_t *service = &iface->service;

    if ((++service->ticks >= service->check_ticks) &&
        ucx_guard_try(&iface->guard)) {
        service->ticks      = 0;
        service->is_due     = 1;
        iface->has_deferred = 1;
        ucx_guard_give(&iface->guard);
    }
}

static void on_tick(void *arg)
{
    ud_iface_t *iface  = arg;
    unsigned rounds    = __atomic_load_n(&iface->rounds, __ATOMIC_RELAXED);
    int has_progressed = rounds != iface->service.seen_rounds;

    iface->service.seen_rounds = rounds;
    count_busy(&iface->service, has_progressed);
    if (has_progressed && !is_mistimed(iface)) {
        iface->service.quiet = 0;
        request_check(iface);
        return; /* The user's progress acknowledges */
    }
    if (!ucx_guard_try(&iface->guard)) {
        return;
    }
    if (is_mistimed(iface)) {
        ud_service_resume(iface); /* Restarts the timer with another interval */
    }
    if (serve(iface) || !is_quiet(iface)) {
        iface->service.quiet = 0;
    } else if (++iface->service.quiet >= QUIET_TICKS) {
        pause_timer(iface);
    }
    ucx_guard_give(&iface->guard);
}

/* Called while the timer is paused, for an event of the completion channel. */
static void on_channel(int fd, int events, void *arg)
{
    ud_iface_t *iface = arg;

    if (ucx_guard_try(&iface->guard)) {
        if (iface->service.is_paused) {
            ud_service_resume(iface);
        }
        ucx_guard_give(&iface->guard);
    }
}

void ud_service_start(ud_iface_t *iface)
{
    const ucx_host_t *host = iface->host;

    if ((iface->service.id == 0) && !start_timer(iface, &iface->service.id)) {
        iface->service.id = 0;
        ucx_diag("%s: no timer for datagrams: only calls of progress "
                 "acknowledge them",
                 ibv_get_device_name(iface->md->context->device));
    }
}

void ud_service_stop(ud_iface_t *iface)
{
    UCX_EXCLUDE_SERVICE(&iface->guard);

    iface->host->async_remove(iface->service.id);
    iface->service.id = 0;
}
