/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, their pools, and fences. */
#include "face.h"

#include <stdlib.h>
#include <time.h>

/* -------------------------------------------------------------- waiting -- */

emu_event_t *face_event_new(void)
{
    emu_event_t *event = calloc(1, sizeof(*event));

    if (event != NULL) {
        event->refs = 1;
    }
    return event;
}

/* Returns the error because of which the event, if it is pending, is never
 * signalled; ZE_RESULT_SUCCESS: none. */
static ze_result_t error_of(const emu_event_t *event)
{
    return ((event->context == NULL) || !(event->reached < event->recorded)) ?
               ZE_RESULT_SUCCESS :
               (ze_result_t)event->context->error;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000ul + (uint64_t)time.tv_nsec;
}

ze_result_t face_wait(emu_event_t *event, uint64_t value, uint64_t timeout)
{
    const struct timespec pause = {.tv_nsec = 20000};
    const uint64_t start        = now();
    ze_result_t result          = ZE_RESULT_SUCCESS;

    ++event->refs;
    while ((event->reached < value) && (result == ZE_RESULT_SUCCESS)) {
        result = error_of(event);
        if ((result == ZE_RESULT_SUCCESS) && (now() - start >= timeout)) {
            result = ZE_RESULT_NOT_READY;
        }
        if (result == ZE_RESULT_SUCCESS) {
            pthread_mutex_unlock(&emu_lock);
            nanosleep(&pause, NULL);
            pthread_mutex_lock(&emu_lock);
        }
    }
    emu_event_drop(event);
    return result;
}

/* ---------------------------------------------------------------- pools -- */

ze_result_t face_zeEventPoolCreate(ze_context_handle_t handle,
                                   const ze_event_pool_desc_t *desc,
                                   uint32_t num_devices,
                                   ze_device_handle_t *devices,
                                   ze_event_pool_handle_t *pool_p)
{
    face_context_t *context;
    face_pool_t *pool;

    ENTER(zeEventPoolCreate);
    FIND(context, handle, FACE_CONTEXT);
    if (desc->count == 0) {
        LEAVE(ZE_RESULT_ERROR_INVALID_SIZE);
    }
    pool = face_object_new(FACE_POOL, sizeof(*pool));
    if (pool == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    pool->used = calloc(desc->count, 1);
    if (pool->used == NULL) {
        face_object_free(pool);
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    pool->context         = context;
    pool->count           = desc->count;
    pool->is_host_visible = desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    *pool_p               = (ze_event_pool_handle_t)pool;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeEventPoolDestroy(ze_event_pool_handle_t handle)
{
    face_pool_t *pool;
    uint32_t i;

    ENTER(zeEventPoolDestroy);
    FIND(pool, handle, FACE_POOL);
    for (i = 0; i < pool->count; ++i) {
        if (pool->used[i]) {
            emu_mistake("an event pool is destroyed before its events");
            LEAVE(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        }
    }
    free(pool->used);
    face_object_free(pool);
    LEAVE(ZE_RESULT_SUCCESS);
}

/* --------------------------------------------------------------- events -- */

ze_result_t face_zeEventCreate(ze_event_pool_handle_t handle,
                               const ze_event_desc_t *desc,
                               ze_event_handle_t *event_p)
{
    face_pool_t *pool;
    face_event_t *event;

    ENTER(zeEventCreate);
    FIND(pool, handle, FACE_POOL);
    if ((desc->index >= pool->count) || pool->used[desc->index]) {
        emu_mistake("event %u of a pool of %u is not free", desc->index,
                    pool->count);
        LEAVE(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    event = face_object_new(FACE_EVENT, sizeof(*event));
    if (event == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    event->event = face_event_new();
    if (event->event == NULL) {
        face_object_free(event);
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    event->pool             = pool;
    event->index            = desc->index;
    pool->used[desc->index] = 1;
    *event_p                = (ze_event_handle_t)event;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeEventDestroy(ze_event_handle_t handle)
{
    face_event_t *event;

    ENTER(zeEventDestroy);
    FIND(event, handle, FACE_EVENT);
    if (face_is_pending(event->event)) {
        emu_mistake("an event is destroyed that a command will signal");
    }
    event->pool->used[event->index] = 0;
    emu_event_drop(event->event);
    face_object_free(event);
    LEAVE(ZE_RESULT_SUCCESS);
}

/* Reports a mistake if the host uses an event of a pool that was not created as
 * visible to the host. */
static void check_visible(const face_event_t *event)
{
    if (!event->pool->is_host_visible) {
        emu_mistake("the host uses an event whose pool is not visible to it");
    }
}

ze_result_t face_zeEventHostSignal(ze_event_handle_t handle)
{
    face_event_t *event;

    ENTER(zeEventHostSignal);
    FIND(event, handle, FACE_EVENT);
    check_visible(event);
    if (face_is_pending(event->event)) {
        emu_mistake("the host signals an event that a command will signal");
    }
    event->event->reached = ++event->event->recorded;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeEventHostReset(ze_event_handle_t handle)
{
    face_event_t *event;

    ENTER(zeEventHostReset);
    FIND(event, handle, FACE_EVENT);
    check_visible(event);
    if (face_is_pending(event->event)) {
        emu_mistake("an event is reset that a command will signal");
    }
    event->reset_at = event->event->reached;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeEventHostSynchronize(ze_event_handle_t handle,
                                        uint64_t timeout)
{
    face_event_t *event;

    ENTER(zeEventHostSynchronize);
    FIND(event, handle, FACE_EVENT);
    check_visible(event);
    LEAVE(face_wait(event->event, event->reset_at + 1, timeout));
}

ze_result_t face_zeEventQueryStatus(ze_event_handle_t handle)
{
    face_event_t *event;

    ENTER(zeEventQueryStatus);
    FIND(event, handle, FACE_EVENT);
    check_visible(event);
    LEAVE(face_wait(event->event, event->reset_at + 1, 0));
}

/* --------------------------------------------------------------- fences -- */

ze_result_t face_zeFenceCreate(ze_command_queue_handle_t handle,
                               const ze_fence_desc_t *desc,
                               ze_fence_handle_t *fence_p)
{
    face_object_t *queue;
    face_fence_t *fence;

    ENTER(zeFenceCreate);
    FIND(queue, handle, FACE_QUEUE);
    fence = face_object_new(FACE_FENCE, sizeof(*fence));
    if (fence == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    fence->event = face_event_new();
    if (fence->event == NULL) {
        face_object_free(fence);
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    if (desc->flags & ZE_FENCE_FLAG_SIGNALED) {
        fence->event->reached = fence->event->recorded = 1;
    }
    *fence_p = (ze_fence_handle_t)fence;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeFenceDestroy(ze_fence_handle_t handle)
{
    face_fence_t *fence;

    ENTER(zeFenceDestroy);
    FIND(fence, handle, FACE_FENCE);
    if (face_is_pending(fence->event)) {
        emu_mistake("a fence is destroyed that a command queue will signal");
    }
    emu_event_drop(fence->event);
    face_object_free(fence);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeFenceHostSynchronize(ze_fence_handle_t handle,
                                        uint64_t timeout)
{
    face_fence_t *fence;

    ENTER(zeFenceHostSynchronize);
    FIND(fence, handle, FACE_FENCE);
    LEAVE(face_wait(fence->event, 1, timeout));
}

ze_result_t face_zeFenceQueryStatus(ze_fence_handle_t handle)
{
    face_fence_t *fence;

    ENTER(zeFenceQueryStatus);
    FIND(fence, handle, FACE_FENCE);
    LEAVE(face_wait(fence->event, 1, 0));
}

ze_result_t face_zeFenceReset(ze_fence_handle_t handle)
{
    face_fence_t *fence;

    ENTER(zeFenceReset);
    FIND(fence, handle, FACE_FENCE);
    if (face_is_pending(fence->event)) {
        emu_mistake("a fence is reset that a command queue will signal");
    }
    fence->event->recorded = fence->event->reached = 0;
    LEAVE(ZE_RESULT_SUCCESS);
}
