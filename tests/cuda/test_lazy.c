/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin plugins/cuda starts the CUDA driver (cuInit), here the emulated
 * one, only if the program uses device memory, because a start takes 230 ms on
 * a real device. In the names of the tests, "it" is the driver. meson.build
 * sets UCX_TLS to cuda,self. Each test runs in a separate process.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

#include "../emulated/cuda/face.h"
#include "../emulated/emulated.h"

enum { SIZE = 100000 };

#define ck_ok(_call)   ck_assert_int_eq((_call), UCS_OK)
#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;

static void setup(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params         = {
                .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
    };
    ucp_address_t *address;
    size_t length;

    ck_ok(ucp_init(&params, NULL, &context));
    ck_ok(ucp_worker_create(context, &worker_params, &worker));
    ck_ok(ucp_worker_get_address(worker, &address, &length));
    ep_params.address = address;
    ck_ok(ucp_ep_create(worker, &ep_params, &ep));
    ucp_worker_release_address(worker, address);
}

static void teardown(void)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request  = ucp_ep_close_nbx(ep, &param);

    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(request);
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* Waits for a request and frees it. Fails the test if the request fails. */
static void finish(ucs_status_ptr_t request)
{
    if (request == NULL) {
        return;
    }
    ck_assert(UCS_PTR_IS_PTR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ck_ok(ucp_request_check_status(request));
    ucp_request_free(request);
}

/* Sends a message to this process. */
static void transfer(const void *from, void *to, size_t length)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t recv, send;

    recv = ucp_tag_recv_nbx(worker, to, length, 1, UINT64_MAX, &param);
    send = ucp_tag_send_nbx(ep, from, length, 1, &param);
    finish(send);
    finish(recv);
}

/* Sends a small and a large message of host memory to this process. */
static void transfer_host(void)
{
    static char from[SIZE], to[SIZE];

    memset(from, 1, sizeof(from));
    memset(to, 0, sizeof(to));
    transfer(from, to, 8);
    transfer(from, to, sizeof(to));
    ck_assert_mem_eq(from, to, sizeof(to));
}

START_TEST(messages_of_host_memory_do_not_start_it)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .length = SIZE,
        .flags  = UCP_MEM_MAP_ALLOCATE,
    };
    ucp_mem_h memh;

    transfer_host();
    ck_ok(ucp_mem_map(context, &params, &memh));
    ck_ok(ucp_mem_unmap(context, memh));
    ck_assert_uint_eq(emulated_calls("cuInit"), 0);
    ck_assert_uint_eq(emulated_calls("cuDevicePrimaryCtxRetain"), 0);
}
END_TEST

START_TEST(memory_of_a_program_that_starts_it_later_is_detected)
{
    static char data[SIZE];
    CUdeviceptr device;
    CUcontext current;

    transfer_host();
    ck_cuda(cuInit(0));
    ck_cuda(cuCtxCreate_v2(&current, 0, 0));
    ck_cuda(cuMemAlloc_v2(&device, SIZE));
    memset(data, 3, SIZE);
    transfer(data, (void *)(uintptr_t)device, SIZE);
    ck_assert_mem_eq(emulated_view((void *)(uintptr_t)device, SIZE), data,
                     SIZE);
    ck_cuda(cuMemFree_v2(device));
    ck_cuda(cuCtxDestroy_v2(current));
    ck_assert_uint_eq(emulated_calls("cuInit"), 1);
}
END_TEST

START_TEST(an_allocation_starts_it)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .length      = SIZE,
        .flags       = UCP_MEM_MAP_ALLOCATE,
        .memory_type = UCS_MEMORY_TYPE_CUDA,
    };
    ucp_mem_h memh;

    ck_ok(ucp_mem_map(context, &params, &memh));
    ck_ok(ucp_mem_unmap(context, memh));
    ck_assert_uint_eq(emulated_calls("cuInit"), 1);
}
END_TEST

START_TEST(an_allocation_without_a_device_fails)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .length      = SIZE,
        .flags       = UCP_MEM_MAP_ALLOCATE,
        .memory_type = UCS_MEMORY_TYPE_CUDA,
    };
    ucp_mem_h memh;

    emulated_fail("cuInit", 0, CUDA_ERROR_NO_DEVICE);
    ck_assert_int_ne(ucp_mem_map(context, &params, &memh), UCS_OK);
    transfer_host();
}
END_TEST

/* Waits for a request and frees it; returns its status. */
static ucs_status_t status_of(ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_STATUS(request);
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return status;
}

/* cuMemHostRegister fails, so that the plugin has no pinned host memory for
 * data on the way. UCP sends the small message eagerly, and the large one as a
 * rendezvous in fragments. _i: index of the length. */
START_TEST(messages_of_device_memory_fail_where_no_memory_can_be_pinned)
{
    static const size_t lengths[] = {8, SIZE};
    ucp_request_param_t param     = {0};
    static char data[SIZE];
    ucs_status_ptr_t recv;
    CUdeviceptr device;
    CUcontext current;

    ck_cuda(cuInit(0));
    ck_cuda(cuCtxCreate_v2(&current, 0, 0));
    ck_cuda(cuMemAlloc_v2(&device, SIZE));
    emulated_fail("cuMemHostRegister_v2", 0, CUDA_ERROR_OUT_OF_MEMORY);

    recv = ucp_tag_recv_nbx(worker, (void *)(uintptr_t)device, lengths[_i], 1,
                            UINT64_MAX, &param);
    (void)status_of(ucp_tag_send_nbx(ep, data, lengths[_i], 1, &param));
    ck_assert_int_ne(status_of(recv), UCS_OK);

    recv = ucp_tag_recv_nbx(worker, data, lengths[_i], 2, UINT64_MAX, &param);
    ck_assert_int_ne(status_of(ucp_tag_send_nbx(ep, (void *)(uintptr_t)device,
                                                lengths[_i], 2, &param)),
                     UCS_OK);
    ucp_request_cancel(worker, recv);
    ck_assert_int_ne(status_of(recv), UCS_OK);

    transfer_host();
    ck_cuda(cuMemFree_v2(device));
    ck_cuda(cuCtxDestroy_v2(current));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda lazy start");
    TCase *tcase = tcase_create("cuda lazy start");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, messages_of_host_memory_do_not_start_it);
    tcase_add_test(tcase, memory_of_a_program_that_starts_it_later_is_detected);
    tcase_add_test(tcase, an_allocation_starts_it);
    tcase_add_test(tcase, an_allocation_without_a_device_fails);
    tcase_add_loop_test(
        tcase, messages_of_device_memory_fail_where_no_memory_can_be_pinned, 0,
        2);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
