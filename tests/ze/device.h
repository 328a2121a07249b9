/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and functions of Level Zero, for tests that run over several drivers.
 * tests/cuda/device.h describes the declarations. */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include <level_zero/ze_api.h>

#include "../emulated/emulated.h"

#define ck_ze(_call) ck_assert_int_eq((_call), ZE_RESULT_SUCCESS)

#define DEVICE_SUITE     "ze"
#define DEVICE_COMPONENT "ze_cpy"
#define DEVICE_TRANSPORT "ze_copy"
#define DEVICE_MEMORY    UCS_MEMORY_TYPE_ZE_DEVICE

#define DEVICE_IPC         "ze_ipc"
#define DEVICE_EXPORT      "zeMemGetIpcHandle"
#define DEVICE_OPEN        "zeMemOpenIpcHandle"
#define DEVICE_CLOSE       "zeMemCloseIpcHandle"
#define DEVICE_LOST        ZE_RESULT_ERROR_DEVICE_LOST
#define DEVICE_LOST_STATUS UCS_ERR_IO_ERROR
#define DEVICE_GONE_STATUS UCS_ERR_UNREACHABLE
#define DEVICE_IMPORT      DEVICE_OPEN
/** Defined because this driver exports memory as a file descriptor. While that
 * descriptor is open, the memory exists, even if the owner has freed it. */
#define DEVICE_KEEPS_FREED

/** DEVICE_SIGNAL: call that ends each submission of one or more copies: it
 * writes the flag by which the plugin detects the end of the copies. */
#define DEVICE_COPY   "zeCommandListAppendMemoryCopy"
#define DEVICE_SIGNAL "zeCommandListAppendMemoryFill"
#define DEVICE_CHECK  "zeDeviceGetStatus"

enum {
    /** Maximum calls of the driver for one message while many messages are in
     * flight: calls of sender and receiver together, in tenths of a call (90
     * is 9 calls) */
    CALLS_IN_A_WINDOW = 90,
    /** Calls with which the plugin checks the state of a device: DEVICE_CHECK
     * only */
    CALLS_OF_A_CHECK  = 1,
    /** Maximum calls for each device buffer of a message that goes through host
     * memory: queries of the memory type (2), the copy (1), the barrier after
     * the copy (1), and the write of the flag by which the plugin detects the
     * end of the copy (1) */
    CALLS_OF_A_BUFFER = 5,
    /** Maximum calls for a message that one side copies directly between the
     * memory of both sides: queries of the memory for detection, export and
     * copy (8), and the last three calls of CALLS_OF_A_BUFFER */
    CALLS_OF_A_DIRECT = 11,
};

/** Calls of the driver that create, open or release a resource, or query
 * properties that do not change. Messages make no such calls once the first
 * messages have been sent. */
static const char *const device_costly[] = {
    "zeInit",
    "zeContextCreate",
    "zeContextDestroy",
    "zeMemAllocDevice",
    "zeMemAllocHost",
    "zeMemAllocShared",
    "zeMemFree",
    "zeMemGetIpcHandle",
    "zeMemOpenIpcHandle",
    "zeMemCloseIpcHandle",
    "zeCommandListCreateImmediate",
    "zeCommandListDestroy",
    "zeEventPoolCreate",
    "zeEventCreate",
    "zeDeviceGetProperties",
    "zeDevicePciGetPropertiesExt",
};

enum { NUM_COSTLY = sizeof(device_costly) / sizeof(device_costly[0]) };

enum { MAX_DEVICES = 8 };

/** The context from which the program allocates memory. */
static ze_context_handle_t device_context;
/** Handles of the devices, in the order in which the plugin numbers them: each
 * device is followed by its sub-devices. */
static ze_device_handle_t device_handles[MAX_DEVICES];

static inline void device_start(void)
{
    ck_ze(zeInit(0));
}

/** Fills `device_handles`. */
static inline void device_find(ze_driver_handle_t driver)
{
    ze_device_handle_t devices[MAX_DEVICES];
    uint32_t num_devices = MAX_DEVICES;
    uint32_t i, count, found = 0;

    ck_ze(zeDeviceGet(driver, &num_devices, devices));
    for (i = 0; i < num_devices; ++i) {
        device_handles[found++] = devices[i];
        count                   = MAX_DEVICES - found;
        ck_ze(
            zeDeviceGetSubDevices(devices[i], &count, device_handles + found));
        found += count;
    }
}

/** Starts the driver, and creates a context as a program would. */
static inline void device_open(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver;
    uint32_t count = 1;

    device_start();
    ck_ze(zeDriverGet(&count, &driver));
    device_find(driver);
    ck_ze(zeContextCreate(driver, &desc, &device_context));
}

static inline void device_close(void)
{
    ck_ze(zeContextDestroy(device_context));
}

/** Allocates memory of the device or sub-device with this index of
 * `device_handles`. */
static inline void *device_allocate_on(int number, size_t length)
{
    const ze_device_mem_alloc_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
    };
    void *address;

    ck_ze(zeMemAllocDevice(device_context, &desc, length, 0,
                           device_handles[number], &address));
    return address;
}

static inline void *device_allocate(size_t length)
{
    return device_allocate_on(0, length);
}

static inline void device_free(void *address)
{
    ck_ze(zeMemFree(device_context, address));
}

#endif
