/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues (accel_queue_t). Each queue uses its own stream, which does not wait
 * for the program's default stream.
 *
 * The memory of a queue is allocated from the heap and registered with the
 * runtime. A reset of the device (hipDeviceReset()) ends both the registration
 * and the stream. The number of the registration shows whether they still
 * exist.
 */
#include "driver.h"

#include <stdlib.h>

struct accel_queue {
    void *context;
    uint64_t id; /* Number of the registration of `memory` */
    hipStream_t stream;
    void *flag; /* Device address of the word that rocm_queue_signal() writes */
    void *memory; /* From rocm_staging_new() */
};

void *rocm_staging_new(int device, size_t length)
{
    const size_t alignment = 65536;
    void *memory;

    return (posix_memalign(&memory, alignment, length) == 0) ? memory : NULL;
}

void rocm_staging_free(void *memory)
{
    free(memory);
}

/* Stores the number of the registration of the queue's memory. */
static hipError_t identity(const accel_queue_t *queue, uint64_t *id)
{
    *id = 0;
    return hip.hipPointerGetAttribute(id, HIP_POINTER_ATTRIBUTE_BUFFER_ID,
                                      queue->memory);
}

static int check_registration(const accel_queue_t *queue)
{
    uint64_t id;
    hipError_t result = identity(queue, &id);

    if (result == hipErrorInvalidValue) {
        (void)hip.hipGetLastError();
        return ACCEL_RESET;
    }
    if (result != hipSuccess) {
        return result;
    }
    return (id == queue->id) ? UCS_OK : ACCEL_RESET;
}

int rocm_queue_enter(accel_queue_t *queue, accel_scope_t *scope)
{
    int result = rocm_enter(queue->context, scope);

    if (result == hipSuccess) {
        result = check_registration(queue);
        if (result != UCS_OK) {
            rocm_leave(scope);
        }
    }
    return result;
}

static hipError_t open_stream(accel_queue_t *queue, size_t length, void *flag)
{
    hipError_t result;

    result = hip.hipHostRegister(queue->memory, length,
                                 hipHostRegisterPortable |
                                     hipHostRegisterMapped);
    if (result != hipSuccess) {
        return result;
    }
    result = identity(queue, &queue->id);
    if (result == hipSuccess) {
        result = hip.hipHostGetDevicePointer(&queue->flag, flag, 0);
    }
    if (result == hipSuccess) {
        result = hip.hipStreamCreateWithFlags(&queue->stream,
                                              hipStreamNonBlocking);
    }
    if (result != hipSuccess) {
        (void)hip.hipHostUnregister(queue->memory);
    }
    return result;
}

int rocm_queue_open(int device, void *context, void *memory, size_t length,
                    uint32_t *flag, accel_queue_t **queue_p)
{
    accel_queue_t *queue = calloc(1, sizeof(*queue));
    hipError_t result;

    if (queue == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    queue->context = context;
    queue->memory  = memory;
    result         = open_stream(queue, length, flag);
    if (result != hipSuccess) {
        free(queue);
        return result;
    }
    *queue_p = queue;
    return UCS_OK;
}

/* After a reset, the queue's stream and registration do not exist any more, and
 * only the structure is freed. Otherwise the stream is destroyed, even if it
 * has failed. */
void rocm_queue_close(accel_queue_t *queue, int is_failed)
{
    accel_scope_t scope;

    if (rocm_queue_enter(queue, &scope) == UCS_OK) {
        if (!is_failed) {
            (void)hip.hipStreamSynchronize(queue->stream);
        }
        (void)hip.hipStreamDestroy(queue->stream);
        (void)hip.hipHostUnregister(queue->memory);
        rocm_leave(&scope);
    }
    free(queue);
}

int rocm_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                    size_t length)
{
    return hip.hipMemcpyAsync((void *)(uintptr_t)to, (void *)(uintptr_t)from,
                              length, hipMemcpyDefault, queue->stream);
}

int rocm_queue_signal(accel_queue_t *queue, uint32_t value)
{
    return hip.hipStreamWriteValue32(queue->stream, queue->flag, value, 0);
}

int rocm_queue_query(accel_queue_t *queue)
{
    hipError_t result = hip.hipStreamQuery(queue->stream);

    if (result == hipErrorNotReady) {
        (void)hip.hipGetLastError();
        return ACCEL_BUSY;
    }
    return result;
}
