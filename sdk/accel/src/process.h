/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of processes and devices of this host, in a form that is the same in
 * all its processes.
 */
#ifndef ACCEL_PROCESS_H
#define ACCEL_PROCESS_H

#include <ucx/accel.h>

static inline int accel_process_is_same(const accel_process_t *a,
                                        const accel_process_t *b)
{
    return (a->pid == b->pid) && (a->token == b->token);
}

/** Returns the identity of this process. UCS_ERR_IO_ERROR: the system has no
 * random numbers. Any thread. */
ucs_status_t accel_process_self(accel_process_t *process);

/** Returns the PCI address of a device. The driver's pci_address() is called
 * once for each device. */
int accel_pci_of(int device, accel_pci_t *pci);

/** Returns the ordinal of a device in this process; -1 if it is not visible
 *  here. */
int accel_device_by_pci(const accel_pci_t *pci);

#endif
