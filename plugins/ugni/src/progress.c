/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: serves endpoints that wait, and detects lost peers. */
#include "iface.h"

#define CHECK_INTERVAL 0.1 /* Seconds between two checks of peers */

static int is_same_process(const ugni_wire_addr_t *a, const ugni_wire_addr_t *b)
{
    return (a->pid == b->pid) && (a->start == b->start) &&
           (a->space == b->space);
}

/* Returns whether a failed endpoint to this peer process, of either transport,
 * has outstanding sends. If so, no failure of these endpoints is reported yet:
 * UCP closes its endpoint at the first report, and its user may then release
 * memory that the sends of another transport still use. */
static int has_sends_to(const ugni_port_t *port, const ugni_wire_addr_t *peer)
{
    const ugni_link_t *link;
    const ugni_ep_t *ep;

    for (int kind = 0; kind < UGNI_NUM_KINDS; ++kind) {
        if (port->ifaces[kind] == NULL) {
            continue;
        }
        for (link = port->ifaces[kind]->eps.next;
             link != &port->ifaces[kind]->eps; link = link->next) {
            ep = ugni_container_of(link, ugni_ep_t, link);
            if ((ep->state & UGNI_EP_FAILED) &&
                is_same_process(&ep->addr, peer) &&
                !ugni_link_is_alone(&ep->sent)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Posts the queued operations of an endpoint, then dispatches its pending
 * requests. Reports the failure of an endpoint only when the completion queue
 * is empty, so that the messages that the peer has sent before are delivered
 * first. They may take several rounds of progress, because there may be more of
 * them than receive buffers. */
static unsigned serve(ugni_iface_t *iface, ugni_ep_t *ep)
{
    unsigned count = 0;

    ++ep->busy;
    if (!(ep->state & UGNI_EP_FAILED)) {
        ugni_ep_push(ep);
        if (ugni_check_send(ep) == UCS_OK) {
            count = ucx_pending_dispatch(&ep->pending);
        }
    } else if ((ep->state & UGNI_EP_TELL) && iface->port->is_drained &&
               !has_sends_to(iface->port, &ep->addr)) {
        ugni_ep_settle(ep);
        if (!(ep->state & UGNI_EP_ZOMBIE)) {
            (void)iface->host->iface_ep_failed(&iface->super, &ep->super,
                                               ep->status);
        }
        count = 1;
    }
    --ep->busy;
    ugni_ep_update(ep);
    return count;
}

static unsigned serve_all(ugni_iface_t *iface)
{
    unsigned count = 0;
    ugni_link_t list;
    ugni_ep_t *ep;

    /* Endpoints that wait again are added to iface->todo. */
    ugni_link_init(&list);
    ugni_link_add(&iface->todo, &list);
    ugni_link_remove(&iface->todo);
    while (!ugni_link_is_alone(&list)) {
        ep = ugni_container_of(list.next, ugni_ep_t, todo);
        ugni_link_remove(&ep->todo);
        count += serve(iface, ep);
    }
    return count;
}

/* Fails endpoints whose peer is lost. Callbacks of the user may free any
 * endpoint. `busy` keeps the current endpoint allocated until the loop has read
 * its successor. */
static void check_peers(ugni_iface_t *iface, double now)
{
    ugni_link_t *link = iface->eps.next;
    ugni_ep_t *ep;

    while (link != &iface->eps) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        ++ep->busy;
        if (!ugni_ep_has_sends(ep)) {
            ep->moved = now;
        } else if (ep->state & UGNI_EP_FAILED) {
            if (now - ep->moved > iface->config.linger) {
                ugni_ep_abandon(ep);
            }
        } else if (ugni_peer_is_dead(iface, &ep->addr)) {
            ugni_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
        } else if (now - ep->moved > iface->config.timeout) {
            ugni_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
        }
        link = link->next;
        --ep->busy;
        ugni_ep_update(ep);
    }
}

/* Polls the completion queue of the port, unless the other interface of the
 * port has polled it since the last progress of this one. The progress of a
 * worker calls the progress of both interfaces. A second poll would be a second
 * system call with ofi_rxm, and would delay replies to messages. Hot path. */
static unsigned poll_port(ugni_iface_t *iface)
{
    ugni_port_t *port = iface->port;
    unsigned count    = 0;

    if (port->polls == iface->polls) {
        __atomic_store_n(&port->polls, port->polls + 1, __ATOMIC_RELAXED);
        count = ugni_port_progress(port);
    }
    iface->polls = port->polls;
    return count;
}

int ugni_iface_needs_checks(const ugni_iface_t *iface)
{
    return !ugni_link_is_alone(&iface->outstanding) || (iface->num_early > 0) ||
           iface->port->is_waiting;
}

unsigned ugni_iface_progress(uct_iface_h uct_iface)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    unsigned count      = poll_port(iface);
    double now;

    if (!ugni_link_is_alone(&iface->todo)) {
        count += serve_all(iface);
    }
    if (ugni_iface_needs_checks(iface)) {
        now = iface->host->time();
        if (now - iface->checked >= CHECK_INTERVAL) {
            iface->checked = now;
            check_peers(iface, now);
            (void)ugni_port_sweep(iface->port, iface->config.user_timeout, now);
            ugni_order_check(iface, now);
        }
    }
    return count;
}
