/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of events, enabled by UCX_STATS or UCX_STATS_DEST. Each object, such
 * as an endpoint, has a record with its counters; the type of the record
 * defines which counters these are. The records are in memory that other
 * processes may read while this process runs (view.h), and are written to a
 * file or stream on request. The callers define the types.
 */
#ifndef UCS_STATS_H
#define UCS_STATS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#include "ucs/config/config.h"
#include "ucs/stats/layout.h"

BEGIN_C_DECLS

typedef struct ucs_stats_counter {
    const char *name; /**< Shorter than 40 characters */
    unsigned unit;    /**< UCS_STATS_EVENTS, _MESSAGES or _BYTES */
} ucs_stats_counter_t;

/** A type of records. */
typedef struct ucs_stats_type {
    const char *name; /**< Shorter than 24 characters */
    const ucs_stats_counter_t *counters;
    unsigned num_counters;
} ucs_stats_type_t;

/** Maximum number of types in a process. */
enum { UCS_STATS_TYPES_MAX = 16 };

/**
 * Reads from the configuration whether to count, and starts counting if no
 * earlier call has done so. The call that starts counting adds `types`, with
 * indices from 0; later calls ignore theirs. An invalid value in the
 * configuration is logged and disables counting for this caller.
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
 * Creates a record whose counters are zero. Any thread.
 *
 * @param [in] type   Index of the type.
 * @param [in] parent Parent record, or NULL.
 * @param [in] name   Truncated if too long.
 *
 * @return The record, or NULL if there is no space.
 */
ucs_stats_record_t *ucs_stats_create(unsigned type,
                                     const ucs_stats_record_t *parent,
                                     const char *name);

/** As ucs_stats_create(), but for a record in which the caller counts the
 *  events of all objects for which ucs_stats_create() has returned NULL. */
ucs_stats_record_t *ucs_stats_create_sum(unsigned type,
                                         const ucs_stats_record_t *parent,
                                         const char *name);

/** Marks a record as ended. It is kept until its space is needed; then its
 *  values are added to a sum for its type. A record of ucs_stats_create_sum()
 *  whose values are all zero is freed at once. NULL is ignored. */
void ucs_stats_end(ucs_stats_record_t *record, ucs_status_t status);

/** Adds `amount` to a counter of a record. `counter`: its index within the
 *  type. Only the thread that owns the record may call this function, because
 *  the addition is not atomic. Hot path. */
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

/** As ucs_stats_add(), but atomic, for a counter that several threads
 *  change. */
static inline void ucs_stats_add_shared(ucs_stats_record_t *record,
                                        unsigned counter, uint64_t amount)
{
    __atomic_fetch_add(&record->values[counter], amount, __ATOMIC_RELAXED);
}

END_C_DECLS

#endif
