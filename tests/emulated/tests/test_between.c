/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the emulated CUDA driver between two processes: memory is shared by
 * legacy handles, by descriptors, and by pools. The child is forked before
 * either process uses the driver. When a process exits, the driver reports its
 * mistakes and leaks.
 */
#include "suite.h"
#include "../../cuda/suite.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 5000, UNIT = 2 * 1024 * 1024 };

typedef struct {
    CUipcMemHandle handle, stale;
    CUmemPoolPtrExportData pointer;
} message_t;

static CUcontext context;

static void begin(int device)
{
    ck_cuda(cuInit(0));
    ck_cuda(cuDevicePrimaryCtxRetain(&context, device));
    ck_cuda(cuCtxPushCurrent_v2(context));
}

static void finish(int device)
{
    ck_cuda(cuCtxPopCurrent_v2(NULL));
    ck_cuda(cuDevicePrimaryCtxRelease_v2(device));
}

/* Sends a message with two descriptors. */
static void tell(int socket, message_t *message, const int *fds)
{
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec iov                          = {message, sizeof(*message)};
    struct msghdr msg                         = {
                                .msg_iov        = &iov,
                                .msg_iovlen     = 1,
                                .msg_control    = control,
                                .msg_controllen = sizeof(control),
    };
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type  = SCM_RIGHTS;
    head->cmsg_len   = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(head), fds, 2 * sizeof(int));
    ck_assert_int_eq(sendmsg(socket, &msg, 0), sizeof(*message));
}

static void hear(int socket, message_t *message, int *fds)
{
    char control[CMSG_SPACE(2 * sizeof(int))];
    struct iovec iov  = {message, sizeof(*message)};
    struct msghdr msg = {
        .msg_iov        = &iov,
        .msg_iovlen     = 1,
        .msg_control    = control,
        .msg_controllen = sizeof(control),
    };

    ck_assert_int_eq(recvmsg(socket, &msg, MSG_WAITALL), sizeof(*message));
    ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&msg));
    memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), 2 * sizeof(int));
}

static const CUmemAccessDesc access_desc = {
    {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static CUdeviceptr map_whole(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr address;

    ck_cuda(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    ck_cuda(cuMemMap(address, UNIT, 0, handle, 0));
    ck_cuda(cuMemSetAccess(address, UNIT, &access_desc, 1));
    return address;
}

static void unmap_whole(CUdeviceptr address)
{
    ck_cuda(cuMemUnmap(address, UNIT));
    ck_cuda(cuMemAddressFree(address, UNIT));
}

static void expect_byte(CUdeviceptr address, char expected)
{
    char byte;

    ck_cuda(cuMemcpyDtoH_v2(&byte, address, 1));
    ck_assert_int_eq(byte, expected);
}

static int importer_socket;

START_TEST(shared_memory_is_opened_and_changed)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr opened, again;
    CUmemoryPool pool;
    message_t message;
    int fds[2];

    hear(importer_socket, &message, fds);
    begin(0);
    ck_cuda(cuIpcOpenMemHandle_v2(&opened, message.handle,
                                  CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    ck_cuda(cuIpcOpenMemHandle_v2(&again, message.handle,
                                  CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    ck_assert_uint_eq(opened, again);
    expect_byte(opened + SIZE - 1, 1);
    ck_cuda(cuMemsetD8_v2(opened, 11, 1));
    ck_cuda(cuIpcCloseMemHandle(opened));
    ck_cuda(cuIpcCloseMemHandle(opened));
    ck_fails(cuIpcOpenMemHandle_v2(&opened, message.stale,
                                   CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
             CUDA_ERROR_INVALID_VALUE);

    ck_cuda(cuMemImportFromShareableHandle(
        &handle, (void *)(intptr_t)fds[0],
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    opened = map_whole(handle);
    expect_byte(opened, 2);
    ck_cuda(cuMemsetD8_v2(opened, 12, 1));
    unmap_whole(opened);
    ck_cuda(cuMemRelease(handle));

    ck_cuda(cuMemPoolImportFromShareableHandle(
        &pool, (void *)(intptr_t)fds[1],
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ck_cuda(cuMemPoolImportPointer(&opened, pool, &message.pointer));
    expect_byte(opened, 3);
    ck_cuda(cuMemsetD8_v2(opened, 13, 1));
    ck_cuda(cuMemFreeAsync(opened, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
    ck_cuda(cuMemPoolDestroy(pool));
    finish(0);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

static void no_setup(void)
{
}

START_TEST(memory_is_shared_by_handle_descriptor_and_pool)
{
    CUmemAllocationProp prop = {
        .type                 = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location             = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    CUmemPoolProps props = {
        .allocType   = CU_MEM_ALLOCATION_TYPE_PINNED,
        .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location    = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr plain, freed, virtual, pooled;
    CUmemoryPool pool;
    message_t message;
    int sockets[2], fds[2], status;
    pid_t pid;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    importer_socket = sockets[1];
    pid             = suite_fork("emulated memory between processes, importer",
                                 shared_memory_is_opened_and_changed);
    close(sockets[1]);
    begin(0);
    ck_cuda(cuMemAlloc_v2(&freed, SIZE));
    ck_cuda(cuIpcGetMemHandle(&message.stale, freed));
    ck_cuda(cuMemFree_v2(freed));
    ck_cuda(cuMemAlloc_v2(&plain, SIZE));
    ck_cuda(cuMemsetD8_v2(plain, 1, SIZE));
    ck_cuda(cuIpcGetMemHandle(&message.handle, plain));
    ck_fails(cuIpcOpenMemHandle_v2(&freed, message.handle,
                                   CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
             CUDA_ERROR_INVALID_CONTEXT);

    ck_cuda(cuMemCreate(&handle, UNIT, &prop, 0));
    virtual = map_whole(handle);
    ck_cuda(cuMemsetD8_v2(virtual, 2, 1));
    ck_cuda(cuMemExportToShareableHandle(
        &fds[0], handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));

    ck_cuda(cuMemPoolCreate(&pool, &props));
    ck_cuda(cuMemAllocFromPoolAsync(&pooled, SIZE, pool, NULL));
    ck_cuda(cuMemsetD8_v2(pooled, 3, 1));
    ck_cuda(cuMemPoolExportToShareableHandle(
        &fds[1], pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ck_cuda(cuMemPoolExportPointer(&message.pointer, pooled));

    tell(sockets[0], &message, fds);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    expect_byte(plain, 11);
    expect_byte(virtual, 12);
    expect_byte(pooled, 13);

    ck_cuda(cuMemFreeAsync(pooled, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
    ck_cuda(cuMemPoolDestroy(pool));
    unmap_whole(virtual);
    ck_cuda(cuMemRelease(handle));
    ck_cuda(cuMemFree_v2(plain));
    finish(0);
    close(sockets[0]);
    close(fds[0]);
    close(fds[1]);
    ck_assert_uint_eq(emulated_mistakes(), 0);
}
END_TEST

SUITE_MAIN("emulated memory between processes", no_setup, no_setup,
           memory_is_shared_by_handle_descriptor_and_pool)
