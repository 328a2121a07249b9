/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush and fence. libfabric may complete operations out of order. Therefore a
 * flush is complete when the oldest outstanding operation was started after the
 * flush. */
#include "iface.h"

void ugni_flush_init(ugni_flush_queue_t *queue)
{
    queue->head = NULL;
    queue->tail = &queue->head;
}

static ucs_status_t add(ugni_iface_t *iface, ugni_flush_queue_t *queue,
                        uct_completion_t *comp)
{
    ugni_flush_t *flush;

    if (comp == NULL) {
        return UCS_INPROGRESS;
    }
    flush = malloc(sizeof(*flush));
    if (flush == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    flush->next   = NULL;
    flush->number = iface->next_number;
    flush->comp   = comp;
    *queue->tail  = flush;
    queue->tail   = &flush->next;
    return UCS_INPROGRESS;
}

/* Completes the flushes that were started before the send with the number
 * `oldest`. Their callbacks may start sends and flushes. `last` is computed
 * before the callbacks, so that a flush which waits for such a new send is not
 * completed here. */
static void end_until(const ugni_iface_t *iface, ugni_flush_queue_t *queue,
                      uint64_t oldest, ucs_status_t status)
{
    const uint64_t next = iface->next_number;
    const uint64_t last = (oldest < next) ? oldest : next;
    uct_completion_t *comp;
    ugni_flush_t *flush;

    while (((flush = queue->head) != NULL) && (flush->number <= last)) {
        queue->head = flush->next;
        if (queue->head == NULL) {
            queue->tail = &queue->head;
        }
        comp = flush->comp;
        free(flush);
        ucx_complete(comp, status);
    }
}

/* Returns the number of the oldest outstanding send of the endpoint, or
 * UINT64_MAX. Sends move from `queued` to `sent` in order, so those in `sent`
 * are older. */
static uint64_t oldest_of(const ugni_ep_t *ep)
{
    const ugni_link_t *list = ugni_link_is_alone(&ep->sent) ? &ep->queued :
                                                              &ep->sent;

    return ugni_link_is_alone(list) ?
               UINT64_MAX :
               ugni_container_of(list->next, ugni_send_t, link)->number;
}

void ugni_flush_update(ugni_ep_t *ep)
{
    if ((ep->flushes.head != NULL) && !(ep->state & UGNI_EP_TELL)) {
        end_until(ugni_iface_of(ep), &ep->flushes, oldest_of(ep),
                  (ep->state & UGNI_EP_FAILED) ? ep->status : UCS_OK);
    }
}

void ugni_flush_update_all(ugni_iface_t *iface)
{
    if (iface->flushes.head != NULL) {
        end_until(iface, &iface->flushes,
                  ugni_link_is_alone(&iface->outstanding) ?
                      UINT64_MAX :
                      ugni_container_of(iface->outstanding.next, ugni_send_t,
                                        all)
                          ->number,
                  UCS_OK);
    }
}

void ugni_flush_drop(ugni_ep_t *ep)
{
    ugni_flush_t *flush;

    while ((flush = ep->flushes.head) != NULL) {
        ep->flushes.head = flush->next;
        free(flush);
    }
    ugni_flush_init(&ep->flushes);
}

ucs_status_t ugni_ep_flush(uct_ep_h uct_ep, unsigned flags,
                           uct_completion_t *comp)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;
    ucs_status_t status;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        ++ep->busy;
        ugni_ep_fail(ep, UCS_ERR_CANCELED, 0);
        ep->state |= UGNI_EP_CANCELED;
        ugni_ep_settle(ep);
        --ep->busy;
        return ugni_ep_has_sends(ep) ?
                   add(ugni_iface_of(ep), &ep->flushes, comp) :
                   UCS_OK;
    }
    if (!ucx_pending_is_empty(&ep->pending)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (ep->state & UGNI_EP_FAILED) {
        return ugni_check_send(ep);
    }
    if (ep->is_dirty && (flags & UCT_FLUSH_FLAG_REMOTE)) {
        status = ugni_rma_confirm(ep);
        if (status != UCS_OK) {
            return status;
        }
    }
    ++ep->busy;
    status = ugni_ep_am_confirm(ep);
    --ep->busy;
    if ((status != UCS_OK) || (ep->state & UGNI_EP_FAILED)) {
        return (status != UCS_OK) ? status : ugni_check_send(ep);
    }
    return ugni_ep_has_sends(ep) ? add(ugni_iface_of(ep), &ep->flushes, comp) :
                                   UCS_OK;
}

/* On each endpoint with unconfirmed writes or injected messages, starts an
 * operation, for whose completion the flush waits. Stops with
 * UCS_ERR_NO_RESOURCE at an endpoint that cannot send now. An endpoint that
 * fails in this function does not fail the flush of the interface. */
static ucs_status_t confirm_all(ugni_iface_t *iface)
{
    ucs_status_t status = UCS_OK;
    ugni_link_t *link   = iface->eps.next;
    ugni_ep_t *ep;

    while ((link != &iface->eps) && (status != UCS_ERR_NO_RESOURCE)) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        ++ep->busy;
        if (!(ep->state & UGNI_EP_FAILED)) {
            status = ep->is_dirty ? ugni_rma_confirm(ep) :
                                    ugni_ep_am_confirm(ep);
        }
        link = link->next;
        --ep->busy;
        ugni_ep_update(ep);
    }
    return (status == UCS_ERR_NO_RESOURCE) ? status : UCS_OK;
}

ucs_status_t ugni_iface_flush(uct_iface_h uct_iface, unsigned flags,
                              uct_completion_t *comp)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;
    ucs_status_t status;

    if ((iface->kind == UGNI_SMSG) ||
        (iface->confirms && (flags & UCT_FLUSH_FLAG_REMOTE))) {
        status = confirm_all(iface);
        if (status != UCS_OK) {
            return status;
        }
    }
    return ugni_link_is_alone(&iface->outstanding) ?
               UCS_OK :
               add(iface, &iface->flushes, comp);
}

int ugni_is_fenced(const ugni_ep_t *ep, const ugni_send_t *send)
{
    const ugni_iface_t *iface = ugni_iface_of(ep);

    if ((ep->fence == 0) && (iface->fence == 0)) {
        return 0;
    }
    return ((send->number >= ep->fence) && !ugni_link_is_alone(&ep->sent) &&
            (oldest_of(ep) < ep->fence)) ||
           ((send->number >= iface->fence) &&
            (ugni_container_of(iface->outstanding.next, ugni_send_t, all)
                 ->number < iface->fence));
}

/* Makes later operations wait until all earlier ones are complete, because
 * libfabric may execute operations out of order. */
ucs_status_t ugni_iface_fence(uct_iface_h uct_iface, unsigned flags)
{
    ugni_iface_t *iface = (ugni_iface_t *)uct_iface;

    iface->fence = iface->next_number;
    return UCS_OK;
}

ucs_status_t ugni_ep_fence(uct_ep_h uct_ep, unsigned flags)
{
    ugni_ep_t *ep = (ugni_ep_t *)uct_ep;

    ep->fence = ugni_iface_of(ep)->next_number;
    return UCS_OK;
}
