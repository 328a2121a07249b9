/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices and their primary contexts. */
#include "parts.h"

#include <stdio.h>

/* Checks whether this process can create a context on the device. */
ucs_status_t cuda_check_device(int ordinal, char *reason, size_t reason_size)
{
    int mode        = 0;
    CUdevice device = 0;
    CUcontext context;
    CUresult result;

    result = cuda.cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(&mode,
                                           CU_DEVICE_ATTRIBUTE_COMPUTE_MODE,
                                           device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDevicePrimaryCtxRetain(&context, device);
    }
    if (result == CUDA_SUCCESS) {
        (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
        return UCS_OK;
    }
    snprintf(reason, reason_size, "CUDA device %d cannot be used: %s%s",
             ordinal, cuda_error(result),
             (mode == CU_COMPUTEMODE_PROHIBITED) ?
                 "; its compute mode is PROHIBITED (nvidia-smi -c DEFAULT)" :
             (mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS) ?
                 "; its compute mode is EXCLUSIVE_PROCESS, and another process"
                 " uses it (nvidia-smi -c DEFAULT)" :
                 "");
    return UCS_ERR_NO_DEVICE;
}

int cuda_pci_address(int device, accel_pci_t *pci)
{
    int domain = 0, bus = 0, slot = 0;
    CUdevice handle;
    CUresult result;

    result = cuda.cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(&domain,
                                           CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
                                           handle);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                                           handle);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetAttribute(&slot,
                                           CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
                                           handle);
    }
    *pci = (accel_pci_t){(uint16_t)domain, (uint8_t)bus, (uint8_t)slot, 0};
    return result;
}

int cuda_current_device(void)
{
    CUdevice device;

    return (cuda.cuCtxGetDevice(&device) == CUDA_SUCCESS) ? device : -1;
}

/* ------------------------------------------------------------- contexts -- */

int cuda_retain(int device, void **context_p)
{
    CUcontext context = NULL;
    CUdevice handle;
    CUresult result = cuda.cuDeviceGet(&handle, device);

    if (result == CUDA_SUCCESS) {
        result = cuda.cuDevicePrimaryCtxRetain(&context, handle);
    }
    *context_p = context;
    return result;
}

void cuda_release(int device, void *context)
{
    CUdevice handle;

    if (cuda.cuDeviceGet(&handle, device) == CUDA_SUCCESS) {
        (void)cuda.cuDevicePrimaryCtxRelease_v2(handle);
    }
}

/* Activates the device's primary context again after a reset, by retaining the
 * context. This additional reference is released at once, because a reset does
 * not release the reference of cuda_retain(). */
int cuda_revive(int device)
{
    void *context;
    int result = cuda_retain(device, &context);

    if (result == CUDA_SUCCESS) {
        cuda_release(device, context);
    }
    return result;
}

int cuda_enter(void *context, accel_scope_t *scope)
{
    CUcontext current = NULL;
    CUresult result   = cuda.cuCtxGetCurrent(&current);

    scope->is_pushed = 0;
    if ((result != CUDA_SUCCESS) || (current == context)) {
        return result;
    }
    return cuda_push(scope, context);
}

void cuda_leave(const accel_scope_t *scope)
{
    CUcontext context;

    if (scope->is_pushed) {
        (void)cuda.cuCtxPopCurrent_v2(&context);
    }
}
