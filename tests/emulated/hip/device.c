/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: its start, its devices, and the last error of each thread. */
#include "face.h"

#include <stdatomic.h>
#include <string.h>

enum {
    VERSION     = 50221153,
    MAX_VERSION = 99999999,
    NO_DOMAIN   = 0xfff1, /* PCI domain that no machine has */
};

static const char *const names[] = {
#define FACE_CALL(_name, _params) #_name,
#include "calls.h"
#undef FACE_CALL
    "hsa_amd_portable_export_dmabuf",
};

static atomic_int is_started;
static int num_devices;
static unsigned long version;

/* One context for each device. It is created when the process first uses the
 * device; until then its id is 0. */
static emu_context_t contexts[EMU_MAX_DEVICES];

/* HDP flush register of each device: a program must write to it after the
 * processor has written to device memory, so that the writes become visible.
 * The emulation ignores the values. */
static uint32_t flush_registers[EMU_MAX_DEVICES];

static _Thread_local int current;
static _Thread_local hipError_t last_error;

static void __attribute__((constructor)) load(void)
{
    emu_check_init(names, NUM_CALLS);
    num_devices = (int)emu_variable("EMULATED_DEVICES", 2, EMU_MAX_DEVICES);
    version     = emu_variable("EMULATED_VERSION", VERSION, MAX_VERSION);
}

int face_num_devices(void)
{
    return num_devices;
}

int face_is_version_6(void)
{
    return version >= HIP_VERSION_6;
}

int face_is_started(void)
{
    return is_started;
}

emu_context_t *face_current(void)
{
    emu_context_t *context = &contexts[current];

    if (context->id == 0) {
        emu_context_init(context, current);
        context->error = emu_lost(current);
    }
    return context;
}

/* ---------------------------------------------------------------- calls -- */

static hipError_t failed(hipError_t result)
{
    last_error = result;
    return result;
}

hipError_t face_begin(enum face_call call, int need)
{
    hipError_t fault = emu_enter(call);

    if (fault != 0) {
        return failed(fault);
    }
    if (emu_is_forked()) {
        return failed(hipErrorNotInitialized);
    }
    if (num_devices == 0) {
        return failed(hipErrorNoDevice);
    }
    pthread_mutex_lock(&emu_lock);
    if (!is_started) {
        emu_check_start();
        is_started = 1;
    }
    if ((need == DEVICE) && (face_current()->error != 0)) {
        return face_end(face_current()->error);
    }
    return hipSuccess;
}

hipError_t face_end(hipError_t result)
{
    pthread_mutex_unlock(&emu_lock);
    return (result == hipSuccess) ? result : failed(result);
}

hipError_t hipGetLastError(void)
{
    hipError_t error = last_error;

    (void)emu_enter(CALL_hipGetLastError);
    last_error = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    (void)emu_enter(CALL_hipPeekAtLastError);
    return last_error;
}

/* This call does not start the runtime. */
hipError_t hipRuntimeGetVersion(int *version_p)
{
    hipError_t fault = emu_enter(CALL_hipRuntimeGetVersion);

    if (fault == 0) {
        *version_p = (int)version;
    }
    return fault;
}

hipError_t hipInit(unsigned flags)
{
    ENTER(hipInit, ANY);
    LEAVE((flags == 0) ? hipSuccess : hipErrorInvalidValue);
}

/* -------------------------------------------------------------- devices -- */

hipError_t hipGetDeviceCount(int *count)
{
    ENTER(hipGetDeviceCount, ANY);
    *count = num_devices;
    LEAVE(hipSuccess);
}

hipError_t hipGetDevice(int *device)
{
    ENTER(hipGetDevice, ANY);
    *device = current;
    LEAVE(hipSuccess);
}

hipError_t hipSetDevice(int device)
{
    ENTER(hipSetDevice, ANY);
    if ((device < 0) || (device >= num_devices)) {
        LEAVE(hipErrorInvalidDevice);
    }
    current = device;
    LEAVE(hipSuccess);
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute,
                                 int device)
{
    const emu_pci_t pci = emu_pci((unsigned)device, NO_DOMAIN);
    const uint32_t *flush;

    ENTER(hipDeviceGetAttribute, ANY);
    if ((device < 0) || (device >= num_devices)) {
        LEAVE(hipErrorInvalidDevice);
    }
    switch (attribute) {
    case hipDeviceAttributePciDomainID:
        *value = (int)pci.domain;
        break;
    case hipDeviceAttributePciBusId:
        *value = (int)pci.bus;
        break;
    case hipDeviceAttributePciDeviceId:
        *value = (int)pci.slot;
        break;
    case hipDeviceAttributeIsLargeBar:
        *value = (int)emu_variable("EMULATED_LARGE_BAR", 0, 1);
        break;
    case hipDeviceAttributeHdpMemFlushCntl:
        flush = &flush_registers[device];
        memcpy(value, &flush, sizeof(flush));
        break;
    default:
        emu_mistake("attribute %d of a device is not emulated", attribute);
        LEAVE(hipErrorInvalidValue);
    }
    LEAVE(hipSuccess);
}

hipError_t hipDeviceSynchronize(void)
{
    ENTER(hipDeviceSynchronize, DEVICE);
    emu_device_wait(current);
    LEAVE(face_current()->error);
}

/* Ends all streams, and releases all memory and registrations of the device. */
hipError_t hipDeviceReset(void)
{
    ENTER(hipDeviceReset, ANY);
    if (emu_lost(current) != 0) {
        LEAVE(emu_lost(current));
    }
    emu_context_clear(face_current());
    face_memory_of_context(&contexts[current]);
    emu_context_init(&contexts[current], current);
    LEAVE(hipSuccess);
}

hsa_status_t hsa_system_get_info(hsa_system_info_t info, void *value)
{
    if (!is_started || emu_is_forked()) {
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    }
    if (info != HSA_SYSTEM_INFO_VERSION_MAJOR) {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    *(uint16_t *)value = 1;
    return HSA_STATUS_SUCCESS;
}

/* ---------------------------------------------------------------- leaks -- */

static int is_failed(const emu_range_t *range)
{
    const emu_context_t *context = range->context;

    return (context != NULL) && (context->error != 0);
}

/* Reports leaks. Memory of a failed device is not reported, because it cannot
 * be released. */
void emu_face_report_leaks(void)
{
    const emu_range_t *range;

    for (range = emu_ranges; range != NULL; range = range->next) {
        if (is_failed(range)) {
            continue;
        }
        emu_mistake("%zu bytes at %#lx of device %d are not released%s",
                    range->length, (unsigned long)range->start, range->device,
                    (range->flags & EMU_RANGE_REGISTERED) ? " (registered)" :
                    (range->flags & EMU_RANGE_IMPORTED)   ? " (opened)" :
                                                            "");
    }
    face_stream_report();
}
