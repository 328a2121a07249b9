/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of events, enabled by UCX_STATS or UCX_STATS_DEST. They are in
 * memory that other processes may read while this process runs (view.h), and
 * are written to a file on request. The caller of ucs_stats_open() defines what
 * is counted.
 */
#ifndef UCS_STATS_H
#define UCS_STATS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#include "ucs/config/config.h"
#include "ucs/stats/layout.h"

BEGIN_C_DECLS

typedef struct ucs_stats_counter {
    const char *name; /**< Shorter than 40 */
    unsigned unit;    /**< UCS_STATS_EVENTS and so on */
} ucs_stats_counter_t;

/** Types of records: constant data of the caller. */
typedef struct ucs_stats_type {
    const char *name; /**< Shorter than 24 */
    const ucs_stats_counter_t *counters;
    unsigned num_counters;
} ucs_stats_type_t;

enum { UCS_STATS_TYPES_MAX = 16 };

/**
 * Reads from the configuration whether to count. The types are those of the
 * first caller for which counting was enabled. An invalid value is reported and
 * disables counting.
 *
 * @return Non-zero if counting is enabled; call ucs_stats_close() at the end.
 */
int ucs_stats_open(const ucs_stats_type_t *types, unsigned num_types,
                   const ucs_config_source_t *source);
void ucs_stats_close(void);

/** Returns whether counting is enabled. Any thread. */
int ucs_stats_is_on(void);

/**
 * Adds a type, or finds the existing type of this name with the same counters.
 * The strings are copied. Any thread.
 *
 * @return Index of the type; -1 if counting is disabled, or there is no space.
 */
int ucs_stats_add_type(const ucs_stats_type_t *type);

/**
 * Creates a record of zeros. Any thread.
 *
 * @param [in] parent Parent record, or NULL.
 * @param [in] name   Truncated if too long.
 *
 * @return The record, or NULL if there is no space.
 */
ucs_stats_record_t *ucs_stats_create(unsigned type,
                                     const ucs_stats_record_t *parent,
                                     const char *name);

/** As ucs_stats_create(), but creates the one record of a type that receives
 *  the sum of all records for which there is no space. */
ucs_stats_record_t *ucs_stats_create_sum(unsigned type,
                                         const ucs_stats_record_t *parent,
                                         const char *name);

/** Marks a record as ended. It is kept until its space is needed; then its
 *  values are added to the sum of its type. A record whose values are all zero
 *  is freed at once. NULL is ignored. */
void ucs_stats_end(ucs_stats_record_t *record, ucs_status_t status);

/** Adds to a value of a record. Only the thread that owns the record may call
 *  it, because the update is not atomic. Hot path. */
static UCS_F_ALWAYS_INLINE void ucs_stats_add(ucs_stats_record_t *record,
                                              unsigned counter, uint64_t amount)
{
    uint64_t *value = &record->values[counter];

    __atomic_store_n(value, __atomic_load_n(value, __ATOMIC_RELAXED) + amount,
                     __ATOMIC_RELAXED);
}

/** Counts a message and its bytes. `counter` is the counter of the messages;
 *  the counter of the bytes follows it. */
static UCS_F_ALWAYS_INLINE void
ucs_stats_add_message(ucs_stats_record_t *record, unsigned counter,
                      uint64_t bytes)
{
    ucs_stats_add(record, counter, 1);
    ucs_stats_add(record, counter + 1, bytes);
}

/** Adds atomically to a value that several threads write. */
static inline void ucs_stats_add_shared(ucs_stats_record_t *record,
                                        unsigned counter, uint64_t amount)
{
    __atomic_fetch_add(&record->values[counter], amount, __ATOMIC_RELAXED);
}

END_C_DECLS

#endif
