/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory between processes. A handle of Level Zero begins with a file
 * descriptor of the exporting process. The importing process writes the number
 * of its duplicate of this descriptor to the handle, as is usual with Level
 * Zero.
 */
#include "driver.h"

#include <fcntl.h>
#include <string.h>

_Static_assert(sizeof(ze_ipc_mem_handle_t) == ACCEL_HANDLE_SIZE,
               "the handle fits a key");

int ze_export_memory(const accel_allocation_t *allocation, accel_key_t *key)
{
    const int driver           = ze_device(allocation->device)->driver;
    ze_ipc_mem_handle_t handle = {0};
    ze_context_handle_t context;
    ze_result_t result;
    int fd;

    result = ze_context(driver, &context);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeMemGetIpcHandle(context,
                                      (void *)(uintptr_t)allocation->start,
                                      &handle);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    /* The driver keeps its descriptor until the memory is freed. The key gets a
     * duplicate, which the accelerator library (<ucx/accel.h>) closes when it
     * drops the export. */
    memcpy(&fd, handle.data, sizeof(fd));
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    memcpy(key->handle, handle.data, sizeof(key->handle));
    key->kind = ZE_KEY_HANDLE;
    key->fd   = fd;
    return UCS_OK;
}

int ze_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened)
{
    const ze_device_t *device = ze_device(opened->device);
    void *address             = NULL;
    ze_ipc_mem_handle_t handle;
    ze_context_handle_t context;
    ze_result_t result;

    memcpy(handle.data, key->handle, sizeof(handle.data));
    memcpy(handle.data, &fd, sizeof(fd));
    result = ze_context(device->driver, &context);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeMemOpenIpcHandle(context, device->handle, handle, 0,
                                       &address);
    }
    opened->address = (uintptr_t)address;
    return result;
}

void ze_close_memory(const accel_key_t *key, const accel_opened_t *opened)
{
    ze_context_handle_t context;

    if (ze_context(ze_device(opened->device)->driver, &context) ==
        ZE_RESULT_SUCCESS) {
        (void)ze.zeMemCloseIpcHandle(context,
                                     (void *)(uintptr_t)opened->address);
    }
}
