/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An auxiliary link: a transport's endpoint that carries messages of wire-up
 * until the lanes themselves can. What finds no room waits here, in order.
 */
#ifndef UCP_WIREUP_LINK_H
#define UCP_WIREUP_LINK_H

#include "ucp/core/worker.h"

typedef struct ucp_wireup_link ucp_wireup_link_t;

struct ucp_wireup_link {
    uct_ep_h          uct;      /**< NULL: not in use */
    size_t            max;      /**< Bytes of a message */
    uct_pending_req_t room;     /**< Called when there is room again */
    ucs_queue_head_t  queue;    /**< Of messages */
    /** All that waited has left; `link` may be closed by the next progress,
     *  not inside the call. */
    void              (*sent)(ucp_wireup_link_t *link);
};

/** Takes over `uct`, an endpoint of the interface. */
void ucp_wireup_link_init(ucp_wireup_link_t *link, uct_ep_h uct,
                          const ucp_worker_iface_t *wiface,
                          void (*sent)(ucp_wireup_link_t *link));

/** Sends a message of at most link->max bytes: now, or from a copy when there
 *  is room. A link that breaks tells its interface's error handler. */
ucs_status_t ucp_wireup_link_send(ucp_wireup_link_t *link, uint8_t am_id,
                                  const void *message, size_t length);

/** Drops what waits and lets the transport go. */
void ucp_wireup_link_close(ucp_wireup_link_t *link);

static inline int ucp_wireup_link_is_idle(const ucp_wireup_link_t *link)
{
    return ucs_queue_is_empty(&link->queue);
}

#endif
