/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver: its initialization, its list of objects, its devices and their
 * sub-devices. */
#include "face.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SUBDEVICES = 3,
    NO_DOMAIN      = 0xfff0, /* PCI domain that no machine has */
};

static const char *const names[] = {
#define FACE_CALL(_name, _params) #_name,
#include "calls.h"
#undef FACE_CALL
};

face_object_t *face_objects;

static int is_initialized;
static unsigned num_devices, num_subdevices;
static face_object_t driver = {.kind = FACE_DRIVER};
/* Devices, each followed by its sub-devices */
static face_device_t devices[EMU_MAX_DEVICES];

static void __attribute__((constructor)) load(void)
{
    unsigned i, j;
    face_device_t *device = devices;

    emu_check_init(names, NUM_CALLS);
    num_subdevices = (unsigned)emu_variable("EMULATED_SUBDEVICES", 2,
                                            MAX_SUBDEVICES);
    num_devices    = (unsigned)emu_variable("EMULATED_DEVICES", 2,
                                            EMU_MAX_DEVICES /
                                                (1 + num_subdevices));
    for (i = 0; i < num_devices; ++i) {
        face_device_t *root = device;

        for (j = 0; j <= num_subdevices; ++j) {
            device->super.kind = FACE_DEVICE;
            device->number     = (int)(device - devices);
            device->index      = (int)((j == 0) ? i : j - 1);
            device->root       = (j == 0) ? NULL : root;
            ++device;
        }
    }
}

/* --------------------------------------------------------------- objects -- */

void *face_object_new(face_kind_t kind, size_t size)
{
    face_object_t *object = calloc(1, size);

    if (object != NULL) {
        object->kind = kind;
        object->next = face_objects;
        face_objects = object;
    }
    return object;
}

void face_object_free(void *object)
{
    face_object_t **link = &face_objects;

    while (*link != object) {
        link = &(*link)->next;
    }
    *link = (*link)->next;
    free(object);
}

static const char *const kinds[] = {
    "driver",       "device", "context",    "command queue",
    "command list", "fence",  "event pool", "event",
};

void *face_object(const void *handle, face_kind_t kind)
{
    const face_device_t *device = handle;
    face_object_t *object;

    if (handle == NULL) {
        return NULL;
    }
    if ((kind == FACE_DRIVER) && (handle == &driver)) {
        return &driver;
    }
    if ((kind == FACE_DEVICE) && (device >= devices) &&
        (device < devices + num_devices * (1 + num_subdevices))) {
        return &devices[device - devices];
    }
    for (object = face_objects; object != NULL; object = object->next) {
        if ((object == handle) && (object->kind == kind)) {
            return object;
        }
    }
    emu_mistake("%p is no %s", handle, kinds[kind]);
    return NULL;
}

void emu_face_report_leaks(void)
{
    const face_object_t *object;
    const emu_range_t *range;

    for (object = face_objects; object != NULL; object = object->next) {
        emu_mistake("a %s was not destroyed", kinds[object->kind]);
    }
    for (range = emu_ranges; range != NULL; range = range->next) {
        emu_mistake("%zu bytes at %#lx were not %s", range->length,
                    (unsigned long)range->start,
                    (range->flags & EMU_RANGE_IMPORTED) ? "closed" : "freed");
    }
}

/* ----------------------------------------------------------------- calls -- */

ze_result_t face_begin(enum face_call call)
{
    int fault = emu_enter(call);

    if (fault != 0) {
        return (ze_result_t)fault;
    }
    if (emu_is_forked()) {
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    pthread_mutex_lock(&emu_lock);
    if (!is_initialized) {
        pthread_mutex_unlock(&emu_lock);
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t face_end(ze_result_t result)
{
    pthread_mutex_unlock(&emu_lock);
    return result;
}

ze_result_t face_zeInit(ze_init_flags_t flags)
{
    int fault = emu_enter(CALL_zeInit);

    if (fault != 0) {
        return (ze_result_t)fault;
    }
    if (flags &
        ~(ze_init_flags_t)(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    }
    if (emu_is_forked()) {
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    emu_check_start();
    pthread_mutex_lock(&emu_lock);
    is_initialized = 1;
    return face_end(ZE_RESULT_SUCCESS);
}

/* --------------------------------------------------- driver and devices -- */

/* Sets *count as all calls do that return lists: 0 means that the caller asks
 * for the number of elements; a count that is too large is reduced to that
 * number. */
static void fill(uint32_t *count, uint32_t available)
{
    if ((*count == 0) || (*count > available)) {
        *count = available;
    }
}

ze_result_t face_zeDriverGet(uint32_t *count, ze_driver_handle_t *handles)
{
    ENTER(zeDriverGet);
    if ((*count > 0) && (handles != NULL)) {
        handles[0] = (ze_driver_handle_t)&driver;
    }
    fill(count, 1);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeDriverGetApiVersion(ze_driver_handle_t handle,
                                       ze_api_version_t *version)
{
    face_object_t *object;

    ENTER(zeDriverGetApiVersion);
    FIND(object, handle, FACE_DRIVER);
    *version = ZE_API_VERSION_CURRENT;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeDriverGetProperties(ze_driver_handle_t handle,
                                       ze_driver_properties_t *properties)
{
    face_object_t *object;

    ENTER(zeDriverGetProperties);
    FIND(object, handle, FACE_DRIVER);
    memset(&properties->uuid, 0xe0, sizeof(properties->uuid));
    properties->driverVersion = 1;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t
face_zeDriverGetIpcProperties(ze_driver_handle_t handle,
                              ze_driver_ipc_properties_t *properties)
{
    face_object_t *object;

    ENTER(zeDriverGetIpcProperties);
    FIND(object, handle, FACE_DRIVER);
    properties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_device_handle_t face_device_handle(int number)
{
    return (ze_device_handle_t)&devices[number];
}

ze_result_t face_zeDeviceGet(ze_driver_handle_t handle, uint32_t *count,
                             ze_device_handle_t *handles)
{
    face_object_t *object;
    uint32_t i;

    ENTER(zeDeviceGet);
    FIND(object, handle, FACE_DRIVER);
    for (i = 0; (i < *count) && (i < num_devices) && (handles != NULL); ++i) {
        handles[i] = face_device_handle((int)(i * (1 + num_subdevices)));
    }
    fill(count, num_devices);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeDeviceGetSubDevices(ze_device_handle_t handle,
                                       uint32_t *count,
                                       ze_device_handle_t *handles)
{
    face_device_t *device;
    uint32_t i, available;

    ENTER(zeDeviceGetSubDevices);
    FIND(device, handle, FACE_DEVICE);
    available = (device->root == NULL) ? num_subdevices : 0;
    for (i = 0; (i < *count) && (i < available) && (handles != NULL); ++i) {
        handles[i] = face_device_handle(device->number + 1 + (int)i);
    }
    fill(count, available);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeDeviceGetProperties(ze_device_handle_t handle,
                                       ze_device_properties_t *properties)
{
    face_device_t *device;

    ENTER(zeDeviceGetProperties);
    FIND(device, handle, FACE_DEVICE);
    properties->type            = ZE_DEVICE_TYPE_GPU;
    properties->vendorId        = 0x8086;
    properties->flags           = 0;
    properties->subdeviceId     = 0;
    properties->maxMemAllocSize = emu_variable("EMULATED_MEMORY", 1ul << 30,
                                               1ul << 40);
    if (device->root != NULL) {
        properties->flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
        properties->subdeviceId = (uint32_t)device->index;
    }
    memset(&properties->uuid, 0, sizeof(properties->uuid));
    properties->uuid.id[0] = (uint8_t)(1 + device->number);
    snprintf(properties->name, sizeof(properties->name), "emulated %d",
             device->number);
    LEAVE(ZE_RESULT_SUCCESS);
}

/* A sub-device has the PCI address of its device. */
ze_result_t face_zeDevicePciGetPropertiesExt(ze_device_handle_t handle,
                                             ze_pci_ext_properties_t *pci)
{
    face_device_t *device;
    emu_pci_t address;

    ENTER(zeDevicePciGetPropertiesExt);
    FIND(device, handle, FACE_DEVICE);
    if (device->root != NULL) {
        device = device->root;
    }
    address      = emu_pci((unsigned)device->index, NO_DOMAIN);
    pci->address = (ze_pci_address_ext_t){
        .domain = address.domain,
        .bus    = address.bus,
        .device = address.slot,
    };
    LEAVE(ZE_RESULT_SUCCESS);
}

/* Describes two groups of queues, as data center devices have: one for all
 * commands, and one for copies only. */
ze_result_t face_zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t handle, uint32_t *count,
    ze_command_queue_group_properties_t *groups)
{
    static const ze_command_queue_group_property_flags_t flags[] = {
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
            ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
        ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
    };
    face_device_t *device;
    uint32_t i;

    ENTER(zeDeviceGetCommandQueueGroupProperties);
    FIND(device, handle, FACE_DEVICE);
    for (i = 0; (i < *count) && (i < FACE_NUM_GROUPS) && (groups != NULL);
         ++i) {
        groups[i].flags                    = flags[i];
        groups[i].maxMemoryFillPatternSize = 16;
        groups[i].numQueues                = 1;
    }
    fill(count, FACE_NUM_GROUPS);
    LEAVE(ZE_RESULT_SUCCESS);
}

/* See face.h. A device with a failed context has failed as well. */
ze_result_t face_device_status(int number)
{
    const emu_context_t *context;
    int error = emu_lost(number);

    for (context = emu_contexts; (context != NULL) && (error == 0);
         context = context->next) {
        if (context->device == number) {
            error = context->error;
        }
    }
    return (ze_result_t)error;
}

ze_result_t face_zeDeviceGetStatus(ze_device_handle_t handle)
{
    face_device_t *device;

    ENTER(zeDeviceGetStatus);
    FIND(device, handle, FACE_DEVICE);
    LEAVE(face_device_status(device->number));
}
