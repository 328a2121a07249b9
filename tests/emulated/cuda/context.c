/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: primary contexts, contexts that the program creates, and the
 * context stack of each thread. The structure of a destroyed context that was
 * not primary is not reused, so that a later use of its handle is recognized as
 * an error.
 */
#include "face.h"

#include <stdlib.h>

enum { MAX_DEPTH = 16 };

static emu_context_t primaries[MAX_DEVICES];
static emu_context_t created[MAX_CONTEXTS];
static unsigned num_created;

static _Thread_local struct {
    CUcontext handles[MAX_DEPTH];
    unsigned depth;
} stack;

/* --------------------------------------------------------------- handles -- */

static int is_alive(const emu_context_t *context)
{
    return context->id != 0;
}

emu_context_t *face_context(CUcontext handle)
{
    emu_context_t *context;

    for (context = emu_contexts; context != NULL; context = context->next) {
        if ((context == (void *)handle) && is_alive(context)) {
            return context;
        }
    }
    return NULL;
}

emu_context_t *face_primary(int device)
{
    return is_alive(&primaries[device]) ? &primaries[device] : NULL;
}

emu_context_t *face_current(void)
{
    return (stack.depth == 0) ? NULL :
                                face_context(stack.handles[stack.depth - 1]);
}

static int is_device(CUdevice device)
{
    return (device >= 0) && (device < face_num_devices());
}

/* Destroys a context with all its resources. */
static void destroy(emu_context_t *context)
{
    face_events_of_context(context);
    emu_context_clear(context);
    face_memory_of_context(context);
    context->id = 0;
}

/* ------------------------------------------------------ primary contexts -- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device)
{
    emu_context_t *context;

    ENTER(cuDevicePrimaryCtxRetain, ANY);
    if (!is_device(device)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    if (face_is_exclusive()) {
        LEAVE(CUDA_ERROR_DEVICE_UNAVAILABLE);
    }
    if (emu_lost(device) != 0) {
        LEAVE(emu_lost(device));
    }
    context = &primaries[device];
    if (!is_alive(context)) {
        emu_context_init(context, device);
        context->is_primary = 1;
    }
    ++context->refs;
    *handle = (CUcontext)(void *)context;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRelease_v2, ANY);
    if (!is_device(device) || !is_alive(&primaries[device]) ||
        (primaries[device].refs == 0)) {
        LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    }
    if (--primaries[device].refs == 0) {
        destroy(&primaries[device]);
    }
    LEAVE(CUDA_SUCCESS);
}

/* Destroys the primary context and all its resources. Its handle and its number
 * of references stay valid, for a new context. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    unsigned refs;

    ENTER(cuDevicePrimaryCtxReset_v2, ANY);
    if (!is_device(device)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    if (emu_lost(device) != 0) {
        LEAVE(emu_lost(device));
    }
    if (is_alive(&primaries[device])) {
        refs = primaries[device].refs;
        destroy(&primaries[device]);
        emu_context_init(&primaries[device], device);
        primaries[device].is_primary = 1;
        primaries[device].refs       = refs;
    }
    LEAVE(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                    int *active)
{
    ENTER(cuDevicePrimaryCtxGetState, ANY);
    if (!is_device(device)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    *flags  = 0;
    *active = is_alive(&primaries[device]);
    LEAVE(CUDA_SUCCESS);
}

/* -------------------------------------------------------- other contexts -- */

static CUresult push(CUcontext handle)
{
    if (stack.depth == MAX_DEPTH) {
        emu_mistake("%d contexts are pushed and not popped", MAX_DEPTH);
        return CUDA_ERROR_INVALID_VALUE;
    }
    stack.handles[stack.depth++] = handle;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *handle, unsigned flags, CUdevice device)
{
    (void)flags;
    ENTER(cuCtxCreate_v2, ANY);
    if (!is_device(device)) {
        LEAVE(CUDA_ERROR_INVALID_DEVICE);
    }
    if (face_is_exclusive()) {
        LEAVE(CUDA_ERROR_DEVICE_UNAVAILABLE);
    }
    if (emu_lost(device) != 0) {
        LEAVE(emu_lost(device));
    }
    if (num_created == MAX_CONTEXTS) {
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    emu_context_init(&created[num_created], device);
    *handle = (CUcontext)(void *)&created[num_created++];
    LEAVE(push(*handle));
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    emu_context_t *context;

    ENTER(cuCtxDestroy_v2, ANY);
    context = face_context(handle);
    if ((context == NULL) || context->is_primary) {
        LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    }
    if ((stack.depth > 0) && (stack.handles[stack.depth - 1] == handle)) {
        --stack.depth;
    }
    destroy(context);
    LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    ENTER(cuCtxPushCurrent_v2, ANY);
    LEAVE((face_context(handle) == NULL) ? CUDA_ERROR_INVALID_CONTEXT :
                                           push(handle));
}

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
    ENTER(cuCtxPopCurrent_v2, ANY);
    if (stack.depth == 0) {
        LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    }
    --stack.depth;
    if (handle != NULL) {
        *handle = stack.handles[stack.depth];
    }
    LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
    ENTER(cuCtxSetCurrent, ANY);
    if ((handle != NULL) && (face_context(handle) == NULL)) {
        LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    }
    stack.depth -= (stack.depth > 0);
    LEAVE((handle != NULL) ? push(handle) : CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *handle)
{
    ENTER(cuCtxGetCurrent, ANY);
    *handle = (stack.depth == 0) ? NULL : stack.handles[stack.depth - 1];
    LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER(cuCtxGetDevice, CONTEXT);
    *device = face_current()->device;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    emu_context_t *context;

    ENTER(cuCtxGetId, ANY);
    context = (handle == NULL) ? face_current() : face_context(handle);
    if (context == NULL) {
        LEAVE(CUDA_ERROR_INVALID_CONTEXT);
    }
    *id = context->id;
    LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void)
{
    emu_context_t *context;
    emu_stream_t *stream;

    ENTER(cuCtxSynchronize, CONTEXT);
    context = face_current();
    emu_stream_wait(&context->dflt);
    for (stream = context->streams; stream != NULL; stream = stream->next) {
        emu_stream_wait(stream);
    }
    LEAVE(context->error);
}

/* ----------------------------------------------------------------- leaks -- */

void emu_face_report_leaks(void)
{
    emu_range_t *range;
    int device;

    for (range = emu_ranges; range != NULL; range = range->next) {
        emu_mistake("%zu bytes at %#lx of device %d are not released%s",
                    range->length, (unsigned long)range->start, range->device,
                    (range->flags & EMU_RANGE_REGISTERED) ? " (registered)" :
                    (range->flags & EMU_RANGE_IMPORTED)   ? " (opened)" :
                                                            "");
    }
    for (device = 0; device < MAX_DEVICES; ++device) {
        if (is_alive(&primaries[device])) {
            emu_mistake("the primary context of device %d is retained %u times",
                        device, primaries[device].refs);
        }
    }
    for (device = 0; device < (int)num_created; ++device) {
        if (is_alive(&created[device])) {
            emu_mistake("context %p is not destroyed",
                        (void *)&created[device]);
        }
    }
    face_stream_report();
    face_vmm_report();
    face_pool_report();
}
