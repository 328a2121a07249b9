/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the emulated Level Zero driver. The
 * loader gets the driver's functions from tables (tables.c). All functions have
 * the prefix face_, because the loader itself exports the names without it.
 *
 * Each function of the interface (a "call") except zeInit() begins with ENTER,
 * which counts the call, returns an injected error, and takes the lock
 * emu_lock. It ends with LEAVE. Handles are pointers to objects. A handle is
 * searched among all objects before it is used.
 */
#ifndef FACE_ZE_H
#define FACE_ZE_H

#include "../core/emu.h"

#include <level_zero/ze_api.h>

enum face_call {
#define FACE_CALL(_name, _params) CALL_##_name,
#include "calls.h"
#undef FACE_CALL
    NUM_CALLS,
};

#define FACE_CALL(_name, _params) ze_result_t face_##_name _params;
#include "calls.h"
#undef FACE_CALL

/* --------------------------------------------------------------- objects -- */

typedef enum {
    FACE_DRIVER,
    FACE_DEVICE,
    FACE_CONTEXT,
    FACE_QUEUE,
    FACE_LIST,
    FACE_FENCE,
    FACE_POOL,
    FACE_EVENT,
} face_kind_t;

typedef struct face_object {
    struct face_object *next;
    face_kind_t kind;
} face_object_t;

/** Groups of command queues of a device. */
enum { FACE_NUM_GROUPS = 2 };

/** A device or a sub-device. */
typedef struct face_device {
    face_object_t super;
    int number; /**< Its number among all devices and sub-devices */
    /** Index among the devices, or among the sub-devices of a device */
    int index;
    /** The device of a sub-device; NULL for a device */
    struct face_device *root;
} face_device_t;

typedef struct face_context {
    face_object_t super;
    emu_context_t devices[EMU_MAX_DEVICES]; /**< By face_device_t.number */
} face_context_t;

typedef struct face_pool {
    face_object_t super;
    face_context_t *context;
    uint32_t count; /**< Number of events that the pool can have */
    int is_host_visible;
    unsigned char *used; /**< `count` flags; 1: the event with this index
                          * exists */
} face_pool_t;

/** An event of Level Zero, which is signalled or not. It is signalled if
 * event->reached is greater than `reset_at`. */
typedef struct face_event {
    face_object_t super;
    face_pool_t *pool;
    uint32_t index; /**< Index in the pool */
    emu_event_t *event;
    uint64_t reset_at; /**< event->reached at the last reset */
} face_event_t;

typedef struct face_fence {
    face_object_t super;
    emu_event_t *event;
} face_fence_t;

/** Adds a zeroed object; NULL: out of memory. */
void *face_object_new(face_kind_t kind, size_t size);
void face_object_free(void *object);
/* Finds the object of a handle. Returns NULL if there is no such object of this
 * kind; unless the handle is NULL, this is reported as a mistake. */
void *face_object(const void *handle, face_kind_t kind);
extern face_object_t *face_objects; /**< All except driver and devices */

/* ----------------------------------------------------------------- calls -- */

/** Starts a call: takes the lock, or returns an error. */
ze_result_t face_begin(enum face_call call);
ze_result_t face_end(ze_result_t result);

#define ENTER(_name) \
    do { \
        ze_result_t _entered = face_begin(CALL_##_name); \
        if (_entered != ZE_RESULT_SUCCESS) { \
            return _entered; \
        } \
    } while (0)

#define LEAVE(_result) return face_end(_result)

/** Looks up the object of a handle, or ends the call with an error. */
#define FIND(_object, _handle, _kind) \
    do { \
        (_object) = face_object((_handle), (_kind)); \
        if ((_object) == NULL) { \
            LEAVE(((_handle) == NULL) ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE : \
                                        ZE_RESULT_ERROR_INVALID_ARGUMENT); \
        } \
    } while (0)

/** Returns ZE_RESULT_SUCCESS, or the error of a device that has failed. */
ze_result_t face_device_status(int number);

/** Returns the handle of the device with this number. */
ze_device_handle_t face_device_handle(int number);

/** Waits until event->reached is at least `value`. Releases the lock during the
 * wait. `timeout` in nanoseconds; UINT64_MAX: no limit. After the timeout,
 * returns ZE_RESULT_NOT_READY. */
ze_result_t face_wait(emu_event_t *event, uint64_t value, uint64_t timeout);

/** Creates an event of the emulated device; NULL: out of memory. */
emu_event_t *face_event_new(void);

/** Returns whether an operation that was issued will signal the event. */
static inline int face_is_pending(const emu_event_t *event)
{
    return (event->reached < event->recorded) &&
           ((event->context == NULL) || (event->context->error == 0));
}

/** Returns whether an operation that has not ended uses the range. */
int face_is_in_use(const emu_range_t *range);

#endif
