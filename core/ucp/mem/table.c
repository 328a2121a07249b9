/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the mapped memory of a context, by the ids that peers use. Its
 * lock makes ucp_mem_unmap wait until accesses of peers are complete (table.h).
 */
#include "ucp/mem/table.h"

#include "ucp/mem/mem.h"
#include "ucs/debug/log.h"
#include "ucs/host/guid.h"

/* The loans of this thread (ucp_mem_loan_t), the latest first. During a loan
 * this thread is inside the send function of a transport, which reads the
 * memory, and holds the table's lock for reading. */
static _Thread_local ucp_mem_loan_t *loans;

/* Locks the table for writing. If it is called in a user's callback inside a
 * transport's send function, the thread itself holds read locks, and would wait
 * for itself. So this function first ends the copies from the memory (settle())
 * and releases the read locks; unlock_after_change() takes them again. */
static void lock_for_change(ucp_mem_table_t *table)
{
    ucp_mem_loan_t *loan;

    for (loan = loans; loan != NULL; loan = loan->outer) {
        if (loan->table == table) {
            if (loan->settle != NULL) {
                loan->settle(loan);
            }
            pthread_rwlock_unlock(&table->lock);
        }
    }
    pthread_rwlock_wrlock(&table->lock);
}

static void unlock_after_change(ucp_mem_table_t *table)
{
    const ucp_mem_loan_t *loan;

    pthread_rwlock_unlock(&table->lock);
    for (loan = loans; loan != NULL; loan = loan->outer) {
        if (loan->table == table) {
            pthread_rwlock_rdlock(&table->lock);
        }
    }
}

void ucp_mem_table_init(ucp_mem_table_t *table)
{
    pthread_rwlock_init(&table->lock, NULL);
    ucs_hash_init(&table->mems);
}

void ucp_mem_table_cleanup(ucp_mem_table_t *table)
{
    if (ucs_hash_count(&table->mems) > 0) {
        ucs_warn("%zu memory handles were not unmapped before ucp_cleanup",
                 ucs_hash_count(&table->mems));
    }
    ucs_hash_cleanup(&table->mems);
    pthread_rwlock_destroy(&table->lock);
}

ucs_status_t ucp_mem_table_add(ucp_mem_table_t *table, ucp_mem_h memh)
{
    ucs_status_t status;

    lock_for_change(table);
    while ((status = ucs_hash_put(&table->mems, memh->id, memh)) ==
           UCS_ERR_ALREADY_EXISTS) {
        memh->id = ucs_generate_uuid();
    }
    unlock_after_change(table);
    return status;
}

void ucp_mem_table_remove(ucp_mem_table_t *table, ucp_mem_h memh)
{
    lock_for_change(table);
    ucs_hash_del(&table->mems, memh->id);
    unlock_after_change(table);
}

ucs_status_t ucp_mem_table_hold_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot, ucs_memory_type_t *type_p)
{
    ucs_status_t status = UCS_ERR_INVALID_ADDR;
    const ucp_mem_t *memh;

    pthread_rwlock_rdlock(&table->lock);
    memh = ucs_hash_get(&table->mems, id);
    if (memh == NULL) {
        goto err;
    }
    if (!ucp_mem_contains((uintptr_t)memh->address, memh->length, address,
                          length)) {
        goto err;
    }
    if ((memh->prot & prot) != prot) {
        status = UCS_ERR_REJECTED;
        goto err;
    }
    if (memh->flags & UCP_MEM_FLAG_ELSEWHERE) {
        status = UCS_ERR_UNSUPPORTED;
        goto err;
    }
    *type_p = memh->mem_type;
    return UCS_OK;

err:
    pthread_rwlock_unlock(&table->lock);
    return status;
}

ucs_status_t ucp_mem_table_hold(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot)
{
    ucs_memory_type_t type;
    ucs_status_t status;

    status = ucp_mem_table_hold_any(table, id, address, length, prot, &type);
    if ((status == UCS_OK) && !UCS_MEM_IS_ACCESSIBLE_FROM_CPU(type)) {
        pthread_rwlock_unlock(&table->lock);
        return UCS_ERR_UNSUPPORTED;
    }
    return status;
}

/* Records a loan. The id was found, and the caller has locked the table for
 * reading; the lock is kept until ucp_mem_table_end_loan(). */
static void begin_loan(ucp_mem_table_t *table, uint64_t id,
                       void (*settle)(ucp_mem_loan_t *loan),
                       ucp_mem_loan_t *loan)
{
    loan->table  = table;
    loan->memh   = ucs_hash_get(&table->mems, id);
    loan->settle = settle;
    loan->outer  = loans;
    loans        = loan;
    __atomic_add_fetch(&loan->memh->refs, 1, __ATOMIC_RELAXED);
}

ucs_status_t ucp_mem_table_lend(ucp_mem_table_t *table, uint64_t id,
                                uint64_t address, uint64_t length,
                                unsigned prot, ucp_mem_loan_t *loan)
{
    ucs_status_t status = ucp_mem_table_hold(table, id, address, length, prot);

    if (status == UCS_OK) {
        begin_loan(table, id, NULL, loan);
    }
    return status;
}

ucs_status_t ucp_mem_table_lend_any(ucp_mem_table_t *table, uint64_t id,
                                    uint64_t address, uint64_t length,
                                    unsigned prot,
                                    void (*settle)(ucp_mem_loan_t *loan),
                                    ucp_mem_loan_t *loan)
{
    ucs_memory_type_t type;
    ucs_status_t status;

    status = ucp_mem_table_hold_any(table, id, address, length, prot, &type);
    if (status == UCS_OK) {
        begin_loan(table, id, settle, loan);
    }
    return status;
}

void ucp_mem_table_end_loan(ucp_mem_loan_t *loan)
{
    loans = loan->outer;
    ucp_mem_table_release(loan->table);
}
