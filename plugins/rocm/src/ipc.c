/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory between processes: handles of whole allocations.
 *
 * A process opens a handle only once for each device, because a second opening
 * has different effects in different versions of the runtime. All interfaces
 * that use the same memory share one opening (opening_t).
 */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(hipIpcMemHandle_t) == ACCEL_HANDLE_SIZE,
               "the handle fits a key");

/* Memory of another process that is open on a device. */
typedef struct opening {
    struct opening *next;  /* Next in `openings` */
    accel_process_t owner; /* The process that has exported the memory */
    uint64_t start, id; /* Address and id of the allocation in that process */
    int device;         /* Device of this process */
    void *address;      /* Address in this process */
    uint64_t number;    /* The runtime's number of the opened memory; other
                         * memory at this address has another number */
    uintptr_t serial;   /* Identifies the opening; never reused */
    unsigned uses;      /* Number of calls of rocm_open_memory() without a call
                         * of rocm_close_memory() yet */
} opening_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Protected by `lock`: all openings, and the last `serial` */
static opening_t *openings;
static uintptr_t last_serial;

int rocm_export_memory(const accel_allocation_t *allocation, accel_key_t *key)
{
    hipIpcMemHandle_t handle;
    hipError_t result;

    result = hip.hipIpcGetMemHandle(&handle,
                                    (void *)(uintptr_t)allocation->start);
    if (result == hipErrorInvalidValue) {
        (void)hip.hipGetLastError();
        return UCS_ERR_UNSUPPORTED; /* The memory is from a pool, or belongs to
                                     * another process */
    }
    if (result == hipSuccess) {
        key->kind = ROCM_KEY_HANDLE;
        memcpy(key->handle, &handle, sizeof(handle));
    }
    return result;
}

/* ------------------------------------------------------------- openings -- */

/* Stores the runtime's number of the memory at an address. */
static hipError_t number_of(void *address, uint64_t *number_p)
{
    hipError_t result;

    *number_p = 0;
    result    = hip.hipPointerGetAttribute(number_p,
                                           HIP_POINTER_ATTRIBUTE_BUFFER_ID,
                                           address);
    if (result != hipSuccess) {
        (void)hip.hipGetLastError(); /* Clear the error, so that the program
                                      * does not see it */
    }
    return result;
}

/* Returns whether the opening still exists. A reset of the device closes all
 * its openings. */
static int is_there(const opening_t *opening)
{
    uint64_t number;

    return (number_of(opening->address, &number) == hipSuccess) &&
           (number == opening->number);
}

static void remove_opening(opening_t **link)
{
    opening_t *opening = *link;

    *link = opening->next;
    free(opening);
}

/* Removes openings that do not exist any more. */
static void clean_up(void)
{
    opening_t **link = &openings;

    while (*link != NULL) {
        if (is_there(*link)) {
            link = &(*link)->next;
        } else {
            remove_opening(link);
        }
    }
}

static opening_t *find_opening(const accel_key_t *key, int device)
{
    opening_t *opening = openings;

    while ((opening != NULL) &&
           ((opening->device != device) ||
            (opening->owner.pid != key->owner.pid) ||
            (opening->owner.token != key->owner.token) ||
            (opening->start != key->start) || (opening->id != key->id))) {
        opening = opening->next;
    }
    return opening;
}

static hipError_t open_handle(const accel_key_t *key, void **address_p)
{
    hipIpcMemHandle_t handle;
    hipError_t result;

    memcpy(&handle, key->handle, sizeof(handle));
    result = hip.hipIpcOpenMemHandle(address_p, handle,
                                     rocm_is_version_6() ?
                                         HIP_IPC_PEER_ACCESS :
                                         HIP_5_IPC_PEER_ACCESS);
    if ((result == hipErrorInvalidValue) && !rocm_is_version_6()) {
        /* The value of the flag has changed within version 5. */
        result = hip.hipIpcOpenMemHandle(address_p, handle,
                                         HIP_IPC_PEER_ACCESS);
    }
    return result;
}

/* Opens the memory of a key. Called with the lock held. */
static int new_opening(const accel_key_t *key, int device,
                       opening_t **opening_p)
{
    opening_t *opening = malloc(sizeof(*opening));
    hipError_t result;

    if (opening == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    *opening = (opening_t){
        .next   = openings,
        .owner  = key->owner,
        .start  = key->start,
        .id     = key->id,
        .device = device,
        .serial = ++last_serial,
    };
    result = open_handle(key, &opening->address);
    if (result != hipSuccess) {
        (void)hip.hipGetLastError();
        free(opening);
        return result;
    }
    result = number_of(opening->address, &opening->number);
    if (result != hipSuccess) {
        (void)hip.hipIpcCloseMemHandle(opening->address);
        free(opening);
        return result;
    }
    openings   = opening;
    *opening_p = opening;
    return UCS_OK;
}

int rocm_open_memory(const accel_key_t *key, int fd, accel_opened_t *opened)
{
    int result = UCS_OK;
    opening_t *opening;

    pthread_mutex_lock(&lock);
    clean_up();
    opening = find_opening(key, opened->device);
    if (opening == NULL) {
        result = new_opening(key, opened->device, &opening);
    }
    if (result == UCS_OK) {
        ++opening->uses;
        opened->address = (uintptr_t)opening->address;
        opened->details = (void *)opening->serial;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Does nothing if the opening is not in the list: clean_up() has removed it,
 * because a reset of the device has closed it. */
void rocm_close_memory(const accel_key_t *key, const accel_opened_t *opened)
{
    opening_t **link = &openings;

    pthread_mutex_lock(&lock);
    while ((*link != NULL) && ((*link)->serial != (uintptr_t)opened->details)) {
        link = &(*link)->next;
    }
    if ((*link != NULL) && (--(*link)->uses == 0)) {
        if (is_there(*link)) {
            (void)hip.hipIpcCloseMemHandle((*link)->address);
        }
        remove_opening(link);
    }
    pthread_mutex_unlock(&lock);
}
