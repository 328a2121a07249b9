/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: completions, endpoints that wait, and lost peers. */
#include "smsg.h"

enum { MAX_POLL = 16 };

#define CHECK_INTERVAL 0.1 /* s, between two checks of peers */

static void op_done(ugni_iface_t *iface, void *context, size_t length,
                    ucs_status_t status)
{
    ugni_op_t *op = context;

    if (op == NULL) {
        return; /* an error that belongs to no operation */
    }
    if (op->is_recv) {
        ugni_recv_done(iface, ugni_container_of(op, ugni_recv_t, op), length,
                       status != UCS_OK);
    } else {
        ugni_send_done(iface, ugni_container_of(op, ugni_send_t, op), status);
    }
}

static unsigned take_error(ugni_iface_t *iface)
{
    const ucx_host_t *host        = iface->host;
    struct fi_cq_err_entry error  = {0};

    if (fi_cq_readerr(iface->cq, &error, 0) != 1) {
        return 0;
    }
    ucx_debug("ugni: an operation of %s failed: %s",
              iface->info->domain_attr->name, fi_strerror(error.err));
    op_done(iface, error.op_context, 0, UCS_ERR_CONNECTION_RESET);
    return 1;
}

static unsigned poll_cq(ugni_iface_t *iface)
{
    struct fi_cq_msg_entry entries[MAX_POLL];
    ssize_t num = fi_cq_read(iface->cq, entries, MAX_POLL);

    if (num == -FI_EAVAIL) {
        num = take_error(iface);
    } else {
        for (ssize_t i = 0; i < num; ++i) {
            op_done(iface, entries[i].op_context, entries[i].len, UCS_OK);
        }
    }
    if (num <= 0) {
        return 0;
    }
    ugni_recv_post(iface);
    return (unsigned)num;
}

/* Sends what waits, then dispatches pending requests; tells the user of a
 * failure. */
static unsigned serve(ugni_iface_t *iface, ugni_ep_t *ep)
{
    unsigned count = 0;

    ++ep->busy;
    if (!(ep->state & UGNI_EP_FAILED)) {
        ugni_ep_push(ep);
        if (ugni_check_send(ep) == UCS_OK) {
            count = ucx_pending_dispatch(&ep->pending);
        }
    } else if (ep->state & UGNI_EP_TELL) {
        ep->state &= ~UGNI_EP_TELL;
        (void)iface->host->iface_ep_failed(&iface->super, &ep->super,
                                           ep->status);
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

/* Fails endpoints whose peer is lost. Callbacks may free any endpoint; `busy`
 * keeps the current one until the next one is known. */
static void check_peers(ugni_iface_t *iface, double now)
{
    ugni_link_t *link = iface->eps.next;
    ugni_ep_t *ep;

    while (link != &iface->eps) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        ++ep->busy;
        if (!ugni_ep_has_sends(ep)) {
            ep->moved = now;
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

unsigned ugni_iface_progress(uct_iface_h uct_iface)
{
    ugni_iface_t *iface = (ugni_iface_t*)uct_iface;
    unsigned count      = poll_cq(iface);
    double now;

    if (iface->num_missing > 0) {
        ugni_recv_post(iface);
    }
    if (!ugni_link_is_alone(&iface->todo)) {
        count += serve_all(iface);
    }
    if (!ugni_link_is_alone(&iface->outstanding)) {
        now = iface->host->time();
        if (now - iface->checked >= CHECK_INTERVAL) {
            iface->checked = now;
            check_peers(iface, now);
        }
    }
    return count;
}
