/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of endpoints, and their pending requests. */
#include "ud_am.h"
#include "ud_send.h"
#include "ud_service.h"

#include <stdlib.h>

enum { MAX_SLOTS = 1 << UD_INDEX_BITS };

/* --- Finding endpoints ---------------------------------------------------- */

static ucs_status_t slots_grow(ud_iface_t *iface)
{
    uint32_t size = (iface->num_slots == 0) ? 16 : iface->num_slots * 2;
    ud_slot_t *slots;

    if (size > MAX_SLOTS) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    slots = realloc(iface->slots, size * sizeof(*slots));
    if (slots == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (uint32_t i = size; i-- > iface->num_slots;) {
        slots[i].ep        = NULL;
        slots[i].id        = i;
        slots[i].next_free = iface->free_slot;
        iface->free_slot   = i;
    }
    iface->slots     = slots;
    iface->num_slots = size;
    return UCS_OK;
}

/* Assigns a slot and an id to the endpoint. The low bits of the id are the
 * index of the slot, the higher bits count its uses, so that each use has a new
 * id. An id is never 0. */
static ucs_status_t slot_take(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_slot_t *slot;
    ucs_status_t status;

    if (iface->free_slot == UINT32_MAX) {
        status = slots_grow(iface);
        if (status != UCS_OK) {
            return status;
        }
    }
    slot             = &iface->slots[iface->free_slot];
    iface->free_slot = slot->next_free;
    slot->ep         = ep;
    slot->id += MAX_SLOTS;
    if (slot->id < MAX_SLOTS) {
        slot->id += MAX_SLOTS; /* The count has overflowed: continue with 1 */
    }
    ep->id = slot->id;
    return UCS_OK;
}

static void slot_put(ud_iface_t *iface, ud_ep_t *ep)
{
    uint32_t index = ep->id % MAX_SLOTS;

    iface->slots[index].ep        = NULL;
    iface->slots[index].next_free = iface->free_slot;
    iface->free_slot              = index;
}

ud_ep_t *ud_ep_by_id(const ud_iface_t *iface, uint32_t id)
{
    uint32_t index = id % MAX_SLOTS;

    if ((index >= iface->num_slots) || (iface->slots[index].id != id)) {
        return NULL;
    }
    return iface->slots[index].ep;
}

/* --- Creation and destruction --------------------------------------------- */

/* Returns a random first sequence number, because late packets of an earlier
 * connection must not match a new connection. */
static uint32_t random_psn(ud_iface_t *iface)
{
    iface->random = (iface->random * 6364136223846793005u) +
                    1442695040888963407u;
    return (uint32_t)(iface->random >> 32);
}

ud_ep_t *ud_ep_new(ud_iface_t *iface, ud_peer_t *peer, uint32_t ordinal)
{
    ud_ep_t *ep = calloc(1, sizeof(*ep));

    if ((ep == NULL) || (slot_take(iface, ep) != UCS_OK)) {
        free(ep);
        return NULL;
    }
    ucx_ep_init(&ep->super, &iface->super);
    ucx_window_init(&ep->window, &iface->window_params, random_psn(iface));
    ucx_pending_init(&ep->pending);
    ib_link_init(&ep->active);
    ib_link_init(&ep->owing);
    ib_link_init(&ep->resending);
    ib_link_init(&ep->ready);
    ib_link_init(&ep->failed);
    ep->flushes_tail = &ep->flushes;
    ep->ordinal      = ordinal;
    ep->asked_psn    = ep->window.tx_psn;
    ep->connect_rto  = iface->window_params.min_rto;
    ud_peer_add(peer, ep);
    __atomic_store_n(&iface->num_eps, iface->num_eps + 1, __ATOMIC_RELAXED);
    ud_service_start(iface);
    return ep;
}

/* Returns an endpoint that was created for a request of this peer and that does
 * not belong to the user yet, or NULL. */
static ud_ep_t *find_unused(const ud_peer_t *peer)
{
    const uint16_t mask = UD_EP_CONNECTED | UD_EP_USED | UD_EP_LEFT |
                          UD_EP_FIN_SENT | UD_EP_FIN_TAKEN | UD_EP_GONE |
                          UD_EP_FAILED;
    ud_ep_t *ep;

    for (ep = peer->eps; ep != NULL; ep = ep->next_of_peer) {
        if ((ep->state & mask) == UD_EP_CONNECTED) {
            break;
        }
    }
    return ep;
}

/* Copies the peer's address, which is untrusted input. */
static ucs_status_t take_address(const uct_ep_params_t *params,
                                 ib_wire_device_t *device,
                                 ud_wire_iface_t *address)
{
    const uint64_t needed = UCT_EP_PARAM_FIELD_DEV_ADDR |
                            UCT_EP_PARAM_FIELD_IFACE_ADDR;

    if ((params->field_mask & needed) != needed) {
        return UCS_ERR_UNSUPPORTED; /* Endpoints connect only to interfaces */
    }
    if ((params->dev_addr == NULL) || (params->iface_addr == NULL) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_DEV_ADDR_LENGTH) &&
         (params->dev_addr_length < sizeof(*device))) ||
        ((params->field_mask & UCT_EP_PARAM_FIELD_IFACE_ADDR_LENGTH) &&
         (params->iface_addr_length < sizeof(*address)))) {
        return UCS_ERR_INVALID_ADDR;
    }
    memcpy(device, params->dev_addr, sizeof(*device));
    memcpy(address, params->iface_addr, sizeof(*address));
    return (le32toh(address->qpn) > UD_MAX_QPN) ? UCS_ERR_INVALID_ADDR : UCS_OK;
}

ucs_status_t ud_ep_create(uct_iface_h uct_iface, const uct_ep_params_t *params,
                          uct_ep_h *ep_p)
{
    ud_iface_t *iface = (ud_iface_t *)uct_iface;
    ib_wire_device_t device;
    ud_wire_iface_t address;
    ucs_status_t status;
    ud_peer_t *peer;
    ud_ep_t *ep;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    status = take_address(params, &device, &address);
    if (status != UCS_OK) {
        return status;
    }
    if (iface->watch.is_gone) {
        return UCS_ERR_NO_DEVICE;
    }
    peer = ud_peer_get(iface, &device, &address, &status);
    if (peer == NULL) {
        return status;
    }
    ep = find_unused(peer);
    if (ep == NULL) {
        ep = ud_ep_new(iface, peer, peer->next_ordinal);
        if (ep == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
        ++peer->next_ordinal;
    }
    if (!(ep->state & UD_EP_CONFIRMED)) {
        /* The endpoint is new, or the peer, which has requested it, may have
         * ended the connection already. So the user's first packets wait for
         * UD_ACCEPT or for a packet of the peer (ud_connect.c). */
        ep->state &= (uint16_t)~UD_EP_CONNECTED;
        ep->started = ud_time(iface);
        ud_connect(iface, ep);
    }
    ep->state |= UD_EP_USED;
    *ep_p = &ep->super;
    return UCS_OK;
}

void ud_ep_free(ud_ep_t *ep)
{
    ud_iface_t *iface = ud_iface_of(ep);

    ib_link_remove(&ep->active);
    ib_link_remove(&ep->owing);
    ib_link_remove(&ep->resending);
    ib_link_remove(&ep->ready);
    ib_link_remove(&ep->failed);
    slot_put(iface, ep);
    ud_peer_remove(iface, ep);
    __atomic_store_n(&iface->num_eps, iface->num_eps - 1, __ATOMIC_RELAXED);
    free(ep);
}

/* Returns whether the endpoint can be freed: it has failed, or UD_FIN was sent
 * and received and the peer has acknowledged all packets. */
static int is_over(const ud_ep_t *ep)
{
    const uint16_t both = UD_EP_FIN_SENT | UD_EP_FIN_TAKEN;

    return (ep->state & UD_EP_FAILED) ||
           (((ep->state & both) == both) && ucx_window_is_idle(&ep->window));
}

void ud_ep_finish(ud_ep_t *ep)
{
    ud_iface_t *iface = ud_iface_of(ep);

    if ((ep->state & UD_EP_USED) || (ep->busy > 0) || (ep->leaving > 0)) {
        return;
    }
    if (((ep->state & (UD_EP_CONNECTED | UD_EP_FIN_SENT | UD_EP_FAILED)) ==
         UD_EP_CONNECTED) &&
        (ep->state & (UD_EP_LEFT | UD_EP_FIN_TAKEN))) {
        if (ud_send_empty(iface, ep, UD_FIN)) {
            ep->state |= UD_EP_FIN_SENT;
        } else {
            ib_link_queue(&iface->resending, &ep->resending);
        }
    }
    if (is_over(ep)) {
        if (ep->window.owed > 0) {
            ep->window.ack_now = 1;
            ud_owe_ack(iface, ep);
            /* Acknowledge the peer's last packet */
            ud_send_acks(iface, UINT_MAX);
        }
        ud_ep_free(ep);
    }
}

void ud_ep_destroy(uct_ep_h uct_ep)
{
    ud_ep_t *ep = (ud_ep_t *)uct_ep;

    UCX_EXCLUDE_SERVICE(&ud_iface_of(ep)->guard);

    ib_link_remove(&ep->failed);
    ib_link_remove(&ep->ready);
    ep->state &= (uint16_t)~UD_EP_USED;
    ep->state |= UD_EP_LEFT;
    if ((ep->state & (UD_EP_GONE | UD_EP_FAILED)) == UD_EP_GONE) {
        ud_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 0);
    } else {
        ud_ep_finish(ep);
    }
}

void ud_ep_fail(ud_ep_t *ep, ucs_status_t status, int tell)
{
    ud_iface_t *iface = ud_iface_of(ep);
    ucx_window_tx_t *tx, *next;
    ucx_window_rx_t *rx;

    if (ep->state & UD_EP_FAILED) {
        return;
    }
    ep->state |= UD_EP_FAILED;
    ep->status = (int8_t)status;
    ib_link_remove(&ep->active);
    ib_link_remove(&ep->owing);
    ib_link_remove(&ep->resending);
    ++ep->busy;
    for (tx = ucx_window_abandon(&ep->window); tx != NULL; tx = next) {
        next = tx->next;
        ud_desc_done(iface, (ud_desc_t *)tx, status);
    }
    while ((rx = ucx_window_drop_kept(&ep->window)) != NULL) {
        ud_recv_put(iface, (ud_recv_t *)rx);
    }
    ud_flush_end(ep, status);
    --ep->busy;
    if (tell && (ep->state & UD_EP_USED)) {
        ib_link_queue(&iface->failed, &ep->failed);
    }
    ud_ep_finish(ep);
}

void ud_ep_gone(ud_ep_t *ep)
{
    const uint16_t used = UD_EP_USED | UD_EP_CONNECTED;
    ud_iface_t *iface   = ud_iface_of(ep);

    ep->state |= UD_EP_GONE;
    if (iface->in_service) {
        ib_link_queue(&iface->ready, &ep->ready);
    } else if (((ep->state & used) != used) ||
               !ucx_window_is_idle(&ep->window) ||
               !ucx_pending_is_empty(&ep->pending)) {
        ud_ep_fail(ep, UCS_ERR_CONNECTION_RESET, 1);
    }
}

/* --- Pending requests ----------------------------------------------------- */

ucs_status_t ud_ep_pending_add(uct_ep_h uct_ep, uct_pending_req_t *req,
                               unsigned flags)
{
    ud_ep_t *ep       = (ud_ep_t *)uct_ep;
    ud_iface_t *iface = ud_iface_of(ep);
    int waits_for_peer;

    UCX_EXCLUDE_SERVICE(&iface->guard);

    if (ucx_pending_is_empty(&ep->pending) &&
        (ud_check(iface, ep) != UCS_ERR_NO_RESOURCE) &&
        (iface->descs->free_list != NULL)) {
        return UCS_ERR_BUSY;
    }
    ucx_pending_push(&ep->pending, req);
    waits_for_peer = !(ep->state & UD_EP_CONNECTED) ||
                     !ucx_window_is_open(&ep->window);
    if (!waits_for_peer) {
        ib_link_queue(&iface->ready, &ep->ready);
    }
    return UCS_OK;
}

void ud_ep_pending_purge(uct_ep_h uct_ep, uct_pending_purge_callback_t cb,
                         void *arg)
{
    ud_ep_t *ep = (ud_ep_t *)uct_ep;

    UCX_EXCLUDE_SERVICE(&ud_iface_of(ep)->guard);

    ucx_pending_purge(&ep->pending, cb, arg);
}
