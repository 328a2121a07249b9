/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a handle of memory that is sent to another process. */
#ifndef FACE_IPC_H
#define FACE_IPC_H

#include "face.h"

typedef struct face_wire {
    uint32_t magic;
    int32_t pid; /* The process that owns the memory */
    int32_t fd;  /* Descriptor, in that process, of the memfd with the pages */
    int32_t device;
    uint64_t inode; /* Inode number of the memfd: `fd` may be reused */
    uint64_t length;
    uint64_t id; /* emu_range_t.id in that process */
} face_wire_t;

void face_wire_fill(face_wire_t *wire, const emu_range_t *range);

/* Opens memory of another process, as a range with these flags.
 * CUDA_ERROR_INVALID_VALUE: `wire` is invalid, or the memory does not exist any
 * more. CUDA_ERROR_INVALID_CONTEXT: it is memory of this process. */
CUresult face_wire_open(const face_wire_t *wire, unsigned flags,
                        emu_range_t **range_p);

#endif
