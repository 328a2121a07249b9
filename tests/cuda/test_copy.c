/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the copier of plugins/cuda over the emulated CUDA driver, through the
 * public UCT API. The copier is the plugin's transport that copies between host
 * and device memory. The tests cover behaviour that the conformance kit does
 * not test.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copier.h"
#include "polled.h"
#include "suite.h"

enum { LENGTH = 100, LARGE = 1024 * 1024 + 4099, UNIT = 2 * 1024 * 1024 };

/* Returns the memory type that the plugin detects at this address. */
static ucs_memory_type_t type_of(uint64_t address)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE};

    return (uct_md_mem_query(md, (void *)(uintptr_t)address, 1, &attr) ==
            UCS_OK) ?
               attr.mem_type :
               UCS_MEMORY_TYPE_HOST;
}

/* ----------------------------------------------------------------- tests -- */

/* Copies, allocates and frees in a thread that has no current context. The
 * thread must not have one afterwards. Returns `arg`. */
static void *without_context(void *arg)
{
    uct_allocated_memory_t memory = allocate(1000, UCS_MEMORY_TYPE_CUDA);
    CUcontext context             = (CUcontext)&memory;
    char out[100]                 = "over there", back[100];

    ck_ok(uct_ep_put_short(ep, out, 100, (uintptr_t)memory.address + 3,
                           UCT_INVALID_RKEY));
    ck_ok(uct_ep_get_short(ep, back, 100, (uintptr_t)memory.address + 3,
                           UCT_INVALID_RKEY));
    ck_assert_str_eq(out, back);
    copy(1, (uintptr_t)memory.address, out, 50);
    ck_ok(uct_mem_free(&memory));
    ck_cuda(cuCtxGetCurrent(&context));
    ck_assert_ptr_null(context);
    return arg;
}

START_TEST(a_thread_needs_no_context_and_gets_none)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, without_context, NULL), 0);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(memory_of_any_context_is_copied_and_the_current_one_stays)
{
    CUcontext mine, current;
    CUdeviceptr address;
    char out[] = "of another context", back[sizeof(out)];

    ck_cuda(cuCtxCreate_v2(&mine, 0, 1));
    ck_cuda(cuMemAlloc_v2(&address, 4096));
    copy(1, address, out, sizeof(out));
    ck_ok(uct_ep_get_short(ep, back, sizeof(back), address, UCT_INVALID_RKEY));
    ck_assert_str_eq(out, back);
    ck_cuda(cuCtxGetCurrent(&current));
    ck_assert_ptr_eq(current, mine);

    /* the copier has a context of its own: it can still copy after the program
     * has destroyed this one */
    ck_cuda(cuCtxDestroy_v2(mine));
    without_context(NULL);
}
END_TEST

START_TEST(memory_of_every_kind_is_told)
{
    CUmemAllocationProp prop = {
        .type     = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
    };
    CUmemAccessDesc access = {
        {CU_MEM_LOCATION_TYPE_DEVICE, 0},
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr device, managed, mapped, pooled;
    char out[] = "any kind", back[sizeof(out)];
    CUcontext context;
    void *pinned;

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&device, 100));
    ck_cuda(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
    ck_cuda(cuMemHostAlloc(&pinned, 100, 0));
    ck_cuda(cuMemAllocAsync(&pooled, 100, NULL));
    ck_cuda(cuMemAddressReserve(&mapped, UNIT, 0, 0, 0));
    ck_cuda(cuMemCreate(&handle, UNIT, &prop, 0));
    ck_cuda(cuMemMap(mapped, UNIT, 0, handle, 0));
    ck_cuda(cuMemSetAccess(mapped, UNIT, &access, 1));

    ck_assert_int_eq(type_of(device + 99), UCS_MEMORY_TYPE_CUDA);
    ck_assert_int_eq(type_of(managed), UCS_MEMORY_TYPE_CUDA_MANAGED);
    ck_assert_int_eq(type_of(pooled), UCS_MEMORY_TYPE_CUDA);
    ck_assert_int_eq(type_of(mapped), UCS_MEMORY_TYPE_CUDA);
    ck_assert_int_eq(type_of((uintptr_t)pinned), UCS_MEMORY_TYPE_HOST);
    ck_assert_int_eq(type_of((uintptr_t)out), UCS_MEMORY_TYPE_HOST);

    copy(1, pooled, out, sizeof(out));
    copy(1, mapped, (void *)(uintptr_t)pooled, sizeof(out));
    copy(1, managed, (void *)(uintptr_t)mapped, sizeof(out));
    copy(0, managed, pinned, sizeof(out));
    copy(1, device, pinned, sizeof(out));
    copy(0, device, back, sizeof(out));
    ck_assert_str_eq(back, out);

    ck_cuda(cuMemUnmap(mapped, UNIT));
    ck_cuda(cuMemAddressFree(mapped, UNIT));
    ck_cuda(cuMemRelease(handle));
    ck_cuda(cuMemFreeAsync(pooled, NULL));
    ck_cuda(cuMemFreeHost(pinned));
    ck_cuda(cuMemFree_v2(managed));
    ck_cuda(cuMemFree_v2(device));
    ck_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(allocated_memory_is_told_with_its_device)
{
    uct_allocated_memory_t memory;
    ucs_sys_device_t sys_dev[2];
    CUcontext context;
    int i;

    for (i = 0; i < 2; ++i) {
        uct_md_mem_attr_t attr = {
            .field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE |
                          UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                          UCT_MD_MEM_ATTR_FIELD_BASE_ADDRESS |
                          UCT_MD_MEM_ATTR_FIELD_ALLOC_LENGTH,
        };

        ck_cuda(cuCtxCreate_v2(&context, 0, i));
        memory     = allocate(5000, UCS_MEMORY_TYPE_CUDA);
        sys_dev[i] = memory.sys_device;
        ck_ok(uct_md_mem_query(md, (char *)memory.address + 1000, 10, &attr));
        ck_assert_int_eq(attr.mem_type, UCS_MEMORY_TYPE_CUDA);
        ck_assert_uint_eq(attr.sys_dev, memory.sys_device);
        ck_assert_ptr_eq(attr.base_address, memory.address);
        ck_assert_uint_eq(attr.alloc_length, 5000);
        ck_ok(uct_mem_free(&memory));
        ck_cuda(cuCtxDestroy_v2(context));
    }
    ck_assert_uint_ne(sys_dev[0], UCS_SYS_DEVICE_ID_UNKNOWN);
    ck_assert_uint_ne(sys_dev[0], sys_dev[1]);
}
END_TEST

/* Returns whether a query of the memory returns a dmabuf. If it does, the
 * function compares the contents of the dmabuf with the memory, and closes the
 * dmabuf. */
static int has_dmabuf(uint64_t address, size_t length)
{
    uct_md_mem_attr_t attr = {
        .field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD |
                      UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET,
    };
    char *data = malloc(length);
    off_t start;

    ck_ok(uct_md_mem_query(md, (void *)(uintptr_t)address, length, &attr));
    if (attr.dmabuf_fd != UCT_DMABUF_FD_INVALID) {
        start = lseek(attr.dmabuf_fd, 0, SEEK_CUR);
        ck_assert_uint_lt(attr.dmabuf_offset, 4096);
        ck_assert_int_eq(pread(attr.dmabuf_fd, data, length,
                               start + (off_t)attr.dmabuf_offset),
                         length);
        ck_assert_mem_eq(data,
                         emulated_view((void *)(uintptr_t)address, length),
                         length);
        close(attr.dmabuf_fd);
    }
    free(data);
    return attr.dmabuf_fd != UCT_DMABUF_FD_INVALID;
}

START_TEST(device_memory_is_exported_as_a_dmabuf)
{
    uct_allocated_memory_t memory  = allocate(20000, UCS_MEMORY_TYPE_CUDA);
    uct_allocated_memory_t managed = allocate(20000,
                                              UCS_MEMORY_TYPE_CUDA_MANAGED);
    uint64_t address               = (uintptr_t)memory.address;
    char *view                     = emulated_view(memory.address, 20000);
    unsigned long calls;
    size_t i;

    for (i = 0; i < 20000; ++i) {
        view[i] = (char)(i % 251);
    }
    ck_assert_int_eq(has_dmabuf(address, 20000), 1);
    ck_assert_int_eq(has_dmabuf(address + 4097, 9000), 1);
    ck_assert_int_eq(has_dmabuf(address + 19999, 1), 1);
    ck_assert_int_eq(has_dmabuf((uintptr_t)managed.address, 100), 0);

    /* if the export fails, the query succeeds without a dmabuf (checked in
     * has_dmabuf()) */
    emulated_fail("cuMemGetHandleForAddressRange", 1, CUDA_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(has_dmabuf(address, 20000), 0);
    /* a query of the memory type only does not export a dmabuf */
    calls = emulated_calls("cuMemGetHandleForAddressRange");
    ck_assert_int_eq(type_of(address), UCS_MEMORY_TYPE_CUDA);
    ck_assert_uint_eq(emulated_calls("cuMemGetHandleForAddressRange"), calls);
    ck_ok(uct_mem_free(&managed));
    ck_ok(uct_mem_free(&memory));
}
END_TEST

START_TEST(no_post_waits_for_pageable_memory)
{
    uct_allocated_memory_t memory = allocate(2 * LARGE, UCS_MEMORY_TYPE_CUDA);
    uint64_t address              = (uintptr_t)memory.address;
    char *out                     = malloc(LARGE);
    char *back                    = calloc(1, LARGE);
    done_t put, get;
    int i;

    for (i = 0; i < LARGE; ++i) {
        out[i] = (char)(i * 7 + i / 255);
    }
    copy(1, address + LARGE, out, LARGE);
    emulated_hold();
    ck_assert_int_eq(start(&put, 1, address, out, LARGE), UCS_INPROGRESS);
    ck_assert_int_eq(start(&get, 0, address + LARGE, back, LARGE),
                     UCS_INPROGRESS);
    for (i = 0; i < 5000; ++i) {
        uct_iface_progress(iface);
    }
    ck_assert_int_eq(put.calls + get.calls, 0);
    emulated_release();
    ck_ok(finish(&put));
    ck_ok(finish(&get));
    ck_assert_int_eq(memcmp(out, back, LARGE), 0);
    ck_assert_int_eq(memcmp(emulated_view(memory.address, LARGE), out, LARGE),
                     0);
    ck_ok(uct_mem_free(&memory));
    free(out);
    free(back);
}
END_TEST

/* Waits for a copy, and progresses only the worker: the interface progresses
 * only if the worker calls it. The copy must succeed. */
static void finish_by_worker(const done_t *done)
{
    while (done->calls == 0) {
        uct_worker_progress(worker);
    }
    ck_ok(done->comp.status);
}

START_TEST(the_worker_polls_the_interface_while_copies_are_outstanding)
{
    const unsigned both           = UCT_PROGRESS_SEND | UCT_PROGRESS_RECV;
    uct_allocated_memory_t memory = allocate(LENGTH, UCS_MEMORY_TYPE_CUDA);
    uint64_t address              = (uintptr_t)memory.address;
    char data[LENGTH]             = "data";
    done_t copies[2];

    uct_iface_progress_enable(iface, both);
    ck_assert_uint_eq(num_polled(iface), 0);
    emulated_hold();
    ck_assert_int_eq(start(&copies[0], 1, address, data, LENGTH),
                     UCS_INPROGRESS);
    ck_assert_int_eq(start(&copies[1], 1, address, data, LENGTH),
                     UCS_INPROGRESS);
    ck_assert_uint_eq(num_polled(iface), 1);
    uct_iface_progress_disable(iface, UCT_PROGRESS_SEND);
    ck_assert_uint_eq(num_polled(iface), 1);
    uct_iface_progress_disable(iface, UCT_PROGRESS_RECV);
    ck_assert_uint_eq(num_polled(iface), 0);
    uct_iface_progress_enable(iface, both | UCT_PROGRESS_THREAD_SAFE);
    emulated_release();
    finish_by_worker(&copies[0]);
    finish_by_worker(&copies[1]);
    uct_worker_progress(worker);
    ck_assert_uint_eq(num_polled(iface), 0);
    /* a short operation is complete when it returns: the worker need not poll
     * the interface */
    ck_ok(uct_ep_put_short(ep, data, LENGTH, address, UCT_INVALID_RKEY));
    ck_assert_uint_eq(num_polled(iface), 0);
    ck_ok(uct_mem_free(&memory));
}
END_TEST

START_TEST(a_disabled_interface_is_never_polled)
{
    uct_allocated_memory_t memory = allocate(LENGTH, UCS_MEMORY_TYPE_CUDA);
    char data[LENGTH]             = "data";
    done_t done;

    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory.address, data, LENGTH),
                     UCS_INPROGRESS);
    ck_assert_uint_eq(num_polled(iface), 0);
    ck_ok(finish(&done));
    ck_ok(uct_mem_free(&memory));
}
END_TEST

START_TEST(a_copy_between_devices_needs_no_host_memory)
{
    uct_allocated_memory_t memory;
    CUcontext context;
    CUdeviceptr one, two;
    char out[] = "from one to two", back[sizeof(out)];

    ck_cuda(cuCtxCreate_v2(&context, 0, 1));
    ck_cuda(cuMemAlloc_v2(&two, 4096));
    ck_cuda(cuCtxPopCurrent_v2(NULL));
    memory = allocate(4096, UCS_MEMORY_TYPE_CUDA);
    one    = (uintptr_t)memory.address;
    copy(1, one, out, sizeof(out));
    copy(1, two, (void *)(uintptr_t)one, sizeof(out));
    copy(0, two, back, sizeof(out));
    ck_assert_str_eq(back, out);
    ck_ok(uct_mem_free(&memory));
    ck_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(a_small_copy_makes_few_calls)
{
    static const char *const costly[] = {
        "cuMemAlloc_v2",        "cuMemHostAlloc",
        "cuMemHostRegister_v2", "cuStreamCreate",
        "cuStreamQuery",        "cuStreamSynchronize",
        "cuEventCreate",        "cuDevicePrimaryCtxRetain",
    };
    uct_allocated_memory_t memory = allocate(8192, UCS_MEMORY_TYPE_CUDA);
    char *address                 = memory.address;
    unsigned long before[sizeof(costly) / sizeof(costly[0])];
    unsigned long all, calls, queries;
    char data[8] = "8 bytes";
    size_t i;

    copy(1, (uintptr_t)address, data, 8);
    for (i = 0; i < sizeof(costly) / sizeof(costly[0]); ++i) {
        before[i] = emulated_calls(costly[i]);
    }
    all = emulated_calls(NULL);
    copy(1, (uintptr_t)address + 4096, address, 8);
    /* expected calls: queries of the memory (2), the context (3), the copy (1),
     * the write of the flag by which the plugin detects the end of the copy
     * (1). The plugin may also check the stream while copy() waits. The number
     * of such checks depends on the duration of the wait; each makes 4 calls,
     * which are subtracted */
    calls   = emulated_calls(NULL) - all;
    queries = emulated_calls("cuStreamQuery") - before[4];
    ck_assert_uint_eq(calls - 4 * queries, 7);
    ck_ok(uct_ep_put_short(ep, data, 8, (uintptr_t)address, UCT_INVALID_RKEY));
    for (i = 0; i < sizeof(costly) / sizeof(costly[0]); ++i) {
        if (strcmp(costly[i], "cuStreamQuery") != 0) {
            ck_assert_uint_eq(emulated_calls(costly[i]), before[i]);
        }
    }
    ck_ok(uct_mem_free(&memory));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_copy");
    TCase *tcase = tcase_create("cuda_copy");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_thread_needs_no_context_and_gets_none);
    tcase_add_test(tcase,
                   memory_of_any_context_is_copied_and_the_current_one_stays);
    tcase_add_test(tcase, memory_of_every_kind_is_told);
    tcase_add_test(tcase, allocated_memory_is_told_with_its_device);
    tcase_add_test(tcase, device_memory_is_exported_as_a_dmabuf);
    tcase_add_test(tcase, no_post_waits_for_pageable_memory);
    tcase_add_test(tcase,
                   the_worker_polls_the_interface_while_copies_are_outstanding);
    tcase_add_test(tcase, a_disabled_interface_is_never_polled);
    tcase_add_test(tcase, a_copy_between_devices_needs_no_host_memory);
    tcase_add_test(tcase, a_small_copy_makes_few_calls);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
