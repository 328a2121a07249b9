/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapped memory of a context, found by the ids that peers send in their
 * accesses. Accesses that peers request by messages are checked in this table.
 */
#ifndef UCP_MEM_TABLE_H
#define UCP_MEM_TABLE_H

#include <ucp/api/ucp.h>

#include "ucp/base/context.h"

/** A loan: memory that a transport's send function, which this thread is
 *  calling, may read. The memory contains the data of a reply. This object is
 *  on the thread's stack during the call. */
typedef struct ucp_mem_loan {
    ucp_mem_table_t *table;
    ucp_mem_h memh;
    /** The loan that began before this one in the same thread, or NULL */
    struct ucp_mem_loan *outer;
    /** Called before a callback of this thread changes the table, see
     *  ucp_mem_table_lend_any(); or NULL */
    void (*settle)(struct ucp_mem_loan *loan);
} ucp_mem_loan_t;

void ucp_mem_table_init(ucp_mem_table_t *table);
void ucp_mem_table_cleanup(ucp_mem_table_t *table);

/** Adds the memory, with memh->id as its id. If this id is in use, first sets
 *  memh->id to another random number. */
ucs_status_t ucp_mem_table_add(ucp_mem_table_t *table, ucp_mem_h memh);

/** Removes the memory. Waits until accesses of peers that other threads carry
 *  out are complete, and calls `settle` of the loans of this thread. The user
 *  can then free the memory. */
void ucp_mem_table_remove(ucp_mem_table_t *table, ucp_mem_h memh);

/**
 * Checks a peer's access; the arguments may have any values. `prot`: the
 * necessary rights, UCP_MEM_MAP_PROT_REMOTE_*. Returns
 *
 * - UCS_OK: the processor may access the bytes until the caller calls
 *   ucp_mem_table_release()
 * - UCS_ERR_INVALID_ADDR: the id is unknown, or the bytes are not within its
 *   memory
 * - UCS_ERR_REJECTED: the rights of the memory do not allow the access
 * - UCS_ERR_UNSUPPORTED: the processor cannot access the memory
 */
ucs_status_t ucp_mem_table_hold(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot);

/** As ucp_mem_table_hold(), but also returns UCS_OK for memory of a device that
 *  has addresses in this process. *type_p is the type of the memory: if the
 *  processor cannot access it, the caller uses a copier (stage/stage.h). */
ucs_status_t ucp_mem_table_hold_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot, ucs_memory_type_t *type_p);

static inline void ucp_mem_table_release(ucp_mem_table_t *table)
{
    pthread_rwlock_unlock(&table->lock);
}

/**
 * As ucp_mem_table_hold(), for memory that a transport's send function reads;
 * ucp_mem_table_end_loan() ends the loan. The send function may call a user's
 * callback, which may map and unmap memory. Other threads that unmap memory
 * wait for the end of the loan. The loan takes a reference to `memh`. After its
 * end the caller owns the reference, and releases it by ucp_mem_put().
 */
ucs_status_t ucp_mem_table_lend(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot, ucp_mem_loan_t *loan);

/** As ucp_mem_table_lend(), but also for memory that the processor cannot
 *  access, from which a copier reads the data. `settle` is called before a
 *  callback of this thread changes the table. It must wait for the copies: when
 *  it returns, the copier must not access the memory any more. */
ucs_status_t ucp_mem_table_lend_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot,
                                    void (*settle)(ucp_mem_loan_t *loan),
                                    ucp_mem_loan_t *loan);
void ucp_mem_table_end_loan(ucp_mem_loan_t *loan);

#endif
