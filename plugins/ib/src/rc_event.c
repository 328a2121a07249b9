/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping: one completion channel tells of both completion queues. */
#include "rc.h"

ucs_status_t rc_event_fd_get(uct_iface_h iface, int *fd_p)
{
    *fd_p = ((rc_iface_t*)iface)->channel->fd;
    return UCS_OK;
}

/* Takes the notifications out of the channel, so that its descriptor is quiet.
 * Acknowledging takes a lock of the library's: several at a time. */
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

/* A completion that came between the last poll and the request to be notified
 * is not notified of. So the caller polls once more if there may be one: an
 * event that was drained, or one that this call finds by arming twice. */
ucs_status_t rc_event_arm(uct_iface_h uct_iface, unsigned events)
{
    rc_iface_t *iface = (rc_iface_t*)uct_iface;

    if (!rc_link_is_alone(&iface->ending) || !rc_link_is_alone(&iface->owing)) {
        return UCS_ERR_BUSY;
    }
    if (drain(iface) > 0) {
        iface->armed = 0;
        return UCS_ERR_BUSY;
    }
    if (iface->armed) {
        return UCS_OK; /* since before the last poll */
    }
    if ((ibv_req_notify_cq(iface->send_cq, 0) != 0) ||
        (ibv_req_notify_cq(iface->recv_cq, 0) != 0)) {
        return UCS_ERR_IO_ERROR;
    }
    iface->armed = 1;
    return UCS_ERR_BUSY; /* poll once more, now that events are on */
}
