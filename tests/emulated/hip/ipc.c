/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other processes, by handles of whole allocations; and dmabufs. A
 * handle contains the process id of the owner and the owner's descriptor of the
 * memfd with the pages. To open memory a second time on one device is a mistake
 * of the caller.
 */
#include "face.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x48495049 };

/* The contents of a handle. */
typedef struct {
    uint32_t magic;
    int32_t pid;    /* The process that owns the memory */
    int32_t fd;     /* Descriptor of the memfd in that process */
    uint64_t inode; /* Inode number of the memfd: `fd` may be reused */
    uint64_t length;
} wire_t;

_Static_assert(sizeof(wire_t) <= sizeof(hipIpcMemHandle_t), "it fits");

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *address)
{
    const emu_range_t *range;
    wire_t wire = {.magic = MAGIC, .pid = getpid()};
    struct stat file;

    ENTER(hipIpcGetMemHandle, DEVICE);
    range = emu_range_find((uintptr_t)address);
    if ((range == NULL) || (range->kind != EMU_DEVICE) ||
        (range->start != (uintptr_t)address) ||
        (range->flags & (EMU_RANGE_POOL | EMU_RANGE_IMPORTED))) {
        LEAVE(hipErrorInvalidValue);
    }
    fstat(range->pages->fd, &file);
    wire.fd     = range->pages->fd;
    wire.inode  = file.st_ino;
    wire.length = range->length;
    memset(handle, 0, sizeof(*handle));
    memcpy(handle, &wire, sizeof(wire));
    LEAVE(hipSuccess);
}

/* -------------------------------------------------------------- opening -- */

static int is_open(const wire_t *wire)
{
    const emu_range_t *range;

    for (range = emu_ranges; range != NULL; range = range->next) {
        if ((range->flags & EMU_RANGE_IMPORTED) &&
            ((uintptr_t)range->owner == wire->inode) &&
            (range->context == face_current())) {
            return 1;
        }
    }
    return 0;
}

/* Opens the memfd of a handle. Returns -1 if it does not exist any more: the
 * owner may have closed the descriptor and reused its number. */
static int open_pages(const wire_t *wire)
{
    char path[64];
    struct stat file;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", wire->pid, wire->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if ((fd >= 0) &&
        ((fstat(fd, &file) != 0) || (file.st_ino != wire->inode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static hipError_t open_handle(const wire_t *wire, void **address)
{
    emu_range_t model = {
        .kind    = EMU_DEVICE,
        .flags   = EMU_RANGE_IMPORTED,
        .length  = wire->length,
        .context = face_current(),
        .device  = face_current()->device,
        .owner   = (void *)(uintptr_t)wire->inode,
    };
    emu_range_t *range;
    hipError_t result;
    int fd;

    if ((wire->magic != MAGIC) || (wire->pid == getpid())) {
        return hipErrorInvalidValue;
    }
    if (is_open(wire)) {
        emu_mistake("memory of process %d is open already", wire->pid);
        return hipErrorMapFailed;
    }
    fd          = open_pages(wire);
    model.pages = (fd < 0) ? NULL : emu_pages_adopt(fd, wire->length);
    if (model.pages == NULL) {
        return hipErrorInvalidDevicePointer;
    }
    result = face_map(&model, &range);
    emu_pages_drop(model.pages);
    if (result == hipSuccess) {
        *address = (void *)range->start;
    }
    return result;
}

hipError_t hipIpcOpenMemHandle(void **address, hipIpcMemHandle_t handle,
                               unsigned flags)
{
    wire_t wire;

    ENTER(hipIpcOpenMemHandle, DEVICE);
    memcpy(&wire, &handle, sizeof(wire));
    LEAVE((flags != (unsigned)(face_is_version_6() ? HIP_IPC_PEER_ACCESS :
                                                     HIP_5_IPC_PEER_ACCESS)) ?
              hipErrorInvalidValue :
              open_handle(&wire, address));
}

hipError_t hipIpcCloseMemHandle(void *address)
{
    emu_range_t *range;

    ENTER(hipIpcCloseMemHandle, ANY);
    range = emu_range_find((uintptr_t)address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_IMPORTED) ||
        (range->start != (uintptr_t)address)) {
        emu_mistake("hipIpcCloseMemHandle of %p, which was not opened",
                    address);
        LEAVE(hipErrorInvalidValue);
    }
    emu_device_wait(range->device);
    face_release(range);
    LEAVE(hipSuccess);
}

/* --------------------------------------------------------------- dmabuf -- */

/* Returns a descriptor of the pages of the whole allocation, and the offset of
 * the address in it. The file is opened again, so that its position is 0: tests
 * take the position for the start of the exported pages. */
static hsa_status_t export_pages(uintptr_t address, size_t length, int *fd,
                                 uint64_t *offset)
{
    const emu_range_t *range = emu_range_find(address);
    char path[64];

    if ((range == NULL) || (range->kind != EMU_DEVICE) || (length == 0) ||
        (length > range->mapped - (address - range->start))) {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", range->pages->fd);
    *fd     = open(path, O_RDWR | O_CLOEXEC);
    *offset = address - range->start;
    return (*fd < 0) ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_portable_export_dmabuf(const void *address, size_t length,
                                            int *fd, uint64_t *offset)
{
    hsa_status_t status = emu_enter(CALL_hsa_amd_portable_export_dmabuf);

    if (status != HSA_STATUS_SUCCESS) {
        return status;
    }
    if (!face_is_started() || emu_is_forked()) {
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    }
    if (emu_variable("EMULATED_DMABUF", 1, 1) == 0) {
        return HSA_STATUS_ERROR;
    }
    pthread_mutex_lock(&emu_lock);
    status = export_pages((uintptr_t)address, length, fd, offset);
    pthread_mutex_unlock(&emu_lock);
    return status;
}
