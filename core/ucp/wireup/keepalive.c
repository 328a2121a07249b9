/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keepalive (keepalive.h): when a timer has fired, the next progress runs a
 * round, which checks the peers of some endpoints.
 */
#include "ucp/wireup/keepalive.h"

#include "ucp/order/queue.h"
#include "ucp/wireup/state.h"

#include "ucp/proto/ep.h"
#include "ucs/async/async.h"
#include "ucs/debug/log.h"
#include "ucs/time/time.h"

#include <math.h>

/* Returns non-zero if the rounds have to check this endpoint. Only lane 0
 * matters: requests wait for messages of the peer, which may never arrive.
 * Other lanes complete their operations with an error themselves. */
static int needs_watching(ucp_ep_h ep)
{
    unsigned index               = ep->config->lanes[UCP_AM_LANE].iface_index;
    const ucx_iface_attr_t *attr = ep->worker->ifaces[index].attr;

    return (ep->flags & UCP_EP_FLAG_ERR_MODE) &&
           !(attr->base.cap.flags & UCT_IFACE_FLAG_EP_KEEPALIVE) &&
           !(attr->flags & UCX_IFACE_FLAG_DETECTS_FAILURE);
}

/* Makes the transport check the peer. If the check itself returns an error
 * other than a lack of send resources or memory, the endpoint fails at once. If
 * the transport finds out later that the peer is lost, it calls the error
 * handler of the interface. */
static void check_peer(ucp_ep_h ep)
{
    ucp_wire_end_t end = ucp_ep_wire_end(ep);
    ucs_status_t status;

    if (ep->config->lanes[UCP_AM_LANE].caps & UCT_IFACE_FLAG_EP_CHECK) {
        status = ep->am->ops->check(ep->am, 0, NULL);
    } else if (ep->flags & UCP_EP_FLAG_BLOCKED) {
        return; /* The sends that wait for resources will detect a lost peer */
    } else {
        status = ucp_ep_send_control(ep, UCP_AM_ID_KEEPALIVE, &end,
                                     sizeof(end));
    }
    if (UCS_STATUS_IS_ERR(status) && (status != UCS_ERR_NO_RESOURCE) &&
        (status != UCS_ERR_NO_MEMORY)) {
        ucp_ep_fail(ep, status);
    }
}

ucs_status_t ucp_keepalive_connect(ucp_ep_h ep)
{
    ucs_status_t status;

    if (!(ep->flags & UCP_EP_FLAG_ERR_MODE) || (ep->am == NULL) ||
        !(ep->config->lanes[UCP_AM_LANE].caps & UCT_IFACE_FLAG_EP_CHECK)) {
        return UCS_OK;
    }
    status = ep->am->ops->check(ep->am, 0, NULL);
    if (!UCS_STATUS_IS_ERR(status)) {
        return UCS_OK;
    }
    if ((status == UCS_ERR_NO_RESOURCE) || (status == UCS_ERR_NO_MEMORY)) {
        return status;
    }
    ucp_ep_fail(ep, status);
    return UCS_OK;
}

void ucp_keepalive_check(ucp_ep_h ep)
{
    if ((ep->flags & UCP_EP_FLAG_ERR_MODE) && (ep->am != NULL)) {
        check_peer(ep);
    }
}

static void stop_timer(ucp_keepalive_t *keepalive)
{
    if (keepalive->timer != 0) {
        ucs_async_remove_handler(keepalive->timer, 1);
        keepalive->timer = 0;
    }
}

static ucp_ep_h next_of(ucp_ep_h ep)
{
    ucs_list_link_t *link = ep->link.next;

    if (link == &ep->worker->eps) {
        link = link->next;
    }
    return ucs_container_of(link, struct ucp_ep, link);
}

/* Checks as many endpoints as UCX_KEEPALIVE_NUM_EPS allows, starting where the
 * last round ended. Failures of endpoints do not free them (the next progress
 * does), so that the list stays valid. Stops the timer if no endpoint needs
 * keepalive. */
static void keepalive_round(void *arg)
{
    ucp_worker_h worker        = arg;
    ucp_keepalive_t *keepalive = &ucp_worker_wireup(worker)->keepalive;
    unsigned long left         = worker->context->options.keepalive_num_eps;
    unsigned found             = 0;
    ucp_ep_h ep, end;

    atomic_store(&keepalive->due, false);
    if (ucs_list_is_empty(&worker->eps)) {
        stop_timer(keepalive);
        return;
    }

    end = (keepalive->next != NULL) ?
              keepalive->next :
              ucs_list_head(&worker->eps, struct ucp_ep, link);
    ep  = end;
    do {
        if (!(ep->flags & UCP_EP_FLAG_FAILED) && (ep->am != NULL) &&
            needs_watching(ep)) {
            ++found;
            --left;
            check_peer(ep);
        }
        ep = next_of(ep);
    } while ((ep != end) && (left > 0));

    keepalive->next = ep;
    if (found == 0) {
        stop_timer(keepalive);
    }
}

/* Called in the timer thread of the library: makes the next progress run
 * keepalive_round(), and wakes a sleeping worker. */
static void timer_fired(int id, ucs_event_set_types_t events, void *arg)
{
    ucp_worker_h worker = arg;

    if (!atomic_exchange(&ucp_worker_wireup(worker)->keepalive.due, true)) {
        uct_worker_oneshot_post(worker->uct,
                                &ucp_worker_wireup(worker)->keepalive.round,
                                keepalive_round, worker);
    }
}

void ucp_keepalive_watch(ucp_ep_h ep)
{
    ucp_worker_h worker = ep->worker;
    double interval     = worker->context->options.keepalive_interval;
    ucs_status_t status;

    if ((ucp_worker_wireup(worker)->keepalive.timer != 0) ||
        !needs_watching(ep) || !(interval > 0) || !isfinite(interval) ||
        (worker->context->options.keepalive_num_eps == 0)) {
        return;
    }

    status = ucs_async_add_timer(UCS_ASYNC_MODE_THREAD_MUTEX,
                                 ucs_time_from_sec(interval), timer_fired,
                                 worker, worker->async,
                                 &ucp_worker_wireup(worker)->keepalive.timer);
    if (status != UCS_OK) {
        ucp_worker_wireup(worker)->keepalive.timer = 0;
        ucs_warn("no keepalive for worker %s (%s): a lost peer is detected by "
                 "the next operation only",
                 worker->name, ucs_status_string(status));
    }
}

void ucp_keepalive_forget(ucp_ep_h ep)
{
    ucp_keepalive_t *keepalive = &ucp_worker_wireup(ep->worker)->keepalive;
    ucp_ep_h next;

    if (keepalive->next == ep) {
        next            = next_of(ep);
        keepalive->next = (next == ep) ? NULL : next;
    }
}

void ucp_keepalive_cleanup(ucp_worker_h worker)
{
    stop_timer(&ucp_worker_wireup(worker)->keepalive);
    uct_worker_oneshot_cancel(worker->uct, keepalive_round, worker);
}

ucs_status_t ucp_keepalive_handler(void *arg, void *data, size_t length,
                                   unsigned flags)
{
    /* Nothing to do: the message only lets the sender's transport detect a
     * lost connection */
    return UCS_OK;
}
