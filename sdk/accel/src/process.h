/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identity of processes and devices of this host, in a form that is the same in
 * all processes of the host. The driver is that of the accelerator
 * (accel_driver).
 */
#ifndef ACCEL_PROCESS_H
#define ACCEL_PROCESS_H

#include <ucx/accel.h>

static inline int accel_process_is_same(const accel_process_t *a,
                                        const accel_process_t *b)
{
    return (a->pid == b->pid) && (a->token == b->token);
}

/** Stores the identity of this process. UCS_ERR_IO_ERROR: the system provides
 * no random numbers. Any thread may call this function. */
ucs_status_t accel_process_self(accel_process_t *process);

/** Stores a random number. UCS_ERR_IO_ERROR: the system provides no random
 * numbers. */
ucs_status_t accel_secret(uint64_t *secret_p);

/** Stores the PCI address of a device. For each device, calls the driver's
 * pci_address() until it has succeeded once. */
int accel_pci_of(int device, accel_pci_t *pci);

/** Returns the ordinal of the device with this PCI address in this process; -1
 *  if this process cannot see the device. */
int accel_device_by_pci(const accel_pci_t *pci);

#endif
