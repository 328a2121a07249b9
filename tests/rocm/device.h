/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and functions of ROCm (its runtime HIP), for tests that run over
 * several drivers. tests/cuda/device.h describes the declarations. */
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
/** Defined because the runtime opens the memory of another process only once in
 * a process. All IPC interfaces of the process therefore share one mapping. */
#define DEVICE_OPENS_ONCE

/** DEVICE_SIGNAL: call that ends each submission of one or more copies: it
 * writes the flag by which the plugin detects the end of the copies. */
#define DEVICE_COPY   "hipMemcpyAsync"
#define DEVICE_SIGNAL "hipStreamWriteValue32"
#define DEVICE_CHECK  "hipStreamQuery"

enum {
    /** Maximum calls of the runtime for one message while many messages are in
     * flight: calls of sender and receiver together, in tenths of a call (50
     * is 5 calls) */
    CALLS_IN_A_WINDOW = 50,
    /** Calls with which the plugin checks the state of a queue: DEVICE_CHECK
     * and the calls that select the device */
    CALLS_OF_A_CHECK  = 4,
    /** Maximum calls for each device buffer of a message that goes through host
     * memory: the query of the memory type (1), the selection of the device
     * (1), the query by which the plugin detects a reset of the device (1), the
     * copy (1), and the write of the flag by which the plugin detects the end
     * of the copy (1) */
    CALLS_OF_A_BUFFER = 5,
    /** Maximum calls for a message that one side copies directly between the
     * memory of both sides: queries of the memory for detection, export and
     * copy (5), and the last four calls of CALLS_OF_A_BUFFER */
    CALLS_OF_A_DIRECT = 9,
};

/** Calls of the runtime that create, open, release or register a resource, or
 * query properties that do not change. Messages make no such calls once the
 * first messages have been sent. */
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

/** Starts the runtime. A program does not create a context, because each device
 * has exactly one. */
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
