/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Export of device memory to other processes: the key by which they open the
 * allocation that contains an address.
 *
 * Exporting virtual memory takes 0.7 ms and makes a descriptor, which other
 * processes duplicate. So the domain keeps exports that are not registered any
 * more. A descriptor keeps the memory allocated: an export is dropped when its
 * memory has been freed, which is checked whenever another one is made.
 */
#ifndef CUDA_EXPORT_H
#define CUDA_EXPORT_H

#include "ipc_key.h"
#include "md.h"

typedef struct cuda_export {
    struct cuda_export *next;
    cuda_ipc_key_t     key;
    unsigned           users;   /**< Registrations */
} cuda_export_t;

/** Exports the allocation that contains all of [address, +length). Any thread.
 * UCS_ERR_UNSUPPORTED: it cannot be exported. */
ucs_status_t cuda_export_get(cuda_md_t *md, const void *address, size_t length,
                             cuda_export_t **export_p);
void cuda_export_put(cuda_md_t *md, cuda_export_t *export);

/** Returns a duplicate of the descriptor of the export with this packed key; -1:
 * there is none, or no descriptor is left. Any thread. */
int cuda_export_dup(cuda_md_t *md, const void *packed_key);

/** Drops all exports, of which none is registered. */
void cuda_exports_close(cuda_md_t *md);

#endif
