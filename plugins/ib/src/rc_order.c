/* SPDX-License-Identifier: BSD-3-Clause */
/* iWARP: completions in the order of the requests; see rc_iwarp.h. */
#include "rc_iwarp.h"

#include <stdlib.h>

/* State of a request in rc_ep_t.finished. */
enum {
    PENDING,   /* The device has not reported the request */
    SUCCEEDED, /* Reported with success; an earlier request is PENDING */
    FAILED,    /* Reported with an error; an earlier request is PENDING */
    HOW  = 3,  /* Mask of the states above */
    READ = 4,  /* Flag: the request is a read */
};

/* Seconds after a failure in which the device may still report the requests of
 * the connection. */
#define FLUSH_SECONDS 0.2

ucs_status_t rc_order_open(const rc_iface_t *iface, rc_ep_t *ep)
{
    if (iface->join == NULL) {
        return UCS_OK;
    }
    ep->finished = calloc(1, iface->finished_mask + 1u);
    return (ep->finished != NULL) ? UCS_OK : UCS_ERR_NO_MEMORY;
}

void rc_order_close(rc_ep_t *ep)
{
    free(ep->finished);
}

/* Returns the number of outstanding reads at which the next request waits. This
 * number is less than the device's limit, because the device needs some time
 * from the completion of a read until it accepts a further read. */
static unsigned max_reads(const rc_iface_t *iface)
{
    return (iface->max_rd_atomic > 1) ? iface->max_rd_atomic - 1 : 1;
}

void rc_order_posted(const rc_iface_t *iface, rc_ep_t *ep,
                     enum ibv_wr_opcode opcode)
{
    ep->state |= RC_EP_UNSEEN;
    if (opcode == IBV_WR_RDMA_READ) {
        ep->finished[ep->sn & iface->finished_mask] = READ;
        ++ep->num_reads;
        if (ep->num_reads >= max_reads(iface)) {
            ep->state |= RC_EP_HELD;
        }
    }
}

void rc_order_fence(rc_ep_t *ep)
{
    if (ep->num_reads > 0) {
        ep->state |= RC_EP_FENCE | RC_EP_HELD;
    }
}

/* Counts a completed read. */
static void read_done(const rc_iface_t *iface, rc_ep_t *ep)
{
    --ep->num_reads;
    ep->state &= (uint16_t)~RC_EP_UNHEARD;
    if ((ep->num_reads == 0) ||
        (!(ep->state & RC_EP_FENCE) && (ep->num_reads < max_reads(iface)))) {
        ep->state &= (uint16_t) ~(RC_EP_FENCE | RC_EP_HELD);
    }
}

/* Completes the oldest requests that have all ended in the same way, with
 * success or with failure. Returns 0 if the oldest request is outstanding, or
 * if there is none. */
static int complete_run(const rc_iface_t *iface, rc_ep_t *ep,
                        ucs_status_t status)
{
    uint8_t how = ep->finished[ep->done_sn & iface->finished_mask] & HOW;
    uint16_t sn = ep->done_sn;
    uint8_t *finish;

    if ((sn == ep->sn) || (how == PENDING)) {
        return 0;
    }
    for (; sn != ep->sn; ++sn) {
        finish = &ep->finished[sn & iface->finished_mask];
        if ((*finish & HOW) != how) {
            break;
        }
        if (*finish & READ) {
            read_done(iface, ep);
        }
        *finish = PENDING;
    }
    rc_complete_to(ep, (uint16_t)(sn - 1),
                   (how == SUCCEEDED) ? UCS_OK : status);
    return 1;
}

void rc_order_done(rc_ep_t *ep, uint16_t sn, ucs_status_t status)
{
    const rc_iface_t *iface = rc_iface_of(ep);

    /* A post that has failed because the connection was being lost may have a
     * completion nevertheless. Its `sn` is not that of an outstanding
     * request. */
    if ((uint16_t)(sn - ep->done_sn) >= (uint16_t)(ep->sn - ep->done_sn)) {
        return;
    }
    ep->finished[sn & iface->finished_mask] |= (status == UCS_OK) ? SUCCEEDED :
                                                                    FAILED;
    ++ep->busy;
    while (complete_run(iface, ep, status)) {
    }
    --ep->busy;
    if (ep->state & RC_EP_ZOMBIE) {
        rc_ep_finish(ep);
    }
}

void rc_order_await(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);

    if ((iface->join == NULL) || !(ep->state & RC_EP_FAILED) ||
        (ep->done_sn == ep->sn)) {
        return;
    }
    if (!(ep->state & RC_EP_FLUSHING)) {
        ep->state |= RC_EP_FLUSHING;
        ep->wait_end = iface->host->time() + FLUSH_SECONDS;
    }
    if (rc_link_is_alone(&ep->ending)) {
        rc_link_add_tail(&iface->ending, &ep->ending);
    }
}

/* Called in each round of progress while a failed endpoint waits for its
 * requests. When `wait_end` has passed, destroys the queue pair: the device
 * then uses no buffer of the endpoint and adds no completion. The requests that
 * are left are completed here after progress has emptied the completion queue.
 * Returns 1 if this has called the user's completions. */
static int flush_wait(rc_iface_t *iface, rc_ep_t *ep)
{
    if (ep->done_sn == ep->sn) {
        ep->state &= (uint16_t)~RC_EP_FLUSHING;
    } else if (ep->qp == NULL) {
        if (iface->send_cq_empty) {
            ep->state &= (uint16_t)~RC_EP_FLUSHING;
            rc_ep_abandon(ep);
            return 1;
        }
    } else if (iface->host->time() >= ep->wait_end) {
        rc_ep_drop_qp(ep);
        iface->send_cq_empty = 0;
    }
    return 0;
}

/* Returns whether RC_AM_BYE was sent and received, and all requests have
 * completed. */
static int said_bye(const rc_ep_t *ep)
{
    return (ep->state & RC_EP_BYE_TAKEN) && (ep->state & RC_EP_BYE_SENT) &&
           (ep->done_sn == ep->sn);
}

int rc_iwarp_wait(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);

    if (ep->state & RC_EP_FLUSHING) {
        return flush_wait(iface, ep);
    }
    if ((ep->state & RC_EP_FAILED) || said_bye(ep) ||
        (iface->host->time() >= ep->wait_end)) {
        ep->state &= (uint16_t)~RC_EP_LINGERS;
        rc_ep_end_later(ep);
    }
    return 0;
}
