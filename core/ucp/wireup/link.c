/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The auxiliary link: a transport's endpoint that carries messages before the
 * lanes are connected, with a queue of messages that lack send resources
 * (link.h).
 */
#include "ucp/wireup/link.h"

#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

/* A message in the queue. */
typedef struct {
    ucs_queue_elem_t elem;
    size_t length;
    uint8_t am_id;
    char bytes[];
} waiting_t;

typedef struct {
    const void *message;
    size_t length;
} pack_t;

static size_t pack(void *dest, void *arg)
{
    const pack_t *args = arg;

    memcpy(dest, args->message, args->length);
    return args->length;
}

static ucs_status_t send_now(ucp_wireup_link_t *link, uint8_t am_id,
                             const void *message, size_t length)
{
    pack_t args    = {message, length};
    ssize_t packed = link->uct->ops->am_bcopy(link->uct, am_id, pack, &args, 0);

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

/* Sends the queued messages. Returns UCS_ERR_NO_RESOURCE if some are still
 * queued. */
static ucs_status_t drain(ucp_wireup_link_t *link)
{
    ucs_queue_elem_t *elem;
    ucs_status_t status;
    waiting_t *waiting;

    while ((elem = ucs_queue_pull(&link->queue)) != NULL) {
        waiting = ucs_container_of(elem, waiting_t, elem);
        status  = send_now(link, waiting->am_id, waiting->bytes,
                           waiting->length);
        if (status == UCS_ERR_NO_RESOURCE) {
            ucs_queue_push_head(&link->queue, elem);
            return UCS_ERR_NO_RESOURCE;
        }
        if (status != UCS_OK) {
            ucs_debug("wire-up: a message is lost: %s",
                      ucs_status_string(status));
        }
        free(waiting);
    }
    link->sent(link);
    return UCS_OK;
}

static ucs_status_t resume(uct_pending_req_t *self)
{
    return drain(ucs_container_of(self, ucp_wireup_link_t, pending));
}

void ucp_wireup_link_init(ucp_wireup_link_t *link, uct_ep_h uct,
                          const ucp_worker_iface_t *wiface,
                          void (*sent)(ucp_wireup_link_t *link))
{
    link->uct          = uct;
    link->max          = wiface->lane.am.max_bcopy;
    link->pending.func = resume;
    link->sent         = sent;
    ucs_queue_head_init(&link->queue);
}

/* Adds the link to the transport's pending queue. If that returns UCS_ERR_BUSY,
 * there are send resources: sends the queued messages, and repeats if some
 * remain. */
static ucs_status_t wait_for_resources(ucp_wireup_link_t *link)
{
    ucs_status_t status;

    do {
        status = link->uct->ops->pending_add(link->uct, &link->pending, 0);
        if (status != UCS_ERR_BUSY) {
            return status;
        }
    } while (drain(link) == UCS_ERR_NO_RESOURCE);
    return UCS_OK;
}

ucs_status_t ucp_wireup_link_send(ucp_wireup_link_t *link, uint8_t am_id,
                                  const void *message, size_t length)
{
    int waits           = !ucp_wireup_link_is_idle(link);
    ucs_status_t status = UCS_ERR_NO_RESOURCE;
    waiting_t *waiting;

    if (!waits) {
        status = send_now(link, am_id, message, length);
    }
    if (status != UCS_ERR_NO_RESOURCE) {
        return status;
    }

    waiting = malloc(sizeof(*waiting) + length);
    if (waiting == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    waiting->am_id  = am_id;
    waiting->length = length;
    memcpy(waiting->bytes, message, length);
    ucs_queue_push(&link->queue, &waiting->elem);
    return waits ? UCS_OK : wait_for_resources(link);
}

/* Callback of uct_ep_pending_purge(). Nothing to free: the pending request is a
 * member of the link, and the queued messages have been freed before. */
static void purged(uct_pending_req_t *self, void *arg)
{
}

void ucp_wireup_link_close(ucp_wireup_link_t *link)
{
    uct_ep_h uct = link->uct;
    ucs_queue_elem_t *elem;

    if (uct == NULL) {
        return;
    }

    link->uct = NULL;
    while ((elem = ucs_queue_pull(&link->queue)) != NULL) {
        free(ucs_container_of(elem, waiting_t, elem));
    }
    uct_ep_pending_purge(uct, purged, NULL);
    uct_ep_destroy(uct);
}
