/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that the emulated libamdhip64.so.5 exports and that return a
 * hipError_t. No include guard: the file is included with different definitions
 * of FACE_CALL(name, parameters).
 */
FACE_CALL(hipDeviceGetAttribute, (int *, hipDeviceAttribute_t, int))
FACE_CALL(hipDeviceReset, (void))
FACE_CALL(hipDeviceSynchronize, (void))
FACE_CALL(hipDrvPointerGetAttributes,
          (unsigned, hipPointer_attribute *, void **, hipDeviceptr_t))
FACE_CALL(hipFree, (void *))
FACE_CALL(hipGetDevice, (int *))
FACE_CALL(hipGetDeviceCount, (int *))
FACE_CALL(hipGetLastError, (void))
FACE_CALL(hipHostFree, (void *))
FACE_CALL(hipHostGetDevicePointer, (void **, void *, unsigned))
FACE_CALL(hipHostMalloc, (void **, size_t, unsigned))
FACE_CALL(hipHostRegister, (void *, size_t, unsigned))
FACE_CALL(hipHostUnregister, (void *))
FACE_CALL(hipInit, (unsigned))
FACE_CALL(hipIpcCloseMemHandle, (void *))
FACE_CALL(hipIpcGetMemHandle, (hipIpcMemHandle_t *, void *))
FACE_CALL(hipIpcOpenMemHandle, (void **, hipIpcMemHandle_t, unsigned))
FACE_CALL(hipMalloc, (void **, size_t))
FACE_CALL(hipMallocAsync, (void **, size_t, hipStream_t))
FACE_CALL(hipMallocManaged, (void **, size_t, unsigned))
FACE_CALL(hipMemcpy, (void *, const void *, size_t, hipMemcpyKind))
FACE_CALL(hipMemcpyAsync,
          (void *, const void *, size_t, hipMemcpyKind, hipStream_t))
FACE_CALL(hipPeekAtLastError, (void))
FACE_CALL(hipPointerGetAttribute,
          (void *, hipPointer_attribute, hipDeviceptr_t))
FACE_CALL(hipRuntimeGetVersion, (int *))
FACE_CALL(hipSetDevice, (int))
FACE_CALL(hipStreamCreateWithFlags, (hipStream_t *, unsigned))
FACE_CALL(hipStreamDestroy, (hipStream_t))
FACE_CALL(hipStreamQuery, (hipStream_t))
FACE_CALL(hipStreamSynchronize, (hipStream_t))
FACE_CALL(hipStreamWriteValue32, (hipStream_t, void *, uint32_t, unsigned))
