/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and functions of CUDA, for tests that run over several drivers. A
 * driver is the library through which a UCX plugin uses its devices: that of
 * CUDA, HIP (plugins/rocm) or Level Zero (plugins/ze). The tests use emulated
 * ones (tests/emulated). tests/ze and tests/rocm have a header of this name
 * with the same declarations; the include path of a build selects one of the
 * three.
 */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H

#include "../emulated/cuda/face.h"
#include "../emulated/emulated.h"

#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

/** The plugin, the component and the transport of the copier, and the type of
 * memory that the plugin allocates. The copier is the transport that copies
 * between host and device memory. DEVICE_SUITE is also the name of the
 * transport's device. */
#define DEVICE_SUITE     "cuda"
#define DEVICE_COMPONENT "cuda_cpy"
#define DEVICE_TRANSPORT "cuda_copy"
#define DEVICE_MEMORY    UCS_MEMORY_TYPE_CUDA

/** Names and codes for tests of IPC, the access to memory of another process.
 *
 * DEVICE_IPC: component and transport of IPC. DEVICE_EXPORT: call of the driver
 * that exports memory, as a file descriptor if the driver supports this.
 * DEVICE_IMPORT: call that opens memory by such a descriptor; not defined for a
 * driver without. DEVICE_OPEN, DEVICE_CLOSE: calls that open memory by a
 * handle, and close it.
 *
 * DEVICE_LOST: code for emulated_lose(), which makes all later calls for a
 * device fail; the plugin then ends copies with DEVICE_LOST_STATUS.
 * DEVICE_GONE_STATUS: status of an access to memory that is not yet open and
 * whose process has ended. DEVICE_RESET(): resets the first device; not defined
 * for a driver that cannot reset. */
#define DEVICE_IPC         "cuda_ipc"
#define DEVICE_EXPORT      "cuMemExportToShareableHandle"
#define DEVICE_OPEN        "cuIpcOpenMemHandle_v2"
#define DEVICE_CLOSE       "cuIpcCloseMemHandle"
#define DEVICE_LOST        CUDA_ERROR_DEVICE_UNAVAILABLE
#define DEVICE_LOST_STATUS UCS_ERR_NO_DEVICE
#define DEVICE_GONE_STATUS UCS_ERR_INVALID_ADDR
#define DEVICE_IMPORT      "cuMemImportFromShareableHandle"
#define DEVICE_RESET()     ck_cuda(cuDevicePrimaryCtxReset_v2(0))

/** Names of the driver's calls that copy one range (DEVICE_COPY) or several
 * ranges (DEVICE_BATCH), and of the call that queries the state of a queue of
 * copies (DEVICE_CHECK). DEVICE_BATCH is not defined for a driver that cannot
 * copy several ranges in one call. */
#define DEVICE_COPY  "cuMemcpyAsync"
#define DEVICE_BATCH "cuMemcpyBatchAsync"
#define DEVICE_CHECK "cuStreamQuery"

enum {
    /** Maximum calls of the driver for one message while many messages are in
     * flight: calls of sender and receiver together, in tenths of a call (30
     * is 3 calls) */
    CALLS_IN_A_WINDOW = 30,
    /** Calls with which the plugin checks the state of a queue: DEVICE_CHECK
     * and the calls that select the context */
    CALLS_OF_A_CHECK  = 4,
    /** Maximum calls for each device buffer of a message that goes through host
     * memory: the query of the memory type (1), the context (3), the copy (1),
     * and the write of the flag by which the plugin detects the end of the
     * copy (1) */
    CALLS_OF_A_BUFFER = 6,
    /** Maximum calls for a message that one side copies directly between the
     * memory of both sides: queries of the memory for detection, export and
     * copy (5), the context (3), the copy (1), the write of the copy's flag
     * (1) */
    CALLS_OF_A_DIRECT = 10,
};

/** Calls of the driver that create, open, release or register a resource.
 * Tests check that messages do not make such calls once the first messages
 * have been sent. */
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

/** Starts the driver, and creates a context as a program would. The context is
 * current in this thread until device_close(). */
static inline void device_open(void)
{
    device_start();
    ck_cuda(cuCtxCreate_v2(&device_context, 0, 0));
}

static inline void device_close(void)
{
    ck_cuda(cuCtxDestroy_v2(device_context));
}

/** Allocates memory in the current context. */
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
