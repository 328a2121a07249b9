/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint, which sends. A send accepts the whole message, or returns
 * UCS_ERR_NO_RESOURCE and accepts nothing; then the user queues a request with
 * pending_add, which progress calls when there is space. Nothing here
 * blocks. */
#include "template.h"

#include <stdlib.h>
#include <string.h>

ucs_status_t template_ep_create(uct_iface_h iface,
                                const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    ucx_reachable_args_t peer = ucx_simple_peer(params, 0, sizeof(uint64_t));
    template_ep_t *ep;

    if (peer.iface_addr == NULL) {
        return UCS_ERR_UNSUPPORTED; /* an endpoint needs a peer */
    }
    if (!template_is_reachable(iface, &peer)) {
        return UCS_ERR_UNREACHABLE;
    }
    ep = malloc(sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, iface);
    *ep_p = &ep->super;
    return UCS_OK;
}

static void ep_destroy(uct_ep_h ep)
{
    free(ep);
}

/* Returns a message with space for `length` bytes; NULL if the queue is full or
 * there is no memory. */
static template_message_t *new_message(template_iface_t *iface, uint8_t id,
                                       size_t length)
{
    template_message_t *message;

    if (iface->queued >= iface->limit) {
        return NULL;
    }
    message = malloc(sizeof(*message) + length);
    if (message != NULL) {
        message->next = NULL;
        message->id   = id;
    }
    return message;
}

static void put_message(template_iface_t *iface, template_message_t *message,
                        unsigned length)
{
    message->length = length;
    *iface->tail    = message;
    iface->tail     = &message->next;
    ++iface->queued;
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    template_iface_t *iface = (template_iface_t *)ep->iface;
    template_message_t *message;

    message = new_message(iface, id, sizeof(header) + length);
    if (message == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    memcpy(message->data, &header, sizeof(header));
    memcpy(message->data + sizeof(header), payload, length);
    put_message(iface, message, sizeof(header) + length);
    return UCS_OK;
}

/* Returns the length of a message of am_short_iov, which ignores `count` and
 * `stride` of the entries. */
static size_t iov_length(const uct_iov_t *iov, size_t iovcnt)
{
    size_t i, length = 0;

    for (i = 0; i < iovcnt; ++i) {
        length += iov[i].length;
    }
    return length;
}

static ucs_status_t am_short_iov(uct_ep_h ep, uint8_t id, const uct_iov_t *iov,
                                 size_t iovcnt)
{
    template_iface_t *iface = (template_iface_t *)ep->iface;
    size_t length           = iov_length(iov, iovcnt);
    template_message_t *message;
    char *to;

    message = new_message(iface, id, length);
    if (message == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    for (to = message->data; iovcnt > 0; ++iov, --iovcnt) {
        if (iov->length > 0) { /* the buffer of an empty entry may be NULL */
            memcpy(to, iov->buffer, iov->length);
            to += iov->length;
        }
    }
    put_message(iface, message, (unsigned)length);
    return UCS_OK;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    template_iface_t *iface = (template_iface_t *)ep->iface;
    template_message_t *message;
    size_t length;

    (void)flags;
    message = new_message(iface, id, TEMPLATE_MAX_MESSAGE);
    if (message == NULL) {
        return UCS_ERR_NO_RESOURCE;
    }
    length = pack_cb(message->data, arg);
    put_message(iface, message, length);
    return length;
}

static ucs_status_t ep_flush(uct_ep_h ep, unsigned flags,
                             uct_completion_t *completion)
{
    (void)ep;
    (void)flags;
    (void)completion;
    return UCS_OK; /* A sent message is in the queue of its receiver, the
                    * interface of this process */
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *request,
                                unsigned flags)
{
    template_iface_t *iface = (template_iface_t *)ep->iface;

    (void)flags;
    if (iface->queued < iface->limit) {
        return UCS_ERR_BUSY; /* send resources are available: retry at once */
    }
    ucx_pending_push_of(&iface->pending, ep, request);
    return UCS_OK;
}

/* Removes the requests of this endpoint from the pending queue, which all
 * endpoints of the interface share. */
static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t callback,
                          void *arg)
{
    ucx_pending_purge_of(&((template_iface_t *)ep->iface)->pending, ep,
                         callback, arg);
}

const ucx_ep_ops_t template_ep_ops = {
    .size          = sizeof(template_ep_ops),
    .am_short      = am_short,
    .am_bcopy      = am_bcopy,
    .am_short_iov  = am_short_iov,
    .flush         = ep_flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = ep_destroy,
};
