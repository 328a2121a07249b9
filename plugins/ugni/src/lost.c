/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles messages that libfabric has completed at the sender but that never
 * arrive: ofi_rxm loses them with a connection that breaks while nothing is
 * outstanding, and connects again without an error. The receiver detects the
 * gap in the numbers and notifies the sender, so that the endpoints of both
 * sides fail.
 */
#include "iface.h"

#include <string.h>

/* Fails the endpoints to a sender, and sends it UGNI_ID_LOST. The user's
 * endpoints cannot send this message any more, so a new endpoint sends it,
 * which is freed afterwards. The first endpoint here is needed only to find the
 * peer. Returns whether the message was started. */
static int tell(ugni_iface_t *iface, const void *address, size_t length)
{
    ucs_status_t status;
    ugni_peer_t *peer;
    ugni_ep_t *ep;

    if (ugni_ep_connect(iface, address, length, &ep) != UCS_OK) {
        return 0;
    }
    peer = ep->peer;
    ugni_ep_destroy(&ep->super);
    ugni_port_lost(iface->port, peer->fi_addr, UCS_ERR_CONNECTION_RESET);
    if (ugni_ep_connect(iface, address, length, &ep) != UCS_OK) {
        return 0;
    }
    status = ugni_ep_am_notify(ep, UGNI_ID_LOST);
    ugni_ep_destroy(&ep->super);
    return status == UCS_OK;
}

/* Stores the address of the interface `source` in `address`, if an endpoint is
 * connected to it that is neither failed nor destroyed. Returns whether there
 * is such an endpoint. */
static int find_address(const ugni_iface_t *iface, uint64_t source,
                        char *address)
{
    const ugni_link_t *link;
    const ugni_ep_t *ep;

    for (link = iface->eps.next; link != &iface->eps; link = link->next) {
        ep = ugni_container_of(link, ugni_ep_t, link);
        if (!(ep->state & (UGNI_EP_FAILED | UGNI_EP_ZOMBIE)) &&
            (ugni_source_of(&ep->addr) == source)) {
            ugni_addr_pack(&ep->addr, address);
            memcpy(address + sizeof(ep->addr), ep->peer->name, UGNI_MAX_NAME);
            return 1;
        }
    }
    return 0;
}

int ugni_lost_report(ugni_iface_t *iface, uint64_t source,
                     const ugni_recv_t *early)
{
    char address[sizeof(ugni_wire_addr_t) + UGNI_MAX_NAME];

    if (find_address(iface, source, address)) {
        return tell(iface, address, sizeof(address));
    }
    for (; early != NULL; early = early->next) {
        if (early->head->id == UGNI_ID_CHECK) {
            return tell(iface, early->head + 1,
                        early->length - sizeof(ugni_wire_head_t));
        }
    }
    return 0;
}

void ugni_lost_told(ugni_iface_t *iface, uint64_t source)
{
    ugni_port_t *port = iface->port;
    ugni_peer_t *peer;

    for (peer = port->peers; peer != NULL; peer = peer->next) {
        if (peer->key == (uint32_t)source) {
            ugni_port_lost(port, peer->fi_addr, UCS_ERR_CONNECTION_RESET);
        }
    }
}
