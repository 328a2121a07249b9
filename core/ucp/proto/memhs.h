/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of one buffer with the memory domains of the lanes that share
 * a transfer (rails.h). Lanes of one memory domain are in one slot and share a
 * registration.
 */
#ifndef UCP_MEMHS_H
#define UCP_MEMHS_H

#include "ucp/proto/ep.h"

/** Registrations of one buffer with the memory domains of several lanes, by
 *  slot. */
typedef struct ucp_memhs {
    uct_mem_h memh[UCP_MAX_RAILS]; /**< NULL if not registered */
    uint8_t md_index[UCP_MAX_RAILS];
    uint8_t num; /**< Number of slots in use; 0: nothing is registered */
    /** Bits of the slots with a user's handle, which is not deregistered */
    uint8_t borrowed;
} ucp_memhs_t;

/** Initializes the structure: nothing is registered. */
static inline void ucp_memhs_init(ucp_memhs_t *memhs)
{
    memhs->num      = 0;
    memhs->borrowed = 0;
}

/** Sets the handle of each slot to null: nothing has to be registered. */
static inline void ucp_memhs_none(const ucp_rails_t *rails, ucp_memhs_t *memhs)
{
    unsigned slot;

    for (slot = 0; slot < rails->num_slots; ++slot) {
        memhs->memh[slot] = UCT_MEM_HANDLE_NULL;
    }
    ucp_memhs_init(memhs);
}

/**
 * Registers with every domain of the rails that has any of the flags `needed`
 * (UCT_MD_FLAG_NEED_*), for `access`. `user`: a handle that covers the buffer,
 * or NULL. Returns a bit for each slot whose lanes can access the buffer now.
 */
unsigned ucp_memhs_reg(ucp_ep_h ep, const ucp_rails_t *rails, uint64_t needed,
                       ucp_mem_h user, void *buffer, size_t length,
                       unsigned access, ucp_memhs_t *memhs);

/** Deregisters what ucp_memhs_reg() has registered; may be called again. */
void ucp_memhs_dereg(ucp_worker_h worker, ucp_memhs_t *memhs);

/** Returns the bits of all slots. */
static inline unsigned ucp_rails_slots(const ucp_rails_t *rails)
{
    return UCS_BIT(rails->num_slots) - 1;
}

/** Returns a lane of the slot. */
static inline unsigned ucp_rails_slot_lane(const ucp_rails_t *rails,
                                           unsigned slot)
{
    unsigned i;

    for (i = 0; rails->rail[i].slot != slot; ++i) {
    }
    return rails->rail[i].lane;
}

#endif
