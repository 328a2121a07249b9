/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues (accel_queue_t). Each queue uses its own stream.
 *
 * The memory of a queue, which contains its flag, is allocated from the heap
 * and registered with the CUDA driver. It is not allocated by the driver, so
 * that the flag, which progress polls, stays mapped when the user resets the
 * context.
 *
 * A reset replaces the primary context by another one with the same handle. A
 * queue detects a reset because the context's number (cuCtxGetId()) has
 * changed. Drivers before CUDA 12 do not have this number. With them, a queue
 * detects a reset because the registration of its memory is lost.
 */
#include "parts.h"

#include <stdlib.h>

struct accel_queue {
    CUcontext context;
    unsigned long long id; /* Result of identity() when the queue was opened */
    int must_push;         /* The context was not current at an earlier call of
                            * cuda_queue_enter(), so later calls push it without
                            * a check */
    CUstream stream;
    /* Device address of the word that cuda_queue_signal() writes */
    CUdeviceptr flag;
    void *memory; /* The registered memory, from cuda_staging_new() */
};

void *cuda_staging_new(int device, size_t length)
{
    const size_t alignment = 65536;
    void *memory;

    return (posix_memalign(&memory, alignment, length) == 0) ? memory : NULL;
}

void cuda_staging_free(void *memory)
{
    free(memory);
}

/* Returns the number of the current context or, with drivers before CUDA 12, of
 * the registration of the queue's memory. */
static CUresult identity(const accel_queue_t *queue, unsigned long long *id)
{
    *id = 0;
    return (cuda.cuCtxGetId != NULL) ?
               cuda.cuCtxGetId(NULL, id) :
               cuda.cuPointerGetAttribute(id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                          (uintptr_t)queue->memory);
}

/* Returns UCS_OK if the current context is the one in which the queue was
 * opened. ACCEL_RESET: it is another one, or the context was reset, so that the
 * queue's stream and registration do not exist any more. */
static int check_current(const accel_queue_t *queue)
{
    unsigned long long id;
    CUresult result = identity(queue, &id);

    switch (result) {
    case CUDA_SUCCESS:
        return (id == queue->id) ? UCS_OK : ACCEL_RESET;
    case CUDA_ERROR_INVALID_VALUE:   /* The memory is not registered any more */
    case CUDA_ERROR_INVALID_CONTEXT: /* The context does not exist any more */
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        return ACCEL_RESET;
    default:
        return result;
    }
}

/* Makes the queue's context current. Together with cuda_leave(), this takes one
 * driver call as long as the context was current at every call, which is usual
 * if the program uses the CUDA runtime. The first call with another context
 * takes four, later ones three. With drivers before CUDA 12, it takes two calls
 * if the context is current, otherwise four. */
int cuda_queue_enter(accel_queue_t *queue, accel_scope_t *scope)
{
    int result;

    scope->is_pushed = 0;
    if (cuda.cuCtxGetId == NULL) {
        result = cuda_enter(queue->context, scope);
    } else if (!queue->must_push) {
        if (check_current(queue) == UCS_OK) {
            return UCS_OK;
        }
        queue->must_push = 1;
        result           = cuda_push(scope, queue->context);
    } else {
        result = cuda_push(scope, queue->context);
    }
    if (result == CUDA_SUCCESS) {
        result = check_current(queue);
        if (result != UCS_OK) {
            cuda_leave(scope);
        }
    }
    return (result == CUDA_ERROR_CONTEXT_IS_DESTROYED) ? ACCEL_RESET : result;
}

static CUresult open_stream(accel_queue_t *queue, size_t length, void *flag)
{
    CUresult result;

    result = cuda.cuMemHostRegister_v2(queue->memory, length,
                                       CU_MEMHOSTREGISTER_PORTABLE |
                                           CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = identity(queue, &queue->id);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuMemHostGetDevicePointer_v2(&queue->flag, flag, 0);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda.cuStreamCreate(&queue->stream, CU_STREAM_NON_BLOCKING);
    }
    if (result != CUDA_SUCCESS) {
        (void)cuda.cuMemHostUnregister(queue->memory);
    }
    return result;
}

int cuda_queue_open(int device, void *context, void *memory, size_t length,
                    uint32_t *flag, accel_queue_t **queue_p)
{
    accel_queue_t *queue = calloc(1, sizeof(*queue));
    CUresult result;

    if (queue == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    queue->context = context;
    queue->memory  = memory;
    result         = open_stream(queue, length, flag);
    if (result != CUDA_SUCCESS) {
        free(queue);
        return result;
    }
    *queue_p = queue;
    return UCS_OK;
}

/* A failed context rejects the calls that release the queue's resources, but it
 * has already released them itself. If only the stream has failed, the calls
 * succeed. */
void cuda_queue_close(accel_queue_t *queue, int is_failed)
{
    accel_scope_t scope;

    if (cuda_queue_enter(queue, &scope) == UCS_OK) {
        if (!is_failed) {
            (void)cuda.cuStreamSynchronize(queue->stream);
        }
        (void)cuda.cuStreamDestroy_v2(queue->stream);
        (void)cuda.cuMemHostUnregister(queue->memory);
        cuda_leave(&scope);
    }
    free(queue);
}

int cuda_queue_copy(accel_queue_t *queue, uint64_t to, uint64_t from,
                    size_t length)
{
    return cuda.cuMemcpyAsync(to, from, length, queue->stream);
}

/* The casts are correct because CUdeviceptr (unsigned long long) has the same
 * layout as the batch's uint64_t. */
int cuda_queue_copy_batch(accel_queue_t *queue, accel_batch_t *batch)
{
    CUmemcpyAttributes all = {
        .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
    };
    size_t first = 0, failed = 0;

    return (cuda.cuMemcpyBatchAsync == NULL) ?
               CUDA_ERROR_NOT_SUPPORTED :
               cuda.cuMemcpyBatchAsync((CUdeviceptr *)(void *)batch->to,
                                       (CUdeviceptr *)(void *)batch->from,
                                       batch->length, batch->count, &all,
                                       &first, 1, &failed, queue->stream);
}

int cuda_queue_signal(accel_queue_t *queue, uint32_t value)
{
    return cuda.cuStreamWriteValue32_v2(queue->stream, queue->flag, value,
                                        CU_STREAM_WRITE_VALUE_DEFAULT);
}

int cuda_queue_query(accel_queue_t *queue)
{
    CUresult result = cuda.cuStreamQuery(queue->stream);

    return (result == CUDA_ERROR_NOT_READY) ? ACCEL_BUSY : result;
}
