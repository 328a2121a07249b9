/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers and endpoints: identity, liveness, and failure. cma_op.c copies.
 */
#include "cma.h"

#include <stdlib.h>
#include <time.h>

/* Seconds for which a process that was verified is not checked again. In
 * practice its PID is not reused within this time, because the kernel assigns
 * all other PIDs first. */
#define PEER_GOOD_FOR 0.1

/* --- Peers --------------------------------------------------------------- */

static cma_peer_t *peer_find(cma_iface_t *iface, const cma_wire_iface_t *wire)
{
    cma_peer_t *peer;

    for (peer = iface->peers; peer != NULL; peer = peer->next) {
        if ((peer->token == wire->token) && (peer->pid == (pid_t)wire->pid) &&
            (peer->words == wire->words) && (peer->status == UCS_OK)) {
            return peer;
        }
    }
    return NULL;
}

/* Verifies the identity of a peer, and creates its structure. `address`:
 * address of the segment of its inbox. `address_length`: bytes of that address;
 * 0: the peer has no inbox. */
static ucs_status_t peer_create(cma_iface_t *iface,
                                const cma_wire_iface_t *wire,
                                const void *address, size_t address_length,
                                cma_peer_t **peer_p)
{
    const ucx_host_t *host = iface->host;
    char reason[128]       = "";
    ucs_status_t status;
    uint64_t secret;
    cma_peer_t *peer;

    status = cma_probe((pid_t)wire->pid, wire->words, wire->token, &secret,
                       reason, sizeof(reason));
    if (status != UCS_OK) {
        ucx_debug("cma: %s", reason);
        return status;
    }

    peer = calloc(1, sizeof(*peer) + address_length);
    if (peer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    peer->iface          = iface;
    peer->pid            = (pid_t)wire->pid;
    peer->token          = wire->token;
    peer->words          = wire->words;
    peer->proof          = secret;
    peer->seen           = host->time();
    peer->tail           = &peer->head;
    peer->address_length = address_length;
    memcpy(peer->address, address, address_length);
    /* A process cannot help with copies that it has started itself */
    peer->help   = ((address_length > 0) && (peer->pid != iface->pid) &&
                  iface->config.share) ?
                       CMA_HELP_UNTRIED :
                       CMA_HELP_NEVER;
    peer->next   = iface->peers;
    iface->peers = peer;
    *peer_p      = peer;
    return UCS_OK;
}

void cma_peer_free(cma_peer_t *peer)
{
    cma_peer_t **link = &peer->iface->peers;

    while (*link != peer) {
        link = &(*link)->next;
    }
    *link = peer->next;
    if (peer->outbox != NULL) {
        shm_outbox_close(peer->outbox);
        free(peer->outbox);
    }
    free(peer);
}

void cma_peer_put(cma_peer_t *peer)
{
    if ((peer->refs == 0) && !peer->is_busy) {
        cma_peer_free(peer);
    }
}

static ucs_status_t peer_look_now(cma_peer_t *peer)
{
    cma_words_t words;
    ucs_status_t status;

    if (peer->status != UCS_OK) {
        return peer->status;
    }

    status = cma_read_words(peer->pid, peer->words, &words);
    if ((status == UCS_ERR_INVALID_ADDR) ||
        ((status == UCS_OK) && (words.token != peer->token))) {
        status = UCS_ERR_CONNECTION_RESET; /* Another program has the PID
                                            * now */
    }
    if (status == UCS_OK) {
        peer->seen = peer->iface->host->time();
    } else if (status == UCS_ERR_CONNECTION_RESET) {
        cma_peer_lost(peer, status);
    }
    return status;
}

/* Returns host->time() of the last tick of the system, a few milliseconds ago at
 * most. Takes a few nanoseconds; host->time() took 1 % of a message of
 * 64 KiB. */
static double coarse_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

ucs_status_t cma_peer_look(cma_peer_t *peer)
{
    cma_iface_t *iface = peer->iface;

    iface->now = coarse_time();
    if (shm_likely(iface->now - peer->seen < PEER_GOOD_FOR)) {
        return peer->status;
    }
    return peer_look_now(peer);
}

/* --- Failure ------------------------------------------------------------- */

static void ep_unlink(cma_ep_t *ep)
{
    if (ep->link != NULL) {
        *ep->link = ep->next;
        if (ep->next != NULL) {
            ep->next->link = ep->link;
        }
        ep->link = NULL;
    }
}

static void ep_link(cma_ep_t *ep, cma_ep_t **list)
{
    ep->next = *list;
    ep->link = list;
    if (ep->next != NULL) {
        ep->next->link = &ep->next;
    }
    *list = ep;
}

static void ep_fail(cma_ep_t *ep, ucs_status_t status)
{
    ep->status = status;
    ep_unlink(ep);
    ep_link(ep, &ep->peer->iface->failed);
}

/* Marks all endpoints as failed. Their operations are completed by the next
 * progress and not here, because the caller may be iterating over them. */
void cma_peer_lost(cma_peer_t *peer, ucs_status_t status)
{
    const ucx_host_t *host = peer->iface->host;

    if (peer->status != UCS_OK) {
        return;
    }
    ucx_debug("cma: process %d has ended", (int)peer->pid);
    peer->status = status;
    peer->help   = CMA_HELP_NEVER;
    while (peer->eps != NULL) {
        ep_fail(peer->eps, status);
    }
}

unsigned cma_report_failed(cma_iface_t *iface)
{
    const ucx_host_t *host = iface->host;
    unsigned count         = 0;
    cma_ep_t *ep;

    while ((ep = iface->failed) != NULL) {
        ep_unlink(ep);
        ++count;
        /* The callback may destroy the endpoint */
        if (host->iface_ep_failed(&iface->super, &ep->super, ep->status) !=
            UCS_OK) {
            ucx_diag(
                "cma: an endpoint failed, and no error handler handled it");
        }
    }
    return count;
}

/* --- Endpoints ----------------------------------------------------------- */

ucs_status_t cma_ep_create(uct_iface_h uct_iface, const uct_ep_params_t *params,
                           uct_ep_h *ep_p)
{
    const uint64_t addrs = UCT_EP_PARAM_FIELD_DEV_ADDR |
                           UCT_EP_PARAM_FIELD_IFACE_ADDR;
    cma_iface_t *iface = cma_iface(uct_iface);
    size_t length      = cma_iface_address_length(iface);
    cma_wire_iface_t wire;
    ucs_status_t status;
    cma_peer_t *peer;
    cma_ep_t *ep;

    if ((params->field_mask & addrs) != addrs) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
        (params->dev_addr_length < sizeof(cma_wire_device_t))) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) {
        length = params->iface_addr_length;
    }
    status = cma_address_unpack(params->iface_addr, length, &wire);
    if (status != UCS_OK) {
        return status;
    }
    length -= sizeof(wire);
    if (!(wire.flags & CMA_WIRE_INBOX) || !iface->md->has_space) {
        length = 0;
    } else if (length < shm_seg_address_length(&iface->md->space)) {
        return UCS_ERR_INVALID_ADDR;
    }

    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    peer = peer_find(iface, &wire);
    if (peer == NULL) {
        status = peer_create(iface, &wire,
                             (const char *)params->iface_addr + sizeof(wire),
                             length, &peer);
        if (status != UCS_OK) {
            free(ep);
            return status;
        }
    }

    ucx_ep_init(&ep->super, uct_iface);
    ep->peer   = peer;
    ep->status = UCS_OK;
    ++peer->refs;
    ep_link(ep, &peer->eps);
    *ep_p = &ep->super;
    return UCS_OK;
}

static void cma_ep_destroy(uct_ep_h uct_ep)
{
    cma_ep_t *ep     = cma_ep(uct_ep);
    cma_peer_t *peer = ep->peer;

    ep_unlink(ep);
    cma_ops_forget(peer, ep);
    free(ep);
    --peer->refs;
    cma_peer_put(peer);
}

static ucs_status_t cma_ep_check(uct_ep_h uct_ep, unsigned flags,
                                 uct_completion_t *comp)
{
    cma_ep_t *ep = cma_ep(uct_ep);

    if (ep->status == UCS_OK) {
        (void)peer_look_now(ep->peer); /* Progress reports a lost peer */
    }
    return UCS_OK;
}

static ucs_status_t cma_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    cma_ep_t *ep = cma_ep(uct_ep);

    if (ep->status == UCS_OK) {
        cma_ops_cancel(ep->peer, ep, UCS_ERR_CONNECTION_RESET);
        ep_fail(ep, UCS_ERR_CONNECTION_RESET);
    }
    return UCS_OK;
}

/* Operations never return UCS_ERR_NO_RESOURCE, so no request is ever queued. */
static ucs_status_t cma_ep_pending_add(uct_ep_h ep, uct_pending_req_t *req,
                                       unsigned flags)
{
    return UCS_ERR_BUSY;
}

static void cma_ep_pending_purge(uct_ep_h ep, uct_pending_purge_callback_t cb,
                                 void *arg)
{
}

static int cma_ep_is_connected(uct_ep_h uct_ep,
                               const uct_device_addr_t *dev_addr,
                               const uct_iface_addr_t *iface_addr,
                               const uct_ep_addr_t *ep_addr)
{
    const cma_peer_t *peer = cma_ep(uct_ep)->peer;
    cma_wire_iface_t wire;

    return (iface_addr != NULL) &&
           (cma_address_unpack(iface_addr, sizeof(wire), &wire) == UCS_OK) &&
           (wire.token == peer->token) && ((pid_t)wire.pid == peer->pid) &&
           (wire.words == peer->words);
}

const ucx_ep_ops_t cma_ep_ops = {
    .size          = sizeof(cma_ep_ops),
    .put_zcopy     = cma_ep_put_zcopy,
    .get_zcopy     = cma_ep_get_zcopy,
    .flush         = cma_ep_flush,
    .fence         = cma_ep_fence,
    .pending_add   = cma_ep_pending_add,
    .pending_purge = cma_ep_pending_purge,
    .destroy       = cma_ep_destroy,
    .check         = cma_ep_check,
    .invalidate    = cma_ep_invalidate,
    .is_connected  = cma_ep_is_connected,
};
