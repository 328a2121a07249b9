/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peers of an interface. Each peer is attached once for all its endpoints,
 * and its liveness is checked periodically. Failures are reported to the user.
 */
#include "iface.h"

#include <stdlib.h>
#include <string.h>
#include <ucs/sys/string.h>

/* Maximum of iface->tend_mask: the clock is read at least once in 256 rounds of
 * progress. A read takes far less time than this many rounds. */
#define TEND_MASK_MAX 255
/* Minimum seconds between two checks for idle senders. For a sender with longer
 * intervals between messages, ringing the bell takes less time than polling. */
#define REVIEW_INTERVAL 5e-3

static unsigned hash_of(const void *address, size_t length)
{
    const uint8_t *bytes = address;
    unsigned hash        = 2166136261u;
    size_t i;

    for (i = 0; i < length; ++i) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash % SHM_PEER_HASH_SIZE;
}

ucs_status_t shm_peer_find(shm_iface_t *iface, const void *address,
                           size_t length, shm_peer_t **peer_p, char *reason,
                           size_t reason_size)
{
    unsigned hash = hash_of(address, length);
    ucs_status_t status;
    shm_peer_t *peer;

    LIST_FOREACH(peer, &iface->peers[hash], hash_link) {
        if ((peer->address_length == length) && !peer->outbox.dead &&
            (memcmp(peer->address, address, length) == 0)) {
            *peer_p = peer;
            return UCS_OK;
        }
    }

    peer = malloc(sizeof(*peer));
    if ((peer == NULL) || (length > sizeof(peer->address))) {
        free(peer);
        return (peer == NULL) ? UCS_ERR_NO_MEMORY : UCS_ERR_INVALID_ADDR;
    }

    status = shm_outbox_open(&peer->outbox, &iface->md->space, address, length,
                             reason, reason_size);
    if (status != UCS_OK) {
        free(peer);
        return status;
    }

    if (iface->config.nt_min != UCS_MEMUNITS_AUTO) {
        shm_outbox_fix_stream(&peer->outbox, iface->config.nt_min);
    }
    memcpy(peer->address, address, length);
    peer->address_length = length;
    peer->num_eps        = 0;
    LIST_INIT(&peer->eps);
    LIST_INSERT_HEAD(&iface->peers[hash], peer, hash_link);
    *peer_p = peer;
    return UCS_OK;
}

static void peer_free(shm_peer_t *peer)
{
    LIST_REMOVE(peer, hash_link);
    shm_outbox_close(&peer->outbox);
    free(peer);
}

void shm_peer_put(shm_iface_t *iface, shm_peer_t *peer)
{
    if ((peer->num_eps == 0) && (peer != iface->probed)) {
        peer_free(peer);
    }
}

void shm_peers_cleanup(shm_iface_t *iface)
{
    shm_peer_t *peer;
    unsigned i;

    for (i = 0; i < SHM_PEER_HASH_SIZE; ++i) {
        while ((peer = LIST_FIRST(&iface->peers[i])) != NULL) {
            peer_free(peer);
        }
    }
}

void shm_ep_fail(shm_ep_t *ep)
{
    shm_iface_t *iface = shm_iface(ep->super.iface);

    if (!ep->has_failed) {
        ep->has_failed = 1;
        LIST_REMOVE(ep, link);
        LIST_INSERT_HEAD(&iface->failed, ep, link);
        iface->tend_mask = 0; /* Report the failure in the next round */
    }
}

/* Reports failures to the user. First delivers all messages of senders that
 * have exited, because progress delivers a limited number of them in a round.
 * If this is called while a message is being delivered, the next round reports
 * the failures. The user's callback may destroy any endpoint. */
static void tell_failures(shm_iface_t *iface)
{
    shm_ep_t *ep;

    if (LIST_EMPTY(&iface->failed)) {
        return;
    } else if (iface->inbox.is_busy) {
        iface->tend_mask = 0;
        return;
    }
    if (shm_inbox_has_dead(&iface->inbox)) {
        shm_inbox_sweep(&iface->inbox);
    }
    while ((ep = LIST_FIRST(&iface->failed)) != NULL) {
        LIST_REMOVE(ep, link);
        LIST_INSERT_HEAD(&iface->told, ep, link);
        iface->host->iface_ep_failed(&iface->super, &ep->super,
                                     UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

static void look_at_peers(shm_iface_t *iface)
{
    shm_peer_t *peer;
    shm_ep_t *ep, *next;
    unsigned i;

    for (i = 0; i < SHM_PEER_HASH_SIZE; ++i) {
        LIST_FOREACH(peer, &iface->peers[i], hash_link) {
            if (!peer->outbox.dead &&
                !shm_outbox_peer_is_alive(&peer->outbox)) {
                shm_outbox_kill(&peer->outbox);
            }
            if (peer->outbox.dead) {
                for (ep = LIST_FIRST(&peer->eps); ep != NULL; ep = next) {
                    next = LIST_NEXT(ep, link);
                    shm_ep_fail(ep);
                }
            }
        }
    }
}

/* Sets the number of rounds until the next read of the clock: 4 to 16 reads
 * per keepalive interval if rounds are slow. If rounds are fast, the number is
 * limited, so that a program that becomes slow after a busy phase still detects
 * failures soon. */
static void set_pace(shm_iface_t *iface, double now)
{
    double elapsed  = now - iface->tended_at;
    double interval = iface->config.keepalive;

    if (elapsed > interval / 4) {
        iface->tend_mask >>= 1;
    } else if ((elapsed < interval / 16) &&
               (iface->tend_mask < TEND_MASK_MAX)) {
        iface->tend_mask = (iface->tend_mask << 1) | 1;
    }
    iface->tended_at = now;
}

void shm_iface_tend(shm_iface_t *iface)
{
    double now = iface->host->time();

    set_pace(iface, now);
    if (now >= iface->review_at) {
        iface->review_at = now + REVIEW_INTERVAL;
        shm_inbox_review(&iface->inbox);
    }
    if (now >= iface->tend_at) {
        iface->tend_at = now + iface->config.keepalive;
        if (shm_inbox_has_dead(&iface->inbox)) {
            shm_inbox_sweep(&iface->inbox);
        }
        look_at_peers(iface);
    }
    tell_failures(iface);
}
