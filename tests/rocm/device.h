/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of ROCm, for tests that run over several drivers: see the header of
 * the same name in tests/cuda. */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include "../emulated/emulated.h"
#include "../emulated/hip/face.h"

#define ck_hip(_call) ck_assert_int_eq((_call), hipSuccess)

#define DEVICE_SUITE     "rocm"
#define DEVICE_COMPONENT "rocm_cpy"
#define DEVICE_TRANSPORT "rocm_copy"
#define DEVICE_MEMORY    UCS_MEMORY_TYPE_ROCM

#define DEVICE_IPC         "rocm_ipc"
#define DEVICE_EXPORT      "hipIpcGetMemHandle"
#define DEVICE_OPEN        "hipIpcOpenMemHandle"
#define DEVICE_CLOSE       "hipIpcCloseMemHandle"
#define DEVICE_LOST        hipErrorLaunchFailure
#define DEVICE_LOST_STATUS UCS_ERR_IO_ERROR
#define DEVICE_GONE_STATUS UCS_ERR_INVALID_ADDR
#define DEVICE_RESET()     ck_hip(hipDeviceReset())
/** Interfaces share opened memory, because the runtime opens it only once. */
#define DEVICE_OPENS_ONCE

#define DEVICE_COPY   "hipMemcpyAsync"
#define DEVICE_SIGNAL "hipStreamWriteValue32"
#define DEVICE_CHECK  "hipStreamQuery"

enum {
    /** Calls for one of many messages in flight, of both sides together, in
     * tenths of a call */
    CALLS_IN_A_WINDOW = 50,
    CALLS_OF_A_CHECK  = 4,
    /** Calls for a message that one side copies: the query of the memory type,
     * the device, the registration, the copy, the copy's flag */
    CALLS_OF_A_BUFFER = 5,
    /** Calls for a message that goes directly between devices: queries of the
     * memory for detection, export and copy (5), the device, the registration,
     * the copy, the copy's flag */
    CALLS_OF_A_DIRECT = 9,
};

static const char *const device_costly[] = {
    "hipInit",
    "hipGetDeviceCount",
    "hipMalloc",
    "hipFree",
    "hipMallocManaged",
    "hipHostMalloc",
    "hipHostFree",
    "hipHostRegister",
    "hipHostUnregister",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipIpcGetMemHandle",
    "hipIpcOpenMemHandle",
    "hipIpcCloseMemHandle",
    "hipDeviceGetAttribute",
};

enum { NUM_COSTLY = sizeof(device_costly) / sizeof(device_costly[0]) };

static inline void device_start(void)
{
    ck_hip(hipInit(0));
}

/** Starts the runtime. Programs create no contexts: each device has one. */
static inline void device_open(void)
{
    device_start();
}

static inline void device_close(void)
{
}

/** Allocates memory of the device with this number. */
static inline void *device_allocate_on(int number, size_t length)
{
    void *address;

    ck_hip(hipSetDevice(number));
    ck_hip(hipMalloc(&address, length));
    ck_hip(hipSetDevice(0));
    return address;
}

static inline void *device_allocate(size_t length)
{
    return device_allocate_on(0, length);
}

static inline void device_free(void *address)
{
    ck_hip(hipFree(address));
}

#endif
