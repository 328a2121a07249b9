/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of Level Zero that are emulated. No include guard: the file is
 * included with different definitions of FACE_CALL(name, parameters).
 */
FACE_CALL(zeInit, (ze_init_flags_t))
FACE_CALL(zeDriverGet, (uint32_t *, ze_driver_handle_t *))
FACE_CALL(zeDriverGetApiVersion, (ze_driver_handle_t, ze_api_version_t *))
FACE_CALL(zeDriverGetProperties, (ze_driver_handle_t, ze_driver_properties_t *))
FACE_CALL(zeDriverGetIpcProperties,
          (ze_driver_handle_t, ze_driver_ipc_properties_t *))
FACE_CALL(zeDeviceGet, (ze_driver_handle_t, uint32_t *, ze_device_handle_t *))
FACE_CALL(zeDeviceGetSubDevices,
          (ze_device_handle_t, uint32_t *, ze_device_handle_t *))
FACE_CALL(zeDeviceGetProperties, (ze_device_handle_t, ze_device_properties_t *))
FACE_CALL(zeDevicePciGetPropertiesExt,
          (ze_device_handle_t, ze_pci_ext_properties_t *))
FACE_CALL(zeDeviceGetCommandQueueGroupProperties,
          (ze_device_handle_t, uint32_t *,
           ze_command_queue_group_properties_t *))
FACE_CALL(zeDeviceGetStatus, (ze_device_handle_t))
FACE_CALL(zeContextCreate, (ze_driver_handle_t, const ze_context_desc_t *,
                            ze_context_handle_t *))
FACE_CALL(zeContextDestroy, (ze_context_handle_t))
FACE_CALL(zeContextGetStatus, (ze_context_handle_t))
FACE_CALL(zeMemAllocShared,
          (ze_context_handle_t, const ze_device_mem_alloc_desc_t *,
           const ze_host_mem_alloc_desc_t *, size_t, size_t, ze_device_handle_t,
           void **))
FACE_CALL(zeMemAllocDevice,
          (ze_context_handle_t, const ze_device_mem_alloc_desc_t *, size_t,
           size_t, ze_device_handle_t, void **))
FACE_CALL(zeMemAllocHost,
          (ze_context_handle_t, const ze_host_mem_alloc_desc_t *, size_t,
           size_t, void **))
FACE_CALL(zeMemFree, (ze_context_handle_t, void *))
FACE_CALL(zeMemGetAllocProperties,
          (ze_context_handle_t, const void *,
           ze_memory_allocation_properties_t *, ze_device_handle_t *))
FACE_CALL(zeMemGetAddressRange,
          (ze_context_handle_t, const void *, void **, size_t *))
FACE_CALL(zeMemGetIpcHandle,
          (ze_context_handle_t, const void *, ze_ipc_mem_handle_t *))
FACE_CALL(zeMemOpenIpcHandle,
          (ze_context_handle_t, ze_device_handle_t, ze_ipc_mem_handle_t,
           ze_ipc_memory_flags_t, void **))
FACE_CALL(zeMemCloseIpcHandle, (ze_context_handle_t, const void *))
FACE_CALL(zeCommandQueueCreate,
          (ze_context_handle_t, ze_device_handle_t,
           const ze_command_queue_desc_t *, ze_command_queue_handle_t *))
FACE_CALL(zeCommandQueueDestroy, (ze_command_queue_handle_t))
FACE_CALL(zeCommandQueueExecuteCommandLists,
          (ze_command_queue_handle_t, uint32_t, ze_command_list_handle_t *,
           ze_fence_handle_t))
FACE_CALL(zeCommandQueueSynchronize, (ze_command_queue_handle_t, uint64_t))
FACE_CALL(zeCommandListCreate,
          (ze_context_handle_t, ze_device_handle_t,
           const ze_command_list_desc_t *, ze_command_list_handle_t *))
FACE_CALL(zeCommandListCreateImmediate,
          (ze_context_handle_t, ze_device_handle_t,
           const ze_command_queue_desc_t *, ze_command_list_handle_t *))
FACE_CALL(zeCommandListDestroy, (ze_command_list_handle_t))
FACE_CALL(zeCommandListClose, (ze_command_list_handle_t))
FACE_CALL(zeCommandListReset, (ze_command_list_handle_t))
FACE_CALL(zeCommandListAppendBarrier,
          (ze_command_list_handle_t, ze_event_handle_t, uint32_t,
           ze_event_handle_t *))
FACE_CALL(zeCommandListAppendMemoryCopy,
          (ze_command_list_handle_t, void *, const void *, size_t,
           ze_event_handle_t, uint32_t, ze_event_handle_t *))
FACE_CALL(zeCommandListAppendMemoryFill,
          (ze_command_list_handle_t, void *, const void *, size_t, size_t,
           ze_event_handle_t, uint32_t, ze_event_handle_t *))
FACE_CALL(zeCommandListAppendSignalEvent,
          (ze_command_list_handle_t, ze_event_handle_t))
FACE_CALL(zeCommandListAppendWaitOnEvents,
          (ze_command_list_handle_t, uint32_t, ze_event_handle_t *))
FACE_CALL(zeFenceCreate, (ze_command_queue_handle_t, const ze_fence_desc_t *,
                          ze_fence_handle_t *))
FACE_CALL(zeFenceDestroy, (ze_fence_handle_t))
FACE_CALL(zeFenceHostSynchronize, (ze_fence_handle_t, uint64_t))
FACE_CALL(zeFenceQueryStatus, (ze_fence_handle_t))
FACE_CALL(zeFenceReset, (ze_fence_handle_t))
FACE_CALL(zeEventPoolCreate,
          (ze_context_handle_t, const ze_event_pool_desc_t *, uint32_t,
           ze_device_handle_t *, ze_event_pool_handle_t *))
FACE_CALL(zeEventPoolDestroy, (ze_event_pool_handle_t))
FACE_CALL(zeEventCreate, (ze_event_pool_handle_t, const ze_event_desc_t *,
                          ze_event_handle_t *))
FACE_CALL(zeEventDestroy, (ze_event_handle_t))
FACE_CALL(zeEventHostSignal, (ze_event_handle_t))
FACE_CALL(zeEventHostSynchronize, (ze_event_handle_t, uint64_t))
FACE_CALL(zeEventQueryStatus, (ze_event_handle_t))
FACE_CALL(zeEventHostReset, (ze_event_handle_t))
