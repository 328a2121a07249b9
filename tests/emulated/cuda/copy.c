/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies. As in the manual of the driver, an asynchronous call that copies
 * between pinned and device memory returns before the copy is done. A call that
 * copies to pageable memory waits for the copy. A call that copies from
 * pageable memory copies up to MOST_STAGED bytes to a buffer and returns; with
 * more bytes it waits for the copy.
 */
#include "face.h"

#include <string.h>

enum { MOST_STAGED = 64 * 1024 };

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t length,
                     emu_stream_t *stream, int is_async)
{
    int waits = !is_async;
    emu_op_t *op;

    if (length == 0) {
        return CUDA_SUCCESS;
    }
    op = emu_op_new(EMU_OP_COPY, (length <= MOST_STAGED) ? length : 0);
    if (op == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!emu_place_find(to, length, &op->to) ||
        !emu_place_find(from, length, &op->from)) {
        emu_op_free(op);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (op->to.range == NULL) {
        waits = 1;
    } else if (op->from.range == NULL) {
        if (length <= MOST_STAGED) {
            memcpy(op->bytes, op->from.at, length);
            op->from.at = (char *)op->bytes;
        } else {
            waits = 1;
        }
    }
    op->length = length;
    emu_op_start(stream, op);
    if (waits) {
        emu_stream_wait(stream);
        return stream->context->error;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t length,
                       CUstream handle)
{
    emu_stream_t *stream;
    CUresult result;

    ENTER(cuMemcpyAsync, CONTEXT);
    result = face_stream(handle, &stream);
    if (result == CUDA_SUCCESS) {
        result = copy(to, from, length, stream, 1);
    }
    LEAVE(result);
}

/* Returns whether the arguments for all copies of a batch are valid. The
 * emulation supports one set of attributes only, which applies to all
 * copies. */
static int is_batch(size_t count, const CUmemcpyAttributes *attributes,
                    const size_t *indices, size_t num_attributes,
                    CUstream handle)
{
    return (count > 0) && (num_attributes == 1) && (indices[0] == 0) &&
           (attributes->srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM) &&
           (attributes->srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY) &&
           (attributes->flags == 0) && (handle != NULL);
}

/* Returns whether the memory of one copy of a batch is valid; otherwise reports
 * a mistake. */
static int is_valid(CUdeviceptr to, CUdeviceptr from, size_t length)
{
    emu_op_t *op = emu_op_new(EMU_OP_COPY, 0);
    int result   = (op != NULL) && (length > 0) &&
                 emu_place_find(to, length, &op->to) &&
                 emu_place_find(from, length, &op->from);

    if (op != NULL) {
        emu_op_free(op);
    }
    return result;
}

/* The copies of a batch have no order. Executes them from the last to the
 * first, so that programs which rely on an order fail. If one copy is invalid,
 * none is executed. */
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *lengths,
                            size_t count, CUmemcpyAttributes *attributes,
                            size_t *indices, size_t num_attributes,
                            size_t *failed, CUstream handle)
{
    emu_stream_t *stream;
    CUresult result;
    size_t i;

    ENTER(cuMemcpyBatchAsync, CONTEXT);
    result = is_batch(count, attributes, indices, num_attributes, handle) ?
                 face_stream(handle, &stream) :
                 CUDA_ERROR_INVALID_VALUE;
    for (i = 0; (i < count) && (result == CUDA_SUCCESS); ++i) {
        if (!is_valid(to[i], from[i], lengths[i])) {
            *failed = i;
            result  = CUDA_ERROR_INVALID_VALUE;
        }
    }
    for (i = count; (i > 0) && (result == CUDA_SUCCESS); --i) {
        result = copy(to[i - 1], from[i - 1], lengths[i - 1], stream, 1);
    }
    LEAVE(result);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t length)
{
    ENTER(cuMemcpy, CONTEXT);
    LEAVE(copy(to, from, length, &face_current()->dflt, 0));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t length)
{
    ENTER(cuMemcpyHtoD_v2, CONTEXT);
    LEAVE(copy(to, (uintptr_t)from, length, &face_current()->dflt, 0));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t length)
{
    ENTER(cuMemcpyDtoH_v2, CONTEXT);
    LEAVE(copy((uintptr_t)to, from, length, &face_current()->dflt, 0));
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t length)
{
    emu_stream_t *stream;
    emu_op_t *op;

    ENTER(cuMemsetD8_v2, CONTEXT);
    stream = &face_current()->dflt;
    op     = emu_op_new(EMU_OP_FILL, 0);
    if (op == NULL) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    if ((emu_range_find(to) == NULL) || !emu_place_find(to, length, &op->to)) {
        emu_op_free(op);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    op->length = length;
    op->value  = value;
    emu_op_start(stream, op);
    emu_stream_wait(stream);
    LEAVE(stream->context->error);
}
