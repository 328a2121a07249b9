/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iWARP: makes a peer process the first messages of a connection; see
 * rc_iwarp.h. A timer runs while a connection with RC_EP_UNHEARD exists,
 * because the user may sleep instead of calling progress.
 */
#include "rc_iwarp.h"
#include "rc_send.h"

#include <math.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Seconds before the first write; the delay then doubles, up to LAST_DELAY */
static const double FIRST_DELAY = 0.01;
static const double LAST_DELAY  = 1.0;

/* Sets the timer to expire after `delay` seconds. */
static void plan(rc_iface_t *iface, double delay)
{
    struct itimerspec when = {
        .it_value.tv_sec  = (time_t)delay,
        .it_value.tv_nsec = (long)((delay - floor(delay)) * 1e9),
    };

    iface->nudge_delay = delay;
    (void)timerfd_settime(iface->nudge_fd, 0, &when, NULL);
}

void rc_nudge_begin(rc_iface_t *iface, rc_ep_t *ep)
{
    ep->state |= RC_EP_UNHEARD;
    if (iface->nudge_delay != FIRST_DELAY) {
        plan(iface, FIRST_DELAY);
    }
}

/* Posts an RDMA write of 0 bytes. The write does not wait for outstanding
 * reads, even if the user's next request has to (RC_EP_FENCE). Nobody needs to
 * know whether the write has arrived, so RC_EP_UNSEEN does not change. */
static void nudge(rc_iface_t *iface, rc_ep_t *ep)
{
    const uint16_t kept = RC_EP_FENCE | RC_EP_UNSEEN;
    uint16_t state      = ep->state;
    struct ibv_send_wr wr;

    if ((iface->cq_free == 0) ||
        ((uint16_t)(ep->sn - ep->done_sn) >= iface->queue_len)) {
        return;
    }
    ep->state &= (uint16_t)~RC_EP_FENCE;
    rc_wr_init(&wr, IBV_WR_RDMA_WRITE, NULL, 0);
    (void)rc_post(iface, ep, &wr, 1);
    ep->state = (uint16_t)((ep->state & ~kept) | (state & kept));
}

void rc_nudge_run(rc_iface_t *iface)
{
    const uint16_t mask = RC_EP_UNHEARD | RC_EP_CONNECTED | RC_EP_FAILED |
                          RC_EP_BYE_TAKEN;
    double delay  = iface->nudge_delay;
    int is_needed = 0;
    uint64_t expired;
    rc_ep_t *ep;

    if (read(iface->nudge_fd, &expired, sizeof(expired)) != sizeof(expired)) {
        return; /* The timer is not set, or still runs */
    }
    iface->nudge_delay = 0;
    for (uint32_t i = 0; i < iface->eps_size; ++i) {
        ep = iface->eps[i];
        if ((ep != NULL) &&
            ((ep->state & mask) == (RC_EP_UNHEARD | RC_EP_CONNECTED))) {
            nudge(iface, ep);
            is_needed = 1;
        }
    }
    if (is_needed) {
        plan(iface, fmin(2 * delay, LAST_DELAY));
    }
}
