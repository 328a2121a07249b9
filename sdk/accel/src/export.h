/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Export of device memory to other processes. An export (accel_export_t)
 * contains the key by which other processes open an allocation.
 *
 * Exporting may take long (virtual memory of CUDA: 0.7 ms). Therefore the
 * domain keeps exports that no registration uses any more, for the next
 * registration. An export may have a file descriptor, which keeps the memory
 * allocated after the program has freed it. Therefore, whenever another export
 * is created, the exports of freed memory that no registration uses are
 * dropped.
 */
#ifndef ACCEL_EXPORT_H
#define ACCEL_EXPORT_H

#include "key.h"
#include "md.h"

typedef struct accel_export {
    struct accel_export *next; /**< Next in accel_md_t.exports */
    accel_key_t key;
    uint64_t id;    /**< accel_allocation_t.id of the memory */
    unsigned users; /**< Number of registrations that use the export */
} accel_export_t;

/** Stores an export of the allocation that contains `length` bytes at
 * `address`, and counts the caller as its user. UCS_ERR_UNSUPPORTED: the
 * memory cannot be exported. Any thread may call this function. */
ucs_status_t accel_export_get(accel_md_t *md, const void *address,
                              size_t length, accel_export_t **export_p);
/** Ends a use of an export. The domain keeps the export, as stated above. */
void accel_export_put(accel_md_t *md, accel_export_t *export);

/** Returns a duplicate of the descriptor of the export with this packed key.
 * Returns -1 if there is no such export, or if descriptors have run out. Any
 * thread may call this function. */
int accel_export_dup(accel_md_t *md, const void *packed_key);

/** Drops all exports. No registration may use any of them. */
void accel_exports_close(accel_md_t *md);

#endif
