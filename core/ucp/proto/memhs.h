/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of one buffer with the memory domains of the lanes that share a
 * transfer (rails.h). Lanes with the same memory domains share a registration,
 * which is called a slot (ucp_rail_t::slot).
 */
#ifndef UCP_MEMHS_H
#define UCP_MEMHS_H

#include "ucp/proto/ep.h"

/** Registrations of one buffer, indexed by slot. */
typedef struct ucp_memhs {
    /** Handles of the memory domains; NULL if nothing is registered */
    uct_mem_h memh[UCP_MAX_RAILS];
    uint8_t md_index[UCP_MAX_RAILS];
    uint8_t num; /**< Number of valid entries of memh[] and md_index[] */
    /** Bits of the slots whose handle belongs to the user's memory handle:
     *  these are not deregistered */
    uint8_t borrowed;
} ucp_memhs_t;

/** Initializes the structure: there are no registrations. */
static inline void ucp_memhs_init(ucp_memhs_t *memhs)
{
    memhs->num      = 0;
    memhs->borrowed = 0;
}

/** For a transfer that needs no registration: sets the handle of each slot to
 *  NULL. */
static inline void ucp_memhs_none(const ucp_rails_t *rails, ucp_memhs_t *memhs)
{
    unsigned slot;

    for (slot = 0; slot < rails->num_slots; ++slot) {
        memhs->memh[slot] = UCT_MEM_HANDLE_NULL;
    }
    ucp_memhs_init(memhs);
}

/**
 * Registers the buffer with the memory domain of each lane in `rails`, if the
 * domain has one of the flags `needed` (UCT_MD_FLAG_NEED_*). For
 * UCT_MD_FLAG_NEED_RKEY, domains with a process key need no registration: the
 * caller sends that key, with the address. `access`: UCT_MD_MEM_ACCESS_*.
 * `user`: a handle of the user that covers the buffer and is used if possible,
 * or NULL. `buffer`: NULL if the data is not contiguous;
 * only the user's handle can then be used. Returns a bit for each slot whose
 * lanes can access the buffer now.
 */
unsigned ucp_memhs_reg(ucp_ep_h ep, const ucp_rails_t *rails, uint64_t needed,
                       ucp_mem_h user, void *buffer, size_t length,
                       unsigned access, ucp_memhs_t *memhs);

/** Deregisters what ucp_memhs_reg() has registered. May be called again,
 *  without effect. */
void ucp_memhs_dereg(ucp_worker_h worker, ucp_memhs_t *memhs);

/** Returns a mask with the bits of all slots. */
static inline unsigned ucp_rails_slots(const ucp_rails_t *rails)
{
    return UCS_BIT(rails->num_slots) - 1;
}

/** Returns the first lane of a slot. */
static inline unsigned ucp_rails_slot_lane(const ucp_rails_t *rails,
                                           unsigned slot)
{
    unsigned i;

    for (i = 0; rails->rail[i].slot != slot; ++i) {
    }
    return rails->rail[i].lane;
}

#endif
