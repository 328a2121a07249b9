/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of functions that the loader reads from the driver. Functions that
 * are not emulated are NULL: for them, the loader returns that they are not
 * supported.
 */
#include "face.h"

#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

/* Defines `_get`, the function that the loader calls to read a table of type
 * `_type`. The initializers of the table's members follow. */
#define TABLE(_get, _type, ...) \
    EMU_API ze_result_t _get(ze_api_version_t version, _type *table) \
    { \
        if (ZE_MAJOR_VERSION(version) != \
            ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT)) { \
            return ZE_RESULT_ERROR_UNSUPPORTED_VERSION; \
        } \
        *table = (_type){__VA_ARGS__}; \
        return ZE_RESULT_SUCCESS; \
    }

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, .pfnInit = face_zeInit)

TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t,
      .pfnGet              = face_zeDriverGet,
      .pfnGetApiVersion    = face_zeDriverGetApiVersion,
      .pfnGetProperties    = face_zeDriverGetProperties,
      .pfnGetIpcProperties = face_zeDriverGetIpcProperties)

TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t,
      .pfnGet                 = face_zeDeviceGet,
      .pfnGetSubDevices       = face_zeDeviceGetSubDevices,
      .pfnGetProperties       = face_zeDeviceGetProperties,
      .pfnPciGetPropertiesExt = face_zeDevicePciGetPropertiesExt,
      .pfnGetCommandQueueGroupProperties =
          face_zeDeviceGetCommandQueueGroupProperties,
      .pfnGetStatus = face_zeDeviceGetStatus)

TABLE(zeGetContextProcAddrTable, ze_context_dditable_t,
      .pfnCreate = face_zeContextCreate, .pfnDestroy = face_zeContextDestroy,
      .pfnGetStatus = face_zeContextGetStatus)

TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t,
      .pfnAllocShared = face_zeMemAllocShared,
      .pfnAllocDevice = face_zeMemAllocDevice,
      .pfnAllocHost = face_zeMemAllocHost, .pfnFree = face_zeMemFree,
      .pfnGetAllocProperties = face_zeMemGetAllocProperties,
      .pfnGetAddressRange    = face_zeMemGetAddressRange,
      .pfnGetIpcHandle       = face_zeMemGetIpcHandle,
      .pfnOpenIpcHandle      = face_zeMemOpenIpcHandle,
      .pfnCloseIpcHandle     = face_zeMemCloseIpcHandle)

TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t,
      .pfnCreate              = face_zeCommandQueueCreate,
      .pfnDestroy             = face_zeCommandQueueDestroy,
      .pfnExecuteCommandLists = face_zeCommandQueueExecuteCommandLists,
      .pfnSynchronize         = face_zeCommandQueueSynchronize)

TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t,
      .pfnCreate          = face_zeCommandListCreate,
      .pfnCreateImmediate = face_zeCommandListCreateImmediate,
      .pfnDestroy         = face_zeCommandListDestroy,
      .pfnClose = face_zeCommandListClose, .pfnReset = face_zeCommandListReset,
      .pfnAppendBarrier      = face_zeCommandListAppendBarrier,
      .pfnAppendMemoryCopy   = face_zeCommandListAppendMemoryCopy,
      .pfnAppendMemoryFill   = face_zeCommandListAppendMemoryFill,
      .pfnAppendSignalEvent  = face_zeCommandListAppendSignalEvent,
      .pfnAppendWaitOnEvents = face_zeCommandListAppendWaitOnEvents)

TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t,
      .pfnCreate = face_zeFenceCreate, .pfnDestroy = face_zeFenceDestroy,
      .pfnHostSynchronize = face_zeFenceHostSynchronize,
      .pfnQueryStatus = face_zeFenceQueryStatus, .pfnReset = face_zeFenceReset)

TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t,
      .pfnCreate  = face_zeEventPoolCreate,
      .pfnDestroy = face_zeEventPoolDestroy)

TABLE(zeGetEventProcAddrTable, ze_event_dditable_t,
      .pfnCreate = face_zeEventCreate, .pfnDestroy = face_zeEventDestroy,
      .pfnHostSignal      = face_zeEventHostSignal,
      .pfnHostSynchronize = face_zeEventHostSynchronize,
      .pfnQueryStatus     = face_zeEventQueryStatus,
      .pfnHostReset       = face_zeEventHostReset)

/* Tables without emulated functions. The loader reads all tables. */
TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t, 0)
TABLE(zeGetImageProcAddrTable, ze_image_dditable_t, 0)
TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t, 0)
TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t, 0)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, 0)
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, 0)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, 0)
TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t, 0)
TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t, 0)
TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t, 0)
TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t, 0)
TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t, 0)
TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t, 0)
TABLE(zetGetDeviceProcAddrTable, zet_device_dditable_t, 0)
TABLE(zetGetContextProcAddrTable, zet_context_dditable_t, 0)
TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t, 0)
TABLE(zetGetModuleProcAddrTable, zet_module_dditable_t, 0)
TABLE(zetGetKernelProcAddrTable, zet_kernel_dditable_t, 0)
TABLE(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t, 0)
TABLE(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t, 0)
TABLE(zetGetMetricProcAddrTable, zet_metric_dditable_t, 0)
TABLE(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t, 0)
TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t, 0)
TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t, 0)
TABLE(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t, 0)
TABLE(zetGetDebugProcAddrTable, zet_debug_dditable_t, 0)
TABLE(zesGetDriverProcAddrTable, zes_driver_dditable_t, 0)
TABLE(zesGetDeviceProcAddrTable, zes_device_dditable_t, 0)
TABLE(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t, 0)
TABLE(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t,
      0)
TABLE(zesGetPowerProcAddrTable, zes_power_dditable_t, 0)
TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t, 0)
TABLE(zesGetEngineProcAddrTable, zes_engine_dditable_t, 0)
TABLE(zesGetStandbyProcAddrTable, zes_standby_dditable_t, 0)
TABLE(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t, 0)
TABLE(zesGetMemoryProcAddrTable, zes_memory_dditable_t, 0)
TABLE(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t, 0)
TABLE(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t, 0)
TABLE(zesGetPsuProcAddrTable, zes_psu_dditable_t, 0)
TABLE(zesGetFanProcAddrTable, zes_fan_dditable_t, 0)
TABLE(zesGetLedProcAddrTable, zes_led_dditable_t, 0)
TABLE(zesGetRasProcAddrTable, zes_ras_dditable_t, 0)
TABLE(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t, 0)
