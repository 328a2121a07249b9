/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the emulated libcuda.so.1. A function
 * that it exports is a "call". Calls that need the driver initialized begin
 * with ENTER, which counts the call, returns an injected error, and takes the
 * lock emu_lock. They end with LEAVE.
 */
#ifndef FACE_H
#define FACE_H

#include "../core/emu.h"
#include "driver.h"

enum face_call {
#define FACE_CALL(_name, _params) CALL_##_name,
#include "calls.h"
#undef FACE_CALL
    NUM_CALLS,
};

#define FACE_CALL(_name, _params) EMU_API CUresult _name _params;
#include "calls.h"
#undef FACE_CALL

enum { MAX_DEVICES = EMU_MAX_DEVICES, MAX_CONTEXTS = 64 };

/* What a call requires. ANY: the driver is initialized. CONTEXT: in addition,
 * the thread has a current context that has not failed. */
enum { ANY, CONTEXT };

/* Starts a call: takes the lock, or returns an error. */
CUresult face_begin(enum face_call call, int need);
/* Ends a call: releases the lock and returns `result`. */
CUresult face_end(CUresult result);

#define ENTER(_name, _need) \
    do { \
        CUresult _entered = face_begin(CALL_##_name, (_need)); \
        if (_entered != CUDA_SUCCESS) { \
            return _entered; \
        } \
    } while (0)

#define LEAVE(_result) return face_end(_result)

int face_num_devices(void);
/* Returns whether the device is in an exclusive mode. Then no context can be
 * created, as if another process used the device. */
int face_is_exclusive(void);

/* Returns the calling thread's current context, or NULL. The lock must be
 * held. */
emu_context_t *face_current(void);
/* Finds a context by the user's handle; NULL: it does not exist. */
emu_context_t *face_context(CUcontext handle);
/* Returns the primary context of the device; NULL: it does not exist. */
emu_context_t *face_primary(int device);

/* Finds a stream of the current context by the user's handle. A stream of
 * another context is a mistake and an error. */
CUresult face_stream(CUstream handle, emu_stream_t **stream_p);

/* Allocates new pages and addresses for a range like `model`, within the memory
 * limit of the device. */
CUresult face_allocate(const emu_range_t *model, emu_range_t **range_p);
/* Adds `length` to the bytes that a device has allocated. Fails if they would
 * exceed its memory limit, EMULATED_MEMORY. */
CUresult face_account(int device, size_t length);
void face_unaccount(int device, size_t length);

/* Releases the addresses and pages of a range. */
void face_release(emu_range_t *range);

/* Report the resources of vmm.c, pool.c and stream.c that were not released. */
void face_vmm_report(void);
void face_pool_report(void);
void face_stream_report(void);
/* Release the allocations and the events of a context. */
void face_memory_of_context(emu_context_t *context);
void face_events_of_context(emu_context_t *context);

/* Returns the handle of the pool of a range, or 0. */
unsigned long long face_pool_handle(const emu_range_t *range);

#endif
