/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of other processes: legacy handles (cuIpc*), and the functions that
 * pointers of pools use; and dmabufs. A handle contains the process id of the
 * owner and the owner's descriptor of the memfd with the pages.
 */
#include "face.h"
#include "ipc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 0x43554950 };

_Static_assert(sizeof(face_wire_t) <= sizeof(CUipcMemHandle),
               "what is exported fits a handle");

void face_wire_fill(face_wire_t *wire, const emu_range_t *range)
{
    struct stat file;

    memset(wire, 0, sizeof(*wire));
    fstat(range->pages->fd, &file);
    wire->magic  = MAGIC;
    wire->pid    = getpid();
    wire->fd     = range->pages->fd;
    wire->device = range->device;
    wire->inode  = file.st_ino;
    wire->length = range->length;
    wire->id     = range->id;
}

CUresult face_wire_open(const face_wire_t *wire, unsigned flags,
                        emu_range_t **range_p)
{
    emu_range_t model = {.kind = EMU_DEVICE, .flags = flags};
    char path[64];
    struct stat file;
    int fd;

    if ((wire->magic != MAGIC) || (wire->device < 0) ||
        (wire->device >= face_num_devices())) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (wire->pid == getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", wire->pid, wire->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* The owner may have closed the descriptor and reused its number */
    if ((fstat(fd, &file) != 0) || (file.st_ino != wire->inode)) {
        close(fd);
        return CUDA_ERROR_INVALID_VALUE;
    }
    model.pages = emu_pages_adopt(fd, wire->length);
    if (model.pages == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    model.context = (flags & EMU_RANGE_POOL) ? NULL : face_current();
    model.device  = wire->device;
    model.length  = wire->length;
    model.start   = (uintptr_t)emu_reserve(wire->length, 0);
    *range_p      = (model.start == 0) ? NULL : emu_range_add(&model);
    emu_pages_drop(model.pages);
    if (*range_p == NULL) {
        if (model.start != 0) {
            munmap((void *)model.start,
                   emu_round(model.length, emu_page_size()));
        }
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*range_p)->owner = (void *)(uintptr_t)wire->inode;
    return CUDA_SUCCESS;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    emu_range_t *range;
    face_wire_t wire;

    ENTER(cuIpcGetMemHandle, CONTEXT);
    range = emu_range_find(address);
    if ((range == NULL) || (range->kind != EMU_DEVICE) ||
        (range->flags &
         (EMU_RANGE_VIRTUAL | EMU_RANGE_POOL | EMU_RANGE_IMPORTED))) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    face_wire_fill(&wire, range);
    memset(handle, 0, sizeof(*handle));
    memcpy(handle, &wire, sizeof(wire));
    LEAVE(CUDA_SUCCESS);
}

/* Returns the range of this memory if the current context has opened it
 * already, or NULL. As in the driver, a second open returns the same
 * address. */
static emu_range_t *find_opened(const face_wire_t *wire)
{
    emu_range_t *range;

    for (range = emu_ranges; range != NULL; range = range->next) {
        if ((range->flags & EMU_RANGE_IMPORTED) &&
            ((uintptr_t)range->owner == wire->inode) &&
            (range->context == face_current())) {
            return range;
        }
    }
    return NULL;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle,
                               unsigned flags)
{
    emu_range_t *range;
    face_wire_t wire;
    CUresult result = CUDA_SUCCESS;

    ENTER(cuIpcOpenMemHandle_v2, CONTEXT);
    memcpy(&wire, &handle, sizeof(wire));
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    range = find_opened(&wire);
    if (range != NULL) {
        ++range->opened;
    } else {
        result = face_wire_open(&wire, EMU_RANGE_IMPORTED, &range);
    }
    if (result == CUDA_SUCCESS) {
        *address = range->start;
    }
    LEAVE(result);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    emu_range_t *range;

    ENTER(cuIpcCloseMemHandle, CONTEXT);
    range = emu_range_find(address);
    if ((range == NULL) || !(range->flags & EMU_RANGE_IMPORTED) ||
        (range->flags & (EMU_RANGE_VIRTUAL | EMU_RANGE_POOL)) ||
        (range->start != address)) {
        emu_mistake("cuIpcCloseMemHandle of %#llx, which was not opened",
                    address);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    if (--range->opened == 0) {
        emu_device_wait(range->device);
        face_release(range);
    }
    LEAVE(CUDA_SUCCESS);
}

/* --------------------------------------------------------------- dmabuf -- */

/* Returns a descriptor of the pages whose file position is the start of the
 * exported range: that is how the tests find the range. The file is opened
 * again, because descriptors from dup() would share one position. */
static int dmabuf_of(const emu_range_t *range, CUdeviceptr address)
{
    off_t start = (off_t)(range->offset + (address - range->start));
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", range->pages->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if ((fd >= 0) && (lseek(fd, start, SEEK_SET) != start)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int has_dmabuf(const emu_range_t *range, CUdeviceptr address,
                      size_t size)
{
    size_t page = emu_page_size();

    return (range != NULL) && (range->kind == EMU_DEVICE) &&
           (range->pages != NULL) && (size > 0) && (address % page == 0) &&
           (size % page == 0) &&
           (size <= range->mapped - (address - range->start));
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr address,
                                       size_t size, CUmemRangeHandleType type,
                                       unsigned long long flags)
{
    const emu_range_t *range;
    int fd;

    ENTER(cuMemGetHandleForAddressRange, CONTEXT);
    if (emu_variable("EMULATED_DMABUF", 1, 1) == 0) {
        LEAVE(CUDA_ERROR_NOT_SUPPORTED);
    }
    range = emu_range_find(address);
    if ((type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD) || (flags != 0) ||
        !has_dmabuf(range, address, size)) {
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    fd = dmabuf_of(range, address);
    if (fd < 0) {
        LEAVE(CUDA_ERROR_OPERATING_SYSTEM);
    }
    *(int *)handle = fd;
    LEAVE(CUDA_SUCCESS);
}
