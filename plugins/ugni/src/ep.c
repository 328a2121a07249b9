/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, failure and destruction of endpoints, and their pending
 * requests. */
#include "smsg.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* --- Creation ------------------------------------------------------------- */

/* Finds or adds a peer. Its address stays in the address vector until the
 * interface is closed: its removal may close a connection over which the peer
 * still sends. A new interface of the peer may have the address of an old one,
 * but has another key. */
static ucs_status_t get_peer(ugni_iface_t *iface, const void *name,
                             uint32_t key, ugni_peer_t **peer_p)
{
    ugni_peer_t *peer, *same_name = NULL;

    for (peer = iface->peers; peer != NULL; peer = peer->next) {
        if (memcmp(peer->name, name, iface->name_length) == 0) {
            if (peer->key == key) {
                *peer_p = peer;
                return UCS_OK;
            }
            same_name = peer;
        }
    }
    peer = calloc(1, sizeof(*peer));
    if (peer == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memcpy(peer->name, name, iface->name_length);
    peer->key = key;
    if (same_name != NULL) {
        peer->fi_addr = same_name->fi_addr;
    } else if (fi_av_insert(iface->av, peer->name, 1, &peer->fi_addr, 0,
                            NULL) != 1) {
        free(peer);
        return UCS_ERR_INVALID_ADDR;
    }
    peer->next   = iface->peers;
    iface->peers = peer;
    *peer_p      = peer;
    return UCS_OK;
}

/* A provider of IP networks trusts the family of a socket address. */
static int is_valid_name(const ugni_iface_t *iface, const void *name)
{
    switch (iface->info->addr_format) {
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
        return memcmp(name, iface->name, sizeof(sa_family_t)) == 0;
    default:
        return 1;
    }
}

/* Copies the peer's address, which is untrusted input. */
static ucs_status_t take_address(ugni_iface_t *iface,
                                 const uct_ep_params_t *params, ugni_ep_t *ep)
{
    const uint64_t needed = UCT_EP_PARAM_FIELD_DEV_ADDR |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR;
    const char *address   = (const char*)params->iface_addr;

    if ((params->field_mask & needed) != needed) {
        return UCS_ERR_UNSUPPORTED; /* endpoints connect only to interfaces */
    }
    if ((params->dev_addr == NULL) || (address == NULL) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
         (params->dev_addr_length < sizeof(ugni_wire_device_t))) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) &&
         (params->iface_addr_length < sizeof(ep->addr) + iface->name_length)) ||
        !is_valid_name(iface, address + sizeof(ep->addr))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(&ep->addr, address, sizeof(ep->addr));
    ep->addr.start = le64toh(ep->addr.start);
    ep->addr.space = le64toh(ep->addr.space);
    ep->addr.pid   = le32toh(ep->addr.pid);
    ep->addr.key   = le32toh(ep->addr.key);
    return get_peer(iface, address + sizeof(ep->addr), ep->addr.key, &ep->peer);
}

ucs_status_t ugni_ep_create(uct_iface_h uct_iface,
                            const uct_ep_params_t *params, uct_ep_h *ep_p)
{
    ugni_iface_t *iface = (ugni_iface_t*)uct_iface;
    ugni_ep_t *ep       = calloc(1, sizeof(*ep));
    ucs_status_t status;

    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = take_address(iface, params, ep);
    if (status != UCS_OK) {
        free(ep);
        return status;
    }
    ucx_ep_init(&ep->super, uct_iface);
    ucx_pending_init(&ep->pending);
    ugni_flush_init(&ep->flushes);
    ugni_link_init(&ep->todo);
    ugni_link_init(&ep->queued);
    ugni_link_init(&ep->sent);
    ugni_link_add(&iface->eps, &ep->link);
    *ep_p = &ep->super;
    return UCS_OK;
}

/* --- Failure and destruction ---------------------------------------------- */

/* libfabric keeps the buffers of posted messages until it completes them; it
 * has no call that ends a send. */
static void disown_sent(ugni_ep_t *ep)
{
    ugni_iface_t *iface = ugni_iface_of(ep);
    ugni_send_t *send;

    while (!ugni_link_is_alone(&ep->sent)) {
        send = ugni_container_of(ep->sent.next, ugni_send_t, link);
        ugni_link_remove(&send->link);
        ugni_link_add(&iface->disowned, &send->link);
        if (ep->state & UGNI_EP_FAILED) {
            ugni_link_remove(&send->all); /* flushes do not wait for it */
        }
        send->ep = NULL;
    }
}

static int needs_progress(const ugni_ep_t *ep)
{
    if (ep->state & UGNI_EP_FAILED) {
        return ep->state & UGNI_EP_TELL;
    }
    return !ugni_link_is_alone(&ep->queued) ||
           !ucx_pending_is_empty(&ep->pending);
}

void ugni_ep_update(ugni_ep_t *ep)
{
    ugni_iface_t *iface = ugni_iface_of(ep);

    if (ep->busy > 0) {
        return;
    }
    if (needs_progress(ep)) {
        if (ugni_link_is_alone(&ep->todo)) {
            ugni_link_add(&iface->todo, &ep->todo);
        }
    } else if (ep->state & UGNI_EP_ZOMBIE) {
        disown_sent(ep);
        ugni_link_remove(&ep->todo);
        ugni_link_remove(&ep->link);
        free(ep);
    }
}

void ugni_ep_fail(ugni_ep_t *ep, ucs_status_t status, int tell)
{
    ugni_iface_t *iface = ugni_iface_of(ep);

    if (ep->state & UGNI_EP_FAILED) {
        return;
    }
    ep->state |= UGNI_EP_FAILED;
    ep->status = status;
    if (tell && !(ep->state & UGNI_EP_ZOMBIE)) {
        ep->state |= UGNI_EP_TELL;
    }
    ++ep->busy;
    disown_sent(ep);
    while (!ugni_link_is_alone(&ep->queued)) {
        ugni_send_free(iface, ugni_container_of(ep->queued.next, ugni_send_t,
                                                link));
    }
    ugni_flush_update(ep);
    ugni_flush_update_all(iface);
    --ep->busy;
    ugni_ep_update(ep);
}

/* The numbers of this and of later messages have a gap at the receiver, so that
 * no endpoint of the peer can go on. Callbacks may free any endpoint; `busy`
 * keeps the current one until the next one is known. */
void ugni_peer_lost(ugni_iface_t *iface, ugni_peer_t *peer,
                    ucs_status_t status)
{
    ugni_link_t *link = iface->eps.next;
    ugni_ep_t *ep;

    peer->number = 0;
    ++peer->epoch;
    while (link != &iface->eps) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        ++ep->busy;
        if (ep->peer == peer) {
            ugni_ep_fail(ep, status, 1);
        }
        link = link->next;
        --ep->busy;
        ugni_ep_update(ep);
    }
}

void ugni_ep_destroy(uct_ep_h uct_ep)
{
    ugni_ep_t *ep = (ugni_ep_t*)uct_ep;

    ep->state |= UGNI_EP_ZOMBIE;
    ep->state &= ~UGNI_EP_TELL;
    ugni_ep_update(ep);
}

ucs_status_t ugni_ep_invalidate(uct_ep_h uct_ep, unsigned flags)
{
    ugni_ep_fail((ugni_ep_t*)uct_ep, UCS_ERR_ENDPOINT_TIMEOUT, 1);
    return UCS_OK;
}

/* --- Pending requests ----------------------------------------------------- */

ucs_status_t ugni_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                                 unsigned flags)
{
    ugni_ep_t *ep = (ugni_ep_t*)uct_ep;

    if (ucx_pending_is_empty(&ep->pending) &&
        (ugni_check_send(ep) != UCS_ERR_NO_RESOURCE)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    ugni_ep_update(ep);
    return UCS_OK;
}

void ugni_ep_pending_purge(uct_ep_h uct_ep, uct_pending_purge_callback_t cb,
                           void *arg)
{
    ugni_ep_t *ep = (ugni_ep_t*)uct_ep;
    uct_pending_req_t *req;

    while ((req = ucx_pending_pop(&ep->pending)) != NULL) {
        cb(req, arg);
    }
}
