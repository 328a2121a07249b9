/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote interfaces and their address handles. */
#include "ud.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of address handles of an interface. Packets of untrusted peers
 * create address handles, so the limit bounds the memory. */
enum { MAX_AHS = 65536 };

static unsigned hash_of(const void *data, size_t length, unsigned hash)
{
    for (size_t i = 0; i < length; ++i) {
        hash = (hash ^ ((const uint8_t *)data)[i]) * 16777619u;
    }
    return hash ^ (hash >> 15);
}

/* --- Address handles ------------------------------------------------------ */

static ud_ah_t *ah_create(ud_iface_t *iface, const ib_wire_device_t *device,
                          ucs_status_t *status_p)
{
    struct ibv_ah_attr attr;
    enum ibv_mtu mtu;
    ud_ah_t *ah;

    *status_p = ib_port_path(&iface->port, device, sizeof(*device), &attr,
                             &mtu);
    if (*status_p != UCS_OK) {
        return NULL;
    }
    if (device->mtu != (uint8_t)iface->port.mtu) {
        *status_p = UCS_ERR_UNREACHABLE;
        return NULL;
    }
    ah = (iface->num_ahs < MAX_AHS) ? calloc(1, sizeof(*ah)) : NULL;
    if (ah == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    ah->device = *device;
    ah->ah     = ibv_create_ah(iface->md->pd, &attr);
    if (ah->ah == NULL) {
        *status_p = (errno == ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_UNREACHABLE;
        free(ah);
        return NULL;
    }
    ++iface->num_ahs;
    return ah;
}

ud_ah_t *ud_ah_get(ud_iface_t *iface, const ib_wire_device_t *device,
                   ucs_status_t *status_p)
{
    ud_ah_t **bucket =
        &iface->ahs[hash_of(device, sizeof(*device), 2166136261u) %
                    UD_AH_BUCKETS];
    ud_ah_t *ah;

    for (ah = *bucket; ah != NULL; ah = ah->next) {
        if (memcmp(&ah->device, device, sizeof(*device)) == 0) {
            return ah;
        }
    }
    ah = ah_create(iface, device, status_p);
    if (ah != NULL) {
        ah->next = *bucket;
        *bucket  = ah;
    }
    return ah;
}

void ud_peers_cleanup(ud_iface_t *iface)
{
    ud_peer_t *peer;
    ud_ah_t *ah;

    for (unsigned i = 0; i < UD_PEER_BUCKETS; ++i) {
        while ((peer = iface->peers[i]) != NULL) {
            iface->peers[i] = peer->next;
            free(peer);
        }
    }
    for (unsigned i = 0; i < UD_AH_BUCKETS; ++i) {
        while ((ah = iface->ahs[i]) != NULL) {
            iface->ahs[i] = ah->next;
            ibv_destroy_ah(ah->ah);
            free(ah);
        }
    }
}

/* --- Peers ---------------------------------------------------------------- */

/* Returns the hash bucket of a peer. The token is not part of the hash, so that
 * find_old() finds successive processes with the same queue pair number in one
 * bucket. */
static ud_peer_t **bucket_of(ud_iface_t *iface, const ib_wire_device_t *device,
                             uint32_t wire_qpn)
{
    unsigned hash = hash_of(device, sizeof(*device), 2166136261u);

    hash = hash_of(&wire_qpn, sizeof(wire_qpn), hash);
    return &iface->peers[hash % UD_PEER_BUCKETS];
}

/* Returns whether the peer has this port and queue pair number. */
static int is_at(const ud_peer_t *peer, const ib_wire_device_t *device,
                 uint32_t wire_qpn)
{
    return (peer->iface.qpn == wire_qpn) &&
           (memcmp(&peer->ah->device, device, sizeof(*device)) == 0);
}

ud_peer_t *ud_peer_get(ud_iface_t *iface, const ib_wire_device_t *device,
                       const ud_wire_iface_t *address, ucs_status_t *status_p)
{
    ud_peer_t **bucket = bucket_of(iface, device, address->qpn);
    ud_peer_t *peer;
    ud_ah_t *ah;

    for (peer = *bucket; peer != NULL; peer = peer->next) {
        if (is_at(peer, device, address->qpn) &&
            (peer->iface.token == address->token)) {
            return peer;
        }
    }
    ah = ud_ah_get(iface, device, status_p);
    if (ah == NULL) {
        return NULL;
    }
    peer = calloc(1, sizeof(*peer));
    if (peer == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    peer->ah    = ah;
    peer->iface = *address;
    peer->qpn   = le32toh(address->qpn);
    peer->next  = *bucket;
    *bucket     = peer;
    return peer;
}

void ud_peer_add(ud_peer_t *peer, ud_ep_t *ep)
{
    ep->peer         = peer;
    ep->ah           = peer->ah->ah;
    ep->qpn          = peer->qpn;
    ep->next_of_peer = peer->eps;
    peer->eps        = ep;
}

void ud_peer_remove(ud_iface_t *iface, ud_ep_t *ep)
{
    ud_peer_t *peer = ep->peer, **bucket;
    ud_ep_t **link  = &peer->eps;

    while (*link != ep) {
        link = &(*link)->next_of_peer;
    }
    *link = ep->next_of_peer;
    if (peer->eps != NULL) {
        return;
    }
    bucket = bucket_of(iface, &peer->ah->device, peer->iface.qpn);
    while (*bucket != peer) {
        bucket = &(*bucket)->next;
    }
    *bucket = peer->next;
    free(peer);
}

/* Returns an endpoint that is connected to an earlier process, which had the
 * port and queue pair number of `peer`, and that is not marked as closed yet.
 * Returns NULL if there is none. */
static ud_ep_t *find_old(ud_iface_t *iface, const ud_peer_t *peer)
{
    ud_peer_t *old = *bucket_of(iface, &peer->ah->device, peer->iface.qpn);

    for (; old != NULL; old = old->next) {
        if ((old == peer) || !is_at(old, &peer->ah->device, peer->iface.qpn)) {
            continue;
        }
        for (ud_ep_t *ep = old->eps; ep != NULL; ep = ep->next_of_peer) {
            if (!(ep->state & (UD_EP_GONE | UD_EP_FAILED))) {
                return ep;
            }
        }
    }
    return NULL;
}

void ud_peer_replace_old(ud_iface_t *iface, const ud_peer_t *peer)
{
    ud_ep_t *ep;

    while ((ep = find_old(iface, peer)) != NULL) {
        ud_ep_gone(ep);
    }
}
