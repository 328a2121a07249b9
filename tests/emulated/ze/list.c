/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command queues and command lists. An immediate command list has an engine
 * (engine.h) of its own; a regular command list stores its commands, and the
 * engine of a queue executes them.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    face_object_t super;
    face_context_t *context;
    face_device_t *device;
    face_engine_t engine;
} queue_t;

typedef struct {
    face_object_t super;
    face_context_t *context;
    face_device_t *device;
    int is_immediate;
    int is_synchronous; /* Calls that append a command wait for it */
    int is_closed;
    face_engine_t engine;     /* Only of an immediate list */
    face_command_t *commands; /* Commands of a regular list */
    size_t num_commands;
} list_t;


/* Checks the description of a queue. If the device has no such queue, reports a
 * mistake. */
static ze_result_t check_queue(const ze_command_queue_desc_t *desc)
{
    if (desc == NULL) {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if ((desc->ordinal >= FACE_NUM_GROUPS) || (desc->index > 0)) {
        emu_mistake("the device has no command queue %u in a group %u",
                    desc->index, desc->ordinal);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t face_zeCommandQueueCreate(ze_context_handle_t context_handle,
                                      ze_device_handle_t device_handle,
                                      const ze_command_queue_desc_t *desc,
                                      ze_command_queue_handle_t *queue_p)
{
    face_context_t *context;
    face_device_t *device;
    ze_result_t result;
    queue_t *queue;

    ENTER(zeCommandQueueCreate);
    FIND(context, context_handle, FACE_CONTEXT);
    FIND(device, device_handle, FACE_DEVICE);
    result = check_queue(desc);
    if (result != ZE_RESULT_SUCCESS) {
        LEAVE(result);
    }
    queue = face_object_new(FACE_QUEUE, sizeof(*queue));
    if (queue == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    result = face_engine_open(&queue->engine, context, device);
    if (result != ZE_RESULT_SUCCESS) {
        face_object_free(queue);
        LEAVE(result);
    }
    queue->context = context;
    queue->device  = device;
    *queue_p       = (ze_command_queue_handle_t)queue;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeCommandQueueDestroy(ze_command_queue_handle_t handle)
{
    queue_t *queue;

    ENTER(zeCommandQueueDestroy);
    FIND(queue, handle, FACE_QUEUE);
    face_engine_close(&queue->engine, "command queue");
    face_object_free(queue);
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeCommandQueueSynchronize(ze_command_queue_handle_t handle,
                                           uint64_t timeout)
{
    queue_t *queue;

    ENTER(zeCommandQueueSynchronize);
    FIND(queue, handle, FACE_QUEUE);
    LEAVE(face_engine_wait(&queue->engine, timeout));
}

/* Executes a regular list. Issues a barrier first, because the commands of a
 * list are executed after those of the lists before. */
static ze_result_t execute(queue_t *queue, const list_t *list)
{
    const face_command_t barrier = {.kind = COMMAND_BARRIER};
    ze_result_t result;
    size_t i;

    if (list->is_immediate || !list->is_closed ||
        (list->context != queue->context) || (list->device != queue->device)) {
        emu_mistake("a command list is executed that is immediate, not closed,"
                    " or of another context or device than the queue");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    result = face_engine_issue(&queue->engine, &barrier);
    for (i = 0; (i < list->num_commands) && (result == ZE_RESULT_SUCCESS);
         ++i) {
        result = face_engine_issue(&queue->engine, &list->commands[i]);
    }
    return result;
}

ze_result_t face_zeCommandQueueExecuteCommandLists(
    ze_command_queue_handle_t handle, uint32_t count,
    ze_command_list_handle_t *lists, ze_fence_handle_t fence_handle)
{
    ze_result_t result  = ZE_RESULT_SUCCESS;
    face_fence_t *fence = NULL;
    queue_t *queue;
    list_t *list;
    uint32_t i;

    ENTER(zeCommandQueueExecuteCommandLists);
    FIND(queue, handle, FACE_QUEUE);
    if (fence_handle != NULL) {
        FIND(fence, fence_handle, FACE_FENCE);
    }
    for (i = 0; (i < count) && (result == ZE_RESULT_SUCCESS); ++i) {
        FIND(list, lists[i], FACE_LIST);
        result = execute(queue, list);
    }
    if ((result == ZE_RESULT_SUCCESS) && (fence != NULL)) {
        result = face_engine_record(&queue->engine, fence->event);
    }
    LEAVE(result);
}

/* ---------------------------------------------------------------- lists -- */

ze_result_t face_zeCommandListCreate(ze_context_handle_t context_handle,
                                     ze_device_handle_t device_handle,
                                     const ze_command_list_desc_t *desc,
                                     ze_command_list_handle_t *list_p)
{
    face_context_t *context;
    face_device_t *device;
    list_t *list;

    ENTER(zeCommandListCreate);
    FIND(context, context_handle, FACE_CONTEXT);
    FIND(device, device_handle, FACE_DEVICE);
    list = face_object_new(FACE_LIST, sizeof(*list));
    if (list == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    list->context = context;
    list->device  = device;
    *list_p       = (ze_command_list_handle_t)list;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeCommandListCreateImmediate(
    ze_context_handle_t context_handle, ze_device_handle_t device_handle,
    const ze_command_queue_desc_t *desc, ze_command_list_handle_t *list_p)
{
    face_context_t *context;
    face_device_t *device;
    ze_result_t result;
    list_t *list;

    ENTER(zeCommandListCreateImmediate);
    FIND(context, context_handle, FACE_CONTEXT);
    FIND(device, device_handle, FACE_DEVICE);
    result = check_queue(desc);
    if (result != ZE_RESULT_SUCCESS) {
        LEAVE(result);
    }
    list = face_object_new(FACE_LIST, sizeof(*list));
    if (list == NULL) {
        LEAVE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    result = face_engine_open(&list->engine, context, device);
    if (result != ZE_RESULT_SUCCESS) {
        face_object_free(list);
        LEAVE(result);
    }
    list->context        = context;
    list->device         = device;
    list->is_immediate   = 1;
    list->is_synchronous = (desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    *list_p              = (ze_command_list_handle_t)list;
    LEAVE(ZE_RESULT_SUCCESS);
}

ze_result_t face_zeCommandListDestroy(ze_command_list_handle_t handle)
{
    list_t *list;

    ENTER(zeCommandListDestroy);
    FIND(list, handle, FACE_LIST);
    if (list->is_immediate) {
        face_engine_close(&list->engine, "command list");
    }
    free(list->commands);
    face_object_free(list);
    LEAVE(ZE_RESULT_SUCCESS);
}

/* Closes or reopens a regular list. With an immediate list, reports a
 * mistake. */
static ze_result_t set_closed(list_t *list, int is_closed)
{
    if (list->is_immediate) {
        emu_mistake("an immediate command list is closed or reset");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    list->is_closed = is_closed;
    return ZE_RESULT_SUCCESS;
}

ze_result_t face_zeCommandListClose(ze_command_list_handle_t handle)
{
    list_t *list;

    ENTER(zeCommandListClose);
    FIND(list, handle, FACE_LIST);
    LEAVE(set_closed(list, 1));
}

ze_result_t face_zeCommandListReset(ze_command_list_handle_t handle)
{
    list_t *list;

    ENTER(zeCommandListReset);
    FIND(list, handle, FACE_LIST);
    list->num_commands = 0;
    LEAVE(set_closed(list, 0));
}

/* ------------------------------------------------------------- commands -- */

/* Stores a command in a regular list. */
static ze_result_t keep(list_t *list, const face_command_t *command)
{
    face_command_t *commands;

    if (list->is_closed) {
        emu_mistake("a command is appended to a closed list");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    commands = realloc(list->commands,
                       (list->num_commands + 1) * sizeof(*commands));
    if (commands == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    commands[list->num_commands++] = *command;
    list->commands                 = commands;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append(list_t *list, face_command_t *command,
                          ze_event_handle_t signal, uint32_t num_waits,
                          ze_event_handle_t *waits)
{
    ze_result_t result;
    uint32_t i;

    if (num_waits > COMMAND_MAX_WAITS) {
        emu_mistake("a command waits for %u events: %d are emulated", num_waits,
                    COMMAND_MAX_WAITS);
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    for (i = 0; i < num_waits; ++i) {
        command->waits[i] = face_object(waits[i], FACE_EVENT);
        if (command->waits[i] == NULL) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    command->num_waits = num_waits;
    if (signal != NULL) {
        command->signal = face_object(signal, FACE_EVENT);
        if (command->signal == NULL) {
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
    }
    if (!list->is_immediate) {
        return keep(list, command);
    }
    result = face_engine_issue(&list->engine, command);
    return ((result == ZE_RESULT_SUCCESS) && list->is_synchronous) ?
               face_engine_wait(&list->engine, UINT64_MAX) :
               result;
}

ze_result_t face_zeCommandListAppendBarrier(ze_command_list_handle_t handle,
                                            ze_event_handle_t signal,
                                            uint32_t num_waits,
                                            ze_event_handle_t *waits)
{
    face_command_t command = {.kind = COMMAND_BARRIER};
    list_t *list;

    ENTER(zeCommandListAppendBarrier);
    FIND(list, handle, FACE_LIST);
    LEAVE(append(list, &command, signal, num_waits, waits));
}

ze_result_t face_zeCommandListAppendMemoryCopy(
    ze_command_list_handle_t handle, void *to, const void *from, size_t length,
    ze_event_handle_t signal, uint32_t num_waits, ze_event_handle_t *waits)
{
    face_command_t command = {
        .kind   = COMMAND_COPY,
        .to     = to,
        .from   = from,
        .length = length,
    };
    list_t *list;

    ENTER(zeCommandListAppendMemoryCopy);
    FIND(list, handle, FACE_LIST);
    LEAVE(append(list, &command, signal, num_waits, waits));
}

ze_result_t
face_zeCommandListAppendMemoryFill(ze_command_list_handle_t handle, void *to,
                                   const void *pattern, size_t pattern_length,
                                   size_t length, ze_event_handle_t signal,
                                   uint32_t num_waits, ze_event_handle_t *waits)
{
    face_command_t command = {
        .kind           = COMMAND_FILL,
        .to             = to,
        .length         = length,
        .pattern_length = pattern_length,
    };
    list_t *list;

    ENTER(zeCommandListAppendMemoryFill);
    FIND(list, handle, FACE_LIST);
    if ((pattern_length == 0) || (pattern_length > sizeof(command.pattern)) ||
        ((pattern_length & (pattern_length - 1)) != 0)) {
        LEAVE(ZE_RESULT_ERROR_INVALID_SIZE);
    }
    memcpy(command.pattern, pattern, pattern_length);
    LEAVE(append(list, &command, signal, num_waits, waits));
}

ze_result_t face_zeCommandListAppendSignalEvent(ze_command_list_handle_t handle,
                                                ze_event_handle_t signal)
{
    face_command_t command = {.kind = COMMAND_SIGNAL};
    list_t *list;

    ENTER(zeCommandListAppendSignalEvent);
    FIND(list, handle, FACE_LIST);
    LEAVE(append(list, &command, signal, 0, NULL));
}

ze_result_t
face_zeCommandListAppendWaitOnEvents(ze_command_list_handle_t handle,
                                     uint32_t num_waits,
                                     ze_event_handle_t *waits)
{
    face_command_t command = {.kind = COMMAND_WAIT};
    list_t *list;

    ENTER(zeCommandListAppendWaitOnEvents);
    FIND(list, handle, FACE_LIST);
    LEAVE(append(list, &command, NULL, num_waits, waits));
}
