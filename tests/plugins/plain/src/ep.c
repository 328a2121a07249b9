/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint: one connection to the peer's interface, which is used only for
 * sending. The peer's interface never sends on it. */
#include "plain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static plain_iface_t *iface_of(uct_ep_h ep)
{
    return (plain_iface_t *)ep->iface;
}

/* Marks the endpoint as failed; progress reports the failure later. */
static ucs_status_t fail(plain_ep_t *ep)
{
    plain_iface_t *iface = iface_of(&ep->super);

    if (ep->source != NULL) {
        poller_remove(&iface->poller, ep->source);
        ep->source  = NULL;
        ep->lost_at = local_host_of(ep->super.iface->md)->time();
        ++iface->num_failed;
    }
    return UCS_ERR_CONNECTION_RESET;
}

/* Makes the poller report a writable connection if, and only if, requests are
 * pending. The end of the connection is always reported. */
static void watch(plain_ep_t *ep)
{
    if (ep->source != NULL) {
        poller_modify(&iface_of(&ep->super)->poller, ep->source,
                      ucx_pending_is_empty(&ep->pending) ? 0 : EPOLLOUT);
    }
}

static void ready(poller_source_t *source, uint32_t events)
{
    plain_ep_t *ep = source->owner;

    if (events & (EPOLLHUP | EPOLLERR)) {
        fail(ep);
        return;
    }
    ucx_pending_dispatch(&ep->pending);
    if (source->fd >= 0) {
        watch(ep);
    }
}

static ssize_t am_bcopy(uct_ep_h super, uint8_t id, uct_pack_callback_t pack_cb,
                        void *arg, unsigned flags)
{
    plain_ep_t *ep       = (plain_ep_t *)super;
    plain_iface_t *iface = iface_of(super);
    struct iovec iov[2]  = {{&id, 1}, {iface->buffer, 0}};
    ucs_status_t status;

    (void)flags;
    if (ep->source == NULL) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (!sock_is_writable(ep->source->fd)) {
        /* Check this before packing, because the data can be packed only once.
         * If the connection has ended, progress detects the lost peer. */
        return UCS_ERR_NO_RESOURCE;
    }

    iov[1].iov_len = pack_cb(iface->buffer, arg);
    status         = sock_send(ep->source->fd, iov, 2);
    if (status == UCS_OK) {
        return (ssize_t)iov[1].iov_len;
    }
    return fail(ep);
}

/* There is nothing to wait for, because sends pass their data to the kernel
 * before they return. */
static ucs_status_t flush(uct_ep_h super, unsigned flags,
                          uct_completion_t *comp)
{
    (void)comp;
    return ((((plain_ep_t *)super)->source != NULL) ||
            (flags & UCT_FLUSH_FLAG_CANCEL)) ?
               UCS_OK :
               UCS_ERR_CONNECTION_RESET;
}

static ucs_status_t pending_add(uct_ep_h super, uct_pending_req_t *req,
                                unsigned flags)
{
    plain_ep_t *ep = (plain_ep_t *)super;

    (void)flags;
    if (ep->source == NULL) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (ucx_pending_is_empty(&ep->pending) &&
        sock_is_writable(ep->source->fd)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    watch(ep);
    return UCS_OK;
}

static void pending_purge(uct_ep_h super, uct_pending_purge_callback_t cb,
                          void *arg)
{
    plain_ep_t *ep = (plain_ep_t *)super;

    ucx_pending_purge(&ep->pending, cb, arg);
    watch(ep);
}

static void destroy(uct_ep_h super)
{
    plain_ep_t *ep       = (plain_ep_t *)super;
    plain_iface_t *iface = iface_of(super);
    plain_ep_t **link    = &iface->eps;

    while (*link != ep) {
        link = &(*link)->next;
    }
    *link = ep->next;
    if (ep->source != NULL) {
        poller_remove(&iface->poller, ep->source);
    } else if (!ep->is_told) {
        --iface->num_failed;
    }
    poller_free(&iface->poller, ep, &ep->memory);
}

/* Returns whether an address that the caller passes does not have the length of
 * this transport's addresses. */
static int is_cut(const uct_ep_params_t *params)
{
    return ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
            (params->dev_addr_length != sizeof(sock_host_t))) ||
           ((params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) &&
            (params->iface_addr_length != sizeof(sock_name_t)));
}

ucs_status_t plain_ep_create(uct_iface_h super, const uct_ep_params_t *params,
                             uct_ep_h *ep_p)
{
    plain_iface_t *iface = (plain_iface_t *)super;
    sock_name_t name;
    plain_ep_t *ep;
    int fd;

    if (!(params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR) ||
        is_cut(params) ||
        !sock_is_here(local_host_of(super->md), params->dev_addr,
                      sizeof(sock_host_t))) {
        return UCS_ERR_UNREACHABLE;
    }

    memcpy(&name, params->iface_addr, sizeof(name));
    fd = sock_connect(&name);
    if (fd < 0) {
        return UCS_ERR_UNREACHABLE;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        close(fd);
        return UCS_ERR_NO_MEMORY;
    }
    ep->source = poller_add(&iface->poller, fd, 0, ready, ep);
    if (ep->source == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    ucx_ep_init(&ep->super, super);
    ucx_pending_init(&ep->pending);
    ep->next   = iface->eps;
    iface->eps = ep;
    *ep_p      = &ep->super;
    return UCS_OK;
}

const ucx_ep_ops_t plain_ep_ops = {
    .size          = sizeof(plain_ep_ops),
    .am_bcopy      = am_bcopy,
    .flush         = flush,
    .pending_add   = pending_add,
    .pending_purge = pending_purge,
    .destroy       = destroy,
};
