/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the CUDA driver's binary interface: types, numbers and
 * structures that this plugin and the emulated driver of the tests use. They
 * replace the toolkit's header cuda.h, so that the plugin can be built without
 * the toolkit, which Debian's main archive does not contain. Where a toolkit is
 * installed, a test compares this file with cuda.h (tests/emulated/facts.h).
 */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

/* Enumerations of the interface; all have the size of an int. */
typedef int CUdevice_attribute;
typedef int CUpointer_attribute;
typedef int CUmemAllocationHandleType;
typedef int CUmemAllocationType;
typedef int CUmemLocationType;
typedef int CUmemAccess_flags;
typedef int CUmemAllocationGranularity_flags;
typedef int CUmemRangeHandleType;
typedef int CUstreamBatchMemOpType;
typedef int CUmemcpySrcAccessOrder;

/** Results. */
enum {
    CUDA_SUCCESS                              = 0,
    CUDA_ERROR_INVALID_VALUE                  = 1,
    CUDA_ERROR_OUT_OF_MEMORY                  = 2,
    CUDA_ERROR_NOT_INITIALIZED                = 3,
    CUDA_ERROR_DEINITIALIZED                  = 4,
    CUDA_ERROR_STUB_LIBRARY                   = 34,
    CUDA_ERROR_DEVICE_UNAVAILABLE             = 46,
    CUDA_ERROR_NO_DEVICE                      = 100,
    CUDA_ERROR_INVALID_DEVICE                 = 101,
    CUDA_ERROR_INVALID_CONTEXT                = 201,
    CUDA_ERROR_MAP_FAILED                     = 205,
    CUDA_ERROR_ALREADY_MAPPED                 = 208,
    CUDA_ERROR_ECC_UNCORRECTABLE              = 214,
    CUDA_ERROR_OPERATING_SYSTEM               = 304,
    CUDA_ERROR_INVALID_HANDLE                 = 400,
    CUDA_ERROR_NOT_FOUND                      = 500,
    CUDA_ERROR_NOT_READY                      = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS                = 700,
    CUDA_ERROR_CONTEXT_IS_DESTROYED           = 709,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED     = 713,
    CUDA_ERROR_LAUNCH_FAILED                  = 719,
    CUDA_ERROR_NOT_PERMITTED                  = 800,
    CUDA_ERROR_NOT_SUPPORTED                  = 801,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH         = 803,
};

/** Attributes of a device. */
enum {
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE                                = 20,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID                                  = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID                               = 34,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT                          = 40,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID                               = 50,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED         = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED                      = 115,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS               = 122,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED                           = 124,
};

enum {
    CU_COMPUTEMODE_DEFAULT           = 0,
    CU_COMPUTEMODE_PROHIBITED        = 2,
    CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

/** Attributes of an address. Brackets contain the type of the value that
 * cuPointerGetAttribute() stores. */
enum {
    CU_POINTER_ATTRIBUTE_CONTEXT        = 1, /**< [CUcontext] */
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE    = 2, /**< [unsigned] */
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3, /**< [CUdeviceptr] */
    CU_POINTER_ATTRIBUTE_HOST_POINTER   = 4, /**< [void*] */
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS    = 6, /**< [unsigned]; can be set */
    CU_POINTER_ATTRIBUTE_BUFFER_ID      = 7, /**< [unsigned long long] */
    CU_POINTER_ATTRIBUTE_IS_MANAGED     = 8, /**< [unsigned] */
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, /**< [int] */
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, /**< [unsigned] */
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR           = 11, /**< [void*] */
    CU_POINTER_ATTRIBUTE_RANGE_SIZE                 = 12, /**< [size_t] */
    CU_POINTER_ATTRIBUTE_MAPPED                     = 13, /**< [unsigned] */
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, /**< [unsigned long long] */
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE       = 17, /**< [CUmemoryPool] */
};

enum {
    CU_MEMORYTYPE_HOST   = 1,
    CU_MEMORYTYPE_DEVICE = 2,
};

/** Flags of the driver's functions. */
enum {
    CU_MEM_ATTACH_GLOBAL               = 0x1,
    CU_MEMHOSTALLOC_PORTABLE           = 0x1,
    CU_MEMHOSTALLOC_DEVICEMAP          = 0x2,
    CU_MEMHOSTREGISTER_PORTABLE        = 0x1,
    CU_MEMHOSTREGISTER_DEVICEMAP       = 0x2,
    CU_STREAM_DEFAULT                  = 0x0,
    CU_STREAM_NON_BLOCKING             = 0x1,
    CU_EVENT_DISABLE_TIMING            = 0x2,
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1,
    CU_STREAM_WRITE_VALUE_DEFAULT      = 0x0,
    CU_STREAM_WAIT_VALUE_GEQ           = 0x0,
    CU_STREAM_WAIT_VALUE_EQ            = 0x1,
};

enum {
    CU_STREAM_MEM_OP_WAIT_VALUE_32  = 1,
    CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
};

/** Constants of virtual memory and of memory pools. */
enum {
    CU_MEM_HANDLE_TYPE_NONE                  = 0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEM_LOCATION_TYPE_DEVICE              = 1,
    CU_MEM_ALLOCATION_TYPE_PINNED            = 1,
    CU_MEM_ACCESS_FLAGS_PROT_NONE            = 0,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE       = 3,
    CU_MEM_ALLOC_GRANULARITY_MINIMUM         = 0,
    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD      = 1,
};

/** When the copies of a batch read their sources. */
enum {
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    CU_MEMCPY_SRC_ACCESS_ORDER_ANY    = 3,
};

/** The calling thread's own default stream. Of other streams, it waits only for
 * the context's legacy default stream. */
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

typedef struct CUmemLocation_st {
    CUmemLocationType type;
    int id;
} CUmemLocation;

typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef struct CUmemPoolProps_st {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

typedef struct CUmemPoolPtrExportData_st {
    unsigned char reserved[64];
} CUmemPoolPtrExportData;

/** Attributes of the copies of cuMemcpyBatchAsync. The location hints concern
 * only managed and pageable memory. */
typedef struct CUmemcpyAttributes_st {
    CUmemcpySrcAccessOrder srcAccessOrder;
    CUmemLocation srcLocHint;
    CUmemLocation dstLocHint;
    unsigned int flags;
} CUmemcpyAttributes;

/** One operation of cuStreamBatchMemOp_v2. */
typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    struct CUstreamMemOpWriteValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            uint32_t value;
            uint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } writeValue;
    uint64_t pad[6];
} CUstreamBatchMemOpParams;

#endif
