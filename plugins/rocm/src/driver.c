/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and starts the HIP runtime; translates its results.
 *
 * The first call of a function of HIP that concerns devices or memory starts
 * the runtime. Therefore the plugin asks HSA, the layer below HIP, whether the
 * program has started the runtime: this query does not start it. Loading the
 * library takes 40 ms, so it is loaded only when device memory is used. It
 * stays loaded: it has threads and does not support unloading.
 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

rocm_calls_t hip;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char why_not_started[160];

/* num_devices is 0 until the runtime is known to be started. */
static atomic_int is_loaded, num_devices;
static int version; /* Result of hipRuntimeGetVersion() */

/* Names of the library, newest first. */
static const char *const libraries[] = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
};
enum { NUM_LIBRARIES = sizeof(libraries) / sizeof(libraries[0]) };

static const struct {
    const char *name;
    size_t offset;
    int is_optional;
} symbols[] = {
#define HIP_CALL(_name, _params) {#_name, offsetof(rocm_calls_t, _name), 0},
#define HSA_CALL(_name, _params) {#_name, offsetof(rocm_calls_t, _name), 1},
#include "hip_calls.h"
#undef HIP_CALL
#undef HSA_CALL
};

/* Fills the table `hip`. HSA's library is a dependency of HIP's library, so
 * dlsym() on the latter also finds the functions of HSA. Returns 0 if a
 * required function is missing. */
static int find_symbols(void *library)
{
    void *call;
    size_t i;

    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        call = dlsym(library, symbols[i].name);
        if ((call == NULL) && !symbols[i].is_optional) {
            snprintf(why_not_started, sizeof(why_not_started),
                     "the HIP runtime is too old: it lacks %s; install ROCm 5.0"
                     " or newer",
                     symbols[i].name);
            return 0;
        }
        *(void **)((char *)&hip + symbols[i].offset) = call;
    }
    return 1;
}

/* Opens the library that the program has already loaded. If there is none,
 * opens the newest installed one, unless `flags` contains RTLD_NOLOAD. Returns
 * NULL on failure. */
static void *open_any(int flags)
{
    void *library = NULL;
    int i;

    for (i = 0; (library == NULL) && (i < NUM_LIBRARIES); ++i) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    for (i = 0;
         (library == NULL) && (i < NUM_LIBRARIES) && !(flags & RTLD_NOLOAD);
         ++i) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Opens the library, which stays open, unless this was done before. `flags`: as
 * of open_any(). Returns 0 on failure. Called with the lock held. */
static int open_library(int flags)
{
    void *library;

    if (atomic_load(&is_loaded)) {
        return 1;
    }
    library = open_any(flags);
    if (library == NULL) {
        return 0;
    }
    if (!find_symbols(library)) {
        dlclose(library);
        return 0;
    }
    (void)hip.hipRuntimeGetVersion(&version);
    atomic_store(&is_loaded, 1);
    return 1;
}

int rocm_is_version_6(void)
{
    return version >= HIP_VERSION_6;
}

/* ---------------------------------------------------------------- start -- */

/* Returns whether HSA is started. If HSA cannot be asked, because the library
 * lacks the function, returns 1. */
static int is_hsa_started(void)
{
    uint16_t major;

    return (hip.hsa_system_get_info == NULL) ||
           (hip.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) ==
            HSA_STATUS_SUCCESS);
}

/* Sets num_devices. Starts the runtime if it is not started. */
static hipError_t count_devices(void)
{
    int count         = 0;
    hipError_t result = hip.hipGetDeviceCount(&count);

    if ((result == hipSuccess) && (count == 0)) {
        result = hipErrorNoDevice;
    }
    if (result == hipSuccess) {
        atomic_store(&num_devices,
                     (count < ACCEL_MAX_DEVICES) ? count : ACCEL_MAX_DEVICES);
    } else {
        (void)hip.hipGetLastError(); /* Clear the error, so that the program
                                      * does not see it */
    }
    return result;
}

int rocm_is_started(void)
{
    if (atomic_load(&num_devices) > 0) {
        return 1;
    }
    if (!atomic_load(&is_loaded)) {
        pthread_mutex_lock(&lock);
        (void)open_library(RTLD_NOLOAD);
        pthread_mutex_unlock(&lock);
    }
    return atomic_load(&is_loaded) && is_hsa_started() &&
           (count_devices() == hipSuccess);
}

int rocm_num_devices(void)
{
    return atomic_load(&num_devices);
}

static int is_in_process(void)
{
    void *library = open_any(RTLD_NOLOAD);

    if (library != NULL) {
        dlclose(library);
    }
    return library != NULL;
}

/* Checks whether a device can exist, without loading the runtime. The runtime
 * needs one of these device nodes of the kernel, or a software model, which the
 * environment variable HSA_MODEL_LIB names. If the program has loaded the
 * runtime, a device is assumed. */
ucs_status_t rocm_load(const char **reason)
{
    if ((access("/dev/kfd", F_OK) == 0) || (access("/dev/dxg", F_OK) == 0) ||
        (getenv("HSA_MODEL_LIB") != NULL) || is_in_process()) {
        *reason = NULL;
        return UCS_OK;
    }
    *reason = "ROCm: the kernel has no device: there is neither /dev/kfd nor"
              " /dev/dxg; load the module amdgpu";
    return UCS_ERR_NO_DEVICE;
}

/* Starts the runtime. Returns the reason why there is no device, or NULL.
 * Called with the lock held. */
static const char *start(void)
{
    hipError_t result;
    const char *why;

    if (rocm_load(&why) != UCS_OK) {
        return why;
    }
    if (!open_library(0)) {
        return (why_not_started[0] != '\0') ?
                   why_not_started :
                   "the HIP runtime, libamdhip64.so.5 to .so.7, cannot be opened";
    }
    result = count_devices();
    if (result == hipErrorNoDevice) {
        return "ROCm: the HIP runtime finds no device that this process may use"
               " (ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, permissions of"
               " /dev/kfd and /dev/dri/render*)";
    }
    if (result != hipSuccess) {
        snprintf(why_not_started, sizeof(why_not_started),
                 "the HIP runtime cannot be used: %s", rocm_error(result));
        return why_not_started;
    }
    return NULL;
}

ucs_status_t rocm_start(const char **reason)
{
    *reason = NULL;
    if (atomic_load(&num_devices) > 0) {
        return UCS_OK;
    }
    pthread_mutex_lock(&lock);
    *reason = start();
    pthread_mutex_unlock(&lock);
    return (*reason == NULL) ? UCS_OK : UCS_ERR_NO_DEVICE;
}

/* Checks that a device works by a query of its default stream, which fails on a
 * lost device. */
ucs_status_t rocm_check_device(int device, char *reason, size_t reason_size)
{
    void *context = NULL;
    accel_scope_t scope;
    int result;

    result = rocm_retain(device, &context);
    if (result == hipSuccess) {
        result = rocm_enter(context, &scope);
    }
    if (result == hipSuccess) {
        result = hip.hipStreamQuery(NULL);
        rocm_leave(&scope);
    }
    if ((result == hipSuccess) || (result == hipErrorNotReady)) {
        return UCS_OK;
    }
    (void)hip.hipGetLastError();
    snprintf(reason, reason_size, "ROCm device %d cannot be used: %s", device,
             rocm_error(result));
    return UCS_ERR_NO_DEVICE;
}

/* -------------------------------------------------------------- results -- */

static const struct {
    hipError_t result;
    const char *name;
    ucs_status_t status;
} results[] = {
#define RESULT(_result, _status) \
    { \
        _result, #_result, _status \
    }
    RESULT(hipErrorNotReady, UCS_INPROGRESS),
    RESULT(hipErrorOutOfMemory, UCS_ERR_NO_MEMORY),
    RESULT(hipErrorInvalidValue, UCS_ERR_INVALID_ADDR),
    RESULT(hipErrorInvalidDevicePointer, UCS_ERR_INVALID_ADDR),
    RESULT(hipErrorNotFound, UCS_ERR_INVALID_ADDR),
    RESULT(hipErrorInvalidHandle, UCS_ERR_INVALID_ADDR),
    RESULT(hipErrorNoDevice, UCS_ERR_NO_DEVICE),
    RESULT(hipErrorInvalidDevice, UCS_ERR_NO_DEVICE),
    RESULT(hipErrorInsufficientDriver, UCS_ERR_NO_DEVICE),
    RESULT(hipErrorNotInitialized, UCS_ERR_NO_DEVICE),
    RESULT(hipErrorDeinitialized, UCS_ERR_NO_DEVICE),
    RESULT(hipErrorNotSupported, UCS_ERR_UNSUPPORTED),
    RESULT(hipErrorInvalidContext, UCS_ERR_IO_ERROR),
    RESULT(hipErrorMapFailed, UCS_ERR_IO_ERROR),
    RESULT(hipErrorECCNotCorrectable, UCS_ERR_IO_ERROR),
    RESULT(hipErrorOperatingSystem, UCS_ERR_IO_ERROR),
    RESULT(hipErrorIllegalAddress, UCS_ERR_IO_ERROR),
    RESULT(hipErrorContextIsDestroyed, UCS_ERR_IO_ERROR),
    RESULT(hipErrorHostMemoryAlreadyRegistered, UCS_ERR_ALREADY_EXISTS),
    RESULT(hipErrorHostMemoryNotRegistered, UCS_ERR_INVALID_ADDR),
    RESULT(hipErrorLaunchFailure, UCS_ERR_IO_ERROR),
    RESULT(hipErrorUnknown, UCS_ERR_IO_ERROR)
#undef RESULT
};

enum { NUM_RESULTS = sizeof(results) / sizeof(results[0]) };

ucs_status_t rocm_status(int result)
{
    size_t i;

    for (i = 0; i < NUM_RESULTS; ++i) {
        if (results[i].result == result) {
            return results[i].status;
        }
    }
    return UCS_ERR_IO_ERROR;
}

const char *rocm_error(int result)
{
    size_t i;

    for (i = 0; i < NUM_RESULTS; ++i) {
        if (results[i].result == result) {
            return results[i].name;
        }
    }
    return "an error of HIP without a name here";
}
