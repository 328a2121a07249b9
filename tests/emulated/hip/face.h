/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the emulated libamdhip64.so.5. Each call begins with
 * ENTER, which counts the call, returns an injected error, starts the runtime, and
 * takes the lock. An error is the thread's last error until it is asked for.
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

/* Requirement of a call: DEVICE: the thread's device has not failed. */
enum { ANY, DEVICE };

/* Takes the lock, or returns the error. */
hipError_t face_begin(enum face_call call, int need);
/* Releases it. Stores an error as the thread's last one. */
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
/* hipRuntimeGetVersion() is 6.0 or later. */
int face_is_version_6(void);
/* Has a call started the runtime? */
int face_is_started(void);

/* Of the thread's current device. With the lock. */
emu_context_t *face_current(void);

/* Finds a stream of the current device by the user's handle. One of another
 * device is a mistake and an error. */
hipError_t face_stream(hipStream_t handle, emu_stream_t **stream_p);

/* Maps the pages of the model without access rights for the processor, unless the
 * devices have a large BAR. */
hipError_t face_map(const emu_range_t *model, emu_range_t **range_p);
/* Releases a range's addresses and pages. */
void face_release(emu_range_t *range);
/* Releases everything of a device. */
void face_memory_of_context(emu_context_t *context);

void face_stream_report(void);

#endif
