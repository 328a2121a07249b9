/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An auxiliary link: a transport's endpoint that carries wire-up messages until
 * the lanes of a UCP endpoint are connected, or that carries one rejection
 * (reject.h). Messages that lack send resources are queued in order.
 */
#ifndef UCP_WIREUP_LINK_H
#define UCP_WIREUP_LINK_H

#include "ucp/base/worker.h"

typedef struct ucp_wireup_link ucp_wireup_link_t;

struct ucp_wireup_link {
    uct_ep_h uct; /**< Transport's endpoint; NULL if the link is not in use */
    size_t max;   /**< Longest message in bytes */
    /** Registered with `uct` while messages are queued: called when there are
     *  send resources again */
    uct_pending_req_t pending;
    ucs_queue_head_t queue; /**< Messages that wait for send resources */
    /** Called when all queued messages have been sent. It must not close the
     *  link, which is still in use: the next progress may close it. */
    void (*sent)(ucp_wireup_link_t *link);
};

/** Initializes a link over `uct`, an endpoint on the interface `wiface`. The
 *  link owns `uct` from then on. */
void ucp_wireup_link_init(ucp_wireup_link_t *link, uct_ep_h uct,
                          const ucp_worker_iface_t *wiface,
                          void (*sent)(ucp_wireup_link_t *link));

/** Sends a message of at most link->max bytes, or queues a copy until
 *  there are send resources. If the peer is lost, the transport calls the error
 *  handler of its interface. */
ucs_status_t ucp_wireup_link_send(ucp_wireup_link_t *link, uint8_t am_id,
                                  const void *message, size_t length);

/** Drops the queued messages and destroys the transport's endpoint. */
void ucp_wireup_link_close(ucp_wireup_link_t *link);

static inline int ucp_wireup_link_is_idle(const ucp_wireup_link_t *link)
{
    return ucs_queue_is_empty(&link->queue);
}

#endif
