/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of HIP and HSA that the plugin calls: names and parameters. No
 * include guard: the file is included several times, with different definitions
 * of the macros HIP_CALL and HSA_CALL. HSA_CALL is for functions that an
 * installed library may not have.
 */
HIP_CALL(hipDeviceGetAttribute, (int *, hipDeviceAttribute_t, int))
HIP_CALL(hipDrvPointerGetAttributes,
         (unsigned, hipPointer_attribute *, void **, hipDeviceptr_t))
HIP_CALL(hipFree, (void *))
HIP_CALL(hipGetDevice, (int *))
HIP_CALL(hipGetDeviceCount, (int *))
HIP_CALL(hipGetLastError, (void))
HIP_CALL(hipHostGetDevicePointer, (void **, void *, unsigned))
HIP_CALL(hipHostRegister, (void *, size_t, unsigned))
HIP_CALL(hipHostUnregister, (void *))
HIP_CALL(hipIpcCloseMemHandle, (void *))
HIP_CALL(hipIpcGetMemHandle, (hipIpcMemHandle_t *, void *))
HIP_CALL(hipIpcOpenMemHandle, (void **, hipIpcMemHandle_t, unsigned))
HIP_CALL(hipMalloc, (void **, size_t))
HIP_CALL(hipMallocManaged, (void **, size_t, unsigned))
HIP_CALL(hipMemcpyAsync,
         (void *, const void *, size_t, hipMemcpyKind, hipStream_t))
HIP_CALL(hipPointerGetAttribute, (void *, hipPointer_attribute, hipDeviceptr_t))
HIP_CALL(hipRuntimeGetVersion, (int *))
HIP_CALL(hipSetDevice, (int))
HIP_CALL(hipStreamCreateWithFlags, (hipStream_t *, unsigned))
HIP_CALL(hipStreamDestroy, (hipStream_t))
HIP_CALL(hipStreamQuery, (hipStream_t))
HIP_CALL(hipStreamSynchronize, (hipStream_t))
HIP_CALL(hipStreamWriteValue32, (hipStream_t, void *, uint32_t, unsigned))
HSA_CALL(hsa_system_get_info, (hsa_system_info_t, void *))
HSA_CALL(hsa_amd_portable_export_dmabuf,
         (const void *, size_t, int *, uint64_t *))
