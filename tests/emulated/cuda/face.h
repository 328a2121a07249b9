/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the emulated libcuda.so.1. Each call begins with
 * ENTER, which counts the call, returns an injected error, and takes the lock.
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

/* Checks that are made before the lock is taken. `needs_init`: cuInit() must
 * have been called successfully. */
CUresult face_enter(enum face_call call, int needs_init);

/* What a call requires. ANY: only that the driver is initialized. */
enum { ANY, CONTEXT };

/* Starts a call: takes the lock, or returns an error. CONTEXT: the thread must
 * have a current context that has not failed. */
CUresult face_begin(enum face_call call, int need);
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
/* Returns nonzero if no context can be created: in exclusive mode another
 * process is assumed to use the device. */
int face_is_exclusive(void);

/* Returns the calling thread's current context, or NULL. The lock must be
 * held. */
emu_context_t *face_current(void);
/* Finds a context by the user's handle; NULL: it does not exist. */
emu_context_t *face_context(CUcontext handle);
emu_context_t *face_primary(int device);

/* Finds a stream of the current context by the user's handle. A stream of
 * another context is a mistake and an error. */
CUresult face_stream(CUstream handle, emu_stream_t **stream_p);

/* Allocates pages and addresses of a device, within the device's memory
 * limit. */
CUresult face_allocate(const emu_range_t *model, emu_range_t **range_p);
/* Adds `length` to the bytes in use of a device, within its memory limit. */
CUresult face_account(int device, size_t length);
void face_unaccount(int device, size_t length);

/* Releases the addresses and pages of a range. */
void face_release(emu_range_t *range);

/* Each function reports the resources of its file that were not released. */
void face_vmm_report(void);
void face_pool_report(void);
void face_stream_report(void);
/* Releases the allocations of a context. */
void face_memory_of_context(emu_context_t *context);
void face_events_of_context(emu_context_t *context);

unsigned long long face_pool_handle(const emu_range_t *range);

#endif
