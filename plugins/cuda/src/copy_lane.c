/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: a device's stream, its pinned memory, and the word that the stream
 * writes.
 *
 * The pinned memory is allocated from the heap and registered, not allocated by
 * the driver: when the user resets a context, the word that progress polls
 * stays mapped.
 */
#include "copy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounce buffers, the one for short copies, a page for the flag. */
enum {
    SHORT_AT  = CUDA_BOUNCES * CUDA_BOUNCE_SIZE,
    FLAG_AT   = SHORT_AT + CUDA_MAX_SHORT,
    FLAG_ROOM = 4096,
    ALL       = FLAG_AT + FLAG_ROOM,
    ALIGNMENT = 65536
};

/* Checks that the current context is the one in which the lane was opened. A
 * program that has reset the device has another context with the same handle. */
static CUresult check_current(const cuda_lane_t *lane)
{
    unsigned long long id = 0;
    CUresult result       = cuda.cuCtxGetId(NULL, &id);

    if (result == CUDA_SUCCESS) {
        result = (id == lane->context_id) ? CUDA_SUCCESS :
                                            CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return (result == CUDA_ERROR_INVALID_CONTEXT) ?
               CUDA_ERROR_CONTEXT_IS_DESTROYED :
               result;
}

/* One call if the thread has this context, as with the runtime library; three if
 * not. Drivers before CUDA 12 have no identifiers: no reset is detected. */
CUresult cuda_lane_enter(cuda_lane_t *lane, cuda_scope_t *scope)
{
    CUresult result;

    if (lane->context_id == 0) {
        return cuda_enter(scope, lane->context);
    }
    scope->is_pushed = 0;
    if (!lane->must_push) {
        if (check_current(lane) == CUDA_SUCCESS) {
            return CUDA_SUCCESS;
        }
        lane->must_push = 1;
    }
    result = cuda_push(scope, lane->context);
    if (result == CUDA_SUCCESS) {
        result = check_current(lane);
        if (result != CUDA_SUCCESS) {
            cuda_leave(scope);
        }
    }
    return result;
}

static CUresult open_stream(cuda_lane_t *lane)
{
    CUresult result;

    result = cuda.cuMemHostRegister_v2(lane->memory, ALL,
                                       CU_MEMHOSTREGISTER_PORTABLE |
                                           CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = cuda.cuMemHostGetDevicePointer_v2(&lane->flag_address, lane->flag,
                                               0);
    if (result == CUDA_SUCCESS) {
        result = cuda.cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING);
    }
    if (result != CUDA_SUCCESS) {
        (void)cuda.cuMemHostUnregister(lane->memory);
    }
    return result;
}

static CUresult lane_open(cuda_copy_iface_t *iface, cuda_lane_t *lane)
{
    cuda_scope_t scope;
    CUresult result;
    unsigned i;

    result = cuda_md_context(iface->md, lane->device, &lane->context);
    if ((result == CUDA_SUCCESS) && (lane->context_id != 0)) {
        result = cuda_md_revive(lane->device);
    }
    if (result == CUDA_SUCCESS) {
        result = cuda_enter(&scope, lane->context);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }

    *lane->flag     = 0;
    lane->ticket    = 0;
    lane->head      = lane->tail;
    lane->polls     = 0;
    lane->must_push = 0;
    lane->num_free  = CUDA_BOUNCES;
    for (i = 0; i < CUDA_BOUNCES; ++i) {
        lane->free[i] = lane->memory + i * CUDA_BOUNCE_SIZE;
    }
    if ((cuda.cuCtxGetId == NULL) ||
        (cuda.cuCtxGetId(lane->context, &lane->context_id) != CUDA_SUCCESS)) {
        lane->context_id = 0;
    }
    result        = open_stream(lane);
    lane->is_open = (result == CUDA_SUCCESS);
    cuda_leave(&scope);
    return result;
}

static cuda_lane_t *lane_new(int device)
{
    cuda_lane_t *lane = calloc(1, sizeof(*lane));

    if (lane == NULL) {
        return NULL;
    }
    if (posix_memalign((void **)&lane->memory, ALIGNMENT, ALL) != 0) {
        free(lane);
        return NULL;
    }
    lane->device       = device;
    lane->short_bounce = lane->memory + SHORT_AT;
    lane->flag         = (uint32_t *)(void *)(lane->memory + FLAG_AT);
    return lane;
}

CUresult cuda_lane_get(cuda_copy_iface_t *iface, int device,
                       cuda_lane_t **lane_p)
{
    const ucx_host_t *host = iface->host;
    cuda_lane_t *lane;
    CUresult result = CUDA_SUCCESS;

    if ((device < 0) || (device >= cuda_num_devices())) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    if (iface->lanes[device] == NULL) {
        iface->lanes[device] = lane_new(device);
        if (iface->lanes[device] == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    lane = iface->lanes[device];
    if (cuda_unlikely(!lane->is_open)) {
        result = lane_open(iface, lane);
        if (result != CUDA_SUCCESS) {
            ucx_diag("cuda_copy: no stream on device %d: %s", device,
                     cuda_error(result));
        }
    }
    *lane_p = lane;
    return result;
}

void cuda_lane_free(cuda_copy_iface_t *iface, cuda_lane_t *lane)
{
    cuda_scope_t scope;

    if (lane->is_open && (cuda_lane_enter(lane, &scope) == CUDA_SUCCESS)) {
        (void)cuda.cuStreamSynchronize(lane->stream);
        (void)cuda.cuStreamDestroy_v2(lane->stream);
        (void)cuda.cuMemHostUnregister(lane->memory);
        cuda_leave(&scope);
    }
    free(lane->memory);
    free(lane);
}

CUresult cuda_lane_copy(cuda_lane_t *lane, uint64_t to, uint64_t from,
                        size_t length)
{
    CUresult result = cuda.cuMemcpyAsync(to, from, length, lane->stream);

    lane->ticket += (result == CUDA_SUCCESS);
    return result;
}

CUresult cuda_lane_signal(cuda_lane_t *lane)
{
    lane->polls = 0;
    return cuda.cuStreamWriteValue32_v2(lane->stream, lane->flag_address,
                                        lane->ticket,
                                        CU_STREAM_WRITE_VALUE_DEFAULT);
}

CUresult cuda_lane_check(cuda_lane_t *lane)
{
    cuda_scope_t scope;
    CUresult result = cuda_lane_enter(lane, &scope);

    lane->polls = 0;
    if (result == CUDA_SUCCESS) {
        result = cuda.cuStreamQuery(lane->stream);
        if ((result == CUDA_SUCCESS) &&
            !cuda_lane_reached(lane, lane->ticket)) {
            result = cuda_lane_signal(lane); /* a previous write failed */
        }
        cuda_leave(&scope);
    }
    return (result == CUDA_ERROR_NOT_READY) ? CUDA_SUCCESS : result;
}

/* A failed context rejects these calls, and has released the resources. If only
 * the stream has failed, they succeed. */
void cuda_lane_fail(cuda_copy_iface_t *iface, cuda_lane_t *lane,
                    CUresult result)
{
    const ucx_host_t *host = iface->host;
    cuda_scope_t scope;

    if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        ucx_diag("cuda_copy: device %d was reset: copies under way have failed",
                 lane->device);
    } else {
        ucx_error("cuda_copy: copies on device %d have failed: %s",
                  lane->device, cuda_error(result));
    }
    lane->is_open = 0;
    if (cuda_lane_enter(lane, &scope) == CUDA_SUCCESS) {
        (void)cuda.cuStreamDestroy_v2(lane->stream);
        (void)cuda.cuMemHostUnregister(lane->memory);
        cuda_leave(&scope);
    }
}
