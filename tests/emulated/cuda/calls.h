/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that the emulated libcuda.so.1 exports. No include guard: the
 * file is included with different definitions of FACE_CALL(name, parameters).
 * CUDA_VERSION is defined if the file is included after a header of the CUDA
 * toolkit; older toolkits lack some of the functions.
 */
FACE_CALL(cuInit, (unsigned))
FACE_CALL(cuDriverGetVersion, (int *))
FACE_CALL(cuGetErrorName, (CUresult, const char **))
FACE_CALL(cuGetErrorString, (CUresult, const char **))
FACE_CALL(cuDeviceGetCount, (int *))
FACE_CALL(cuDeviceGet, (CUdevice *, int))
FACE_CALL(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice))
FACE_CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))
FACE_CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice))
FACE_CALL(cuDevicePrimaryCtxReset_v2, (CUdevice))
FACE_CALL(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *))
FACE_CALL(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice))
FACE_CALL(cuCtxDestroy_v2, (CUcontext))
FACE_CALL(cuCtxPushCurrent_v2, (CUcontext))
FACE_CALL(cuCtxPopCurrent_v2, (CUcontext *))
FACE_CALL(cuCtxSetCurrent, (CUcontext))
FACE_CALL(cuCtxGetCurrent, (CUcontext *))
FACE_CALL(cuCtxGetDevice, (CUdevice *))
FACE_CALL(cuCtxGetId, (CUcontext, unsigned long long *))
FACE_CALL(cuCtxSynchronize, (void))
FACE_CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t))
FACE_CALL(cuMemFree_v2, (CUdeviceptr))
FACE_CALL(cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned))
FACE_CALL(cuMemHostAlloc, (void **, size_t, unsigned))
FACE_CALL(cuMemFreeHost, (void *))
FACE_CALL(cuMemHostRegister_v2, (void *, size_t, unsigned))
FACE_CALL(cuMemHostUnregister, (void *))
FACE_CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, void *, unsigned))
FACE_CALL(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr))
FACE_CALL(cuPointerGetAttribute, (void *, CUpointer_attribute, CUdeviceptr))
FACE_CALL(cuPointerGetAttributes,
          (unsigned, CUpointer_attribute *, void **, CUdeviceptr))
FACE_CALL(cuPointerSetAttribute,
          (const void *, CUpointer_attribute, CUdeviceptr))
FACE_CALL(cuMemcpy, (CUdeviceptr, CUdeviceptr, size_t))
FACE_CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))
FACE_CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))
FACE_CALL(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))
#if !defined(CUDA_VERSION) || (CUDA_VERSION >= 12080)
FACE_CALL(cuMemcpyBatchAsync,
          (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *,
           size_t *, size_t, size_t *, CUstream))
#endif
FACE_CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t))
FACE_CALL(cuStreamCreate, (CUstream *, unsigned))
FACE_CALL(cuStreamDestroy_v2, (CUstream))
FACE_CALL(cuStreamQuery, (CUstream))
FACE_CALL(cuStreamSynchronize, (CUstream))
FACE_CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned))
FACE_CALL(cuStreamWriteValue32_v2, (CUstream, CUdeviceptr, uint32_t, unsigned))
FACE_CALL(cuStreamWriteValue64_v2, (CUstream, CUdeviceptr, uint64_t, unsigned))
FACE_CALL(cuStreamWaitValue32_v2, (CUstream, CUdeviceptr, uint32_t, unsigned))
FACE_CALL(cuStreamBatchMemOp_v2,
          (CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned))
FACE_CALL(cuEventCreate, (CUevent *, unsigned))
FACE_CALL(cuEventDestroy_v2, (CUevent))
FACE_CALL(cuEventRecord, (CUevent, CUstream))
FACE_CALL(cuEventQuery, (CUevent))
FACE_CALL(cuEventSynchronize, (CUevent))
FACE_CALL(cuMemGetHandleForAddressRange,
          (void *, CUdeviceptr, size_t, CUmemRangeHandleType,
           unsigned long long))
FACE_CALL(cuIpcGetMemHandle, (CUipcMemHandle *, CUdeviceptr))
FACE_CALL(cuIpcOpenMemHandle_v2, (CUdeviceptr *, CUipcMemHandle, unsigned))
FACE_CALL(cuIpcCloseMemHandle, (CUdeviceptr))
FACE_CALL(cuMemAddressReserve,
          (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long))
FACE_CALL(cuMemAddressFree, (CUdeviceptr, size_t))
FACE_CALL(cuMemCreate, (CUmemGenericAllocationHandle *, size_t,
                        const CUmemAllocationProp *, unsigned long long))
FACE_CALL(cuMemRelease, (CUmemGenericAllocationHandle))
FACE_CALL(cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                     unsigned long long))
FACE_CALL(cuMemUnmap, (CUdeviceptr, size_t))
FACE_CALL(cuMemSetAccess,
          (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t))
FACE_CALL(cuMemGetAllocationGranularity, (size_t *, const CUmemAllocationProp *,
                                          CUmemAllocationGranularity_flags))
FACE_CALL(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *, void *))
FACE_CALL(cuMemExportToShareableHandle,
          (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
           unsigned long long))
FACE_CALL(cuMemImportFromShareableHandle,
          (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType))
FACE_CALL(cuDeviceGetDefaultMemPool, (CUmemoryPool *, CUdevice))
FACE_CALL(cuMemPoolCreate, (CUmemoryPool *, const CUmemPoolProps *))
FACE_CALL(cuMemPoolDestroy, (CUmemoryPool))
FACE_CALL(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))
FACE_CALL(cuMemAllocFromPoolAsync,
          (CUdeviceptr *, size_t, CUmemoryPool, CUstream))
FACE_CALL(cuMemFreeAsync, (CUdeviceptr, CUstream))
FACE_CALL(cuMemPoolExportToShareableHandle,
          (void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long))
FACE_CALL(cuMemPoolImportFromShareableHandle,
          (CUmemoryPool *, void *, CUmemAllocationHandleType,
           unsigned long long))
FACE_CALL(cuMemPoolExportPointer, (CUmemPoolPtrExportData *, CUdeviceptr))
FACE_CALL(cuMemPoolImportPointer,
          (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *))
