/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages, which the library itself sends (introductions, replies,
 * acknowledgements). They are sent at once if possible. Otherwise a copy of the
 * message waits in the queue of the endpoint or of a fence.
 */
#include "ucp/order/fence.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const void *message;
    size_t length;
} control_t;

static size_t control_pack(void *dest, void *arg)
{
    const control_t *control = arg;

    memcpy(dest, control->message, control->length);
    return control->length;
}

/* A control message that waits in a queue. */
typedef struct {
    void *message; /* from malloc() */
    size_t length;
    uint8_t am_id;
} queued_t;

UCP_AREA_ACCESSOR(ucp_send_control, ucp_request_t, send.op, queued_t)

/* Called when a control message is lost because there is no memory. The
 * endpoint fails in the next progress: otherwise its peer would wait for the
 * message for ever. */
static void fail_without_memory(ucp_ep_h ep)
{
    ucs_error("ep %p: out of memory for a message that its peer waits for; the"
              " endpoint fails",
              ep);
    ucp_ep_fail_later(ep, UCS_ERR_NO_MEMORY);
}

static ssize_t control_send(ucp_ep_h ep, uint8_t am_id, control_t *control)
{
    ssize_t packed;

    do {
        packed = ep->am->ops->am_bcopy(ep->am, am_id, control_pack, control, 0);
    } while ((packed == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(ep->worker));
    if (packed == UCS_ERR_NO_MEMORY) {
        fail_without_memory(ep);
    }
    return packed;
}

static void control_abort(ucp_request_t *req, ucs_status_t status)
{
    free(ucp_send_control(req)->message);
    ucp_request_complete_send(req, status);
}

static ucs_status_t control_progress(ucp_request_t *req)
{
    control_t control = {ucp_send_control(req)->message,
                         ucp_send_control(req)->length};
    ssize_t packed    = control_send(req->send.ep, ucp_send_control(req)->am_id,
                                     &control);

    if (packed == UCS_ERR_NO_RESOURCE) {
        return UCS_ERR_NO_RESOURCE;
    }
    control_abort(req, (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return UCS_OK;
}

static const ucp_proto_t control_proto = {
    .name     = "control",
    .progress = control_progress,
    .abort    = control_abort,
};

/* Creates a request that sends a copy of the message. If out of memory, returns
 * NULL and makes the endpoint fail in the next progress, because the peer waits
 * for the message. */
static ucp_request_t *make_control(ucp_ep_h ep, uint8_t am_id,
                                   const void *message, size_t length)
{
    void *copy         = ucp_reserve_malloc(ep->worker, length);
    ucp_request_t *req = ucp_request_get_internal(ep->worker);

    if ((copy == NULL) || (req == NULL)) {
        goto err;
    }

    memcpy(copy, message, length);
    ucp_send_control(req)->message = copy;
    ucp_send_control(req)->length  = length;
    ucp_send_control(req)->am_id   = am_id;
    req->send.ep                   = ep;
    req->send.proto                = &control_proto;
    return req;

err:
    free(copy);
    if (req != NULL) {
        ucp_request_put(req);
    }
    fail_without_memory(ep);
    return NULL;
}

ucs_status_t ucp_ep_send_control(ucp_ep_h ep, uint8_t am_id,
                                 const void *message, size_t length)
{
    control_t control = {message, length};
    ucp_request_t *req;
    ssize_t packed;

    if (ep->flags & UCP_EP_FLAG_FAILED) {
        return ep->fail_status;
    }

    if (!(ep->flags & UCP_EP_FLAG_BLOCKED)) {
        /* Send at once, without UCX_SEND_FLAG_MORE, which would permit the
         * transport to delay the message: the peer may wait for it, and the
         * user may not call progress again. */
        packed = control_send(ep, am_id, &control);
        if (packed >= 0) {
            return UCS_OK;
        }
        if (packed != UCS_ERR_NO_RESOURCE) {
            return (ucs_status_t)packed;
        }
    }

    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_ep_wait_for_resources(ep, req);
    return UCS_OK;
}

ucs_status_t ucp_ep_send_ahead(ucp_ep_h ep, uint8_t am_id, const void *message,
                               size_t length)
{
    control_t control = {message, length};
    ucp_request_t *req;
    ssize_t packed;

    if ((ep->flags & UCP_EP_FLAG_FAILED) || ucs_queue_is_empty(&ep->waiting)) {
        return ucp_ep_send_control(ep, am_id, message, length);
    }
    packed = control_send(ep, am_id, &control);
    if (packed != UCS_ERR_NO_RESOURCE) {
        return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
    }
    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_ep_wait_in_front(ep, req);
    return UCS_OK;
}

ucs_status_t ucp_ep_send_next(ucp_ep_h ep, uint8_t am_id, const void *message,
                              size_t length)
{
    ucp_request_t *req;

    if (!(ep->flags & UCP_EP_FLAG_DRAINING)) {
        return ucp_ep_send_control(ep, am_id, message, length);
    }
    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucs_queue_push_head(&ep->waiting, &req->send.queue);
    return UCS_OK;
}

ucs_status_t ucp_ep_send_in_order(ucp_ep_h ep, uint8_t am_id,
                                  const void *message, size_t length)
{
    ucp_request_t *req;

    if (!(ep->flags & UCP_EP_FLAG_FENCING)) {
        return ucp_ep_send_control(ep, am_id, message, length);
    }

    req = make_control(ep, am_id, message, length);
    if (req == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_fence_hold(ep, req);
    return UCS_OK;
}

/* Returns an endpoint other than `ep` to the same worker, which has lanes and
 * has not failed. Returns NULL if there is no such endpoint. */
static ucp_ep_h other_way(ucp_ep_h ep)
{
    ucp_ep_h other;

    ucs_list_for_each(other, &ep->worker->eps, link) {
        if ((other != ep) && (other->am != NULL) &&
            (other->peer_uuid == ep->peer_uuid) &&
            !(other->flags & UCP_EP_FLAG_FAILED)) {
            return other;
        }
    }
    return NULL;
}

void ucp_ep_send_urgent(ucp_ep_h ep, uint8_t am_id, const void *message,
                        size_t length)
{
    control_t control = {message, length};
    ucp_ep_h other;

    if ((ep->am != NULL) && (ep->am->ops->am_bcopy(ep->am, am_id, control_pack,
                                                   &control, 0) >= 0)) {
        return;
    }

    other = other_way(ep);
    if ((other == NULL) ||
        (ucp_ep_send_control(other, am_id, message, length) != UCS_OK)) {
        ucs_debug("ep %p: cannot notify the peer of its end", ep);
    }
}
