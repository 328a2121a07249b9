/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues (accel_queue_t): immediate command lists. The commands of a list are
 * not ordered, so a barrier precedes the command that writes the flag.
 */
#include "driver.h"

#include <stdlib.h>

enum { MAX_GROUPS = 16 };

struct accel_queue {
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    uint32_t *flag;     /* Word that ze_queue_signal() writes */
    int is_unsignalled; /* The last call of ze_queue_signal() has failed */
    /* Event that ze_queue_close() waits for: all commands have completed. The
     * pool contains only this event */
    ze_event_pool_handle_t pool;
    ze_event_handle_t end;
};

/* Returns the index of a group of hardware queues that can copy and can fill 4
 * bytes, which writes the flag; 0 if no group is known to do both. A group that
 * cannot compute is preferred, because it does not delay the program's
 * kernels. */
static uint32_t choose_group(ze_device_handle_t device)
{
    ze_command_queue_group_properties_t groups[MAX_GROUPS] = {0};
    uint32_t count                                         = MAX_GROUPS;
    uint32_t group                                         = 0;
    uint32_t i;

    for (i = 0; i < MAX_GROUPS; ++i) {
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    }
    if (ze.zeDeviceGetCommandQueueGroupProperties(device, &count, groups) !=
        ZE_RESULT_SUCCESS) {
        return 0;
    }
    for (i = 0; i < count; ++i) {
        if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
            (groups[i].maxMemoryFillPatternSize >= sizeof(uint32_t))) {
            group = i;
            if (!(groups[i].flags &
                  ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)) {
                break;
            }
        }
    }
    return group;
}

static ze_result_t create_event(ze_context_handle_t context,
                                accel_queue_t *queue)
{
    const ze_event_pool_desc_t pool_desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        .count = 1,
    };
    const ze_event_desc_t desc = {
        .stype  = ZE_STRUCTURE_TYPE_EVENT_DESC,
        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
    };
    ze_result_t result;

    result = ze.zeEventPoolCreate(context, &pool_desc, 1, &queue->device,
                                  &queue->pool);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeEventCreate(queue->pool, &desc, &queue->end);
        if (result != ZE_RESULT_SUCCESS) {
            (void)ze.zeEventPoolDestroy(queue->pool);
        }
    }
    return result;
}

static void destroy_event(accel_queue_t *queue)
{
    (void)ze.zeEventDestroy(queue->end);
    (void)ze.zeEventPoolDestroy(queue->pool);
}

int ze_queue_open(int device, void *context, void *memory, size_t length,
                  uint32_t *flag, accel_queue_t **queue_p)
{
    accel_queue_t *queue         = calloc(1, sizeof(*queue));
    ze_command_queue_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode  = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    };
    ze_result_t result;

    if (queue == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    queue->device = ze_device(device)->handle;
    queue->flag   = flag;
    desc.ordinal  = choose_group(queue->device);
    result        = create_event(context, queue);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeCommandListCreateImmediate(context, queue->device, &desc,
                                                 &queue->list);
        if (result != ZE_RESULT_SUCCESS) {
            destroy_event(queue);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        free(queue);
        return result;
    }
    *queue_p = queue;
    return UCS_OK;
}

void ze_queue_close(accel_queue_t *queue, int is_failed)
{
    if (!is_failed &&
        (ze.zeCommandListAppendBarrier(queue->list, queue->end, 0, NULL) ==
         ZE_RESULT_SUCCESS)) {
        (void)ze.zeEventHostSynchronize(queue->end, UINT64_MAX);
    }
    (void)ze.zeCommandListDestroy(queue->list);
    destroy_event(queue);
    free(queue);
}

int ze_queue_enter(accel_queue_t *queue, accel_scope_t *scope)
{
    return UCS_OK;
}

int ze_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                  size_t length)
{
    return ze.zeCommandListAppendMemoryCopy(queue->list, (void *)(uintptr_t)to,
                                            (void *)(uintptr_t)from, length,
                                            NULL, 0, NULL);
}

/* The barrier makes the device write the flag after all previous commands,
 * including the previous write of the flag. */
int ze_queue_signal(accel_queue_t *queue, uint32_t value)
{
    ze_result_t result;

    result = ze.zeCommandListAppendBarrier(queue->list, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS) {
        result = ze.zeCommandListAppendMemoryFill(queue->list, queue->flag,
                                                  &value, sizeof(value),
                                                  sizeof(value), NULL, 0, NULL);
    }
    queue->is_unsignalled = (result != ZE_RESULT_SUCCESS);
    return result;
}

/* Checks only for a failure of the device. Without a failure returns
 * ACCEL_BUSY, even if all commands are complete, because the flag shows this.
 * After a failed ze_queue_signal() returns UCS_OK, so that the caller signals
 * again. */
int ze_queue_query(accel_queue_t *queue)
{
    ze_result_t result = ze.zeDeviceGetStatus(queue->device);

    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    return queue->is_unsignalled ? UCS_OK : ACCEL_BUSY;
}
