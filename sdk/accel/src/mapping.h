/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of other processes' device memory into this one. Opening a mapping
 * takes up to a millisecond, so an interface keeps the most recently used
 * mappings.
 *
 * A mapping keeps the memory allocated after the owner process has freed it.
 * Therefore a mapping is closed when a key shows that the owner has other
 * memory at the same addresses, when the last endpoint to the owner is
 * destroyed, and when there are too many mappings. A mapping of some kinds must
 * be closed before the owner frees the memory (transient_kinds): it is closed
 * after its last operation. An allocation is identified by its owner, address
 * and id, so that a mapping is never used for a later allocation at the same
 * address.
 *
 *   opened --> kept --> removed from the list --> closed
 *                       as soon as no operation uses it
 */
#ifndef ACCEL_MAPPING_H
#define ACCEL_MAPPING_H

#include "key.h"
#include "md.h"

typedef struct accel_mapping accel_mapping_t;

/** Mappings of an interface; one thread at a time. */
typedef struct accel_mappings {
    accel_md_t *md;
    accel_mapping_t *first; /**< The most recently used mapping */
    unsigned num;
    unsigned max; /**< Maximum number of mappings kept while no operation uses
                   *   them */
} accel_mappings_t;

struct accel_mapping {
    accel_mapping_t *next;
    accel_mappings_t *list;
    accel_key_t key;
    accel_opened_t opened;
    unsigned users; /**< Number of operations that use the mapping */
    int is_listed;
    int is_lost; /**< Lost with its context: nothing has to be closed */
};

/** Finds or opens the mapping of a key, and makes it the first. */
ucs_status_t accel_mapping_get(accel_mappings_t *mappings,
                               const accel_key_t *key,
                               accel_mapping_t **mapping_p);

/** Marks the mapping as used by an operation, until accel_mapping_put(). */
static inline accel_mapping_t *accel_mapping_hold(accel_mapping_t *mapping)
{
    ++mapping->users;
    return mapping;
}

void accel_mapping_put(accel_mapping_t *mapping);

/** Drops the mappings that a device has lost with its context
 * (lost_kinds). */
void accel_mappings_lost(accel_mappings_t *mappings, int device);

/** Closes the mappings of memory of the process `owner`, or all mappings if
 * `owner` is NULL. */
void accel_mappings_close(accel_mappings_t *mappings,
                          const accel_process_t *owner);

#endif
