/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delivery of received active messages, and release of receive buffers.
 */
#ifndef UCX_AM_H
#define UCX_AM_H

#include <ucx/transport.h>

UCX_BEGIN_DECLS

/**
 * Passes one message to the handler that the user has set for `id`, and returns
 * the handler's status. `id` comes from a peer: the caller has checked that it
 * is below UCT_AM_ID_MAX. Called from progress, by the worker's thread. Hot
 * path.
 *
 * UCT_CB_PARAM_FLAG_DESC in `flags`: the handler may keep the buffer that
 * contains `data`. A handler that keeps the buffer returns UCS_INPROGRESS, and
 * owns the buffer until it calls uct_iface_release_desc. The rx_headroom bytes
 * with which the interface was opened precede the data; one word, set by
 * ucx_recv_desc_set(), precedes the headroom.
 */
static inline ucs_status_t ucx_iface_deliver_am(uct_iface_t *iface, uint8_t id,
                                                void *data, unsigned length,
                                                unsigned flags)
{
    const ucx_am_slot_t *slot = &iface->am[id];

    return slot->cb(slot->arg, data, length, flags);
}

/** The owner of receive buffers, usually a part of a plugin's interface. Its
 *  release() is called when a handler releases a buffer that it kept. */
typedef struct ucx_recv_desc_owner {
    /** Frees or reuses the buffer. `self` is the owner that ucx_recv_desc_set()
     *  stored. Called by the worker's thread, possibly inside a handler; must
     *  not block. The user does not access `desc` after the call. */
    void (*release)(struct ucx_recv_desc_owner *self, void *desc);
} ucx_recv_desc_owner_t;

/** Stores the owner of a buffer in the word before `desc`, which is the start
 *  of the headroom. The interface calls it before it delivers the buffer. */
static inline void ucx_recv_desc_set(void *desc, ucx_recv_desc_owner_t *owner)
{
    ((ucx_recv_desc_owner_t **)desc)[-1] = owner;
}

/** Implements uct_iface_release_desc. */
static inline void ucx_recv_desc_release(void *desc)
{
    ucx_recv_desc_owner_t *owner = ((ucx_recv_desc_owner_t **)desc)[-1];

    owner->release(owner, desc);
}

UCX_END_DECLS

#endif
