/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of processes of this host, and devices under names that all of them
 * understand.
 */
#ifndef CUDA_PROCESS_H
#define CUDA_PROCESS_H

#include "calls.h"

#include <sys/types.h>

/** The kernel reuses process ids: the random token tells two apart. */
typedef struct cuda_process {
    pid_t    pid;
    uint64_t token;    /**< Never 0 */
} cuda_process_t;

static inline int
cuda_process_is_same(const cuda_process_t *a, const cuda_process_t *b)
{
    return (a->pid == b->pid) && (a->token == b->token);
}

/** This process. UCS_ERR_IO_ERROR: the system has no random numbers. Any
 * thread. */
ucs_status_t cuda_process_self(cuda_process_t *process);

/** The address of a device on its bus: ordinals differ between processes. */
typedef struct cuda_pci {
    uint16_t domain;
    uint8_t  bus, slot;
} cuda_pci_t;

CUresult cuda_pci_of(int device, cuda_pci_t *pci);

/** The ordinal of a device in this process; -1: it is not visible here. */
int cuda_device_by_pci(const cuda_pci_t *pci);

#endif
