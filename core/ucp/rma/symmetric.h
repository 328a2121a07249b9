/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared keys: one handle for the keys of several peers to symmetric memory
 * (UCP_MEM_MAP_SYMMETRIC_RKEY), that is, memory with the same address, length,
 * rights and type. The endpoint's peer worker determines which peer's key is
 * used. The user has one reference for each key that was unpacked.
 */
#ifndef UCP_RMA_SYMMETRIC_H
#define UCP_RMA_SYMMETRIC_H

#include "ucp/rma/rkey.h"

/** Configuration of all shared keys: it differs from that of every endpoint, so
 *  that operations do not take their fast path, and call ucp_rkey_of_peer. */
extern const ucp_rma_config_t ucp_rma_config_shared;

static UCS_F_ALWAYS_INLINE int ucp_rkey_is_shared(const ucp_rkey_t *rkey)
{
    return rkey->config == &ucp_rma_config_shared;
}

/** Makes the endpoint's unpacked key `*rkey_p` part of a shared key, and
 *  returns that instead. A key that cannot be shared is returned as it is: see
 *  README.md. */
ucs_status_t ucp_rkey_share(ucp_ep_h ep, ucp_rkey_h *rkey_p);

/** Returns the peer's own key in a shared key. If there is none, logs that and
 *  returns NULL. */
ucp_rkey_h ucp_rkey_of_peer(ucp_rkey_h shared, ucp_ep_h ep);

/** Releases a reference of the user. The last one releases the keys of all
 *  peers. */
void ucp_rkey_unshare(ucp_rkey_h shared);

#endif
