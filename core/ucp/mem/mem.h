/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles (ucp_mem_h). ucp_mem_map() allocates memory, or only records
 * memory of the user. A memory domain registers the memory when this domain is
 * first needed: for a packed key, or as the local side of a transfer. "Domain"
 * means memory domain here, and its index is that in ucp_context::mds.
 */
#ifndef UCP_MEM_H
#define UCP_MEM_H

#include <pthread.h>
#include <uct/api/uct.h>

#include "ucp/base/context.h"

enum {
    /* Flags in addition to those of ucp_mem_map_params_t */
    /** ucp_mem_map() has allocated the memory (`alloc`); ucp_mem_free() frees
     *  it */
    UCP_MEM_FLAG_ALLOCATED = UCS_BIT(24),
    /** The memory belongs to another process, which has exported it */
    UCP_MEM_FLAG_IMPORTED  = UCS_BIT(25),
    /** Set in addition to IMPORTED: the memory is not mapped in this process,
     *  so only devices can access it. `address` is that in the owner's
     *  process */
    UCP_MEM_FLAG_ELSEWHERE = UCS_BIT(26),
    /** ucp_mem_map() has locked the pages in memory; ucp_mem_free() unlocks
     *  them */
    UCP_MEM_FLAG_LOCKED    = UCS_BIT(27),
};

/** All rights, which ucp_mem_map() grants if the user does not set `prot`. */
#define UCP_MEM_PROT_ALL \
    (UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | \
     UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE)

/** The mapping by which the processor accesses imported memory; the remote key
 *  of a component provides it. */
typedef struct ucp_mem_window {
    uint64_t owner_address; /**< Start of the memory in the owner's process */
    uct_component_h component;
    uct_rkey_bundle_t key;
} ucp_mem_window_t;

struct ucp_mem {
    ucp_context_h context;
    /** Random number by which peers name the memory. Memory domains also use it
     *  as the secret in their packed keys (ucx_mem_reg_params_t) */
    uint64_t id;
    /** References: one of the user until ucp_mem_unmap(), and one for each
     *  reply to a peer's get whose data a transport still reads from the
     *  memory */
    unsigned refs;
    void *address;
    size_t length;
    ucs_memory_type_t mem_type;
    ucs_sys_device_t sys_dev;
    unsigned flags;               /**< UCP_MEM_MAP_*, UCP_MEM_FLAG_* */
    unsigned prot;                /**< UCP_MEM_MAP_PROT_* */
    uct_allocated_memory_t alloc; /**< Used with FLAG_ALLOCATED */
    /** Used with FLAG_IMPORTED; its component is NULL if the processor cannot
     *  access the memory */
    ucp_mem_window_t window;

    pthread_mutex_t lock; /**< Protects the members below */
    /** Domains that have registered the memory (bits by index); memhs[] has
     *  their handles */
    uint64_t known;
    /** Domains that have tried to register the memory (bits by index), with or
     *  without success: they do not try again */
    uint64_t tried;
    /** Handles of the domains, by index; valid if the bit in `known` is set */
    uct_mem_h memhs[];
};
typedef struct ucp_mem ucp_mem_t;

/** True if the `length` bytes at `address` are within the `size` bytes at
 *  `base`. Correct for all values, without an overflow. */
static inline int ucp_mem_contains(uint64_t base, uint64_t size,
                                   uint64_t address, uint64_t length)
{
    return (address >= base) && (length <= size) &&
           (address - base <= size - length);
}

/** Returns UCS_ERR_INVALID_PARAM, and logs it, if the handle belongs to another
 *  context. May be called by any thread. */
ucs_status_t ucp_mem_check_context(const ucp_mem_t *memh,
                                   ucp_context_h context);

/**
 * Checks that the handle covers the buffer of an operation. For an imported
 * handle, *buffer_p is an address in the owner's process, or in the local
 * mapping that ucp_mem_query returns; this function changes it to the local
 * address. Returns UCS_ERR_INVALID_PARAM if the handle does not cover the
 * buffer (any handle covers 0 bytes) or belongs to another context, and
 * UCS_ERR_UNSUPPORTED if the imported memory is not mapped in this process. May
 * be called by any thread.
 */
ucs_status_t ucp_mem_find_buffer(ucp_mem_h memh, ucp_context_h context,
                                 void **buffer_p, size_t length);

/** True if the rights of the handle allow all of these accesses. `access`:
 *  UCT_MD_MEM_ACCESS_*. */
int ucp_mem_allows(const ucp_mem_t *memh, unsigned access);

/** Returns the handle of a domain for this memory; the domain first registers
 *  the memory if it has not tried yet. Returns NULL if it cannot. May be called
 *  by any thread. */
uct_mem_h ucp_mem_of_domain(ucp_mem_h memh, unsigned md_index);

/** Returns the memory types that a domain can register, by address or as a
 *  dmabuf. */
uint64_t ucp_md_reg_types(ucp_context_h context, unsigned md_index);

/** Registers memory with a domain: by its address if the domain can do that for
 *  this memory type, otherwise as a dmabuf. `flags`: UCT_MD_MEM_*. `secret`:
 *  see ucx_mem_reg_params_t. May be called by any thread. */
ucs_status_t ucp_md_register(ucp_context_h context, unsigned md_index,
                             void *address, size_t length,
                             ucs_memory_type_t mem_type, unsigned flags,
                             uint64_t secret, uct_mem_h *memh_p);

/** Creates a handle for memory that another process has exported. `buffer`:
 *  what ucp_memh_pack() has returned in that process; it is checked. */
ucs_status_t ucp_mem_import(ucp_context_h context, const void *buffer,
                            ucp_mem_h *memh_p);

/** Creates a handle of this context without memory. Returns NULL if out of
 *  memory. */
ucp_mem_h ucp_mem_new(ucp_context_h context);

/** Deregisters the memory with all domains, and frees the handle. Frees the
 *  memory, too, if ucp_mem_map() has allocated it. */
ucs_status_t ucp_mem_free(ucp_mem_h memh);

/** Releases a reference; the last one frees the handle. May be called by any
 *  thread. */
static inline ucs_status_t ucp_mem_put(ucp_mem_h memh)
{
    return (__atomic_sub_fetch(&memh->refs, 1, __ATOMIC_ACQ_REL) == 0) ?
               ucp_mem_free(memh) :
               UCS_OK;
}

#endif
