/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapped memory of a context, by the ids that peers use. Each access of a
 * peer is checked in this table first.
 */
#ifndef UCP_MEM_TABLE_H
#define UCP_MEM_TABLE_H

#include <ucp/api/ucp.h>

#include "ucp/base/context.h"

/** A loan: memory that the send function of a transport reads while it is on
 *  the stack of this thread. */
typedef struct ucp_mem_loan {
    ucp_mem_table_t *table;
    ucp_mem_h memh;
    struct ucp_mem_loan *outer; /**< The previous loan of the same thread */
    /** Called before a callback changes the table, see
     *  ucp_mem_table_lend_any(); or NULL */
    void (*settle)(struct ucp_mem_loan *loan);
} ucp_mem_loan_t;

void ucp_mem_table_init(ucp_mem_table_t *table);
void ucp_mem_table_cleanup(ucp_mem_table_t *table);

/** Adds the memory by memh->id. If the id is in use, memh gets another random
 *  one. */
ucs_status_t ucp_mem_table_add(ucp_mem_table_t *table, ucp_mem_h memh);

/** Removes the memory; waits for accesses of peers that are being carried
 *  out. */
void ucp_mem_table_remove(ucp_mem_table_t *table, ucp_mem_h memh);

/**
 * Checks a peer's access: no argument is trusted. `prot`:
 * UCP_MEM_MAP_PROT_REMOTE_*. Returns
 * - UCS_OK: the processor may access the bytes until ucp_mem_table_release()
 * - UCS_ERR_INVALID_ADDR: the id is unknown, or the bytes are not within its
 *   memory
 * - UCS_ERR_REJECTED: the rights of the memory do not allow the access
 * - UCS_ERR_UNSUPPORTED: the processor cannot access the memory
 */
ucs_status_t ucp_mem_table_hold(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot);

/** As ucp_mem_table_hold(), also for memory that the processor cannot access
 *  but that has addresses in this process: the caller must access it according
 *  to its type, *type_p. */
ucs_status_t ucp_mem_table_hold_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot, ucs_memory_type_t *type_p);

static inline void ucp_mem_table_release(ucp_mem_table_t *table)
{
    pthread_rwlock_unlock(&table->lock);
}

/**
 * As ucp_mem_table_hold(), for a call of a transport's send, which may call a
 * user's callback that maps and unmaps memory. Unmapping by other threads
 * waits. The loan has a reference to the memory; after ucp_mem_table_end_loan()
 * the caller owns this reference.
 */
ucs_status_t ucp_mem_table_lend(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot, ucp_mem_loan_t *loan);

/** As ucp_mem_table_lend(), also for memory that the processor cannot access,
 *  which a copier reads while the loan lasts. `settle` is called before a
 *  callback of this thread changes the table: when it returns, the copier must
 *  not access the memory any more. */
ucs_status_t ucp_mem_table_lend_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot,
                                    void (*settle)(ucp_mem_loan_t *loan),
                                    ucp_mem_loan_t *loan);
void ucp_mem_table_end_loan(ucp_mem_loan_t *loan);

#endif
