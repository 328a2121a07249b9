/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles (ucp_mem_h). ucp_mem_map() only records the memory; a memory
 * domain registers it when the domain first needs it: for a packed key, or as
 * the local side of a transfer.
 */
#ifndef UCP_MEM_H
#define UCP_MEM_H

#include <pthread.h>
#include <uct/api/uct.h>

#include "ucp/base/context.h"

enum {
    /* Flags in addition to those of ucp_mem_map_params_t */
    UCP_MEM_FLAG_ALLOCATED = UCS_BIT(24), /**< ucp_mem_map has allocated the
                                           *   memory, see `alloc`;
                                           *   ucp_mem_free() frees it */
    UCP_MEM_FLAG_IMPORTED  = UCS_BIT(25), /**< Another process exported it */
    /** The memory is not mapped in this process, and its addresses are those
     *  of the owner's process: only devices can access it */
    UCP_MEM_FLAG_ELSEWHERE = UCS_BIT(26),
    /** The handle has locked its pages; ucp_mem_free() unlocks them */
    UCP_MEM_FLAG_LOCKED    = UCS_BIT(27),
};

/** All rights: what ucp_mem_map grants if the user gives none. */
#define UCP_MEM_PROT_ALL \
    (UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | \
     UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE)

/** How the processor accesses imported memory: by a mapping that the remote
 *  key of a component provides. */
typedef struct ucp_mem_window {
    uint64_t owner_address; /**< Address in the owner's process */
    uct_component_h component;
    uct_rkey_bundle_t key;
} ucp_mem_window_t;

struct ucp_mem {
    ucp_context_h context;
    /** Random number by which peers name the memory; also the secret in the
     *  packed keys of memory domains that support one */
    uint64_t id;
    /** References: the user's, and one for each reply to a peer's get that a
     *  transport reads from the memory */
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
    /** Domains that have registered the memory: bits by index among the
     *  context's domains; memhs[] has their handles */
    uint64_t known;
    uint64_t tried;    /**< Domains whose registration was tried, with or
                        *   without success: it is not tried again */
    uct_mem_h memhs[]; /**< Registrations, by index of the domain; valid if the
                        *   bit in `known` is set */
};
typedef struct ucp_mem ucp_mem_t;

/** True if [address, +length) is within [base, +size). No values can cause an
 *  overflow. */
static inline int ucp_mem_contains(uint64_t base, uint64_t size,
                                   uint64_t address, uint64_t length)
{
    return (address >= base) && (length <= size) &&
           (address - base <= size - length);
}

/**
 * Checks the buffer of an operation with this handle. If the handle is
 * imported, *buffer_p is an address in the owner's address space (or in the
 * local mapping that ucp_mem_query returns), and is converted to the local
 * address. Returns UCS_ERR_INVALID_PARAM if the handle does not cover the
 * buffer or belongs to another context, and UCS_ERR_UNSUPPORTED if the memory
 * is not mapped in this process. May be called by any thread.
 */
ucs_status_t ucp_mem_find_buffer(ucp_mem_h memh, ucp_context_h context,
                                 void **buffer_p, size_t length);

/** True if the rights of the handle allow this access. `access`:
 *  UCT_MD_MEM_ACCESS_*. */
int ucp_mem_allows(const ucp_mem_t *memh, unsigned access);

/** Returns the domain's handle, and registers the memory if necessary. Returns
 *  NULL if the domain cannot register it. May be called by any thread. */
uct_mem_h ucp_mem_of_domain(ucp_mem_h memh, unsigned md_index);

/** Returns the memory types that a domain can register, directly or as a
 *  dmabuf. */
uint64_t ucp_md_reg_types(ucp_context_h context, unsigned md_index);

/** Registers memory of one of these types with a domain, as a dmabuf if
 *  necessary. `flags`: UCT_MD_MEM_*. `secret`: see ucx_mem_reg_params_t. May be
 *  called by any thread. */
ucs_status_t ucp_md_register(ucp_context_h context, unsigned md_index,
                             void *address, size_t length,
                             ucs_memory_type_t mem_type, unsigned flags,
                             uint64_t secret, uct_mem_h *memh_p);

/** Creates a handle for memory that another process has exported. `buffer` is
 *  what that process has packed; it is checked. */
ucs_status_t ucp_mem_import(ucp_context_h context, const void *buffer,
                            ucp_mem_h *memh_p);

/** Creates an empty handle of this context. Returns NULL if out of memory. */
ucp_mem_h ucp_mem_new(ucp_context_h context);

/** Deregisters the memory; frees the handle, and the memory that it has
 *  allocated. */
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
