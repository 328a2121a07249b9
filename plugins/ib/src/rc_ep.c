/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of endpoints, and their pending requests. */
#include "rc_iwarp.h"
#include "rc_join.h"
#include "rc_send.h"

#include <stdlib.h>

/* --- Finding endpoints ---------------------------------------------------- */

static rc_ep_t **bucket_of(rc_iface_t *iface, uint32_t qpn)
{
    return &iface->by_qpn[qpn % RC_QPN_BUCKETS];
}

/* Assigns a free index to the endpoint. An index is free only after all
 * requests of the endpoint that had it have completed, because completions find
 * their endpoint by the index. */
static ucs_status_t index_take(rc_iface_t *iface, rc_ep_t *ep)
{
    uint32_t i, size;
    rc_ep_t **eps;

    for (i = iface->eps_next; i < iface->eps_size; ++i) {
        if (iface->eps[i] == NULL) {
            break;
        }
    }
    if (i == iface->eps_size) {
        size = (iface->eps_size == 0) ? 16 : iface->eps_size * 2;
        eps  = realloc(iface->eps, size * sizeof(*eps));
        if (eps == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        memset(eps + iface->eps_size, 0,
               (size - iface->eps_size) * sizeof(*eps));
        iface->eps      = eps;
        iface->eps_size = size;
    }
    ep->index       = i;
    iface->eps[i]   = ep;
    iface->eps_next = i + 1;
    return UCS_OK;
}

static void index_give_back(rc_iface_t *iface, rc_ep_t *ep)
{
    iface->eps[ep->index] = NULL;
    if (ep->index < iface->eps_next) {
        iface->eps_next = ep->index;
    }
}

static void by_qpn_remove(rc_iface_t *iface, rc_ep_t *ep)
{
    rc_ep_t **link = bucket_of(iface, ep->qp->qp_num);

    while (*link != ep) {
        link = &(*link)->next_by_qpn;
    }
    *link = ep->next_by_qpn;
}

rc_ep_t *rc_ep_by_qpn(rc_iface_t *iface, uint32_t qpn)
{
    rc_ep_t *ep = *bucket_of(iface, qpn);

    while ((ep != NULL) && (ep->qp->qp_num != qpn)) {
        ep = ep->next_by_qpn;
    }
    return ep;
}

/* --- Creation and destruction --------------------------------------------- */

ucs_status_t rc_ep_create(uct_iface_h uct_iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p)
{
    rc_iface_t *iface = (rc_iface_t *)uct_iface;
    rc_ep_t **bucket, *ep;
    ucs_status_t status;

    if (params->field_mask &
        (UCT_EP_PARAM_FIELD_IFACE_ADDR | UCT_EP_PARAM_FIELD_SOCKADDR)) {
        return UCS_ERR_UNSUPPORTED; /* Endpoints connect only to endpoints */
    }
    if (iface->watch.is_gone) {
        return UCS_ERR_NO_DEVICE;
    }
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = index_take(iface, ep);
    if (status != UCS_OK) {
        goto err_free;
    }
    status = rc_order_open(iface, ep);
    if (status == UCS_OK) {
        status = rc_qp_create(iface, &ep->qp);
    }
    if (status != UCS_OK) {
        goto err_order;
    }
    ucx_ep_init(&ep->super, uct_iface);
    ucx_pending_init(&ep->pending);
    rc_link_init(&ep->waiting);
    rc_link_init(&ep->owing);
    rc_link_init(&ep->ending);
    ep->ops_tail = &ep->ops;
    rc_credits_open(ep);
    rc_recv_refill(iface); /* The new credits may need more buffers */
    /* Each connection has a different start value, so that the device rejects
     * late packets of an earlier connection. */
    ep->psn = (uint32_t)((iface->host->time() * 1e7) + ep->qp->qp_num * 7919u) &
              0xffffff;
    bucket          = bucket_of(iface, ep->qp->qp_num);
    ep->next_by_qpn = *bucket;
    *bucket         = ep;
    *ep_p           = &ep->super;
    return UCS_OK;

err_order:
    rc_order_close(ep);
    index_give_back(iface, ep);
err_free:
    free(ep);
    return status;
}

void rc_ep_drop_qp(rc_ep_t *ep)
{
    if (ep->qp != NULL) {
        by_qpn_remove(rc_iface_of(ep), ep);
        ibv_destroy_qp(ep->qp);
        ep->qp = NULL;
    }
}

void rc_ep_free(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);

    rc_link_remove(&ep->waiting);
    rc_link_remove(&ep->owing);
    rc_link_remove(&ep->ending);
    rc_credits_close(ep);
    rc_ep_drop_qp(ep);
    rc_join_end(ep);
    rc_order_close(ep);
    index_give_back(iface, ep);
    free(ep);
}

/* Removes the endpoint from iface->waiting, unless the plugin itself waits for
 * send resources: to post the request that drains the queue pair
 * (post_drain()), or RC_AM_HELLO. */
static void end_waiting(rc_ep_t *ep)
{
    if (!(ep->state & RC_EP_DRAIN) &&
        ((ep->state & (RC_EP_GREETS | RC_EP_JOINING)) != RC_EP_GREETS)) {
        rc_link_remove(&ep->waiting);
    }
}

/* The queue pair is not destroyed yet: progress first polls the completions of
 * all messages that the endpoint has received. Some devices drop the
 * completions of a destroyed queue pair, but for the peer each message that
 * this device has acknowledged counts as delivered. */
void rc_ep_end_later(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);

    rc_link_remove(&ep->waiting);
    rc_link_remove(&ep->owing);
    if (!(ep->state & RC_EP_FAILED)) {
        ep->state |= RC_EP_FAILED;
        ep->status = (int8_t)UCS_ERR_CANCELED;
        rc_ep_stop(ep);
    }
    if (rc_link_is_alone(&ep->ending)) {
        rc_link_add_tail(&iface->ending, &ep->ending);
    }
    rc_order_await(ep);
}

/* Lets the device deliver all data that was sent. Posts a signaled request if
 * the last request is not signaled, because the last completion shows that the
 * endpoint may end. */
void rc_ep_finish(rc_ep_t *ep)
{
    rc_iface_t *iface = rc_iface_of(ep);

    if (ep->busy > 0) {
        return; /* The function that has incremented `busy` calls this function
                 * again */
    }
    rc_order_await(ep);
    if ((ep->sn == ep->done_sn) && !rc_ep_needs_empty(ep)) {
        if (!rc_linger(ep)) {
            rc_ep_end_later(ep);
        }
        return;
    }
    end_waiting(ep);
    if (rc_ep_needs_empty(ep) &&
        (rc_ep_post_empty(ep) == UCS_ERR_NO_RESOURCE) &&
        rc_link_is_alone(&ep->waiting)) {
        rc_link_add_tail(&iface->waiting, &ep->waiting);
    }
}

void rc_ep_destroy(uct_ep_h uct_ep)
{
    rc_ep_t *ep = (rc_ep_t *)uct_ep;

    rc_link_remove(&ep->ending);
    rc_link_remove(&ep->owing);
    ep->owed = 0;
    ep->state &= (uint16_t)~RC_EP_TELL;
    ep->state |= RC_EP_ZOMBIE;
    rc_ep_finish(ep);
}

/* --- Pending requests ----------------------------------------------------- */

ucs_status_t rc_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                               unsigned flags)
{
    rc_ep_t *ep       = (rc_ep_t *)uct_ep;
    rc_iface_t *iface = rc_iface_of(ep);

    if (ucx_pending_is_empty(&ep->pending) &&
        (rc_check_am(iface, ep) != UCS_ERR_NO_RESOURCE) &&
        (iface->descs->free_list != NULL)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    if (rc_link_is_alone(&ep->waiting)) {
        rc_link_add_tail(&iface->waiting, &ep->waiting);
    }
    return UCS_OK;
}

void rc_ep_pending_purge(uct_ep_h uct_ep, uct_pending_purge_callback_t cb,
                         void *arg)
{
    rc_ep_t *ep = (rc_ep_t *)uct_ep;

    end_waiting(ep);
    ucx_pending_purge(&ep->pending, cb, arg);
}
