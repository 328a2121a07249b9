/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared keys: one handle for the keys of several peers to symmetric memory
 * (UCP_MEM_MAP_SYMMETRIC_RKEY), that is, memory with the same address, length,
 * rights and type. The endpoint's peer worker determines which peer's key is
 * used. Each call of ucp_ep_rkey_unpack gives the user one reference to the
 * handle.
 */
#ifndef UCP_RMA_SYMMETRIC_H
#define UCP_RMA_SYMMETRIC_H

#include "ucp/rma/rkey.h"

/** Configuration of all shared keys. Its `ep_config` differs from that of every
 *  endpoint, so that put and get do not take their fast path, and use the key
 *  that ucp_rkey_of_peer() returns. */
extern const ucp_rma_config_t ucp_rma_config_shared;

static UCS_F_ALWAYS_INLINE int ucp_rkey_is_shared(const ucp_rkey_t *rkey)
{
    return rkey->config == &ucp_rma_config_shared;
}

/** Makes the endpoint's unpacked key `*rkey_p` part of a shared key, and
 *  sets `*rkey_p` to the shared key. No effect on a key that cannot be shared:
 *  one that gives pointers to the memory (ucp_rkey_ptr), or one of an endpoint
 *  without lanes. */
ucs_status_t ucp_rkey_share(ucp_ep_h ep, ucp_rkey_h *rkey_p);

/** Returns the key in a shared key that belongs to the peer of `ep`. If there
 *  is none, logs that and returns NULL. */
ucp_rkey_h ucp_rkey_of_peer(ucp_rkey_h shared, ucp_ep_h ep);

/** Releases a reference of the user. The last one releases the keys of all
 *  peers. */
void ucp_rkey_unshare(ucp_rkey_h shared);

#endif
