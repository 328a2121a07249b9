/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An auxiliary link: a transport's endpoint that carries wire-up
 * messages until the lanes are connected. Messages that lack send
 * resources are queued in order.
 */
#ifndef UCP_WIREUP_LINK_H
#define UCP_WIREUP_LINK_H

#include "ucp/base/worker.h"

typedef struct ucp_wireup_link ucp_wireup_link_t;

struct ucp_wireup_link {
    uct_ep_h uct; /**< NULL if not in use */
    size_t max;   /**< Bytes of a message, at most */
    /** Called when there are send resources again */
    uct_pending_req_t pending;
    ucs_queue_head_t queue; /**< Messages that wait for send resources */
    /** Called when all queued messages have been sent. `link` may be closed by
     *  the next progress, but not in this call. */
    void (*sent)(ucp_wireup_link_t *link);
};

/** Initializes a link over `uct`, an endpoint on the interface; the link
 *  becomes its owner. */
void ucp_wireup_link_init(ucp_wireup_link_t *link, uct_ep_h uct,
                          const ucp_worker_iface_t *wiface,
                          void (*sent)(ucp_wireup_link_t *link));

/** Sends a message of at most link->max bytes, or queues a copy until
 *  there are send resources. A broken link is reported to its
 *  interface's error handler. */
ucs_status_t ucp_wireup_link_send(ucp_wireup_link_t *link, uint8_t am_id,
                                  const void *message, size_t length);

/** Drops the queued messages and destroys the transport's endpoint. */
void ucp_wireup_link_close(ucp_wireup_link_t *link);

static inline int ucp_wireup_link_is_idle(const ucp_wireup_link_t *link)
{
    return ucs_queue_is_empty(&link->queue);
}

#endif
