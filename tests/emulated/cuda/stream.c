/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams and events.
 */
#include "face.h"

#include <stdlib.h>

enum { MAX_EVENTS = 4096 };

/* All existing events. A handle is searched in this table before it is used, to
 * recognize invalid handles. */
static emu_event_t *events[MAX_EVENTS];

CUresult face_stream(CUstream handle, emu_stream_t **stream_p)
{
    emu_context_t *current = face_current();
    emu_context_t *context;
    emu_stream_t *stream;

    if ((handle == NULL) || (handle == CU_STREAM_PER_THREAD)) {
        *stream_p = &current->dflt; /* The emulation has no separate default
                                     * stream for each thread */
        return CUDA_SUCCESS;
    }
    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            if (stream == (void *)handle) {
                *stream_p = stream;
                if (context == current) {
                    return CUDA_SUCCESS;
                }
                emu_mistake("stream %p belongs to another context than the"
                            " thread's current one",
                            (void *)handle);
                return CUDA_ERROR_INVALID_HANDLE;
            }
        }
    }
    emu_mistake("stream %p does not exist", (void *)handle);
    return CUDA_ERROR_INVALID_HANDLE;
}

/* Starts a call by ENTER, and finds the stream of a handle. */
#define ENTER_STREAM(_name, _handle, _stream) \
    ENTER(_name, CONTEXT); \
    do { \
        CUresult _found = face_stream((_handle), (_stream)); \
        if (_found != CUDA_SUCCESS) { \
            LEAVE(_found); \
        } \
    } while (0)

CUresult cuStreamCreate(CUstream *handle, unsigned flags)
{
    emu_stream_t *stream;

    ENTER(cuStreamCreate, CONTEXT);
    if (flags > CU_STREAM_NON_BLOCKING) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    stream = emu_stream_new(face_current(), flags == CU_STREAM_DEFAULT);
    if (stream == NULL) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *handle = (CUstream)(void *)stream;
    LEAVE(CUDA_SUCCESS);
}

/* Waits for the operations of the stream and then destroys it. */
CUresult cuStreamDestroy_v2(CUstream handle)
{
    emu_context_t *context;
    emu_stream_t *stream;

    ENTER(cuStreamDestroy_v2, ANY);
    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            if (stream == (void *)handle) {
                emu_stream_free(stream);
                LEAVE(CUDA_SUCCESS);
            }
        }
    }
    LEAVE(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuStreamQuery(CUstream handle)
{
    emu_stream_t *stream;

    ENTER_STREAM(cuStreamQuery, handle, &stream);
    LEAVE(emu_stream_is_busy(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream handle)
{
    emu_stream_t *stream;

    ENTER_STREAM(cuStreamSynchronize, handle, &stream);
    emu_stream_wait(stream);
    LEAVE(stream->context->error);
}

/* ------------------------------------------------------ values in memory -- */

static CUresult value_op(emu_stream_t *stream, emu_op_kind_t kind,
                         CUdeviceptr address, uint64_t value, unsigned size,
                         int is_equal)
{
    emu_op_t *op = emu_op_new(kind, 0);

    if (op == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if ((address % size != 0) || (emu_range_find(address) == NULL) ||
        !emu_place_find(address, size, &op->to)) {
        emu_mistake("a value at %#llx, which the device does not reach",
                    address);
        emu_op_free(op);
        return CUDA_ERROR_INVALID_VALUE;
    }
    op->value    = value;
    op->size     = size;
    op->is_equal = is_equal;
    emu_op_start(stream, op);
    return CUDA_SUCCESS;
}

CUresult cuStreamWriteValue32_v2(CUstream handle, CUdeviceptr address,
                                 uint32_t value, unsigned flags)
{
    emu_stream_t *stream;

    (void)flags;
    ENTER_STREAM(cuStreamWriteValue32_v2, handle, &stream);
    LEAVE(value_op(stream, EMU_OP_WRITE, address, value, 4, 0));
}

CUresult cuStreamWriteValue64_v2(CUstream handle, CUdeviceptr address,
                                 uint64_t value, unsigned flags)
{
    emu_stream_t *stream;

    (void)flags;
    ENTER_STREAM(cuStreamWriteValue64_v2, handle, &stream);
    LEAVE(value_op(stream, EMU_OP_WRITE, address, value, 8, 0));
}

CUresult cuStreamWaitValue32_v2(CUstream handle, CUdeviceptr address,
                                uint32_t value, unsigned flags)
{
    emu_stream_t *stream;

    ENTER_STREAM(cuStreamWaitValue32_v2, handle, &stream);
    if (flags > CU_STREAM_WAIT_VALUE_EQ) {
        LEAVE(CUDA_ERROR_NOT_SUPPORTED);
    }
    LEAVE(value_op(stream, EMU_OP_WAIT, address, value, 4,
                   flags == CU_STREAM_WAIT_VALUE_EQ));
}

CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned count,
                               CUstreamBatchMemOpParams *ops, unsigned flags)
{
    CUresult result = CUDA_SUCCESS;
    emu_stream_t *stream;
    unsigned i;

    ENTER_STREAM(cuStreamBatchMemOp_v2, handle, &stream);
    if ((flags != 0) || (count == 0) || (count > 256)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    for (i = 0; (i < count) && (result == CUDA_SUCCESS); ++i) {
        switch (ops[i].operation) {
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            result = value_op(stream, EMU_OP_WRITE, ops[i].writeValue.address,
                              ops[i].writeValue.value, 4, 0);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            result = value_op(stream, EMU_OP_WRITE, ops[i].writeValue.address,
                              ops[i].writeValue.value64, 8, 0);
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            result = value_op(stream, EMU_OP_WAIT, ops[i].writeValue.address,
                              ops[i].writeValue.value, 4,
                              ops[i].writeValue.flags ==
                                  CU_STREAM_WAIT_VALUE_EQ);
            break;
        default:
            result = CUDA_ERROR_NOT_SUPPORTED;
            break;
        }
    }
    LEAVE(result);
}

/* ---------------------------------------------------------------- events -- */

static emu_event_t **find_event(const void *handle)
{
    unsigned i;

    for (i = 0; i < MAX_EVENTS; ++i) {
        if (events[i] == handle) {
            return &events[i];
        }
    }
    return NULL;
}

void face_events_of_context(emu_context_t *context)
{
    unsigned i;

    for (i = 0; i < MAX_EVENTS; ++i) {
        if ((events[i] != NULL) && (events[i]->context == context)) {
            emu_event_drop(events[i]);
            events[i] = NULL;
        }
    }
}

void face_stream_report(void)
{
    emu_context_t *context;
    emu_stream_t *stream;
    unsigned i;

    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            emu_mistake("stream %p is not destroyed", (void *)stream);
        }
    }
    for (i = 0; i < MAX_EVENTS; ++i) {
        if (events[i] != NULL) {
            emu_mistake("event %p is not destroyed", (void *)events[i]);
        }
    }
}

CUresult cuEventCreate(CUevent *handle, unsigned flags)
{
    emu_event_t **place, *event;

    (void)flags;
    ENTER(cuEventCreate, CONTEXT);
    place = find_event(NULL);
    event = (place != NULL) ? calloc(1, sizeof(*event)) : NULL;
    if (event == NULL) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    event->refs    = 1;
    event->context = face_current();
    *place         = event;
    *handle        = (CUevent)(void *)event;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    emu_event_t **place;

    ENTER(cuEventDestroy_v2, ANY);
    place = (handle == NULL) ? NULL : find_event(handle);
    if (place == NULL) {
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    emu_event_drop(*place);
    *place = NULL;
    LEAVE(CUDA_SUCCESS);
}

/* Appends an operation on an event to the stream. */
static CUresult event_op(emu_stream_t *stream, emu_op_kind_t kind,
                         emu_event_t *event, uint64_t ticket)
{
    emu_op_t *op = emu_op_new(kind, 0);

    if (op == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    ++event->refs;
    op->event = event;
    op->value = ticket;
    emu_op_start(stream, op);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle)
{
    emu_event_t **place;
    emu_stream_t *stream;

    ENTER_STREAM(cuEventRecord, stream_handle, &stream);
    place = (handle == NULL) ? NULL : find_event(handle);
    if (place == NULL) {
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    if ((*place)->context != stream->context) {
        emu_mistake("an event is recorded in a stream of another context");
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    LEAVE(event_op(stream, EMU_OP_RECORD, *place, ++(*place)->recorded));
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle,
                           unsigned flags)
{
    emu_event_t **place;
    emu_stream_t *stream;

    (void)flags;
    ENTER_STREAM(cuStreamWaitEvent, stream_handle, &stream);
    place = (handle == NULL) ? NULL : find_event(handle);
    if (place == NULL) {
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    LEAVE(event_op(stream, EMU_OP_FOLLOW, *place, (*place)->recorded));
}

CUresult cuEventQuery(CUevent handle)
{
    emu_event_t **place;

    ENTER(cuEventQuery, ANY);
    place = (handle == NULL) ? NULL : find_event(handle);
    if (place == NULL) {
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    if ((*place)->reached >= (*place)->recorded) {
        LEAVE(CUDA_SUCCESS);
    }
    LEAVE(((*place)->context->error != 0) ? (*place)->context->error :
                                            CUDA_ERROR_NOT_READY);
}

CUresult cuEventSynchronize(CUevent handle)
{
    emu_event_t **place, *event;
    CUresult result;

    ENTER(cuEventSynchronize, ANY);
    place = (handle == NULL) ? NULL : find_event(handle);
    if (place == NULL) {
        LEAVE(CUDA_ERROR_INVALID_HANDLE);
    }
    event = *place;
    ++event->refs;
    emu_wait_event(event);
    result = event->context->error;
    emu_event_drop(event);
    LEAVE(result);
}
