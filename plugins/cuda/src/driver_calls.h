/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver functions that the plugin calls: names and parameters. Some names
 * end with a version (_v2): these are the names that the library exports. No
 * include guard: the file is included several times, with different definitions
 * of the macros CUDA_CALL and CUDA_CALL_SINCE. CUDA_CALL_SINCE is for functions
 * that drivers before the stated version do not have.
 */
#ifndef CUDA_CALL_SINCE
#define CUDA_CALL_SINCE(_version, _name, _params) CUDA_CALL(_name, _params)
#endif
CUDA_CALL(cuInit, (unsigned))
CUDA_CALL(cuDriverGetVersion, (int *))
CUDA_CALL(cuGetErrorName, (CUresult, const char **))
CUDA_CALL(cuDeviceGetCount, (int *))
CUDA_CALL(cuDeviceGet, (CUdevice *, int))
CUDA_CALL(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice))
CUDA_CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))
CUDA_CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice))
CUDA_CALL(cuCtxGetCurrent, (CUcontext *))
CUDA_CALL(cuCtxPushCurrent_v2, (CUcontext))
CUDA_CALL(cuCtxPopCurrent_v2, (CUcontext *))
CUDA_CALL(cuCtxGetDevice, (CUdevice *))
CUDA_CALL_SINCE(12000, cuCtxGetId, (CUcontext, unsigned long long *))
CUDA_CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t))
CUDA_CALL(cuMemFree_v2, (CUdeviceptr))
CUDA_CALL(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned))
CUDA_CALL(cuMemHostAlloc, (void **, size_t, unsigned))
CUDA_CALL(cuMemFreeHost, (void *))
CUDA_CALL(cuMemHostRegister_v2, (void *, size_t, unsigned))
CUDA_CALL(cuMemHostUnregister, (void *))
CUDA_CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned))
CUDA_CALL(cuPointerGetAttribute, (void *, CUpointer_attribute, CUdeviceptr))
CUDA_CALL(cuPointerGetAttributes,
          (unsigned, CUpointer_attribute *, void **, CUdeviceptr))
CUDA_CALL(cuMemGetHandleForAddressRange,
          (void *, CUdeviceptr, size_t, CUmemRangeHandleType,
           unsigned long long))
CUDA_CALL(cuIpcGetMemHandle, (CUipcMemHandle *, CUdeviceptr))
CUDA_CALL(cuIpcOpenMemHandle_v2, (CUdeviceptr *, CUipcMemHandle, unsigned))
CUDA_CALL(cuIpcCloseMemHandle, (CUdeviceptr))
CUDA_CALL(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *, void *))
CUDA_CALL(cuMemRelease, (CUmemGenericAllocationHandle))
CUDA_CALL(cuMemExportToShareableHandle,
          (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
           unsigned long long))
CUDA_CALL(cuMemImportFromShareableHandle,
          (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))
CUDA_CALL(cuMemAddressReserve,
          (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))
CUDA_CALL(cuMemAddressFree, (CUdeviceptr, size_t))
CUDA_CALL(cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                     unsigned long long))
CUDA_CALL(cuMemUnmap, (CUdeviceptr, size_t))
CUDA_CALL(cuMemSetAccess,
          (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))
CUDA_CALL(cuMemPoolExportToShareableHandle,
          (void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long))
CUDA_CALL(cuMemPoolImportFromShareableHandle,
          (CUmemoryPool *, void *, CUmemAllocationHandleType,
           unsigned long long))
CUDA_CALL(cuMemPoolExportPointer, (CUmemPoolPtrExportData *, CUdeviceptr))
CUDA_CALL(cuMemPoolImportPointer,
          (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *))
CUDA_CALL(cuMemPoolDestroy, (CUmemoryPool))
CUDA_CALL(cuMemFreeAsync, (CUdeviceptr, CUstream))
CUDA_CALL(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))
CUDA_CALL_SINCE(12080, cuMemcpyBatchAsync,
                (CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                 CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream))
CUDA_CALL(cuStreamCreate, (CUstream *, unsigned))
CUDA_CALL(cuStreamDestroy_v2, (CUstream))
CUDA_CALL(cuStreamQuery, (CUstream))
CUDA_CALL(cuStreamSynchronize, (CUstream))
CUDA_CALL(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, uint32_t, unsigned))
#undef CUDA_CALL_SINCE
