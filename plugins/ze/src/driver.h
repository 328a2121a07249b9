/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drivers that the Level Zero loader has found, and their devices. This
 * plugin treats a sub-device as a device, too. The ordinals of the devices
 * begin with 0; the sub-devices of a device follow the device.
 *
 * Most functions below are those of the table accel_driver, by file.
 * <ucx/accel.h> describes them at the slots with the same names.
 */
#ifndef ZE_DRIVER_H
#define ZE_DRIVER_H

#include "calls.h"

#include <ucx/accel.h>

enum { ZE_MAX_DRIVERS = 4 }; /**< Further drivers are not used */

typedef struct ze_device {
    ze_device_handle_t handle;
    int driver;    /**< Index of the device's driver; see ze_num_drivers() */
    unsigned part; /**< 0: a whole device; otherwise 1 + the number of the
                    *   sub-device */
} ze_device_t;

/** Returns the device with this ordinal. */
const ze_device_t *ze_device(int device);

/** Returns the ordinal of a device; -1 if the handle belongs to none of the
 *  devices. */
int ze_device_by_handle(ze_device_handle_t handle);

/** Stores the plugin's context of a driver, which serves all devices of the
 * driver. The first call creates the context, ze_finish() destroys it. Any
 * thread may call this function. */
ze_result_t ze_context(int driver, ze_context_handle_t *context_p);

/** Returns the number of drivers that have devices; 0 until the drivers are
 *  started. */
int ze_num_drivers(void);

/* ------------------------------------------------------------ driver.c -- */

ucs_status_t ze_load(const char **reason);
ucs_status_t ze_start(const char **reason);
int ze_is_started(void);
int ze_num_devices(void);
ucs_status_t ze_check_device(int device, char *reason, size_t reason_size);
ucs_status_t ze_status(int result);
const char *ze_error(int result);
int ze_pci_address(int device, accel_pci_t *pci);
int ze_retain(int device, void **context_p);
void ze_release(int device, void *context);
int ze_enter(void *context, accel_scope_t *scope);
void ze_leave(const accel_scope_t *scope);
void ze_finish(void);

/* ------------------------------------------------------------ memory.c -- */

int ze_find(const void *address, accel_memory_t *memory);
int ze_describe(uint64_t address, accel_allocation_t *allocation);
int ze_allocate(ucs_memory_type_t type, int device, size_t length,
                uint64_t *address_p);
int ze_deallocate(uint64_t address);
int ze_export_dmabuf(int device, uint64_t start, size_t length, int *fd_p,
                     uint64_t *offset_p);
void *ze_staging_new(int device, size_t length);
void ze_staging_free(void *memory);

/* ------------------------------------------------------------- queue.c -- */

int ze_queue_open(int device, void *context, void *memory, size_t length,
                  uint32_t *flag, accel_queue_t **queue_p);
void ze_queue_close(accel_queue_t *queue, int is_failed);
int ze_queue_enter(accel_queue_t *queue, accel_scope_t *scope);
int ze_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                  size_t length);
int ze_queue_signal(accel_queue_t *queue, uint32_t value);
int ze_queue_query(accel_queue_t *queue);

/* --------------------------------------------------------------- ipc.c -- */

/** The only value of accel_key_t.kind: the key's `handle` is a Level Zero
 * handle, which begins with a file descriptor (ipc.c). */
enum { ZE_KEY_HANDLE = 1, ZE_NUM_KEY_KINDS = ZE_KEY_HANDLE };

int ze_export_memory(const accel_allocation_t *allocation, accel_key_t *key);
int ze_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened);
void ze_close_memory(const accel_key_t *key, const accel_opened_t *opened);

#endif
