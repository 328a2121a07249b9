/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of cuda_ipc: how another process opens an allocation. All numbers are
 * little-endian.
 *
 *   | kind 1 | bus 1 | slot 1 | socket, bits 16 to 23 1 | PCI domain 2 |
 *   | socket, bits 0 to 15 2 | process id 4 | descriptor 4 | token of the process 8 | start 8 | length 8 | id 8 |
 *   | handle 64 |
 */
#ifndef CUDA_IPC_KEY_H
#define CUDA_IPC_KEY_H

#include "process.h"

typedef enum {
    CUDA_IPC_LEGACY = 1,   /**< The handle is that of cuIpcGetMemHandle */
    CUDA_IPC_VIRTUAL,      /**< The descriptor is that of cuMemCreate's memory */
    CUDA_IPC_POOL,         /**< The descriptor is the pool's; the handle is that
                            * of cuMemPoolExportPointer */
    CUDA_IPC_LAST
} cuda_ipc_kind_t;

enum { CUDA_IPC_HANDLE_SIZE = 64, CUDA_IPC_KEY_SIZE = 112 };

/** A key: unpacked, or of a registration. */
typedef struct cuda_ipc_key {
    cuda_ipc_kind_t kind;
    cuda_process_t  owner;
    cuda_pci_t      pci;
    int             fd;        /**< In the owner; -1 with LEGACY */
    unsigned        socket;    /**< That gives the descriptor; 0: none */
    uint64_t        start;     /**< Of the allocation, in the owner */
    uint64_t        length;
    /** Differs for a later allocation at the same address */
    uint64_t        id;
    /** VIRTUAL: begins with a random number, so that nobody guesses a key */
    char            handle[CUDA_IPC_HANDLE_SIZE];
} cuda_ipc_key_t;

/** Writes CUDA_IPC_KEY_SIZE bytes. */
void cuda_ipc_key_pack(const cuda_ipc_key_t *key, void *buffer);

/** Reads and checks a key from a peer. UCS_ERR_INVALID_PARAM: it is none. */
ucs_status_t cuda_ipc_key_unpack(const void *buffer, size_t length,
                                 cuda_ipc_key_t *key);

#endif
