/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a context has mapped, by the numbers under which peers know
 * it. Whoever touches memory on a peer's behalf looks it up here first.
 */
#ifndef UCP_MEM_TABLE_H
#define UCP_MEM_TABLE_H

#include <pthread.h>
#include <ucp/api/ucp.h>

#include "ucs/datastruct/hash.h"

typedef struct ucp_mem_table {
    pthread_rwlock_t lock;   /**< Held for reading while a peer's access is
                                  carried out, so that unmapping waits */
    ucs_hash_t       mems;   /**< ucp_mem_h by id */
} ucp_mem_table_t;

/** Memory that a send of the library reads on a peer's behalf. */
typedef struct ucp_mem_loan {
    ucp_mem_table_t     *table;
    ucp_mem_h           memh;
    struct ucp_mem_loan *outer;  /**< Of the same thread */
} ucp_mem_loan_t;

void ucp_mem_table_init(ucp_mem_table_t *table);
void ucp_mem_table_cleanup(ucp_mem_table_t *table);

/** Adds the memory by its id, a random number; replaces an id that is taken. */
ucs_status_t ucp_mem_table_add(ucp_mem_table_t *table, ucp_mem_h memh);

/** Returns when no access is under way any more. */
void ucp_mem_table_remove(ucp_mem_table_t *table, ucp_mem_h memh);

/**
 * Checks a peer's access: all arguments are foreign. `prot`:
 * UCP_MEM_MAP_PROT_REMOTE_*. UCS_OK: the bytes may be touched by the CPU until
 * ucp_mem_table_release. UCS_ERR_INVALID_ADDR: no such memory, or not within
 * it. UCS_ERR_REJECTED: its owner does not allow this. UCS_ERR_UNSUPPORTED: the
 * CPU cannot touch it.
 */
ucs_status_t ucp_mem_table_hold(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot);

/** Likewise, for memory of any type that this process has addresses for: who
 *  touches it does so by its type, in *type_p. */
ucs_status_t ucp_mem_table_hold_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot, ucs_memory_type_t *type_p);

static inline void ucp_mem_table_release(ucp_mem_table_t *table)
{
    pthread_rwlock_unlock(&table->lock);
}

/**
 * As hold, around a call of a transport: that may end in a callback of the
 * user's, who may map and unmap there. Unmapping by other threads waits. The
 * loan has a reference to the memory, which end_loan leaves to the caller.
 */
ucs_status_t ucp_mem_table_lend(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot, ucp_mem_loan_t *loan);
void ucp_mem_table_end_loan(ucp_mem_loan_t *loan);

#endif
