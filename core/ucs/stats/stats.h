/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters: switched on by UCX_STATS or UCX_STATS_DEST, kept in memory that
 * others may read while the process runs, and written to a file if that is asked
 * for. What is counted is the business of the one who opens; reading is in
 * view.h.
 */
#ifndef UCS_STATS_H
#define UCS_STATS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

#include "ucs/config/config.h"
#include "ucs/stats/layout.h"

BEGIN_C_DECLS

typedef struct ucs_stats_counter {
    const char *name;   /**< Shorter than 40 */
    unsigned   unit;    /**< UCS_STATS_EVENTS and so on */
} ucs_stats_counter_t;

/** Kinds of records: constant data of the opener. */
typedef struct ucs_stats_type {
    const char                *name;  /**< Shorter than 24 */
    const ucs_stats_counter_t *counters;
    unsigned                  num_counters;
} ucs_stats_type_t;

enum { UCS_STATS_TYPES_MAX = 8 };

/**
 * Asks the configuration whether to count. The types are those of the first
 * caller for whom the answer was yes. A bad value has been told of, and counts
 * as no.
 *
 * @return Non-zero: count; ucs_stats_close() ends that.
 */
int ucs_stats_open(const ucs_stats_type_t *types, unsigned num_types,
                   const ucs_config_source_t *source);
void ucs_stats_close(void);

/**
 * Makes a record of zeros. Any thread.
 *
 * @param [in] parent  What it belongs to, or NULL.
 * @param [in] name    Is cut where it is too long.
 *
 * @return NULL: there is no room.
 */
ucs_stats_record_t *ucs_stats_create(unsigned type,
                                     const ucs_stats_record_t *parent,
                                     const char *name);

/** Likewise, for all those that find no room. */
ucs_stats_record_t *ucs_stats_create_sum(unsigned type,
                                         const ucs_stats_record_t *parent,
                                         const char *name);

/** What it counted has ended. It stays until its room is needed, and is counted
 *  in the sum of its type then. A sum of nothing goes at once. NULL is nothing. */
void ucs_stats_end(ucs_stats_record_t *record, ucs_status_t status);

/** Adds to a value. By the owner of the record only: no other thread may write
 *  at the same time. Hot path. */
static UCS_F_ALWAYS_INLINE void
ucs_stats_add(ucs_stats_record_t *record, unsigned counter, uint64_t amount)
{
    uint64_t *value = &record->values[counter];

    __atomic_store_n(value, __atomic_load_n(value, __ATOMIC_RELAXED) + amount,
                     __ATOMIC_RELAXED);
}

/** Adds a message and its bytes; `counter` is the one of the messages. */
static UCS_F_ALWAYS_INLINE void
ucs_stats_add_message(ucs_stats_record_t *record, unsigned counter,
                      uint64_t bytes)
{
    ucs_stats_add(record, counter, 1);
    ucs_stats_add(record, counter + 1, bytes);
}

/** Adds to a value that several threads write. */
static inline void ucs_stats_add_shared(ucs_stats_record_t *record,
                                        unsigned counter, uint64_t amount)
{
    __atomic_fetch_add(&record->values[counter], amount, __ATOMIC_RELAXED);
}

END_C_DECLS

#endif
