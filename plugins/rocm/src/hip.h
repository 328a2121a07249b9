/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the binary interfaces of HIP and HSA: types, numbers and
 * structures that this plugin and the emulated runtime of the tests use. They
 * replace the headers of ROCm, because one build of the plugin works with
 * runtimes of several major versions, whose headers differ. Where the headers
 * are installed, a test compares them with this file (tests/emulated/tests).
 */
#ifndef ROCM_HIP_H
#define ROCM_HIP_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t;
typedef int hipDeviceAttribute_t;
typedef int hipPointer_attribute;
typedef int hipMemcpyKind;
typedef int hsa_status_t;
typedef int hsa_system_info_t;
typedef void *hipDeviceptr_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;

/** Results. */
enum {
    hipSuccess                          = 0,
    hipErrorInvalidValue                = 1,
    hipErrorOutOfMemory                 = 2,
    hipErrorNotInitialized              = 3,
    hipErrorDeinitialized               = 4,
    hipErrorInvalidDevicePointer        = 17,
    hipErrorInsufficientDriver          = 35,
    hipErrorNoDevice                    = 100,
    hipErrorInvalidDevice               = 101,
    hipErrorInvalidContext              = 201,
    hipErrorMapFailed                   = 205,
    hipErrorECCNotCorrectable           = 214,
    hipErrorOperatingSystem             = 304,
    hipErrorInvalidHandle               = 400,
    hipErrorNotFound                    = 500,
    hipErrorNotReady                    = 600,
    hipErrorIllegalAddress              = 700,
    hipErrorContextIsDestroyed          = 709,
    hipErrorHostMemoryAlreadyRegistered = 712,
    hipErrorHostMemoryNotRegistered     = 713,
    hipErrorLaunchFailure               = 719,
    hipErrorNotSupported                = 801,
    hipErrorUnknown                     = 999,
};

/** Attributes of devices. The numbers of attributes that only AMD's devices
 *  have begin at 10000. */
enum {
    hipDeviceAttributePciBusId        = 67,
    hipDeviceAttributePciDeviceId     = 68,
    hipDeviceAttributePciDomainID     = 69,
    hipDeviceAttributeHdpMemFlushCntl = 10005, /**< The value is an address, not
                                                *   an int */
    hipDeviceAttributeIsLargeBar      = 10011, /**< Non-zero: the processor can
                                                *   access all device memory */
};

/** Attributes of addresses. */
enum {
    HIP_POINTER_ATTRIBUTE_MEMORY_TYPE      = 2,
    HIP_POINTER_ATTRIBUTE_BUFFER_ID        = 7,
    HIP_POINTER_ATTRIBUTE_IS_MANAGED       = 8,
    HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL   = 9,
    HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    HIP_POINTER_ATTRIBUTE_RANGE_SIZE       = 12,
};

/** Values of HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: HIP_5_* before version 6,
 * HIP_6_* since then. */
enum {
    HIP_5_MEMORY_HOST    = 0,
    HIP_5_MEMORY_DEVICE  = 1,
    HIP_6_MEMORY_NONE    = 0,
    HIP_6_MEMORY_HOST    = 1,
    HIP_6_MEMORY_DEVICE  = 2,
    HIP_6_MEMORY_MANAGED = 3,
};

/** Value of hipRuntimeGetVersion() for version 6.0. */
enum { HIP_VERSION_6 = 60000000 };

enum {
    hipMemcpyDefault        = 4,
    hipStreamNonBlocking    = 1,
    hipHostRegisterPortable = 1,
    hipHostRegisterMapped   = 2,
    hipMemAttachGlobal      = 1,
};

/** Values of hipIpcMemLazyEnablePeerAccess, the flag that hipIpcOpenMemHandle()
 * requires: in early versions 5, and in all later versions. */
enum { HIP_5_IPC_PEER_ACCESS = 0, HIP_IPC_PEER_ACCESS = 1 };

typedef struct {
    char reserved[64];
} hipIpcMemHandle_t;

enum {
    HSA_STATUS_SUCCESS                = 0,
    HSA_STATUS_ERROR                  = 0x1000,
    HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
    HSA_STATUS_ERROR_NOT_INITIALIZED  = 0x100b,
};

enum { HSA_SYSTEM_INFO_VERSION_MAJOR = 0 }; /**< The value is a uint16_t */

#endif
