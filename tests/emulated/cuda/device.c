/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver: its initialization, its devices, and its names of errors. */
#include "face.h"

#include <stdlib.h>
#include <string.h>

enum {
    DRIVER_VERSION = 13000,
    NO_DOMAIN      = 0xfff0, /* PCI domain that no machine has */
};

static const char *const names[] = {
#define FACE_CALL(_name, _params) #_name,
#include "calls.h"
#undef FACE_CALL
};

static int is_initialized;
static int num_devices;

static void __attribute__((constructor)) load(void)
{
    emu_check_init(names, NUM_CALLS);
    num_devices = (int)emu_variable("EMULATED_DEVICES", 2, MAX_DEVICES);
}

int face_num_devices(void)
{
    return num_devices;
}

CUresult face_begin(enum face_call call, int need)
{
    CUresult fault = emu_enter(call);
    emu_context_t *context;

    if (fault != 0) {
        return fault;
    }
    if (emu_is_forked()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    pthread_mutex_lock(&emu_lock);
    if (!is_initialized) {
        pthread_mutex_unlock(&emu_lock);
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (need != CONTEXT) {
        return CUDA_SUCCESS;
    }
    context = face_current();
    if ((context == NULL) || (context->error != 0)) {
        fault = (context == NULL) ? CUDA_ERROR_INVALID_CONTEXT : context->error;
        pthread_mutex_unlock(&emu_lock);
    }
    return fault;
}

CUresult face_end(CUresult result)
{
    pthread_mutex_unlock(&emu_lock);
    return result;
}

CUresult cuInit(unsigned flags)
{
    CUresult fault = emu_enter(CALL_cuInit);

    if ((fault != 0) || (flags != 0)) {
        return (fault != 0) ? fault : CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_is_forked()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    emu_check_start();
    pthread_mutex_lock(&emu_lock);
    is_initialized = (num_devices > 0);
    LEAVE(is_initialized ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE);
}

CUresult cuDriverGetVersion(int *version)
{
    CUresult fault = emu_enter(CALL_cuDriverGetVersion);

    if (fault == 0) {
        *version = (int)emu_variable("EMULATED_VERSION", DRIVER_VERSION,
                                     100000);
    }
    return fault;
}

/* --------------------------------------------------------------- devices -- */

static int compute_mode(void)
{
    return (int)emu_variable("EMULATED_COMPUTE_MODE", CU_COMPUTEMODE_DEFAULT,
                             3);
}

int face_is_exclusive(void)
{
    return compute_mode() != CU_COMPUTEMODE_DEFAULT;
}

CUresult cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount, ANY);
    *count = num_devices;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(cuDeviceGet, ANY);
    if ((ordinal < 0) || (ordinal >= num_devices)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    *device = ordinal;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    const emu_pci_t pci = emu_pci((unsigned)device, NO_DOMAIN);

    ENTER(cuDeviceGetAttribute, ANY);
    if ((device < 0) || (device >= num_devices)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *value = compute_mode();
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        *value = (int)pci.domain;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = (int)pci.bus;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        *value = (int)pci.slot;
        break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        *value = 3;
        break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
        *value = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
        *value = (int)emu_variable("EMULATED_DMABUF", 1, 1);
        break;
    default:
        emu_mistake("attribute %d of a device is not emulated", attribute);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    LEAVE(CUDA_SUCCESS);
}

/* ----------------------------------------------------------- error names -- */

static const struct {
    CUresult result;
    const char *name;
} words[] = {
#define WORD(_name) \
    { \
        _name, #_name \
    }
    WORD(CUDA_SUCCESS),
    WORD(CUDA_ERROR_INVALID_VALUE),
    WORD(CUDA_ERROR_OUT_OF_MEMORY),
    WORD(CUDA_ERROR_NOT_INITIALIZED),
    WORD(CUDA_ERROR_DEVICE_UNAVAILABLE),
    WORD(CUDA_ERROR_NO_DEVICE),
    WORD(CUDA_ERROR_INVALID_DEVICE),
    WORD(CUDA_ERROR_INVALID_CONTEXT),
    WORD(CUDA_ERROR_ECC_UNCORRECTABLE),
    WORD(CUDA_ERROR_INVALID_HANDLE),
    WORD(CUDA_ERROR_NOT_FOUND),
    WORD(CUDA_ERROR_NOT_READY),
    WORD(CUDA_ERROR_ILLEGAL_ADDRESS),
    WORD(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    WORD(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    WORD(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    WORD(CUDA_ERROR_LAUNCH_FAILED),
    WORD(CUDA_ERROR_NOT_SUPPORTED)
#undef WORD
};

static CUresult find_word(CUresult result, const char **word)
{
    size_t i;

    *word = NULL;
    for (i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (words[i].result == result) {
            *word = words[i].name;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    CUresult fault = emu_enter(CALL_cuGetErrorName);

    return (fault != 0) ? fault : find_word(result, name);
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    CUresult fault = emu_enter(CALL_cuGetErrorString);

    return (fault != 0) ? fault : find_word(result, text);
}
