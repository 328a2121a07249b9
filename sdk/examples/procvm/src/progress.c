/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: receives messages, copies the data of puts and gets, calls pending
 * requests, and reports failures. A callback may destroy any endpoint, so the
 * memory of destroyed endpoints is freed when progress ends.
 */
#include "procvm.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { EVENTS_A_ROUND = 16 };

/* Receives and delivers a message; returns 1. Returns 0 if there is none. If
 * the peer has closed the connection, the endpoint fails, but only after all
 * messages were received. A malformed message fails the endpoint as well. */
static int receive(procvm_iface_t *iface, procvm_ep_t *ep)
{
    procvm_message_t *rx = &iface->rx;
    struct iovec iov     = {rx, sizeof(*rx)};
    struct msghdr msg    = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t length;

    length = recvmsg(ep->in, &msg, MSG_DONTWAIT);
    if ((length < 0) && ((errno == EAGAIN) || (errno == EINTR))) {
        return 0;
    }
    if (length <= 0) {
        procvm_ep_fail(ep, UCS_ERR_CONNECTION_RESET);
        return 0;
    }
    if ((length < (ssize_t)sizeof(rx->header)) || (msg.msg_flags & MSG_TRUNC) ||
        (rx->header.id >= UCT_AM_ID_MAX)) {
        procvm_ep_fail(ep, UCS_ERR_IO_ERROR);
        return 0;
    }
    ucx_iface_deliver_am(&iface->super, rx->header.id, rx->data,
                         (unsigned)(length - (ssize_t)sizeof(rx->header)), 0);
    return 1;
}

/* Handles an event of the endpoint's sockets: receives a message or, if none
 * has arrived, calls pending requests. If the connection to the peer is closed,
 * the endpoint fails at once: the peer has closed both connections, and all of
 * its messages were received. */
static unsigned handle_event(procvm_iface_t *iface, procvm_ep_t *ep)
{
    ucs_status_t status;

    if (ep->in < 0) {
        procvm_ep_accept(ep);
    }
    if ((ep->in >= 0) && receive(iface, ep)) {
        return 1;
    }
    status = procvm_ep_state(ep);
    if (UCS_STATUS_IS_ERR(status) && (status != UCS_ERR_NO_RESOURCE)) {
        procvm_ep_fail(ep, status);
    } else if (status == UCS_OK) {
        unsigned count = ucx_pending_dispatch(&ep->pending);

        if (!ep->is_destroyed) {
            procvm_ep_watch(ep);
        }
        return count;
    }
    return 0;
}

/* Reports failures. Each call of the user's error handler may destroy
 * endpoints, so the search begins again at the head of the list. */
static unsigned report_failures(procvm_iface_t *iface)
{
    unsigned count = 0;
    procvm_ep_t *ep;

    while (iface->num_failed > 0) {
        for (ep = iface->eps; (ep->status == UCS_OK) || ep->is_told;
             ep = ep->next) {
        }
        ep->is_told = 1;
        --iface->num_failed;
        ++count;
        iface->host->iface_ep_failed(&iface->super, &ep->super, ep->status);
    }
    return count;
}

unsigned procvm_progress(uct_iface_h super)
{
    procvm_iface_t *iface = (procvm_iface_t *)super;
    unsigned count        = 0, i;
    struct epoll_event event;
    procvm_ep_t *ep;

    ++iface->in_progress;
    for (i = 0;
         (i < EVENTS_A_ROUND) && (epoll_wait(iface->epoll, &event, 1, 0) == 1);
         ++i) {
        count += handle_event(iface, event.data.ptr);
    }
    count += procvm_ops_progress(iface);
    count += report_failures(iface);
    if (--iface->in_progress == 0) {
        while ((ep = iface->dead) != NULL) {
            iface->dead = ep->next;
            free(ep);
        }
    }
    return count;
}
