/* SPDX-License-Identifier: BSD-3-Clause */
/* Identity of processes and devices: see process.h. */
#include "process.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static accel_process_t self; /* pid 0: not determined yet */
static struct {
    int is_known;
    accel_pci_t pci;
} devices[ACCEL_MAX_DEVICES];

/* The process id is compared at each call, because a child of fork() inherits
 * `self` and needs a token of its own. */
ucs_status_t accel_process_self(accel_process_t *process)
{
    pid_t pid           = getpid();
    ucs_status_t status = UCS_OK;
    uint64_t token      = 0;

    pthread_mutex_lock(&lock);
    if (self.pid != pid) {
        while ((status == UCS_OK) && (token == 0)) {
            if (getrandom(&token, sizeof(token), 0) != sizeof(token)) {
                status = UCS_ERR_IO_ERROR;
            }
        }
        if (status == UCS_OK) {
            self = (accel_process_t){pid, token};
        }
    }
    *process = self;
    pthread_mutex_unlock(&lock);
    return status;
}

/* A successful query of the driver is not repeated, because PCI addresses do
 * not change. */
int accel_pci_of(int device, accel_pci_t *pci)
{
    int result = UCS_OK;

    if ((device < 0) || (device >= ACCEL_MAX_DEVICES)) {
        return UCS_ERR_NO_DEVICE;
    }
    pthread_mutex_lock(&lock);
    if (!devices[device].is_known) {
        result = accel_driver.pci_address(device, &devices[device].pci);
        devices[device].is_known = (result == UCS_OK);
    }
    *pci = devices[device].pci;
    pthread_mutex_unlock(&lock);
    return result;
}

int accel_device_by_pci(const accel_pci_t *pci)
{
    accel_pci_t other;
    int i;

    for (i = 0; i < accel_driver.num_devices(); ++i) {
        if ((accel_pci_of(i, &other) == UCS_OK) &&
            (other.domain == pci->domain) && (other.bus == pci->bus) &&
            (other.slot == pci->slot) && (other.part == pci->part)) {
            return i;
        }
    }
    return -1;
}

ucs_status_t accel_secret(uint64_t *secret_p)
{
    return (getrandom(secret_p, sizeof(*secret_p), 0) == sizeof(*secret_p)) ?
               UCS_OK :
               UCS_ERR_IO_ERROR;
}
