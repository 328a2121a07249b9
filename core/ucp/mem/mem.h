/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory handles. Mapping notes what memory it is; a domain learns of it when
 * it is first needed there: for a key, or as the local side of a transfer.
 */
#ifndef UCP_MEM_H
#define UCP_MEM_H

#include <pthread.h>
#include <uct/api/uct.h>

#include "ucp/core/context.h"

enum {
    /* Above those of ucp_mem_map_params_t */
    UCP_MEM_FLAG_ALLOCATED = UCS_BIT(24), /**< `alloc` is ours */
    UCP_MEM_FLAG_IMPORTED  = UCS_BIT(25), /**< Another process exported it */
    UCP_MEM_FLAG_ELSEWHERE = UCS_BIT(26), /**< Its addresses are not ours: only
                                               devices reach it */
    UCP_MEM_FLAG_LOCKED    = UCS_BIT(27)  /**< We have locked its pages */
};

/** All of it for anybody: the default. */
#define UCP_MEM_PROT_ALL \
    (UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | \
     UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE)

/** How this process reaches imported memory. */
typedef struct ucp_mem_window {
    uint64_t          owner_address; /**< Of the memory, in its owner */
    uct_component_h   component;
    uct_rkey_bundle_t key;
} ucp_mem_window_t;

struct ucp_mem {
    ucp_context_h          context;
    uint64_t               id;        /**< What peers name it by: random, also
                                           in the keys of domains */
    unsigned               refs;      /**< The user's, and one for each answer
                                           that a transport reads from it */
    void                   *address;
    size_t                 length;
    ucs_memory_type_t      mem_type;
    ucs_sys_device_t       sys_dev;
    unsigned               flags;     /**< UCP_MEM_MAP_*, UCP_MEM_FLAG_* */
    unsigned               prot;      /**< UCP_MEM_MAP_PROT_* */
    uct_allocated_memory_t alloc;     /**< With FLAG_ALLOCATED */
    ucp_mem_window_t       window;    /**< With FLAG_IMPORTED; component NULL:
                                           the CPU cannot reach it */

    pthread_mutex_t        lock;      /**< Of what follows */
    uint64_t               known;     /**< Domains that know it, by index */
    uint64_t               asked;     /**< Those that were asked */
    uct_mem_h              memhs[];   /**< By domain */
};
typedef struct ucp_mem ucp_mem_t;

/** Is [address, +length) within [base, +size)? Any numbers. */
static inline int ucp_mem_contains(uint64_t base, uint64_t size,
                                   uint64_t address, uint64_t length)
{
    return (address >= base) && (length <= size) &&
           (address - base <= size - length);
}

/**
 * Checks the buffer of an operation that names this handle. With an imported
 * handle *buffer_p is an address in the owner's address space (or in the local
 * mapping that ucp_mem_query reports) and becomes the local address. Errors:
 * UCS_ERR_INVALID_PARAM, the handle does not cover the buffer or is of another
 * context; UCS_ERR_UNSUPPORTED, the memory is not mapped in this process. Any
 * thread.
 */
ucs_status_t ucp_mem_find_buffer(ucp_mem_h memh, ucp_context_h context,
                                 void **buffer_p, size_t length);

/** Does the owner of the handle allow this access? `access`:
 *  UCT_MD_MEM_ACCESS_*. */
int ucp_mem_allows(const ucp_mem_t *memh, unsigned access);

/** The domain's handle, registering now if it was not yet. NULL: the domain
 *  cannot register this. Any thread. */
uct_mem_h ucp_mem_of_domain(ucp_mem_h memh, unsigned md_index);

/** Maps what a peer exported; `buffer` is foreign. */
ucs_status_t ucp_mem_import(ucp_context_h context, const void *buffer,
                            ucp_mem_h *memh_p);

/** An empty handle for this context. NULL: out of memory. */
ucp_mem_h ucp_mem_new(ucp_context_h context);

/** Takes every registration back; frees the handle and what it allocated. */
ucs_status_t ucp_mem_free(ucp_mem_h memh);

/** Gives up a reference; the last one frees. Any thread. */
static inline ucs_status_t ucp_mem_put(ucp_mem_h memh)
{
    return (__atomic_sub_fetch(&memh->refs, 1, __ATOMIC_ACQ_REL) == 0) ?
           ucp_mem_free(memh) : UCS_OK;
}

#endif
