/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests memory of the emulated CUDA driver: its kinds, its limit, the
 * attributes of pointers, and the reports of mistakes. */
#include "suite.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 3 * 4096 + 17, UNIT = 2 * 1024 * 1024 };

static CUcontext context;

static void setup(void)
{
    ck_cuda(cuInit(0));
    ck_cuda(cuDevicePrimaryCtxRetain(&context, 1));
    ck_cuda(cuCtxPushCurrent_v2(context));
}

static void teardown(void)
{
    ck_cuda(cuCtxPopCurrent_v2(NULL));
    ck_cuda(cuDevicePrimaryCtxRelease_v2(1));
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* Returns whether an access in a child process ends with a signal. */
static int ends_by_fault(volatile char *address)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *address = 1;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status);
}

START_TEST(the_processor_cannot_touch_device_memory)
{
    CUdeviceptr device, managed;
    void *pinned;

    ck_cuda(cuMemAlloc_v2(&device, SIZE));
    ck_cuda(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_GLOBAL));
    ck_cuda(cuMemHostAlloc(&pinned, SIZE, 0));
    ck_assert(ends_by_fault((char *)(uintptr_t)device + SIZE - 1));
    ck_assert(!ends_by_fault((char *)(uintptr_t)managed + SIZE - 1));
    ck_assert(!ends_by_fault((char *)pinned + SIZE - 1));
    ck_cuda(cuMemFree_v2(device));
    ck_cuda(cuMemFree_v2(managed));
    ck_cuda(cuMemFreeHost(pinned));
}
END_TEST

typedef struct {
    unsigned type, managed, legacy;
    int ordinal;
    CUcontext context;
    void *base;
    size_t length;
    unsigned long long id, handles;
} facts_t;

static facts_t ask(CUdeviceptr address)
{
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_BUFFER_ID,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
    };
    facts_t facts;
    void *data[] = {&facts.type,    &facts.managed, &facts.legacy,
                    &facts.ordinal, &facts.context, &facts.base,
                    &facts.length,  &facts.id,      &facts.handles};

    memset(&facts, 0xff, sizeof(facts));
    ck_cuda(cuPointerGetAttributes(9, attributes, data, address));
    return facts;
}

START_TEST(device_memory_is_described)
{
    CUdeviceptr address;
    facts_t facts;

    ck_cuda(cuMemAlloc_v2(&address, SIZE));
    facts = ask(address + 100);
    ck_assert_uint_eq(facts.type, CU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(facts.managed, 0);
    ck_assert_uint_eq(facts.legacy, 1);
    ck_assert_int_eq(facts.ordinal, 1);
    ck_assert_ptr_eq(facts.context, context);
    ck_assert_uint_eq((uintptr_t)facts.base, address);
    ck_assert_uint_eq(facts.length, SIZE);
    ck_cuda(cuMemFree_v2(address));
}
END_TEST

START_TEST(managed_and_pinned_memory_are_described)
{
    CUdeviceptr managed;
    void *pinned;

    ck_cuda(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_GLOBAL));
    ck_cuda(cuMemHostAlloc(&pinned, SIZE, 0));
    ck_assert_uint_eq(ask(managed).type, CU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(ask(managed).managed, 1);
    ck_assert_uint_eq(ask((uintptr_t)pinned).type, CU_MEMORYTYPE_HOST);
    ck_cuda(cuMemFree_v2(managed));
    ck_cuda(cuMemFreeHost(pinned));
}
END_TEST

START_TEST(pageable_memory_is_nothing)
{
    unsigned type;
    int local;

    ck_assert_uint_eq(ask((uintptr_t)&local).type, 0);
    ck_assert_int_eq(ask((uintptr_t)&local).ordinal, -2);
    ck_fails(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   (uintptr_t)&local),
             CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_at_the_same_address_has_another_id)
{
    CUdeviceptr first, second;
    unsigned long long id;

    ck_cuda(cuMemAlloc_v2(&first, SIZE));
    id = ask(first).id;
    ck_cuda(cuMemFree_v2(first));
    ck_cuda(cuMemAlloc_v2(&second, SIZE));
    ck_assert_uint_ne(ask(second).id, id);
    ck_cuda(cuMemFree_v2(second));
}
END_TEST

START_TEST(registered_memory_is_pinned_until_it_is_not)
{
    char *memory = aligned_alloc(4096, 8192);

    ck_cuda(cuMemHostRegister_v2(memory, 8192, 0));
    ck_assert_uint_eq(ask((uintptr_t)memory + 5000).type, CU_MEMORYTYPE_HOST);
    ck_fails(cuMemHostRegister_v2(memory + 4096, 4096, 0),
             CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ck_cuda(cuMemHostUnregister(memory));
    ck_assert_uint_eq(ask((uintptr_t)memory).type, 0);
    free(memory);
}
END_TEST

START_TEST(virtual_memory_is_reserved_mapped_and_granted)
{
    CUmemAllocationProp prop = {
        .type                 = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location             = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
    };
    CUmemAccessDesc access = {
        {CU_MEM_LOCATION_TYPE_DEVICE, 1},
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr address;
    char byte = 7;
    int fd;

    ck_cuda(cuMemAddressReserve(&address, UNIT, 0, 0, 0));
    ck_cuda(cuMemCreate(&handle, UNIT, &prop, 0));
    ck_cuda(cuMemMap(address, UNIT, 0, handle, 0));
    ck_fails(cuMemcpyHtoD_v2(address, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(emulated_mistakes(), 1);
    emulated_forgive();
    ck_cuda(cuMemSetAccess(address, UNIT, &access, 1));
    ck_cuda(cuMemcpyHtoD_v2(address, &byte, 1));
    ck_assert_ptr_null(ask(address).context);
    ck_assert_uint_eq(ask(address).legacy, 0);
    ck_assert_uint_eq(ask(address).handles, 1);

    /* After the release of the handle, the memory exists because it is mapped,
     * and a new handle can be retrieved by its address */
    ck_cuda(cuMemRelease(handle));
    ck_cuda(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address));
    ck_cuda(cuMemExportToShareableHandle(
        &fd, again, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ck_cuda(cuMemRelease(again));
    ck_cuda(cuMemUnmap(address, UNIT));
    ck_cuda(cuMemAddressFree(address, UNIT));
    close(fd);
}
END_TEST

START_TEST(memory_of_the_default_pool_is_not_exported)
{
    CUmemPoolPtrExportData data;
    CUipcMemHandle legacy;
    CUdeviceptr address;

    ck_cuda(cuMemAllocAsync(&address, SIZE, NULL));
    ck_assert_ptr_null(ask(address).context);
    ck_fails(cuIpcGetMemHandle(&legacy, address), CUDA_ERROR_INVALID_VALUE);
    ck_fails(cuMemPoolExportPointer(&data, address), CUDA_ERROR_INVALID_VALUE);
    ck_cuda(cuMemFreeAsync(address, NULL));
    ck_cuda(cuStreamSynchronize(NULL));
    ck_assert_uint_eq(ask(address).type, 0);
}
END_TEST

START_TEST(a_device_runs_out_of_memory)
{
    CUdeviceptr address;

    ck_fails(cuMemAlloc_v2(&address, (1ul << 30) + 1),
             CUDA_ERROR_OUT_OF_MEMORY);
    emulated_fail("cuMemAlloc_v2", 2, CUDA_ERROR_OUT_OF_MEMORY);
    ck_cuda(cuMemAlloc_v2(&address, SIZE));
    ck_cuda(cuMemFree_v2(address));
    ck_fails(cuMemAlloc_v2(&address, SIZE), CUDA_ERROR_OUT_OF_MEMORY);
    ck_cuda(cuMemAlloc_v2(&address, SIZE));
    ck_cuda(cuMemFree_v2(address));
}
END_TEST

/* Checks that there was one mistake since the last call of this function. */
static void was_mistake(void)
{
    ck_assert_uint_eq(emulated_mistakes(), 1);
    emulated_forgive();
}

START_TEST(copies_of_wrong_memory_are_mistakes)
{
    char bytes[64];
    CUdeviceptr address;
    void *nowhere;

    ck_cuda(cuMemAlloc_v2(&address, SIZE));
    ck_fails(cuMemcpyDtoH_v2(bytes, address + SIZE - 63, 64),
             CUDA_ERROR_INVALID_VALUE);
    was_mistake();
    ck_cuda(cuMemFree_v2(address));
    ck_fails(cuMemcpyDtoH_v2(bytes, address, 64), CUDA_ERROR_INVALID_VALUE);
    was_mistake();
    ck_fails(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    was_mistake();

    ck_cuda(cuMemAlloc_v2(&address, 64));
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(nowhere, 4096);
    ck_fails(cuMemcpyHtoD_v2(address, nowhere, 64), CUDA_ERROR_INVALID_VALUE);
    was_mistake();
    ck_cuda(cuMemFree_v2(address));
}
END_TEST

SUITE_MAIN("emulated memory", setup, teardown,
           the_processor_cannot_touch_device_memory, device_memory_is_described,
           managed_and_pinned_memory_are_described, pageable_memory_is_nothing,
           memory_at_the_same_address_has_another_id,
           registered_memory_is_pinned_until_it_is_not,
           virtual_memory_is_reserved_mapped_and_granted,
           memory_of_the_default_pool_is_not_exported,
           a_device_runs_out_of_memory, copies_of_wrong_memory_are_mistakes)
