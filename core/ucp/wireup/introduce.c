/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See introduce.h.
 */
#include "ucp/wireup/introduce.h"

#include "ucp/wireup/address.h"
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

    status = ucp_address_pack(ep->worker, 0, &address, &length);
    if (status != UCS_OK) {
        return status;
    }

    if (sizeof(*message) + length > ucp_ep_config_am(ep->config)->max_bcopy) {
        ucs_error("the worker's address of %zu bytes does not fit a message;"
                  " limit the devices by UCX_NET_DEVICES", length);
        status = UCS_ERR_EXCEEDS_LIMIT;
        goto out_address;
    }

    message = malloc(sizeof(*message) + length);
    if (message == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto out_address;
    }

    message->sender = ucp_ep_wire_end(ep);
    message->flags  = (ep->flags & UCP_EP_FLAG_ERR_MODE) ?
                      UCP_INTRODUCE_ERR_MODE : 0;
    memcpy(message + 1, address, length);
    status = ucp_ep_send_control(ep, UCP_AM_ID_INTRODUCE, message,
                                 sizeof(*message) + length);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_FLAG_INTRODUCED;
    }

    free(message);
out_address:
    free(address);
    return status;
}

void ucp_wireup_farewell(ucp_ep_h ep)
{
    ucp_wire_end_t end = ucp_ep_wire_end(ep);

    if ((ep->flags & UCP_EP_FLAG_INTRODUCED) &&
        !(ep->flags & UCP_EP_FLAG_FAILED)) {
        ep->flags &= ~UCP_EP_FLAG_INTRODUCED;
        if (ucp_ep_send_control(ep, UCP_AM_ID_FAREWELL, &end, sizeof(end)) !=
            UCS_OK) {
            ucs_debug("ep %p: closed without a farewell", ep);
        }
    }
}

/* The table maps a mix of both numbers to a chain of endpoints. */
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

ucp_ep_h
ucp_wireup_reply_ep(ucp_worker_h worker, const ucp_wire_end_t *sender)
{
    return find(worker, ucp_le64_get(sender->worker_uuid),
                ucp_le64_get(sender->ep_id));
}

void ucp_wireup_forget(ucp_ep_h ep)
{
    uint64_t key   = hash_key(ep->peer_uuid, ep->peer_ep_id);
    ucp_ep_h first = ucs_hash_get(&ep->worker->reply_eps, key);
    ucp_ep_h *link = &first;

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

ucs_status_t ucp_wireup_introduce_handler(void *arg, void *data, size_t length,
                                          unsigned flags)
{
    ucp_worker_h worker            = arg;
    const ucp_introduce_t *message = data;
    uint64_t uuid, ep_id, key;
    ucs_status_t status;
    ucp_ep_h ep;

    if (length < sizeof(*message)) {
        ucs_diag("dropped an introduction of %zu bytes: too short", length);
        return UCS_OK;
    }

    uuid  = ucp_le64_get(message->sender.worker_uuid);
    ep_id = ucp_le64_get(message->sender.ep_id);
    if (find(worker, uuid, ep_id) != NULL) {
        ucs_diag("dropped an introduction: %lx/%lu is known already", uuid,
                 ep_id);
        return UCS_OK;
    }

    status = ucp_ep_create_to_address(worker, message + 1,
                                      length - sizeof(*message),
                                      UCP_EP_FLAG_INTERNAL |
                                      ((message->flags &
                                        UCP_INTRODUCE_ERR_MODE) ?
                                       UCP_EP_FLAG_ERR_MODE : 0), &ep);
    if (status != UCS_OK) {
        ucs_warn("cannot answer worker %lx, who asked for it: %s", uuid,
                 ucs_status_string(status));
        return UCS_OK;
    }

    key            = hash_key(uuid, ep_id);
    ep->peer_uuid  = uuid;
    ep->peer_ep_id = ep_id;
    ep->hash_next  = ucs_hash_get(&worker->reply_eps, key);
    status         = ucs_hash_set(&worker->reply_eps, key, ep);
    if (status != UCS_OK) {
        ucs_error("cannot answer worker %lx: out of memory", uuid);
        ucp_ep_destroy_now(ep);
    }
    return UCS_OK;
}

ucs_status_t ucp_wireup_farewell_handler(void *arg, void *data, size_t length,
                                         unsigned flags)
{
    ucp_worker_h worker          = arg;
    const ucp_wire_end_t *sender = data;
    ucp_ep_h ep;

    if (length != sizeof(*sender)) {
        ucs_diag("dropped a farewell of %zu bytes: wrong size", length);
        return UCS_OK;
    }

    ep = ucp_wireup_reply_ep(worker, sender);
    if (ep != NULL) {
        ucp_wireup_forget(ep);
        ucp_ep_shut(ep, UCS_ERR_CONNECTION_RESET);
    }
    return UCS_OK;
}
