/* SPDX-License-Identifier: BSD-3-Clause */
/* See process.h. */
#include "process.h"

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_process_t self;   /* pid 0: not known yet */
static struct {
    int        is_known;
    cuda_pci_t pci;
} devices[CUDA_MAX_DEVICES];

/* A child of fork() is another process and gets another token. */
ucs_status_t cuda_process_self(cuda_process_t *process)
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
            self = (cuda_process_t){pid, token};
        }
    }
    *process = self;
    pthread_mutex_unlock(&lock);
    return status;
}

static CUresult query_pci(int device, cuda_pci_t *pci)
{
    int domain = 0, bus = 0, slot = 0;
    CUdevice handle;
    CUresult result;

    result = cuda.cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(
                &domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, handle);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(
                &bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, handle);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(
                &slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, handle);
    }
    *pci = (cuda_pci_t){(uint16_t)domain, (uint8_t)bus, (uint8_t)slot};
    return result;
}

/* A device's address does not change: the driver is asked once. */
CUresult cuda_pci_of(int device, cuda_pci_t *pci)
{
    CUresult result = CUDA_SUCCESS;

    if ((device < 0) || (device >= CUDA_MAX_DEVICES)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    pthread_mutex_lock(&lock);
    if (!devices[device].is_known) {
        result = query_pci(device, &devices[device].pci);
        devices[device].is_known = (result == CUDA_SUCCESS);
    }
    *pci = devices[device].pci;
    pthread_mutex_unlock(&lock);
    return result;
}

int cuda_device_by_pci(const cuda_pci_t *pci)
{
    cuda_pci_t other;
    int i;

    for (i = 0; i < cuda_num_devices(); ++i) {
        if ((cuda_pci_of(i, &other) == CUDA_SUCCESS) &&
            (other.domain == pci->domain) && (other.bus == pci->bus) &&
            (other.slot == pci->slot)) {
            return i;
        }
    }
    return -1;
}
