/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of CUDA, for tests that run over several drivers. tests/ze and
 * tests/rocm have a header of this name with the same declarations; the include
 * path selects one.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include "../emulated/cuda/face.h"
#include "../emulated/emulated.h"

#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

#define DEVICE_SUITE     "cuda"
#define DEVICE_COMPONENT "cuda_cpy"
#define DEVICE_TRANSPORT "cuda_copy"
#define DEVICE_MEMORY    UCS_MEMORY_TYPE_CUDA

/** Names of the driver's calls that export memory, open it and close it;
 * DEVICE_IMPORT opens it by a descriptor. emulated_lose() with the code
 * DEVICE_LOST makes copies end with DEVICE_LOST_STATUS. Opening memory of a
 * process that has ended fails with DEVICE_GONE_STATUS. DEVICE_RESET() resets
 * the first device. */
#define DEVICE_IPC         "cuda_ipc"
#define DEVICE_EXPORT      "cuMemExportToShareableHandle"
#define DEVICE_OPEN        "cuIpcOpenMemHandle_v2"
#define DEVICE_CLOSE       "cuIpcCloseMemHandle"
#define DEVICE_LOST        CUDA_ERROR_DEVICE_UNAVAILABLE
#define DEVICE_LOST_STATUS UCS_ERR_NO_DEVICE
#define DEVICE_GONE_STATUS UCS_ERR_INVALID_ADDR
#define DEVICE_IMPORT      "cuMemImportFromShareableHandle"
#define DEVICE_RESET()     ck_cuda(cuDevicePrimaryCtxReset_v2(0))

/** Names of the calls that copy, and of the call that queries the state of the
 * queue. A check of the queue costs CALLS_OF_A_CHECK calls in all. */
#define DEVICE_COPY  "cuMemcpyAsync"
#define DEVICE_BATCH "cuMemcpyBatchAsync"
#define DEVICE_CHECK "cuStreamQuery"

enum {
    /** Calls for one of many messages in flight, of both sides together, in
     * tenths of a call */
    CALLS_IN_A_WINDOW = 30,
    CALLS_OF_A_CHECK  = 4,
    /** Calls for a message that one side copies: the query of the memory type,
     * the context (3), the copy, the copy's flag */
    CALLS_OF_A_BUFFER = 6,
    /** Calls for a message that goes directly between devices: queries of the
     * memory for detection, export and copy (5), the context (3), the copy, the
     * copy's flag */
    CALLS_OF_A_DIRECT = 10,
};

/** Calls that create, release or register something. */
static const char *const device_costly[] = {
    "cuInit",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemAllocManaged",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuIpcGetMemHandle",
    "cuIpcOpenMemHandle_v2",
    "cuIpcCloseMemHandle",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
};

enum { NUM_COSTLY = sizeof(device_costly) / sizeof(device_costly[0]) };

static CUcontext device_context;

static inline void device_start(void)
{
    ck_cuda(cuInit(0));
}

/** Starts the driver, with a context of the program. */
static inline void device_open(void)
{
    device_start();
    ck_cuda(cuCtxCreate_v2(&device_context, 0, 0));
}

static inline void device_close(void)
{
    ck_cuda(cuCtxDestroy_v2(device_context));
}

static inline void *device_allocate(size_t length)
{
    CUdeviceptr address;

    ck_cuda(cuMemAlloc_v2(&address, length));
    return (void *)(uintptr_t)address;
}

static inline void device_free(void *address)
{
    ck_cuda(cuMemFree_v2((uintptr_t)address));
}

#endif
