/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pending requests are called from progress, some calls of progress after they
 * were added, whether or not there are send resources. A request that returns
 * an error is called again.
 */
#include "faults.h"

ucs_status_t faults_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                                unsigned flags)
{
    faults_ep_t *ep       = faults_ep(uct_ep);
    faults_iface_t *iface = faults_ep_iface(ep);

    if ((ep->status != UCS_OK) ||
        (ep->starved && !ep->waits && faults_chance(iface, 0.25))) {
        ep->starved = 0;
        return UCS_ERR_BUSY; /* The user must try to send, which may succeed or
                              * return the error of the endpoint */
    }

    ucx_pending_push(&ep->pending, req);
    if (!ep->waits) {
        ep->waits      = 1;
        ep->pending_at = faults_later(iface, iface->config.pending_delay);
        TAILQ_INSERT_TAIL(&iface->waiting, ep, wait_link);
    }
    return UCS_OK;
}

void faults_pending_forget(faults_ep_t *ep)
{
    if (ep->waits) {
        ep->waits = 0;
        TAILQ_REMOVE(&faults_ep_iface(ep)->waiting, ep, wait_link);
    }
}

void faults_pending_purge(uct_ep_h uct_ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    faults_ep_t *ep = faults_ep(uct_ep);

    faults_pending_forget(ep);
    ucx_pending_purge(&ep->pending, cb, arg);
}

/* Calls the requests of one endpoint until one fails. Returns zero if the
 * endpoint was destroyed by a request. */
static int dispatch_ep(faults_iface_t *iface, faults_ep_t *ep, unsigned *count)
{
    uct_pending_req_t *req;
    ucs_status_t status;

    iface->dispatching = ep;
    while ((req = ucx_pending_pop(&ep->pending)) != NULL) {
        status = req->func(req);
        if (iface->dispatching == NULL) {
            return 0;
        }
        if (status != UCS_OK) {
            ucx_pending_push_front(&ep->pending, req);
            break;
        }
        ++*count;
    }
    iface->dispatching = NULL;
    return 1;
}

/* Calls the requests of endpoints in the list `waiting` that are due. Handles
 * only as many endpoints as the list has at the start, because a request may
 * append endpoints. A request may also remove any endpoint, so each iteration
 * takes the first one. */
unsigned faults_pending_dispatch(faults_iface_t *iface)
{
    unsigned count = 0, due = 0;
    faults_ep_t *ep;

    TAILQ_FOREACH(ep, &iface->waiting, wait_link) {
        ++due;
    }
    while ((due-- > 0) && ((ep = TAILQ_FIRST(&iface->waiting)) != NULL)) {
        faults_pending_forget(ep);
        if ((ep->pending_at <= iface->round) &&
            !dispatch_ep(iface, ep, &count)) {
            continue;
        }
        if (!ucx_pending_is_empty(&ep->pending) && !ep->waits) {
            if (ep->pending_at <= iface->round) {
                ep->pending_at = faults_later(iface,
                                              iface->config.pending_delay);
            }
            ep->waits = 1;
            TAILQ_INSERT_TAIL(&iface->waiting, ep, wait_link);
        }
    }
    return count;
}
