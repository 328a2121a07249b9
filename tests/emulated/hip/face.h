/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of the emulated libamdhip64.so.5. A function
 * that it exports is a "call". Calls that start the runtime begin with ENTER,
 * which counts the call, returns an injected error, starts the runtime, and
 * takes the lock emu_lock. They end with LEAVE. The last error of a thread is
 * kept until hipGetLastError() returns it.
 */
#ifndef FACE_HIP_H
#define FACE_HIP_H

#include "../core/emu.h"
#include "hip.h"

enum face_call {
#define FACE_CALL(_name, _params) CALL_##_name,
#include "calls.h"
#undef FACE_CALL
    CALL_hsa_amd_portable_export_dmabuf,
    NUM_CALLS,
};

#define FACE_CALL(_name, _params) EMU_API hipError_t _name _params;
#include "calls.h"
#undef FACE_CALL

EMU_API hsa_status_t hsa_system_get_info(hsa_system_info_t info, void *value);
EMU_API hsa_status_t hsa_amd_portable_export_dmabuf(const void *address,
                                                    size_t length, int *fd,
                                                    uint64_t *offset);

/* What a call requires. ANY: nothing. DEVICE: the thread's current device has
 * not failed. */
enum { ANY, DEVICE };

/* Starts a call: takes the lock, or returns an error. */
hipError_t face_begin(enum face_call call, int need);
/* Ends a call: releases the lock. Stores an error as the thread's last
 * error. */
hipError_t face_end(hipError_t result);

#define ENTER(_name, _need) \
    do { \
        hipError_t _entered = face_begin(CALL_##_name, (_need)); \
        if (_entered != hipSuccess) { \
            return _entered; \
        } \
    } while (0)

#define LEAVE(_result) return face_end(_result)

int face_num_devices(void);
/* Returns whether hipRuntimeGetVersion() is 6.0 or later. */
int face_is_version_6(void);
/* Returns whether a call has started the runtime. */
int face_is_started(void);

/* Returns the context of the thread's current device. The lock must be held. */
emu_context_t *face_current(void);

/* Finds a stream of the current device by the user's handle. A stream of
 * another device is a mistake and an error. */
hipError_t face_stream(hipStream_t handle, emu_stream_t **stream_p);

/* Maps the pages of `model` as a new range. The processor gets access rights
 * only with EMULATED_LARGE_BAR=1, as on a device whose memory is mapped by its
 * PCI BAR. */
hipError_t face_map(const emu_range_t *model, emu_range_t **range_p);
/* Releases a range's addresses and pages. */
void face_release(emu_range_t *range);
/* Releases all memory of a device. */
void face_memory_of_context(emu_context_t *context);

void face_stream_report(void);

#endif
