/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads the library of the CUDA driver (libcuda.so.1), and starts the driver.
 * Unless it lacks a function, the library stays loaded: it has threads and does
 * not support unloading.
 *
 * Starting the driver (cuInit()) takes 230 ms and makes the process a user of
 * the device. Therefore the plugin at first only loads the library. The program
 * itself may start the driver; otherwise cuda_start() does, at the first call
 * that needs a device.
 */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* The oldest supported driver, as cuDriverGetVersion() numbers it: the first
 * one that has memory pools, cuStreamWriteValue32_v2(), and the 64-byte handles
 * that this plugin uses. */
enum { OLDEST_DRIVER = 11070 };

cuda_calls_t cuda;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;
static char why_not_loaded[160];

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static char why_not_started[160];
static _Atomic int num_devices; /* 0: the driver is not known to be started */

static const struct {
    const char *name;
    size_t offset;
    int since; /* First driver version that has the function; 0: all supported
                * versions */
} symbols[] = {
#define CUDA_CALL(_name, _params) {#_name, offsetof(cuda_calls_t, _name), 0},
#define CUDA_CALL_SINCE(_version, _name, _params) \
    {#_name, offsetof(cuda_calls_t, _name), _version},
#include "driver_calls.h"
#undef CUDA_CALL
};

static int find_symbols(void *library)
{
    size_t i;

    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        void *call = dlsym(library, symbols[i].name);

        if ((call == NULL) && (symbols[i].since == 0)) {
            snprintf(why_not_loaded, sizeof(why_not_loaded),
                     "the CUDA driver is too old: it lacks %s; install version"
                     " 515 or newer",
                     symbols[i].name);
            return 0;
        }
        *(void **)((char *)&cuda + symbols[i].offset) = call;
    }
    return 1;
}

/* Sets the functions that are newer than the driver's version to NULL: they
 * must not be called, even if the library exports them. */
static void clear_newer(int version)
{
    size_t i;

    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        if (symbols[i].since > version) {
            *(void **)((char *)&cuda + symbols[i].offset) = NULL;
        }
    }
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int version   = 0;
    CUresult result;

    if (library == NULL) {
        snprintf(why_not_loaded, sizeof(why_not_loaded), "%s", dlerror());
        return;
    }
    if (!find_symbols(library)) {
        dlclose(library);
        return;
    }
    result = cuda.cuDriverGetVersion(&version);
    if (result != CUDA_SUCCESS) {
        snprintf(why_not_loaded, sizeof(why_not_loaded),
                 "the CUDA driver cannot be used: %s", cuda_error(result));
    } else if (version < OLDEST_DRIVER) {
        snprintf(why_not_loaded, sizeof(why_not_loaded),
                 "the CUDA driver is too old: it supports CUDA %d.%d, and"
                 " %d.%d is needed",
                 version / 1000, version % 1000 / 10, OLDEST_DRIVER / 1000,
                 OLDEST_DRIVER % 1000 / 10);
    } else {
        clear_newer(version);
        is_loaded = 1;
    }
}

ucs_status_t cuda_load(const char **reason)
{
    pthread_once(&once, load);
    *reason = is_loaded ? NULL : why_not_loaded;
    return is_loaded ? UCS_OK : UCS_ERR_NO_DEVICE;
}

/* Sets num_devices. CUDA_ERROR_NOT_INITIALIZED: the driver is not started. */
static CUresult count_devices(void)
{
    int count       = 0;
    CUresult result = cuda.cuDeviceGetCount(&count);

    if ((result == CUDA_SUCCESS) && (count == 0)) {
        result = CUDA_ERROR_NO_DEVICE;
    }
    if (result == CUDA_SUCCESS) {
        atomic_store(&num_devices,
                     (count < ACCEL_MAX_DEVICES) ? count : ACCEL_MAX_DEVICES);
    }
    return result;
}

int cuda_is_started(void)
{
    return (atomic_load(&num_devices) > 0) || (count_devices() == CUDA_SUCCESS);
}

ucs_status_t cuda_start(const char **reason)
{
    CUresult result;

    *reason = NULL;
    if (atomic_load(&num_devices) > 0) {
        return UCS_OK;
    }
    if (cuda_load(reason) != UCS_OK) {
        return UCS_ERR_NO_DEVICE;
    }
    pthread_mutex_lock(&start_lock);
    result = cuda.cuInit(0);
    if (result == CUDA_SUCCESS) {
        result = count_devices();
    }
    if (result != CUDA_SUCCESS) {
        snprintf(why_not_started, sizeof(why_not_started),
                 "the CUDA driver cannot be used: %s", cuda_error(result));
        *reason = why_not_started;
    }
    pthread_mutex_unlock(&start_lock);
    return (result == CUDA_SUCCESS) ? UCS_OK : UCS_ERR_NO_DEVICE;
}

int cuda_num_devices(void)
{
    return atomic_load(&num_devices);
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
