/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint: copies a message into a datagram of its stream. */
#include "udp.h"

#include <stdlib.h>
#include <string.h>

static udp_stream_t *stream_of(uct_ep_h ep)
{
    return ((udp_ep_t *)ep)->stream;
}

/* Excludes the service thread until the end of the enclosing block. */
#define EXCLUDE_SERVICE(_ep) \
    UCX_EXCLUDE_SERVICE(&((udp_iface_t *)(_ep)->iface)->guard)

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header,
                             const void *payload, unsigned length)
{
    EXCLUDE_SERVICE(ep);
    ucs_status_t status;
    udp_packet_t *packet = udp_stream_reserve(stream_of(ep), &status);

    if (packet != NULL) {
        memcpy(packet->data, &header, sizeof(header));
        if (length > 0) {
            memcpy(packet->data + sizeof(header), payload, length);
        }
        udp_stream_send(stream_of(ep), packet, UDP_KIND_MESSAGE, id,
                        sizeof(header) + length);
    }
    return status;
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    EXCLUDE_SERVICE(ep);
    ucs_status_t status;
    udp_packet_t *packet = udp_stream_reserve(stream_of(ep), &status);
    size_t length;

    (void)flags;
    if (packet == NULL) {
        return status;
    }
    length = pack_cb(packet->data, arg);
    udp_stream_send(stream_of(ep), packet, UDP_KIND_MESSAGE, id, length);
    return (ssize_t)length;
}

static ucs_status_t cancel(udp_stream_t *stream, uct_completion_t *comp)
{
    udp_done_t *own = NULL;

    if ((stream->flushes != NULL) && (comp != NULL)) {
        own = calloc(1, sizeof(*own));
        if (own == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        own->comp = comp;
    }
    udp_stream_cancel(stream, UCS_ERR_CANCELED);
    if (stream->status == UCS_OK) {
        /* Nothing may be sent after udp_stream_cancel() has abandoned packets,
         * not even a probe: the peer would wait for the abandoned packets and
         * never deliver what follows. */
        stream->status  = UCS_ERR_CANCELED;
        stream->is_told = 1;
    }
    if (own == NULL) {
        return UCS_OK;
    }
    udp_iface_complete(stream->iface, own, UCS_OK);
    return UCS_INPROGRESS;
}

static ucs_status_t flush(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    EXCLUDE_SERVICE(ep);

    return (flags & UCT_FLUSH_FLAG_CANCEL) ?
               cancel(stream_of(ep), comp) :
               udp_stream_flush(stream_of(ep), comp);
}

static ucs_status_t pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                unsigned flags)
{
    EXCLUDE_SERVICE(ep);
    udp_stream_t *stream = stream_of(ep);

    (void)flags;
    if (stream->status != UCS_OK) {
        return stream->status;
    } else if (ucx_window_is_open(&stream->window)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&stream->pending, req);
    return UCS_OK;
}

static void pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                          void *arg)
{
    EXCLUDE_SERVICE(ep);

    ucx_pending_purge(&stream_of(ep)->pending, cb, arg);
}

/* Sends a probe, unless there are unacknowledged datagrams, whose
 * retransmission detects a lost peer as well. */
static ucs_status_t check(uct_ep_h ep, unsigned flags, uct_completion_t *comp)
{
    EXCLUDE_SERVICE(ep);
    udp_stream_t *stream = stream_of(ep);

    (void)flags;
    (void)comp;
    if ((stream->status == UCS_OK) && ucx_window_is_idle(&stream->window)) {
        udp_stream_probe(stream);
    }
    return stream->status;
}

/* Destroys an endpoint. Its stream continues until everything is acknowledged.
 * Only progress frees the stream, because this function may be called by a
 * callback while progress uses the stream. */
static void destroy(uct_ep_h ep)
{
    EXCLUDE_SERVICE(ep);
    udp_stream_t *stream = stream_of(ep);
    udp_done_t **link    = &stream->flushes;
    udp_done_t *done;

    stream->ep = NULL;
    while ((done = *link) != NULL) {
        if (done->of_iface) {
            link = &done->next;
        } else {
            *link = done->next;
            free(done);
        }
    }
    if ((stream->status != UCS_OK) && !stream->is_told) {
        --stream->iface->num_failed;
    }
    free(ep);
}

ucs_status_t udp_ep_create(uct_iface_h super, const uct_ep_params_t *params,
                           uct_ep_h *ep_p)
{
    ucx_reachable_args_t args = ucx_simple_peer(params, sizeof(udp_dev_addr_t),
                                                sizeof(udp_iface_addr_t));
    struct sockaddr_in peer   = {.sin_family = AF_INET};
    udp_dev_addr_t dev;
    udp_iface_addr_t addr;
    udp_ep_t *ep;
    UCX_EXCLUDE_SERVICE(&((udp_iface_t *)super)->guard);

    if ((args.iface_addr == NULL) || (args.dev_addr == NULL)) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (((udp_iface_t *)super)->is_lost || !udp_is_reachable(super, &args)) {
        return UCS_ERR_UNREACHABLE;
    }

    memcpy(&dev, params->dev_addr, sizeof(dev));
    memcpy(&addr, params->iface_addr, sizeof(addr));
    peer.sin_addr.s_addr = dev.ip;
    peer.sin_port        = addr.port;
    ep                   = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, super);
    ep->stream = udp_stream_create((udp_iface_t *)super, ep, &peer);
    if (ep->stream == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    *ep_p = &ep->super;
    return UCS_OK;
}

const ucx_ep_ops_t udp_ep_ops = {
    .size          = sizeof(udp_ep_ops),
    .am_short      = am_short,
    .am_bcopy      = am_bcopy,
    .flush         = flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = destroy,
    .check         = check,
};
