/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handing a received active message to whoever asked for its id, and giving a
 * receive buffer back.
 */
#ifndef UCX_AM_H
#define UCX_AM_H

#include <ucx/transport.h>

UCX_BEGIN_DECLS

/**
 * Delivers one message. `id` comes from a peer: the caller has checked that it
 * is below UCT_AM_ID_MAX. Hot path.
 *
 * With UCT_CB_PARAM_FLAG_DESC in `flags` the data lies in a buffer that the
 * receiver may keep (it answers UCS_INPROGRESS then): before the data there
 * are the rx_headroom bytes that the interface was opened with, and before
 * those a word that ucx_recv_desc_set() has set.
 */
static inline ucs_status_t
ucx_iface_deliver_am(uct_iface_t *iface, uint8_t id, void *data,
                     unsigned length, unsigned flags)
{
    const ucx_am_slot_t *slot = &iface->am[id];

    return slot->cb(slot->arg, data, length, flags);
}

/** Knows how to free buffers that a receiver kept. */
typedef struct ucx_recv_desc_owner {
    void (*release)(struct ucx_recv_desc_owner *self, void *desc);
} ucx_recv_desc_owner_t;

/** `desc` is the start of the headroom; the word before it is the owner's. */
static inline void
ucx_recv_desc_set(void *desc, ucx_recv_desc_owner_t *owner)
{
    ((ucx_recv_desc_owner_t **)desc)[-1] = owner;
}

/** What uct_iface_release_desc does. */
static inline void ucx_recv_desc_release(void *desc)
{
    ucx_recv_desc_owner_t *owner = ((ucx_recv_desc_owner_t **)desc)[-1];

    owner->release(owner, desc);
}

UCX_END_DECLS

#endif
