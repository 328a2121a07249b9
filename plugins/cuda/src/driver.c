/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and starts the driver. The library stays loaded: it has threads and
 * does not support unloading.
 */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* The first driver with memory pools, 32-bit and 64-bit write values, and the
 * 64-byte handles that are used here. */
enum { OLDEST_DRIVER = 11070 };

cuda_calls_t cuda;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ucs_status_t started = UCS_ERR_NO_DEVICE;
static char why[160];
static int num_devices;

static const struct {
    const char *name;
    size_t     offset;
} symbols[] = {
#define CUDA_CALL(_name, _params) {#_name, offsetof(cuda_calls_t, _name)},
#include "driver_calls.h"
#undef CUDA_CALL
};

static int load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t i;

    if (library == NULL) {
        snprintf(why, sizeof(why), "%s", dlerror());
        return 0;
    }
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        void *call = dlsym(library, symbols[i].name);

        if (call == NULL) {
            snprintf(why, sizeof(why), "the CUDA driver is too old: it lacks"
                     " %s; install version 515 or newer", symbols[i].name);
            dlclose(library);
            return 0;
        }
        *(void **)((char *)&cuda + symbols[i].offset) = call;
    }
    return 1;
}

static void start(void)
{
    int version = 0;
    CUresult result;

    if (!load()) {
        return;
    }
    result = cuda.cuDriverGetVersion(&version);
    if ((result == CUDA_SUCCESS) && (version < OLDEST_DRIVER)) {
        snprintf(why, sizeof(why), "the CUDA driver is too old: it supports"
                 " CUDA %d.%d, and %d.%d is needed", version / 1000,
                 version % 1000 / 10, OLDEST_DRIVER / 1000,
                 OLDEST_DRIVER % 1000 / 10);
        return;
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuInit(0);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuDeviceGetCount(&num_devices);
    }
    if ((result != CUDA_SUCCESS) || (num_devices == 0)) {
        snprintf(why, sizeof(why), "the CUDA driver cannot be used: %s",
                 cuda_error((result != CUDA_SUCCESS) ? result :
                            CUDA_ERROR_NO_DEVICE));
        num_devices = 0;
        return;
    }
    if (num_devices > CUDA_MAX_DEVICES) {
        num_devices = CUDA_MAX_DEVICES;
    }
    started = UCS_OK;
}

ucs_status_t cuda_start(const char **reason)
{
    pthread_once(&once, start);
    if (reason != NULL) {
        *reason = (started == UCS_OK) ? NULL : why;
    }
    return started;
}

int cuda_num_devices(void)
{
    return num_devices;
}

ucs_status_t cuda_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return UCS_OK;
    case CUDA_ERROR_NOT_READY:
        return UCS_INPROGRESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return UCS_ERR_NO_MEMORY;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_NOT_FOUND:
        return UCS_ERR_INVALID_ADDR;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NOT_INITIALIZED:
        return UCS_ERR_NO_DEVICE;
    case CUDA_ERROR_NOT_SUPPORTED:
        return UCS_ERR_UNSUPPORTED;
    default:
        return UCS_ERR_IO_ERROR;
    }
}

const char *cuda_error(CUresult result)
{
    const char *name = NULL;

    if ((cuda.cuGetErrorName(result, &name) != CUDA_SUCCESS) ||
        (name == NULL)) {
        return "an error that it has no name for";
    }
    return name;
}
