/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of memory that is sent to another process. */
#ifndef FACE_IPC_H
#define FACE_IPC_H

#include "face.h"

typedef struct face_wire {
    uint32_t magic;
    int32_t pid;
    int32_t fd;
    int32_t device;
    uint64_t inode;
    uint64_t length;
    uint64_t id;
} face_wire_t;

void face_wire_fill(face_wire_t *wire, const emu_range_t *range);

/* Opens memory of another process. CUDA_ERROR_INVALID_VALUE: the memory no
 * longer exists. */
CUresult face_wire_open(const face_wire_t *wire, unsigned flags,
                        emu_range_t **range_p);

#endif
