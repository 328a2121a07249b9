/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the table accel_driver, by file, and declarations that the
 * files share. <ucx/accel.h> describes the functions at the slots with the same
 * names. The `context` of these functions identifies a device, because HIP has
 * one context for each device.
 */
#ifndef ROCM_DRIVER_H
#define ROCM_DRIVER_H

#include "calls.h"

#include <ucx/accel.h>

/* ------------------------------------------------------------ driver.c -- */

/** Returns whether the runtime's version is 6.0 or later. Since 6.0, HIP
 * numbers the types of memory in another way (hip.h). */
int rocm_is_version_6(void);

ucs_status_t rocm_load(const char **reason);
ucs_status_t rocm_start(const char **reason);
int rocm_is_started(void);
int rocm_num_devices(void);
ucs_status_t rocm_check_device(int device, char *reason, size_t reason_size);
ucs_status_t rocm_status(int result);
const char *rocm_error(int result);

/* ------------------------------------------------------------ device.c -- */

int rocm_pci_address(int device, accel_pci_t *pci);
int rocm_current_device(void);
int rocm_retain(int device, void **context_p);
void rocm_release(int device, void *context);
int rocm_enter(void *context, accel_scope_t *scope);
void rocm_leave(const accel_scope_t *scope);
size_t rocm_touch_limit(int device, int is_put);
void rocm_touch_end(int device);

/* ------------------------------------------------------------ memory.c -- */

int rocm_find(const void *address, accel_memory_t *memory);
int rocm_describe(uint64_t address, accel_allocation_t *allocation);
int rocm_allocate(ucs_memory_type_t type, int device, size_t length,
                  uint64_t *address_p);
int rocm_deallocate(uint64_t address);
int rocm_pin(void *address, size_t length);
int rocm_unpin(void *address);
int rocm_export_dmabuf(int device, uint64_t start, size_t length, int *fd_p,
                       uint64_t *offset_p);

/* ------------------------------------------------------------- queue.c -- */

void *rocm_staging_new(int device, size_t length);
void rocm_staging_free(void *memory);
int rocm_queue_open(int device, void *context, void *memory, size_t length,
                    uint32_t *flag, accel_queue_t **queue_p);
void rocm_queue_close(accel_queue_t *queue, int is_failed);
int rocm_queue_enter(accel_queue_t *queue, accel_scope_t *scope);
int rocm_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                    size_t length);
int rocm_queue_signal(accel_queue_t *queue, uint32_t value);
int rocm_queue_query(accel_queue_t *queue);

/* --------------------------------------------------------------- ipc.c -- */

/** The only value of accel_key_t.kind: the key's `handle` is from
 * hipIpcGetMemHandle(). */
enum { ROCM_KEY_HANDLE = 1, ROCM_NUM_KEY_KINDS = ROCM_KEY_HANDLE };

int rocm_export_memory(const accel_allocation_t *allocation, accel_key_t *key);
int rocm_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened);
void rocm_close_memory(const accel_key_t *key, const accel_opened_t *opened);

#endif
