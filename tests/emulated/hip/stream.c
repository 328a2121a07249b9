/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams and copies. An asynchronous call that copies from pageable memory
 * copies up to MOST_STAGED bytes to a buffer and returns; with more bytes it
 * waits for the copy. A call that copies to pageable memory waits for the copy.
 */
#include "face.h"

#include <string.h>

enum { MOST_STAGED = 64 * 1024 };

static emu_stream_t *find_stream(const void *handle)
{
    emu_context_t *context;
    emu_stream_t *stream;

    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            if (stream == handle) {
                return stream;
            }
        }
    }
    emu_mistake("stream %p does not exist", handle);
    return NULL;
}

hipError_t face_stream(hipStream_t handle, emu_stream_t **stream_p)
{
    if (handle == NULL) {
        *stream_p = &face_current()->dflt;
        return hipSuccess;
    }
    *stream_p = find_stream(handle);
    if (*stream_p == NULL) {
        return hipErrorInvalidHandle;
    }
    if ((*stream_p)->context != face_current()) {
        emu_mistake("stream %p belongs to another device than the thread's"
                    " current one",
                    (void *)handle);
        return hipErrorInvalidHandle;
    }
    return hipSuccess;
}

/* Starts a call by ENTER, and finds the stream of a handle. */
#define ENTER_STREAM(_name, _handle, _stream) \
    ENTER(_name, DEVICE); \
    do { \
        hipError_t _found = face_stream((_handle), (_stream)); \
        if (_found != hipSuccess) { \
            LEAVE(_found); \
        } \
    } while (0)

hipError_t hipStreamCreateWithFlags(hipStream_t *handle, unsigned flags)
{
    emu_stream_t *stream;

    ENTER(hipStreamCreateWithFlags, DEVICE);
    if (flags > hipStreamNonBlocking) {
        LEAVE(hipErrorInvalidValue);
    }
    stream = emu_stream_new(face_current(), flags != hipStreamNonBlocking);
    if (stream == NULL) {
        LEAVE(hipErrorOutOfMemory);
    }
    *handle = (hipStream_t)(void *)stream;
    LEAVE(hipSuccess);
}

/* Waits for the operations of the stream and then destroys it. */
hipError_t hipStreamDestroy(hipStream_t handle)
{
    emu_stream_t *stream;

    ENTER(hipStreamDestroy, ANY);
    stream = find_stream(handle);
    if (stream == NULL) {
        LEAVE(hipErrorInvalidHandle);
    }
    emu_stream_free(stream);
    LEAVE(hipSuccess);
}

hipError_t hipStreamQuery(hipStream_t handle)
{
    emu_stream_t *stream;

    ENTER_STREAM(hipStreamQuery, handle, &stream);
    LEAVE(emu_stream_is_busy(stream) ? hipErrorNotReady : hipSuccess);
}

hipError_t hipStreamSynchronize(hipStream_t handle)
{
    emu_stream_t *stream;

    ENTER_STREAM(hipStreamSynchronize, handle, &stream);
    emu_stream_wait(stream);
    LEAVE(stream->context->error);
}

hipError_t hipStreamWriteValue32(hipStream_t handle, void *address,
                                 uint32_t value, unsigned flags)
{
    emu_stream_t *stream;
    emu_op_t *op;

    ENTER_STREAM(hipStreamWriteValue32, handle, &stream);
    op = (flags == 0) ? emu_op_new(EMU_OP_WRITE, 0) : NULL;
    if (op == NULL) {
        LEAVE((flags == 0) ? hipErrorOutOfMemory : hipErrorInvalidValue);
    }
    if (((uintptr_t)address % sizeof(value) != 0) ||
        (emu_range_find((uintptr_t)address) == NULL) ||
        !emu_place_find((uintptr_t)address, sizeof(value), &op->to)) {
        emu_mistake("a value at %p, which the device does not reach", address);
        emu_op_free(op);
        LEAVE(hipErrorInvalidValue);
    }
    op->value = value;
    op->size  = sizeof(value);
    emu_op_start(stream, op);
    LEAVE(hipSuccess);
}

/* --------------------------------------------------------------- copies -- */

/* If the source is pageable and small, copies it to op->bytes, so that the call
 * can return before the copy. Returns whether the call must wait for the
 * copy. */
static int take_source(emu_op_t *op)
{
    if ((op->to.range == NULL) || (op->from.range != NULL) ||
        (op->length > MOST_STAGED)) {
        return (op->to.range == NULL) || (op->from.range == NULL);
    }
    memcpy(op->bytes, op->from.at, op->length);
    op->from.at = (char *)op->bytes;
    return 0;
}

static hipError_t copy(emu_stream_t *stream, void *to, const void *from,
                       size_t length, hipMemcpyKind kind, int waits)
{
    emu_op_t *op;

    if (kind != hipMemcpyDefault) {
        emu_mistake("copies of kind %d are not emulated", kind);
        return hipErrorInvalidValue;
    }
    if (length == 0) {
        return hipSuccess;
    }
    op = emu_op_new(EMU_OP_COPY, (length <= MOST_STAGED) ? length : 0);
    if (op == NULL) {
        return hipErrorOutOfMemory;
    }
    op->length = length;
    if (!emu_place_find((uintptr_t)to, length, &op->to) ||
        !emu_place_find((uintptr_t)from, length, &op->from)) {
        emu_op_free(op);
        return hipErrorInvalidValue;
    }
    waits |= take_source(op);
    emu_op_start(stream, op);
    if (!waits) {
        return hipSuccess;
    }
    emu_stream_wait(stream);
    return stream->context->error;
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t length,
                          hipMemcpyKind kind, hipStream_t handle)
{
    emu_stream_t *stream;

    ENTER_STREAM(hipMemcpyAsync, handle, &stream);
    LEAVE(copy(stream, to, from, length, kind, 0));
}

hipError_t hipMemcpy(void *to, const void *from, size_t length,
                     hipMemcpyKind kind)
{
    ENTER(hipMemcpy, DEVICE);
    LEAVE(copy(&face_current()->dflt, to, from, length, kind, 1));
}

/* ---------------------------------------------------------------- leaks -- */

void face_stream_report(void)
{
    const emu_context_t *context;
    const emu_stream_t *stream;

    for (context = emu_contexts; context != NULL; context = context->next) {
        for (stream = context->streams;
             (stream != NULL) && (context->error == 0); stream = stream->next) {
            emu_mistake("stream %p is not destroyed", (const void *)stream);
        }
    }
}
