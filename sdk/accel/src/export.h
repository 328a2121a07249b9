/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Export of device memory to other processes: the key by which they open the
 * allocation that contains an address.
 *
 * Exporting may take long (virtual memory of CUDA: 0.7 ms) and may create a
 * descriptor, which other processes duplicate. Therefore the domain keeps
 * exports that no registration uses any more. A descriptor keeps the memory
 * allocated, so an export is dropped when the program has freed the memory,
 * which the library checks whenever it creates another export.
 */
#ifndef ACCEL_EXPORT_H
#define ACCEL_EXPORT_H

#include "key.h"
#include "md.h"

typedef struct accel_export {
    struct accel_export *next;
    accel_key_t key;
    unsigned users; /**< Number of registrations that use the export */
} accel_export_t;

/** Exports the allocation that contains all of [address, +length). Any thread.
 * UCS_ERR_UNSUPPORTED: it cannot be exported. */
ucs_status_t accel_export_get(accel_md_t *md, const void *address,
                              size_t length, accel_export_t **export_p);
void accel_export_put(accel_md_t *md, accel_export_t *export);

/** Returns a duplicate of the descriptor of the export with this packed key.
 * Returns -1 if there is no such export, or if descriptors have run out. Any
 * thread. */
int accel_export_dup(accel_md_t *md, const void *packed_key);

/** Drops all exports. No registration may use any of them. */
void accel_exports_close(accel_md_t *md);

#endif
