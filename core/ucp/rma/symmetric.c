/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared keys of symmetric memory (symmetric.h): one handle for the user, with
 * a key for each peer.
 */
#include "ucp/rma/symmetric.h"

#include "ucs/debug/log.h"
#include "ucs/host/guid.h"
#include "uct/base/component.h"

#include <stdlib.h>

/* A shared key. The user's handle is `rkey`, which has no lanes and no parts of
 * its own. */
typedef struct {
    ucs_list_link_t link; /* In the worker's list */
    unsigned refs;        /* Unpacked keys that the user has not destroyed */
    ucs_hash_t peers;     /* ucp_rkey_h by the uuid of the peer's worker */
    ucp_rkey_t rkey;
} shared_t;

static const ucp_ep_config_t no_endpoint = {.whole = &no_endpoint};

const ucp_rma_config_t ucp_rma_config_shared = {
    .ep_config = &no_endpoint,
    .amo_lane  = UCP_NULL_LANE,
};

static shared_t *shared_of(ucp_rkey_h rkey)
{
    return ucs_container_of(rkey, shared_t, rkey);
}

/* True if the key may become part of a shared key. Keys with direct access
 * (ucp_rkey_ptr) may not: the pointer is different for each peer. Keys of an
 * unconnected endpoint may not: its lanes are not known yet. */
static int may_share(const ucp_rkey_t *rkey, ucp_ep_h ep)
{
    unsigned i;

    if (ep->config->unconnected) {
        return 0;
    }
    for (i = 0; i < rkey->num_parts; ++i) {
        if (uct_component_decl(rkey->parts[i].component)->flags &
            UCT_COMPONENT_FLAG_RKEY_PTR) {
            return 0;
        }
    }
    return 1;
}

static int is_symmetric(const ucp_rkey_t *a, const ucp_rkey_t *b)
{
    return (a->address == b->address) && (a->length == b->length) &&
           (a->prot == b->prot) && (a->mem_type == b->mem_type);
}

/* Finds a shared key that contains this key, or to which it can be added. A
 * shared key has one key for each peer. If a peer has mapped the same range
 * twice, the second key of this peer needs another shared key. */
static shared_t *find(ucp_ep_h ep, const ucp_rkey_t *rkey)
{
    const ucp_rkey_t *known;
    shared_t *shared;

    ucs_list_for_each(shared, &ucp_worker_rma(ep->worker)->shared_keys, link) {
        if (!is_symmetric(&shared->rkey, rkey)) {
            continue;
        }
        known = ucs_hash_get(&shared->peers, ep->peer_uuid);
        if ((known == NULL) ||
            ((known->id == rkey->id) && ucp_rkey_is_for(known, ep))) {
            return shared;
        }
    }
    return NULL;
}

static shared_t *make(ucp_worker_h worker, const ucp_rkey_t *rkey)
{
    shared_t *shared = calloc(1, sizeof(*shared));

    if (shared == NULL) {
        return NULL;
    }
    shared->rkey.config   = &ucp_rma_config_shared;
    shared->rkey.worker   = worker;
    shared->rkey.id       = ucs_generate_uuid();
    shared->rkey.address  = rkey->address;
    shared->rkey.length   = rkey->length;
    shared->rkey.prot     = rkey->prot;
    shared->rkey.mem_type = rkey->mem_type;
    ucs_hash_init(&shared->peers);
    ucs_list_add_head(&ucp_worker_rma(worker)->shared_keys, &shared->link);
    return shared;
}

static void free_shared(shared_t *shared)
{
    ucp_rkey_h rkey;

    ucs_hash_for_each(rkey, &shared->peers) {
        ucp_rkey_release(rkey);
    }
    ucs_hash_cleanup(&shared->peers);
    ucs_list_del(&shared->link);
    free(shared);
}

ucs_status_t ucp_rkey_share(ucp_ep_h ep, ucp_rkey_h *rkey_p)
{
    ucp_rkey_h rkey = *rkey_p;
    ucs_status_t status;
    shared_t *shared;

    if (!may_share(rkey, ep)) {
        return UCS_OK;
    }

    shared = find(ep, rkey);
    if (shared == NULL) {
        shared = make(ep->worker, rkey);
        if (shared == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }

    status = ucs_hash_put(&shared->peers, ep->peer_uuid, rkey);
    if (status == UCS_ERR_ALREADY_EXISTS) {
        ucp_rkey_release(rkey);
    } else if (status != UCS_OK) {
        if (shared->refs == 0) {
            free_shared(shared);
        }
        return status;
    }
    ++shared->refs;
    *rkey_p = &shared->rkey;
    return UCS_OK;
}

ucp_rkey_h ucp_rkey_of_peer(ucp_rkey_h rkey, ucp_ep_h ep)
{
    ucp_rkey_h own = ucs_hash_get(&shared_of(rkey)->peers, ep->peer_uuid);

    if (own == NULL) {
        ucs_error("a remote key of symmetric memory is used on an endpoint to"
                  " worker %lx, whose key was not unpacked: call"
                  " ucp_ep_rkey_unpack with the key of each peer",
                  ep->peer_uuid);
    }
    return own;
}

void ucp_rkey_unshare(ucp_rkey_h rkey)
{
    shared_t *shared = shared_of(rkey);

    if (--shared->refs == 0) {
        free_shared(shared);
    }
}
