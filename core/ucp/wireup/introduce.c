/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Introductions and farewells (introduce.h), and the worker's table of reply
 * endpoints: it maps a peer's endpoint to the local endpoint that sends replies
 * to it.
 */
#include "ucp/wireup/introduce.h"

#include "ucp/base/class.h"
#include "ucp/order/flush.h"
#include "ucp/wireup/address.h"
#include "ucp/wireup/create.h"
#include "ucp/wireup/fragments.h"
#include "ucp/wireup/handshake.h"
#include "ucs/debug/log.h"

#include <stdlib.h>
#include <string.h>

ucs_status_t ucp_wireup_introduce(ucp_ep_h ep)
{
    ucp_introduce_t *message;
    void *address;
    size_t length;
    ucs_status_t status;

    if (ep->flags & UCP_EP_FLAG_INTRODUCED) {
        return UCS_OK;
    }
    if (ep->flags & UCP_EP_FLAG_LOOPBACK) {
        /* The endpoint is its own reply endpoint: no message is needed */
        status = ucp_wireup_loop(ep);
        ep->flags |= (status == UCS_OK) ? UCP_EP_FLAG_INTRODUCED : 0;
        return status;
    }

    status = ucp_address_pack(ep->worker, 0, &address, &length);
    if (status != UCS_OK) {
        return status;
    }

    message = malloc(sizeof(*message) + length);
    if (message == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto out_address;
    }

    message->sender = ucp_ep_wire_end(ep);
    message->flags  = (ep->flags & UCP_EP_FLAG_ERR_MODE) ?
                          UCP_INTRODUCE_ERR_MODE :
                          0;
    memcpy(message + 1, address, length);
    status = ucp_wireup_send(ep, NULL, UCP_AM_ID_INTRODUCE, message,
                             sizeof(*message) + length);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_FLAG_INTRODUCED;
    }

    free(message);
out_address:
    free(address);
    return status;
}

ucs_status_t ucp_wireup_expect_reply(ucp_request_t *req)
{
    ucs_status_t status = ucp_wireup_introduce(req->send.ep);

    if (status == UCS_OK) {
        status = ucp_request_id_add(req);
    }
    if ((status == UCS_OK) && !(req->flags & UCP_REQUEST_FLAG_ON_EP)) {
        ucp_request_ep_add(req, req->send.ep);
    }
    return status;
}

void ucp_wireup_farewell(ucp_ep_h ep)
{
    ucp_wire_end_t end = ucp_ep_wire_end(ep);

    if ((ep->flags & UCP_EP_FLAG_INTRODUCED) &&
        !(ep->flags & UCP_EP_FLAG_FAILED)) {
        ep->flags &= ~UCP_EP_FLAG_INTRODUCED;
        ep->leaving = !!(ep->flags & UCP_EP_FLAG_LOOPBACK);
        /* If lanes are still being connected and no request waits for them,
         * send the farewell over the auxiliary link, so that it need not wait
         * for the lanes. Otherwise it must stay behind the waiting requests */
        if (ucp_wireup_send(ep,
                            ucs_queue_is_empty(&ep->waiting) ?
                                ucp_wireup_early_link(ep) :
                                NULL,
                            UCP_AM_ID_FAREWELL, &end, sizeof(end)) != UCS_OK) {
            ucs_debug("ep %p: closed without a farewell", ep);
            ep->leaving = 0;
        }
    }
}

int ucp_wireup_leave(ucp_ep_h ep, ucp_request_t *req)
{
    if (!(ep->flags & UCP_EP_FLAG_INTRODUCED) ||
        (ep->flags & UCP_EP_FLAG_LOOPBACK) || (ucp_ep_conn(ep) != NULL)) {
        return 0;
    }
    ucp_wireup_farewell(ep);
    ucp_flush_start(req, ep, UCP_FLUSH_LEAVE);
    return 1;
}

/* Returns the key in the table of reply endpoints, which maps a hash of the
 * peer's UUID and endpoint id to a chain of endpoints. */
static uint64_t hash_key(uint64_t uuid, uint64_t ep_id)
{
    return uuid ^ ucs_hash_mix64(ep_id);
}

static ucp_ep_h find(ucp_worker_h worker, uint64_t uuid, uint64_t ep_id)
{
    ucp_ep_h ep = ucs_hash_get(&worker->reply_eps, hash_key(uuid, ep_id));

    while ((ep != NULL) &&
           ((ep->peer_uuid != uuid) || (ep->peer_ep_id != ep_id))) {
        ep = ep->hash_next;
    }
    return ep;
}

/* Hot path of puts that messages carry out: many in a row come from one
 * sender, so the last endpoint is cached. */
ucp_ep_h ucp_wireup_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender)
{
    uint64_t uuid  = ucp_le64_get(sender->worker_uuid);
    uint64_t ep_id = ucp_le64_get(sender->ep_id);
    ucp_ep_h ep    = worker->reply_last;

    if (ucs_likely((ep != NULL) && (ep->peer_ep_id == ep_id) &&
                   (ep->peer_uuid == uuid))) {
        return ep;
    }
    ep                 = find(worker, uuid, ep_id);
    worker->reply_last = ep;
    return ep;
}

void ucp_wireup_forget(ucp_ep_h ep)
{
    uint64_t key   = hash_key(ep->peer_uuid, ep->peer_ep_id);
    ucp_ep_h first = ucs_hash_get(&ep->worker->reply_eps, key);
    ucp_ep_h *link = &first;

    ep->worker->reply_last = NULL;
    while ((*link != NULL) && (*link != ep)) {
        link = &(*link)->hash_next;
    }
    if (*link == NULL) {
        return;
    }

    *link = ep->hash_next;
    if (first == NULL) {
        ucs_hash_del(&ep->worker->reply_eps, key);
    } else {
        ucs_hash_set(&ep->worker->reply_eps, key, first);
    }
}

/* Adds the endpoint at the head of its chain; find() returns the first endpoint
 * that matches. */
static ucs_status_t enter(ucp_ep_h ep)
{
    uint64_t key = hash_key(ep->peer_uuid, ep->peer_ep_id);
    ucs_status_t status;

    /* The cached endpoint may have the same peer; `ep` now precedes it */
    ep->worker->reply_last = NULL;
    ep->hash_next          = ucs_hash_get(&ep->worker->reply_eps, key);
    status                 = ucs_hash_set(&ep->worker->reply_eps, key, ep);
    if (status != UCS_OK) {
        ucs_error("cannot reply to worker %lx: out of memory", ep->peer_uuid);
    }
    return status;
}

ucs_status_t ucp_wireup_remember(ucp_ep_h ep, const ucp_wire_end_t *sender)
{
    ucp_ep_h last;

    ep->peer_uuid  = ucp_le64_get(sender->worker_uuid);
    ep->peer_ep_id = ucp_le64_get(sender->ep_id);
    last           = find(ep->worker, ep->peer_uuid, ep->peer_ep_id);
    if (last == NULL) {
        return enter(ep);
    }

    while (last->hash_next != NULL) {
        last = last->hash_next;
    }
    last->hash_next = ep; /* Append it, so that find() still returns the user's
                           * endpoint first */
    return UCS_OK;
}

ucs_status_t ucp_wireup_pair(ucp_ep_h ep, uint64_t peer_ep_id)
{
    ucp_ep_h other = find(ep->worker, ep->peer_uuid, peer_ep_id);

    if (other == ep) {
        return UCS_OK;
    }
    if ((other != NULL) && !(other->flags & UCP_EP_FLAG_INTERNAL)) {
        ucs_diag("rejected an endpoint: %lx/%lu is connected already",
                 ep->peer_uuid, peer_ep_id);
        return UCS_ERR_ALREADY_EXISTS;
    }
    ep->peer_ep_id = peer_ep_id;
    return enter(ep);
}

ucs_status_t ucp_wireup_loop(ucp_ep_h ep)
{
    ucp_wire_end_t end = ucp_ep_wire_end(ep);

    return (ep->flags & UCP_EP_FLAG_LOOPBACK) ?
               ucp_wireup_pair(ep, ucp_le64_get(end.ep_id)) :
               UCS_OK;
}

/* Returns the INTERNAL endpoint in the table that replies to the peer's
 * endpoint `end`, or NULL. */
static ucp_ep_h find_half(ucp_worker_h worker, const ucp_wire_end_t *end)
{
    uint64_t uuid  = ucp_le64_get(end->worker_uuid);
    uint64_t ep_id = ucp_le64_get(end->ep_id);
    ucp_ep_h ep    = find(worker, uuid, ep_id);

    while ((ep != NULL) &&
           ((ep->peer_uuid != uuid) || (ep->peer_ep_id != ep_id) ||
            !(ep->flags & UCP_EP_FLAG_INTERNAL))) {
        ep = ep->hash_next;
    }
    return ep;
}

int ucp_wireup_has_half(ucp_worker_h worker, const ucp_wire_end_t *end)
{
    return find_half(worker, end) != NULL;
}

/* Creates the reply endpoint for the sender of an INTRODUCE message. */
static ucs_status_t create_responder(ucp_worker_h worker,
                                     const ucp_introduce_t *message,
                                     size_t length)
{
    unsigned flags = UCP_EP_FLAG_INTERNAL |
                     ((message->flags & UCP_INTRODUCE_ERR_MODE) ?
                          UCP_EP_FLAG_ERR_MODE :
                          0);
    ucs_status_t status;
    ucp_ep_h ep;

    status = ucp_ep_create_to_address(worker, message + 1,
                                      length - sizeof(*message), flags, &ep);
    if (status == UCS_OK) {
        status = ucp_wireup_remember(ep, &message->sender);
        if (status != UCS_OK) {
            ucp_ep_destroy_now(ep);
        }
    }
    return status;
}

ucs_status_t ucp_wireup_introduce_handler(void *arg, void *data, size_t length,
                                          unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_introduce_t *message;
    uint64_t uuid, ep_id;
    ucs_status_t status;

    if (length < sizeof(*message)) {
        ucs_diag("dropped an introduction of %zu bytes: too short", length);
        return UCS_OK;
    }

    message = ucp_reserve_malloc(worker, length);
    if (message == NULL) {
        ucp_worker_lost(worker, "an introduction", length);
        return UCS_OK;
    }

    ucp_wire_take(message, data, length);
    uuid  = ucp_le64_get(message->sender.worker_uuid);
    ep_id = ucp_le64_get(message->sender.ep_id);
    if (find(worker, uuid, ep_id) != NULL) {
        ucs_diag("dropped an introduction: %lx/%lu is known already", uuid,
                 ep_id);
        goto out;
    }

    status = create_responder(worker, message, length);
    if ((status == UCS_ERR_NO_MEMORY) && ucp_reserve_spend(worker)) {
        status = create_responder(worker, message, length);
    }
    if (status == UCS_ERR_NO_MEMORY) {
        ucp_worker_lost(worker, "an introduction", length);
    } else if (status != UCS_OK) {
        ucs_diag("cannot reply to worker %lx, which requested a reply: %s",
                 uuid, ucs_status_string(status));
    }
out:
    free(message);
    return UCS_OK;
}

ucs_status_t ucp_wireup_farewell_handler(void *arg, void *data, size_t length,
                                         unsigned flags)
{
    ucp_worker_h worker = arg;
    ucp_wire_end_t sender;
    ucp_ep_h ep, half;
    int sends_another;

    if (length != sizeof(sender)) {
        ucs_diag("dropped a farewell of %zu bytes: wrong size", length);
        return UCS_OK;
    }

    ucp_wire_take(&sender, data, sizeof(sender));
    ucp_wireup_fragments_forget(worker, &sender);
    half = find_half(worker, &sender);
    ep   = ucp_wireup_reply_ep(worker, &sender);
    if ((ep != NULL) && (ep->flags & UCP_EP_FLAG_LOOPBACK)) {
        /* The endpoint's own FAREWELL has arrived. The close continues; if a
         * handler has introduced the endpoint again for a reply, the endpoint
         * sends another FAREWELL, and its messages still need the half */
        sends_another = ep->flags & UCP_EP_FLAG_INTRODUCED;
        ep->leaving   = 0;
        ucp_ep_replied(ep);
        if (sends_another) {
            return UCS_OK;
        }
        ep = NULL;
    }
    if (ep != NULL) {
        ucp_wireup_forget(ep);
    }
    if ((ep != NULL) && (ep != half)) {
        ucp_classes_ep_peer_left(ep); /* The user's endpoint is not freed: it
                                       * fails, or its close continues */
    } else if (ep != NULL) {
        ucp_ep_shut(ep, UCS_ERR_CONNECTION_RESET);
    }
    if ((half != NULL) && (half != ep)) {
        ucp_wireup_forget(half);
        ucp_ep_shut(half, UCS_ERR_CONNECTION_RESET);
    }
    return UCS_OK;
}
