/* SPDX-License-Identifier: BSD-3-Clause */
/* Flush and fence. A flush is complete when the oldest outstanding message is
 * newer than the flush: libfabric may complete messages out of order. */
#include "smsg.h"

#include <stdlib.h>

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

/* Ends the flushes that are not newer than message `oldest`. */
static void end_until(ugni_flush_queue_t *queue, uint64_t oldest,
                      ucs_status_t status)
{
    uct_completion_t *comp;
    ugni_flush_t *flush;

    while (((flush = queue->head) != NULL) && (flush->number <= oldest)) {
        queue->head = flush->next;
        if (queue->head == NULL) {
            queue->tail = &queue->head;
        }
        comp = flush->comp;
        free(flush);
        if ((status != UCS_OK) && (comp->status == UCS_OK)) {
            comp->status = status;
        }
        if (--comp->count == 0) {
            comp->func(comp);
        }
    }
}

/* Messages move from `queued` to `sent` in order. */
static uint64_t oldest_of(const ugni_ep_t *ep)
{
    const ugni_link_t *list = ugni_link_is_alone(&ep->sent) ? &ep->queued :
                                                              &ep->sent;

    return ugni_link_is_alone(list) ? UINT64_MAX :
           ugni_container_of(list->next, ugni_send_t, link)->number;
}

void ugni_flush_update(ugni_ep_t *ep)
{
    if (ep->flushes.head != NULL) {
        end_until(&ep->flushes, oldest_of(ep),
                  (ep->state & UGNI_EP_FAILED) ? ep->status : UCS_OK);
    }
}

void ugni_flush_update_all(ugni_iface_t *iface)
{
    if (iface->flushes.head != NULL) {
        end_until(&iface->flushes,
                  ugni_link_is_alone(&iface->outstanding) ? UINT64_MAX :
                  ugni_container_of(iface->outstanding.next, ugni_send_t,
                                    all)->number, UCS_OK);
    }
}

ucs_status_t ugni_ep_flush(uct_ep_h uct_ep, unsigned flags,
                           uct_completion_t *comp)
{
    ugni_ep_t *ep = (ugni_ep_t*)uct_ep;

    if (flags & UCT_FLUSH_FLAG_CANCEL) {
        ugni_ep_fail(ep, UCS_ERR_CANCELED, 0);
        return UCS_OK;
    }
    if (!ucx_pending_is_empty(&ep->pending)) {
        return UCS_ERR_NO_RESOURCE;
    }
    if (ep->state & UGNI_EP_FAILED) {
        return ep->status;
    }
    return ugni_ep_has_sends(ep) ? add(ugni_iface_of(ep), &ep->flushes, comp) :
                                   UCS_OK;
}

ucs_status_t ugni_iface_flush(uct_iface_h uct_iface, unsigned flags,
                              uct_completion_t *comp)
{
    ugni_iface_t *iface = (ugni_iface_t*)uct_iface;

    return ugni_link_is_alone(&iface->outstanding) ? UCS_OK :
           add(iface, &iface->flushes, comp);
}

/* Messages are delivered in order, and there are no other operations: nothing
 * to do. */
ucs_status_t ugni_iface_fence(uct_iface_h iface, unsigned flags)
{
    return UCS_OK;
}

ucs_status_t ugni_ep_fence(uct_ep_h ep, unsigned flags)
{
    return UCS_OK;
}
