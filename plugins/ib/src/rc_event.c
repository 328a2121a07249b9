/* SPDX-License-Identifier: BSD-3-Clause */
/* Wake-up: one completion channel signals events of both completion queues. */
#include "rc_send.h"

ucs_status_t rc_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((rc_iface_t *)iface)->channel->fd;
    return UCS_OK;
}

/* Removes the events from the channel, so that its descriptor is not readable.
 * ibv_ack_cq_events() takes a lock, therefore one call acknowledges several
 * events. */
static unsigned drain(rc_iface_t *iface)
{
    unsigned sends = 0, recvs = 0;
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(iface->channel, &cq, &context) == 0) {
        if (cq == iface->send_cq) {
            ++sends;
        } else {
            ++recvs;
        }
    }
    if (sends > 0) {
        ibv_ack_cq_events(iface->send_cq, sends);
    }
    if (recvs > 0) {
        ibv_ack_cq_events(iface->recv_cq, recvs);
    }
    return sends + recvs;
}

/*
 * Prepares for sleeping. UCS_ERR_BUSY: the caller must call progress and then
 * this function again, for one of these reasons:
 * - The interface's lists `ending` or `owing` (rc.h) have entries: endpoints to
 *   report to the user or to free, or grants of credits to send. Only progress
 *   does this, and there may be no further event.
 * - An event was drained. Its completion may still be in the queue, and causes
 *   no second event.
 * - The queues were armed by this call. A completion between the last poll and
 *   ibv_req_notify_cq() causes no event.
 */
ucs_status_t rc_event_arm(uct_iface_h uct_iface, unsigned events)
{
    rc_iface_t *iface = (rc_iface_t *)uct_iface;

    if (!rc_link_is_alone(&iface->ending) || !rc_link_is_alone(&iface->owing)) {
        return UCS_ERR_BUSY;
    }
    if (iface->watch.is_gone) {
        return UCS_OK; /* The device causes no further events */
    }
    if (drain(iface) > 0) {
        iface->armed = 0;
        rc_poll_sends_soon(iface);
        return UCS_ERR_BUSY;
    }
    if (iface->armed) {
        return UCS_OK; /* An earlier call has armed both queues, and no event
                        * has occurred since */
    }
    if ((ibv_req_notify_cq(iface->send_cq, 0) != 0) ||
        (ibv_req_notify_cq(iface->recv_cq, 0) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    iface->armed = 1;
    rc_poll_sends_soon(iface);
    return UCS_ERR_BUSY; /* The caller must poll again after arming */
}
