/* SPDX-License-Identifier: BSD-3-Clause */
/* How endpoints are created, connected and destroyed. An endpoint has a
 * listening socket, whose name is its address, and connects to the listening
 * socket of its peer. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void close_all(pairs_ep_t *ep)
{
    poller_t *poller = &pairs_iface_of(ep)->poller;

    poller_remove(poller, ep->listener);
    poller_remove(poller, ep->in);
    poller_remove(poller, ep->out);
    ep->listener = ep->in = ep->out = NULL;
}

ucs_status_t pairs_ep_fail(pairs_ep_t *ep, ucs_status_t status)
{
    if (ep->state != PAIRS_FAILED) {
        ep->state  = PAIRS_FAILED;
        ep->status = status;
        ++pairs_iface_of(ep)->num_failed;
        close_all(ep);
        pairs_drop_answers(ep);
    }
    return ep->status;
}

void pairs_ep_watch(pairs_ep_t *ep)
{
    if (ep->out != NULL) {
        poller_modify(&pairs_iface_of(ep)->poller, ep->out,
                      (!ucx_pending_is_empty(&ep->pending) ||
                       (ep->answers != NULL)) ?
                          EPOLLOUT :
                          0);
    }
}

/* Handles events of the connection for sending. If the peer has closed it, the
 * endpoint fails only after the connection for receiving has been read, which
 * may still contain the peer's last messages. */
static void out_ready(poller_source_t *source, uint32_t events)
{
    pairs_ep_t *ep = source->owner;

    if (events & (EPOLLHUP | EPOLLERR)) {
        if (ep->in == NULL) {
            pairs_accept(ep->listener, 0);
        }
        if (ep->state == PAIRS_FAILED) {
            return;
        }
        if (ep->in == NULL) {
            pairs_ep_fail(ep, UCS_ERR_CONNECTION_RESET);
        } else {
            poller_modify(&pairs_iface_of(ep)->poller, source, EPOLLET);
        }
        return;
    }
    pairs_send_more(ep);
}

ucs_status_t pairs_ep_create(uct_iface_h super, const uct_ep_params_t *params,
                             uct_ep_h *ep_p)
{
    pairs_iface_t *iface = (pairs_iface_t *)super;
    pairs_ep_t *ep;
    int fd;

    if (params->field_mask &
        (UCT_EP_PARAM_FIELD_IFACE_ADDR | UCT_EP_PARAM_FIELD_SOCKADDR)) {
        return UCS_ERR_UNSUPPORTED;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    fd           = sock_listen(&ep->name);
    ep->listener = (fd < 0) ?
                       NULL :
                       poller_add(&iface->poller, fd, 0, pairs_accept, ep);
    if (ep->listener == NULL) {
        free(ep);
        return UCS_ERR_IO_ERROR;
    }
    ucx_ep_init(&ep->super, super);
    ucx_pending_init(&ep->pending);
    ep->ops_tail     = &ep->ops;
    ep->answers_tail = &ep->answers;
    ep->next         = iface->eps;
    iface->eps       = ep;
    *ep_p            = &ep->super;
    return UCS_OK;
}

static void destroy(uct_ep_h super)
{
    pairs_ep_t *ep       = (pairs_ep_t *)super;
    pairs_iface_t *iface = pairs_iface_of(ep);
    pairs_ep_t **link    = &iface->eps;

    while (*link != ep) {
        link = &(*link)->next;
    }
    *link = ep->next;
    if ((ep->state == PAIRS_FAILED) && !ep->is_told) {
        --iface->num_failed;
    }
    ep->state   = PAIRS_FAILED; /* For callers that still use the endpoint */
    ep->is_told = 1;
    close_all(ep);
    pairs_drop_answers(ep);
    pairs_end_ops(ep, UCS_ERR_CANCELED);
    poller_free(&iface->poller, ep, &ep->memory);
}

static ucs_status_t get_address(uct_ep_h super, uct_ep_addr_t *addr)
{
    memcpy(addr, &((pairs_ep_t *)super)->name, sizeof(sock_name_t));
    return UCS_OK;
}

/* Connects to the peer's endpoint, and sends this endpoint's name. */
static ucs_status_t connect_out(pairs_ep_t *ep)
{
    pairs_header_t header = {.kind = PAIRS_HELLO, .name = ep->name};
    struct iovec iov      = {&header, sizeof(header)};
    int fd                = sock_connect(&ep->peer);

    if (fd < 0) {
        return UCS_ERR_UNREACHABLE;
    }
    ep->out = poller_add(&pairs_iface_of(ep)->poller, fd, 0, out_ready, ep);
    return (ep->out == NULL) ? UCS_ERR_NO_MEMORY : sock_send(fd, &iov, 1);
}

static ucs_status_t connect_to_ep(uct_ep_h super,
                                  const uct_device_addr_t *dev_addr,
                                  size_t dev_addr_length,
                                  const uct_ep_addr_t *ep_addr,
                                  size_t ep_addr_length)
{
    const ucx_host_t *host = local_host_of(super->iface->md);
    pairs_ep_t *ep         = (pairs_ep_t *)super;
    ucs_status_t status;

    if (ep->state != PAIRS_NEW) {
        return UCS_ERR_ALREADY_EXISTS;
    }
    if (!sock_is_here(host, dev_addr, dev_addr_length) || (ep_addr == NULL) ||
        (ep_addr_length != sizeof(ep->peer))) {
        return UCS_ERR_INVALID_ADDR;
    }

    memcpy(&ep->peer, ep_addr, sizeof(ep->peer));
    ep->state = PAIRS_CONNECTED;
    status    = pairs_greet_early(ep);
    if (status == UCS_OK) {
        status = connect_out(ep);
    }
    if (status != UCS_OK) {
        return pairs_ep_fail(ep, status);
    }
    if (ep->listener != NULL) {
        poller_modify(&pairs_iface_of(ep)->poller, ep->listener, EPOLLIN);
    }
    return UCS_OK;
}

static int is_connected(uct_ep_h super, const uct_device_addr_t *dev_addr,
                        const uct_iface_addr_t *iface_addr,
                        const uct_ep_addr_t *ep_addr)
{
    const pairs_ep_t *ep = (const pairs_ep_t *)super;

    (void)iface_addr;
    return (ep->state == PAIRS_CONNECTED) && (ep_addr != NULL) &&
           sock_is_here(local_host_of(super->iface->md), dev_addr,
                        sizeof(sock_host_t)) &&
           (memcmp(&ep->peer, ep_addr, sizeof(ep->peer)) == 0);
}

/* Returns the endpoint's status. Sends nothing, because the kernel reports the
 * end of a connection to progress. */
static ucs_status_t check(uct_ep_h super, unsigned flags,
                          uct_completion_t *comp)
{
    const pairs_ep_t *ep = (const pairs_ep_t *)super;

    (void)flags;
    (void)comp;
    return (ep->state == PAIRS_FAILED) ? ep->status : UCS_OK;
}

static ucs_status_t invalidate(uct_ep_h ep, unsigned flags)
{
    (void)flags;
    pairs_ep_fail((pairs_ep_t *)ep, UCS_ERR_CONNECTION_RESET);
    return UCS_OK;
}

const ucx_ep_ops_t pairs_ep_ops = {
    .size          = sizeof(pairs_ep_ops),
    .am_short      = pairs_am_short,
    .am_bcopy      = pairs_am_bcopy,
    .am_short_iov  = pairs_am_short_iov,
    .put_short     = pairs_put_short,
    .put_bcopy     = pairs_put_bcopy,
    .put_zcopy     = pairs_put_zcopy,
    .get_bcopy     = pairs_get_bcopy,
    .get_zcopy     = pairs_get_zcopy,
    .flush         = pairs_flush,
    .fence         = pairs_fence,
    .pending_add   = pairs_pending_add,
    .pending_purge = pairs_pending_purge,
    .destroy       = destroy,
    .check         = check,
    .invalidate    = invalidate,
    .get_address   = get_address,
    .connect_to_ep = connect_to_ep,
    .is_connected  = is_connected,
};
