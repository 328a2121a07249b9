/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the drivers of Level Zero; finds devices, creates contexts, translates
 * results.
 *
 * The program itself may open the Level Zero loader (libze_loader.so.1);
 * otherwise ze_start() does, when device memory is first used. The loader loads
 * the drivers when zeInit() is called. Before that, zeDriverGet() returns an
 * error at once, and the process has no device memory.
 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_HANDLES = ACCEL_MAX_DEVICES };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char why_not_started[160];

/* Non-zero: find_devices() has set the devices and drivers below. They do not
 * change afterwards, because devices do not change while a process runs. */
static atomic_int is_known;
static ze_device_t devices[ACCEL_MAX_DEVICES];
static int num_devices;
static ze_driver_handle_t drivers[ZE_MAX_DRIVERS];
static int num_drivers;

/* By driver; NULL: not created */
static _Atomic(ze_context_handle_t) contexts[ZE_MAX_DRIVERS];

ze_calls_t ze;

static atomic_int is_loaded;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define ZE_CALL(_name) {#_name, offsetof(ze_calls_t, _name)},
#include "loader_calls.h"
#undef ZE_CALL
};

/* Opens the loader, which stays open. With RTLD_NOLOAD in `flags`, opens it
 * only if the process has loaded it already. Returns 0 on failure. Called with
 * the lock held. */
static int open_loader(int flags)
{
    void *library, *call;
    size_t i;

    if (atomic_load(&is_loaded)) {
        return 1;
    }
    library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL | flags);
    if (library == NULL) {
        return 0;
    }
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
        call = dlsym(library, symbols[i].name);
        if (call == NULL) {
            snprintf(why_not_started, sizeof(why_not_started),
                     "the Level Zero loader is too old: it lacks %s",
                     symbols[i].name);
            dlclose(library);
            return 0;
        }
        *(void **)((char *)&ze + symbols[i].offset) = call;
    }
    atomic_store(&is_loaded, 1);
    return 1;
}

/* -------------------------------------------------------------- devices -- */

/* Adds a device of the driver with the index num_drivers. */
static void add_device(ze_device_handle_t handle, unsigned part)
{
    if (num_devices < ACCEL_MAX_DEVICES) {
        devices[num_devices++] = (ze_device_t){
            .handle = handle,
            .driver = num_drivers,
            .part   = part,
        };
    }
}

static int is_gpu(ze_device_handle_t handle)
{
    ze_device_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
    };

    return (ze.zeDeviceGetProperties(handle, &properties) ==
            ZE_RESULT_SUCCESS) &&
           (properties.type == ZE_DEVICE_TYPE_GPU);
}

static void add_devices_of(ze_driver_handle_t driver)
{
    ze_device_handle_t handles[MAX_HANDLES], parts[MAX_HANDLES];
    uint32_t count = MAX_HANDLES;
    int before     = num_devices;
    uint32_t i, j, num_parts;

    if (ze.zeDeviceGet(driver, &count, handles) != ZE_RESULT_SUCCESS) {
        return;
    }
    for (i = 0; i < count; ++i) {
        if (!is_gpu(handles[i])) {
            continue;
        }
        add_device(handles[i], 0);
        num_parts = MAX_HANDLES;
        if (ze.zeDeviceGetSubDevices(handles[i], &num_parts, parts) !=
            ZE_RESULT_SUCCESS) {
            continue;
        }
        for (j = 0; j < num_parts; ++j) {
            add_device(parts[j], j + 1);
        }
    }
    if (num_devices > before) {
        drivers[num_drivers++] = driver;
    }
}

/* Finds the devices, unless this was done before. Fails if the drivers are not
 * started. Called with the lock held. */
static ze_result_t find_devices(void)
{
    ze_driver_handle_t handles[MAX_HANDLES];
    uint32_t count = MAX_HANDLES;
    ze_result_t result;
    uint32_t i;

    if (atomic_load(&is_known)) {
        return ZE_RESULT_SUCCESS;
    }
    result = ze.zeDriverGet(&count, handles);
    if (result == ZE_RESULT_SUCCESS) {
        for (i = 0; (i < count) && (num_drivers < ZE_MAX_DRIVERS); ++i) {
            add_devices_of(handles[i]);
        }
        atomic_store(&is_known, 1);
    }
    return result;
}

int ze_is_started(void)
{
    if (!atomic_load(&is_known)) {
        pthread_mutex_lock(&lock);
        if (open_loader(RTLD_NOLOAD)) {
            (void)find_devices();
        }
        pthread_mutex_unlock(&lock);
    }
    return ze_num_devices() > 0;
}

int ze_num_devices(void)
{
    return atomic_load(&is_known) ? num_devices : 0;
}

int ze_num_drivers(void)
{
    return atomic_load(&is_known) ? num_drivers : 0;
}

const ze_device_t *ze_device(int device)
{
    return &devices[device];
}

int ze_device_by_handle(ze_device_handle_t handle)
{
    int i;

    for (i = 0; i < ze_num_devices(); ++i) {
        if (devices[i].handle == handle) {
            return i;
        }
    }
    return -1;
}

/* A sub-device has the PCI address of its device, but another `part`. */
int ze_pci_address(int device, accel_pci_t *pci)
{
    ze_pci_ext_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES,
    };
    ze_result_t result;

    result = ze.zeDevicePciGetPropertiesExt(devices[device].handle,
                                            &properties);
    *pci   = (accel_pci_t){
          .domain = (uint16_t)properties.address.domain,
          .bus    = (uint8_t)properties.address.bus,
          .slot   = (uint8_t)properties.address.device,
          .part   = (uint8_t)devices[device].part,
    };
    return result;
}

/* ---------------------------------------------------------------- start -- */

/* Checks whether a device can exist, without opening the loader. Drivers need
 * one of these device nodes of the kernel, except those that the environment
 * variable ZE_ENABLE_ALT_DRIVERS names. */
ucs_status_t ze_load(const char **reason)
{
    if ((access("/dev/dri", F_OK) == 0) || (access("/dev/dxg", F_OK) == 0) ||
        (getenv("ZE_ENABLE_ALT_DRIVERS") != NULL)) {
        *reason = NULL;
        return UCS_OK;
    }
    *reason = "Level Zero: the kernel has no device: there is neither /dev/dri"
              " nor /dev/dxg";
    return UCS_ERR_NO_DEVICE;
}

/* Starts the drivers. Returns the reason why there is no device, or NULL.
 * Called with the lock held. */
static const char *start(void)
{
    const char *why;
    ze_result_t result;

    if (ze_load(&why) != UCS_OK) {
        return why;
    }
    if (!open_loader(0)) {
        return (why_not_started[0] != '\0') ?
                   why_not_started :
                   "the Level Zero loader, libze_loader.so.1, cannot be opened";
    }
    result = ze.zeInit(ZE_INIT_FLAG_GPU_ONLY);
    if (result == ZE_RESULT_SUCCESS) {
        result = find_devices();
    }
    if (result == ZE_RESULT_ERROR_UNINITIALIZED) {
        return "the Level Zero loader finds no driver: install the one of the"
               " device (Intel: intel-level-zero-gpu)";
    }
    if (result != ZE_RESULT_SUCCESS) {
        snprintf(why_not_started, sizeof(why_not_started),
                 "Level Zero cannot be used: %s", ze_error((int)result));
        return why_not_started;
    }
    return (num_devices > 0) ?
               NULL :
               "Level Zero: no driver has a device that this process may use"
               " (ZE_AFFINITY_MASK, permissions of /dev/dri/render*)";
}

ucs_status_t ze_start(const char **reason)
{
    *reason = NULL;
    if (ze_num_devices() > 0) {
        return UCS_OK;
    }
    pthread_mutex_lock(&lock);
    *reason = start();
    pthread_mutex_unlock(&lock);
    return (*reason == NULL) ? UCS_OK : UCS_ERR_NO_DEVICE;
}

ucs_status_t ze_check_device(int device, char *reason, size_t reason_size)
{
    ze_context_handle_t context;
    ze_result_t result = ze.zeDeviceGetStatus(devices[device].handle);

    if (result == ZE_RESULT_SUCCESS) {
        result = ze_context(devices[device].driver, &context);
    }
    if (result == ZE_RESULT_SUCCESS) {
        return UCS_OK;
    }
    snprintf(reason, reason_size, "Level Zero device %d cannot be used: %s",
             device, ze_error((int)result));
    return UCS_ERR_NO_DEVICE;
}

/* ------------------------------------------------------------- contexts -- */

ze_result_t ze_context(int driver, ze_context_handle_t *context_p)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context  = atomic_load(&contexts[driver]);
    ze_result_t result           = ZE_RESULT_SUCCESS;

    if (context == NULL) {
        pthread_mutex_lock(&lock);
        context = atomic_load(&contexts[driver]);
        if (context == NULL) {
            result = ze.zeContextCreate(drivers[driver], &desc, &context);
        }
        if (result == ZE_RESULT_SUCCESS) {
            atomic_store(&contexts[driver], context);
        }
        pthread_mutex_unlock(&lock);
    }
    *context_p = context;
    return result;
}

void ze_finish(void)
{
    ze_context_handle_t context;
    int i;

    for (i = 0; i < ze_num_drivers(); ++i) {
        context = atomic_exchange(&contexts[i], NULL);
        if (context != NULL) {
            (void)ze.zeContextDestroy(context);
        }
    }
}

int ze_retain(int device, void **context_p)
{
    ze_context_handle_t context;
    ze_result_t result = ze_context(devices[device].driver, &context);

    *context_p = context;
    return result;
}

/* Does nothing: all devices of a driver share the context, and ze_finish()
 * destroys it. */
void ze_release(int device, void *context)
{
}

/* Does nothing: in Level Zero, threads have no current context. */
int ze_enter(void *context, accel_scope_t *scope)
{
    return UCS_OK;
}

void ze_leave(const accel_scope_t *scope)
{
}

/* -------------------------------------------------------------- results -- */

static const struct {
    ze_result_t result;
    ucs_status_t status;
    const char *name;
} results[] = {
#define RESULT(_name, _status) \
    { \
        ZE_RESULT_##_name, _status, "ZE_RESULT_" #_name \
    }
    RESULT(NOT_READY, UCS_INPROGRESS),
    RESULT(ERROR_DEVICE_LOST, UCS_ERR_IO_ERROR),
    RESULT(ERROR_OUT_OF_HOST_MEMORY, UCS_ERR_NO_MEMORY),
    RESULT(ERROR_OUT_OF_DEVICE_MEMORY, UCS_ERR_NO_MEMORY),
    RESULT(ERROR_DEVICE_REQUIRES_RESET, UCS_ERR_IO_ERROR),
    RESULT(ERROR_DEVICE_IN_LOW_POWER_STATE, UCS_ERR_IO_ERROR),
    RESULT(ERROR_INSUFFICIENT_PERMISSIONS, UCS_ERR_NO_DEVICE),
    RESULT(ERROR_NOT_AVAILABLE, UCS_ERR_NO_DEVICE),
    RESULT(ERROR_DEPENDENCY_UNAVAILABLE, UCS_ERR_NO_DEVICE),
    RESULT(ERROR_UNINITIALIZED, UCS_ERR_NO_DEVICE),
    RESULT(ERROR_UNSUPPORTED_VERSION, UCS_ERR_UNSUPPORTED),
    RESULT(ERROR_UNSUPPORTED_FEATURE, UCS_ERR_UNSUPPORTED),
    RESULT(ERROR_INVALID_ARGUMENT, UCS_ERR_INVALID_ADDR),
    RESULT(ERROR_UNSUPPORTED_SIZE, UCS_ERR_INVALID_PARAM),
    RESULT(ERROR_UNKNOWN, UCS_ERR_IO_ERROR)
#undef RESULT
};

ucs_status_t ze_status(int result)
{
    size_t i;

    for (i = 0; i < sizeof(results) / sizeof(results[0]); ++i) {
        if ((int)results[i].result == result) {
            return results[i].status;
        }
    }
    return UCS_ERR_IO_ERROR;
}

const char *ze_error(int result)
{
    size_t i;

    for (i = 0; i < sizeof(results) / sizeof(results[0]); ++i) {
        if ((int)results[i].result == result) {
            return results[i].name;
        }
    }
    return "an error of Level Zero without a name here";
}
