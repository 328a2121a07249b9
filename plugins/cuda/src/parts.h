/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the table accel_driver, by file. <ucx/accel.h> describes
 * them at the slots with the same names. */
#ifndef CUDA_PARTS_H
#define CUDA_PARTS_H

#include "calls.h"

/* ----------------------------------------------------------- context.c -- */

ucs_status_t cuda_check_device(int device, char *reason, size_t reason_size);
int cuda_pci_address(int device, accel_pci_t *pci);
int cuda_current_device(void);
int cuda_retain(int device, void **context_p);
void cuda_release(int device, void *context);
int cuda_revive(int device);
int cuda_enter(void *context, accel_scope_t *scope);
void cuda_leave(const accel_scope_t *scope);

/* ------------------------------------------------------------ memory.c -- */

int cuda_find(const void *address, accel_memory_t *memory);
int cuda_describe(uint64_t address, accel_allocation_t *allocation);
int cuda_allocate(ucs_memory_type_t type, int device, size_t length,
                  uint64_t *address_p);
int cuda_deallocate(uint64_t address);
int cuda_pin(void *address, size_t length);
int cuda_unpin(void *address);
int cuda_export_dmabuf(int device, uint64_t start, size_t length, int *fd_p,
                       uint64_t *offset_p);

/* ------------------------------------------------------------- queue.c -- */

void *cuda_staging_new(int device, size_t length);
void cuda_staging_free(void *memory);
int cuda_queue_open(int device, void *context, void *memory, size_t length,
                    uint32_t *flag, accel_queue_t **queue_p);
void cuda_queue_close(accel_queue_t *queue, int is_failed);
int cuda_queue_enter(accel_queue_t *queue, accel_scope_t *scope);
int cuda_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                    size_t length);
int cuda_queue_copy_batch(accel_queue_t *queue, accel_batch_t *batch);
int cuda_queue_signal(accel_queue_t *queue, uint32_t value);
int cuda_queue_query(accel_queue_t *queue);

/* --------------------------------------------------------------- ipc.c -- */

/** Values of accel_key_t.kind: how another process opens an allocation. They
 * determine the meaning of the key's members `handle` and `fd`. */
enum {
    CUDA_KEY_LEGACY = 1, /**< `handle` is from cuIpcGetMemHandle(); no `fd` */
    CUDA_KEY_VIRTUAL, /**< `fd` represents memory from cuMemCreate(); `handle`
                       *   is not used: all bytes are 0 */
    CUDA_KEY_POOL,    /**< `fd` represents the memory pool; `handle` is from
                       *   cuMemPoolExportPointer() */
    CUDA_NUM_KEY_KINDS = CUDA_KEY_POOL,
};

/** Indices in the array accel_allocation_t.details. */
enum {
    CUDA_DETAIL_POOL,   /**< The allocation's CUmemoryPool, or 0 if it is not
                         *   from a pool */
    CUDA_DETAIL_EXPORT, /**< CUDA_LEGACY_EXPORT, CUDA_FD_EXPORT */
};
/** How the driver can export the allocation; bits of CUDA_DETAIL_EXPORT. */
enum {
    CUDA_LEGACY_EXPORT = 0x1, /**< By cuIpcGetMemHandle() */
    CUDA_FD_EXPORT     = 0x2, /**< As a file descriptor */
};

int cuda_export_memory(const accel_allocation_t *allocation, accel_key_t *key);
int cuda_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened);
void cuda_close_memory(const accel_key_t *key, const accel_opened_t *opened);

#endif
