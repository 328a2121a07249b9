/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests streams of the emulated CUDA driver: copies are executed by other
 * threads, with a delay, and in the order of their stream; events; values in
 * memory. Also tests contexts, errors that a context keeps, a lost device, and
 * a child of fork().
 */
#include "suite.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 100000 };

static CUcontext context;
static CUstream stream, other;
static CUdeviceptr device;
static char *pinned;

static void setup(void)
{
    ck_cuda(cuInit(0));
    ck_cuda(cuDevicePrimaryCtxRetain(&context, 0));
    ck_cuda(cuCtxPushCurrent_v2(context));
    ck_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ck_cuda(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    ck_cuda(cuMemAlloc_v2(&device, SIZE));
    ck_cuda(cuMemHostAlloc((void **)&pinned, 2 * SIZE, 0));
    memset(pinned, 0, 2 * SIZE);
}

static void teardown(void)
{
    emulated_set_delay(0);
    emulated_release();
    ck_cuda(cuMemFree_v2(device));
    ck_cuda(cuMemFreeHost(pinned));
    ck_cuda(cuStreamDestroy_v2(stream));
    ck_cuda(cuStreamDestroy_v2(other));
    ck_cuda(cuCtxPopCurrent_v2(NULL));
    ck_cuda(cuDevicePrimaryCtxRelease_v2(0));
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

static CUdeviceptr at(const void *address)
{
    return (uintptr_t)address;
}

START_TEST(a_copy_takes_place_after_the_call)
{
    char *view = emulated_view((void *)(uintptr_t)device, SIZE);

    memset(view, 1, SIZE);
    memset(pinned, 2, SIZE);
    emulated_hold();
    ck_cuda(cuMemcpyAsync(device, at(pinned), SIZE, stream));
    ck_fails(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(view[SIZE - 1], 1);
    /* The copy has not run yet and will read this value */
    memset(pinned, 3, SIZE);
    emulated_release();
    ck_cuda(cuStreamSynchronize(stream));
    ck_cuda(cuStreamQuery(stream));
    ck_assert_int_eq(view[SIZE - 1], 3);
}
END_TEST

START_TEST(a_copy_takes_as_long_as_a_test_wants)
{
    unsigned long before = emulated_calls("cuStreamQuery");
    unsigned polls       = 0;

    emulated_set_delay(20000);
    ck_cuda(cuMemcpyAsync(device, at(pinned), 8, stream));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
        ++polls;
    }
    ck_assert_uint_gt(polls, 0);
    ck_assert_uint_eq(emulated_calls("cuStreamQuery") - before, polls + 1);
}
END_TEST

START_TEST(few_pageable_bytes_are_taken_at_once)
{
    char *view = emulated_view((void *)(uintptr_t)device, SIZE);
    char byte  = 5;

    emulated_hold();
    ck_cuda(cuMemcpyAsync(device, at(&byte), 1, stream));
    byte = 6;
    emulated_release();
    ck_cuda(cuStreamSynchronize(stream));
    ck_assert_int_eq(*view, 5);
}
END_TEST

START_TEST(copies_of_a_stream_are_in_order)
{
    int i;

    emulated_hold();
    for (i = 0; i < 20; ++i) {
        pinned[i] = (char)(i + 1);
        ck_cuda(cuMemcpyAsync(device, at(pinned + i), 1, stream));
    }
    ck_cuda(cuMemcpyAsync(at(pinned + SIZE), device, 1, stream));
    emulated_release();
    ck_cuda(cuStreamSynchronize(stream));
    ck_assert_int_eq(pinned[SIZE], 20);
}
END_TEST

START_TEST(an_event_is_behind_what_was_issued)
{
    CUevent event;

    ck_cuda(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ck_cuda(cuEventQuery(event));
    emulated_hold();
    pinned[0] = 9;
    ck_cuda(cuMemcpyAsync(device, at(pinned), 1, stream));
    ck_cuda(cuEventRecord(event, stream));
    ck_fails(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_cuda(cuStreamWaitEvent(other, event, 0));
    ck_cuda(cuMemcpyAsync(at(pinned + SIZE), device, 1, other));
    emulated_release();
    ck_cuda(cuStreamSynchronize(other));
    ck_cuda(cuEventQuery(event));
    ck_assert_int_eq(pinned[SIZE], 9);
    ck_cuda(cuEventDestroy_v2(event));
}
END_TEST

START_TEST(a_value_is_written_behind_copies)
{
    uint32_t *flag = (uint32_t *)(void *)(pinned + SIZE);

    pinned[0] = 9;
    emulated_set_delay(2000);
    ck_cuda(cuMemcpyAsync(device, at(pinned), SIZE, stream));
    ck_cuda(cuStreamWriteValue32_v2(stream, at(flag), 77, 0));
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 77) {
    }
    /* the stream may be busy for a moment after the write: look at the copy */
    ck_cuda(cuMemcpyAsync(at(pinned + 1), device, 1, other));
    ck_cuda(cuStreamSynchronize(other));
    ck_assert_int_eq(pinned[1], 9);
}
END_TEST

START_TEST(a_batch_waits_and_writes)
{
    uint32_t *flags = (uint32_t *)(void *)(pinned + SIZE);
    CUstreamBatchMemOpParams ops[2];

    memset(ops, 0, sizeof(ops));
    ops[0].writeValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[0].writeValue.address   = at(&flags[0]);
    ops[0].writeValue.value     = 3;
    ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[1].writeValue.address   = at(&flags[1]);
    ops[1].writeValue.value     = 4;
    ck_cuda(cuStreamBatchMemOp_v2(stream, 2, ops, 0));
    ck_fails(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    __atomic_store_n(&flags[0], 3, __ATOMIC_RELEASE);
    ck_cuda(cuStreamSynchronize(stream));
    ck_assert_uint_eq(flags[1], 4);
}
END_TEST

START_TEST(the_default_stream_waits_for_blocking_streams_only)
{
    uint32_t *flag = (uint32_t *)(void *)(pinned + SIZE);
    char byte      = 1;

    /* The default stream does not wait for a non-blocking stream, */
    ck_cuda(
        cuStreamWaitValue32_v2(stream, at(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
    ck_cuda(cuMemcpyHtoD_v2(device, &byte, 1));
    ck_fails(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    ck_cuda(cuStreamSynchronize(stream));

    /* but for a copy on a blocking stream */
    ck_cuda(cuMemcpyAsync(device, at(pinned), 1, other));
    ck_cuda(cuMemcpyHtoD_v2(device, &byte, 1));
    ck_cuda(cuStreamQuery(other));
}
END_TEST

static void *without_context(void *arg)
{
    CUdeviceptr address;

    (void)arg;
    ck_fails(cuMemAlloc_v2(&address, 1), CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

START_TEST(each_thread_has_its_own_current_context)
{
    CUcontext mine, now;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, without_context, NULL), 0);
    pthread_join(thread, NULL);

    ck_cuda(cuCtxCreate_v2(&mine, 0, 1));
    ck_cuda(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, mine);
    ck_fails(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(emulated_mistakes(), 1);
    emulated_forgive();
    ck_cuda(cuCtxDestroy_v2(mine));
    ck_cuda(cuCtxGetCurrent(&now));
    ck_assert_ptr_eq(now, context);
    ck_fails(cuCtxPushCurrent_v2(mine), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(an_error_of_the_engine_stays_with_the_context)
{
    CUcontext mine;
    CUstream its;

    ck_cuda(cuCtxCreate_v2(&mine, 0, 0));
    ck_cuda(cuStreamCreate(&its, CU_STREAM_NON_BLOCKING));
    emulated_fail("engine", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_cuda(cuMemcpyAsync(device, at(pinned), 1, its));
    ck_fails(cuStreamSynchronize(its), CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_fails(cuMemcpyAsync(device, at(pinned), 1, its),
             CUDA_ERROR_ILLEGAL_ADDRESS);
    ck_cuda(cuCtxDestroy_v2(mine));
    ck_cuda(cuMemcpyAsync(device, at(pinned), 1, stream));
}
END_TEST

START_TEST(a_lost_device_fails_for_good_and_another_goes_on)
{
    CUcontext lost, mine;
    CUdeviceptr address;

    ck_cuda(cuCtxCreate_v2(&lost, 0, 1));
    ck_cuda(cuMemAlloc_v2(&address, 1));
    emulated_hold();
    ck_cuda(cuMemcpyAsync(address, at(pinned), 1, NULL));
    emulated_lose(1, CUDA_ERROR_DEVICE_UNAVAILABLE);
    emulated_release();
    ck_fails(cuStreamQuery(NULL), CUDA_ERROR_DEVICE_UNAVAILABLE);
    ck_cuda(cuCtxDestroy_v2(lost));
    ck_fails(cuCtxCreate_v2(&mine, 0, 1), CUDA_ERROR_DEVICE_UNAVAILABLE);
    ck_fails(cuDevicePrimaryCtxRetain(&mine, 1), CUDA_ERROR_DEVICE_UNAVAILABLE);
    ck_fails(cuDevicePrimaryCtxReset_v2(1), CUDA_ERROR_DEVICE_UNAVAILABLE);
    ck_cuda(cuMemcpyAsync(device, at(pinned), 1, stream));
    ck_cuda(cuStreamSynchronize(stream));
    emulated_lose(1, 0);
    ck_cuda(cuCtxCreate_v2(&mine, 0, 1));
    ck_cuda(cuCtxDestroy_v2(mine));
}
END_TEST

START_TEST(a_child_of_fork_has_no_driver)
{
    pid_t pid = fork();
    int count, status;

    if (pid == 0) {
        _exit(cuDeviceGetCount(&count));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, CUDA_ERROR_NOT_INITIALIZED << 8);
}
END_TEST

SUITE_MAIN("emulated streams", setup, teardown,
           a_copy_takes_place_after_the_call,
           a_copy_takes_as_long_as_a_test_wants,
           few_pageable_bytes_are_taken_at_once,
           copies_of_a_stream_are_in_order, an_event_is_behind_what_was_issued,
           a_value_is_written_behind_copies, a_batch_waits_and_writes,
           the_default_stream_waits_for_blocking_streams_only,
           each_thread_has_its_own_current_context,
           an_error_of_the_engine_stays_with_the_context,
           a_lost_device_fails_for_good_and_another_goes_on,
           a_child_of_fork_has_no_driver)
