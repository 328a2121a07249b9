/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of the device, of the emulated CUDA driver (tests/emulated) and of the
 * program. Each copy must end with a status, no call may wait for ever, and the
 * copier must be usable afterwards. The copier is the transport of the plugin
 * plugins/cuda that copies between host and device memory.
 */
#include <stdlib.h>
#include <string.h>

#include "copier.h"
#include "suite.h"

/* More bytes than the copier's bounce buffers (pinned host memory for data on
 * the way) can hold. A copy of this length is therefore issued in parts: the
 * last ones by later calls of the interface's progress. */
enum {
    LARGE = 1024 * 1024 + 4099,
};

START_TEST(out_of_device_memory_is_said)
{
    const uct_alloc_method_t method     = UCT_ALLOC_METHOD_MD;
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                      UCT_MEM_ALLOC_PARAM_FIELD_FLAGS |
                      UCT_MEM_ALLOC_PARAM_FIELD_MDS,
        .flags    = UCT_MD_MEM_FLAG_HIDE_ERRORS,
        .mem_type = UCS_MEMORY_TYPE_CUDA,
        .mds      = {.mds = &md, .count = 1},
    };
    uct_allocated_memory_t memory;

    ck_assert_int_eq(uct_mem_alloc((size_t)1 << 40, &method, 1, &params,
                                   &memory),
                     UCS_ERR_NO_MEMORY);
}
END_TEST

START_TEST(a_failed_context_ends_its_copies_and_no_others)
{
    uct_allocated_memory_t memory = allocate(LARGE, UCS_MEMORY_TYPE_CUDA);
    uint64_t address              = (uintptr_t)memory.address;
    char *data                    = calloc(2, LARGE);
    ucs_status_t status;
    done_t done[3];
    int i;

    emulated_hold();
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(start(&done[i], 1, address, data, LARGE),
                         UCS_INPROGRESS);
    }
    emulated_fail("engine", 5, CUDA_ERROR_ILLEGAL_ADDRESS);
    emulated_release();
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(finish(&done[i]), UCS_ERR_IO_ERROR);
    }
    status = start(&done[0], 1, address, data, LARGE);
    ck_assert_int_eq((status == UCS_INPROGRESS) ? finish(&done[0]) : status,
                     UCS_ERR_IO_ERROR);
    data[LARGE] = 5;
    ck_ok(start(&done[0], 1, (uintptr_t)data, data + LARGE, LARGE));
    ck_assert_int_eq(data[0], 5);
    ck_ok(uct_mem_free(&memory));
    free(data);
}
END_TEST

/* Starts a copy from or to the lost device, and waits for it. The copy must
 * fail, either in start() or later. */
static void expect_failure(int is_put, uint64_t address, void *data)
{
    done_t done;
    ucs_status_t status = start(&done, is_put, address, data, LARGE);

    ck_assert_int_eq((status == UCS_INPROGRESS) ? finish(&done) : status,
                     UCS_ERR_NO_DEVICE);
}

START_TEST(a_lost_device_ends_its_copies_and_no_others)
{
    uct_allocated_memory_t memory = allocate(LARGE, UCS_MEMORY_TYPE_CUDA);
    uint64_t address              = (uintptr_t)memory.address;
    char *data                    = calloc(3, LARGE);
    char *back                    = data + LARGE;
    CUcontext context;
    CUdeviceptr other;
    done_t lost[2], good;

    ck_cuda(cuCtxCreate_v2(&context, 0, 1));
    ck_cuda(cuMemAlloc_v2(&other, LARGE));
    ck_cuda(cuCtxPopCurrent_v2(NULL));
    memset(data, 7, LARGE);
    copy(1, address, data, LARGE);
    copy(1, other, data, LARGE);

    emulated_hold();
    ck_assert_int_eq(start(&lost[0], 1, address, data, LARGE), UCS_INPROGRESS);
    ck_assert_int_eq(start(&good, 0, other, back, LARGE), UCS_INPROGRESS);
    ck_assert_int_eq(start(&lost[1], 0, address, back + LARGE, LARGE),
                     UCS_INPROGRESS);
    emulated_lose(0, CUDA_ERROR_DEVICE_UNAVAILABLE);
    emulated_release();
    ck_assert_int_eq(finish(&lost[0]), UCS_ERR_NO_DEVICE);
    ck_assert_int_eq(finish(&lost[1]), UCS_ERR_NO_DEVICE);
    ck_ok(finish(&good));
    ck_assert_mem_eq(back, data, LARGE);

    expect_failure(1, address, data);
    expect_failure(0, address, data);
    ck_assert_int_eq(uct_ep_put_short(ep, data, 8, address, UCT_INVALID_RKEY),
                     UCS_ERR_NO_DEVICE);
    copy(1, other, data, LARGE);
    ck_ok(uct_mem_free(&memory));
    ck_cuda(cuCtxDestroy_v2(context));
    emulated_lose(0, 0); /* code 0: the device works again */
    free(data);
}
END_TEST

/* Calls of the driver by which the plugin creates the stream and the bounce
 * buffers of a device, before the first copy. A test lets each of them fail. */
static const char *const opening[] = {
    "cuDevicePrimaryCtxRetain",
    "cuMemHostRegister_v2",
    "cuMemHostGetDevicePointer_v2",
    "cuStreamCreate",
};

START_TEST(without_bounce_buffers_a_copy_fails_and_the_next_one_tries_again)
{
    CUdeviceptr address;
    CUcontext context;
    char data[100] = "bounce";
    done_t done;

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&address, sizeof(data)));
    emulated_fail(opening[_i], 1, CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(start(&done, 1, address, data, sizeof(data)),
                     UCS_ERR_NO_MEMORY);
    emulated_fail(opening[_i], 1, CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(uct_ep_put_short(ep, data, sizeof(data), address,
                                      UCT_INVALID_RKEY),
                     UCS_ERR_NO_MEMORY);
    copy(1, address, data, sizeof(data));
    ck_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(after_a_reset_of_the_device_new_memory_is_copied)
{
    uct_allocated_memory_t memory, other;
    char out[] = "after the reset", back[sizeof(out)];
    int i;

    for (i = 0; i < 3; ++i) {
        memory = allocate(1000, UCS_MEMORY_TYPE_CUDA);
        copy(1, (uintptr_t)memory.address, out, sizeof(out));
        ck_cuda(cuDevicePrimaryCtxReset_v2(0));

        /* the first operation after the reset is a short put in the first
         * round, and a zcopy put in the others */
        other = allocate(1000, UCS_MEMORY_TYPE_CUDA);
        if (i > 0) {
            copy(1, (uintptr_t)other.address, out, sizeof(out));
        } else {
            ck_ok(uct_ep_put_short(ep, out, sizeof(out),
                                   (uintptr_t)other.address, UCT_INVALID_RKEY));
        }
        memset(back, 0, sizeof(back));
        copy(0, (uintptr_t)other.address, back, sizeof(back));
        ck_assert_str_eq(back, out);

        /* the reset has already released `memory`, and `other` may have the
         * same address: releasing `memory` must not affect `other` */
        ck_ok(uct_mem_free(&memory));
        copy(1, (uintptr_t)other.address, out, sizeof(out));
        ck_ok(uct_mem_free(&other));
    }
}
END_TEST

START_TEST(a_reset_of_the_device_ends_its_copies)
{
    uct_allocated_memory_t memory = allocate(LARGE, UCS_MEMORY_TYPE_CUDA);
    char *data                    = calloc(1, LARGE);
    done_t done;

    ck_assert_int_eq(start(&done, 1, (uintptr_t)memory.address, data, LARGE),
                     UCS_INPROGRESS);
    ck_cuda(cuDevicePrimaryCtxReset_v2(0));
    ck_assert_int_eq(finish(&done), UCS_ERR_IO_ERROR);
    ck_ok(uct_mem_free(&memory));
    free(data);
}
END_TEST

/* The program destroys a context while its memory is copied. The emulated
 * driver counts this as a mistake of the program. */
START_TEST(a_context_that_is_destroyed_too_early_ends_copies_of_its_memory)
{
    char *data = calloc(1, LARGE);
    CUdeviceptr address;
    CUcontext context;
    done_t done;

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&address, LARGE));
    ck_assert_int_eq(start(&done, 1, address, data, LARGE), UCS_INPROGRESS);
    ck_cuda(cuCtxDestroy_v2(context));
    ck_assert_int_ne(finish(&done), UCS_OK);
    ck_assert_uint_gt(emulated_mistakes(), 0);
    emulated_forgive();

    ck_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_cuda(cuMemAlloc_v2(&address, LARGE));
    copy(1, address, data, LARGE);
    ck_cuda(cuCtxDestroy_v2(context));
    free(data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda faults");
    TCase *tcase = tcase_create("cuda faults");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, out_of_device_memory_is_said);
    tcase_add_test(tcase, a_failed_context_ends_its_copies_and_no_others);
    tcase_add_test(tcase, a_lost_device_ends_its_copies_and_no_others);
    tcase_add_loop_test(
        tcase, without_bounce_buffers_a_copy_fails_and_the_next_one_tries_again,
        0, sizeof(opening) / sizeof(opening[0]));
    tcase_add_test(tcase, after_a_reset_of_the_device_new_memory_is_copied);
    tcase_add_test(tcase, a_reset_of_the_device_ends_its_copies);
    tcase_add_test(
        tcase, a_context_that_is_destroyed_too_early_ends_copies_of_its_memory);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
