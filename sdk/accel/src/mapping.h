/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of device memory of other processes into this process. The owner of
 * a mapping is the process that has allocated the memory. Opening a mapping
 * takes up to a millisecond, so an interface keeps the most recently used
 * mappings.
 *
 * A mapping may keep the memory allocated after the owner has freed it. So
 * a mapping is closed when a key shows that the owner has other memory at the
 * same addresses, when the last endpoint to the owner is destroyed, and when
 * there are too many mappings. Mappings of accel_driver.transient_kinds must be
 * closed before the owner frees the memory, so they are closed after their last
 * operation. An allocation is identified by its owner, address and id, so that
 * a mapping is never used for a later allocation at the same address.
 *
 *   opened --> in the list --> removed from the list --> closed, as soon as no
 *                                                        operation uses it
 */
#ifndef ACCEL_MAPPING_H
#define ACCEL_MAPPING_H

#include "key.h"
#include "md.h"

typedef struct accel_mapping accel_mapping_t;

/** The list of mappings of an interface. One thread at a time may use it. */
typedef struct accel_mappings {
    accel_md_t *md;
    accel_mapping_t *first; /**< The most recently used mapping */
    unsigned num;           /**< Number of mappings in the list */
    unsigned max; /**< Maximum number of mappings kept while no operation uses
                   *   them */
} accel_mappings_t;

struct accel_mapping {
    accel_mapping_t *next; /**< Next in the list */
    accel_mappings_t *list;
    accel_key_t key;
    accel_opened_t opened; /**< The mapped memory */
    unsigned users;        /**< Number of operations that use the mapping */
    int is_listed;         /**< The mapping is in the list */
    int is_lost; /**< The memory was closed when the device's context was
                  *   reset */
};

/** Finds the mapping of a key, or opens one, and moves it to the start of the
 * list. */
ucs_status_t accel_mapping_get(accel_mappings_t *mappings,
                               const accel_key_t *key,
                               accel_mapping_t **mapping_p);

/** Marks the mapping as used by an operation, until accel_mapping_put(). */
static inline accel_mapping_t *accel_mapping_hold(accel_mapping_t *mapping)
{
    ++mapping->users;
    return mapping;
}

/** Called when an operation that uses the mapping has ended. */
void accel_mapping_put(accel_mapping_t *mapping);

/** Removes the mappings of accel_driver.lost_kinds on a device whose copies
 * have failed. With `is_reset`, a reset of the device's context has closed
 * their memory already. Otherwise this function closes the memory: the context
 * may have failed, and a later reset of it would not be noticed. */
void accel_mappings_lost(accel_mappings_t *mappings, int device, int is_reset);

/** Closes the mappings of memory of the process `owner`, or all mappings if
 * `owner` is NULL. */
void accel_mappings_close(accel_mappings_t *mappings,
                          const accel_process_t *owner);

#endif
