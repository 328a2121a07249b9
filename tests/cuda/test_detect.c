/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detection of memory types in UCP with plugins/cuda. UCP remembers the pages
 * that are known to be host memory, so that it queries the (emulated) CUDA
 * driver only once for a host buffer. It must still detect device memory that
 * is later at the same address, and use the memory types that the program has
 * entered in the cache of memory types. meson.build sets UCX_TLS to cuda,self.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <ucp/api/ucp.h>
#include <ucs/memory/memtype_cache.h>

#include "../emulated/cuda/face.h"
#include "../emulated/emulated.h"
#include "suite.h"

enum {
    PAGE  = 4096,
    SIZE  = 16 * PAGE,
    MANY  = 2000 * PAGE,
    LARGE = 70000 * PAGE,
};

#define ck_ok(_call)   ck_assert_int_eq((_call), UCS_OK)
#define ck_cuda(_call) ck_assert_int_eq((_call), CUDA_SUCCESS)

static ucp_context_h context;
static ucp_worker_h worker;

static void setup(void)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    ucp_worker_params_t worker_params = {0};

    ck_ok(ucp_init(&params, NULL, &context));
    ck_ok(ucp_worker_create(context, &worker_params, &worker));
}

static void teardown(void)
{
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    ck_assert_uint_eq(emulated_mistakes(), 0);
}

/* Returns the memory type that UCP detects. */
static ucs_memory_type_t type_of(void *address)
{
    ucp_request_param_t param = {0};
    ucp_request_attr_t attr   = {
          .field_mask = UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
    };
    ucs_status_ptr_t request = ucp_tag_recv_nbx(worker, address, 8, 1,
                                                UINT64_MAX, &param);

    ck_assert(UCS_PTR_IS_PTR(request));
    ck_ok(ucp_request_query(request, &attr));
    ucp_request_cancel(worker, request);
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return attr.mem_type;
}

START_TEST(the_driver_is_asked_once_about_a_host_buffer)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long before;
    int i;

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(type_of(memory), UCS_MEMORY_TYPE_HOST);
    before = emulated_calls(NULL);
    for (i = 0; i < 100; ++i) {
        ck_assert_int_eq(type_of(memory + i), UCS_MEMORY_TYPE_HOST);
    }
    ck_assert_uint_eq(emulated_calls(NULL), before);
    munmap(memory, SIZE);
}
END_TEST

static char *map(char *at, size_t length)
{
    char *memory = mmap(at, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                            ((at != NULL) ? MAP_FIXED_NOREPLACE : 0),
                        -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

/* Makes UCP detect the type of one buffer in each page of host memory. Returns
 * the number of calls of the driver that this has made. */
static unsigned long calls_for(char *memory, size_t length)
{
    unsigned long before = emulated_calls(NULL);
    size_t at;

    for (at = 0; at < length; at += PAGE) {
        ck_assert_int_eq(type_of(memory + at), UCS_MEMORY_TYPE_HOST);
    }
    return emulated_calls(NULL) - before;
}

START_TEST(the_driver_is_not_asked_again_while_other_memory_is_unmapped)
{
    char *memory = map(NULL, MANY);
    char *other;

    ck_assert_uint_gt(calls_for(memory, MANY), 0);
    other = map(NULL, SIZE);
    ck_assert_uint_gt(calls_for(other, SIZE), 0);
    munmap(other, SIZE);
    ck_assert_uint_eq(calls_for(memory, MANY), 0);
    munmap(memory, MANY);
}
END_TEST

/* UCP keeps a table of pages that are known to be host memory, and removes
 * unmapped pages from it. SIZE contains fewer pages than the table, LARGE
 * more. */
START_TEST(the_driver_is_asked_again_about_unmapped_pages)
{
    const size_t unmapped[] = {SIZE, LARGE};
    char *memory            = map(NULL, LARGE);
    size_t i;

    for (i = 0; i < sizeof(unmapped) / sizeof(unmapped[0]); ++i) {
        (void)calls_for(memory, SIZE);
        ck_assert_uint_eq(calls_for(memory, SIZE), 0);
        munmap(memory, unmapped[i]);
        map(memory, unmapped[i]);
        ck_assert_uint_ge(calls_for(memory, SIZE), SIZE / PAGE);
    }
    munmap(memory, LARGE);
}
END_TEST

START_TEST(device_memory_in_the_place_of_a_host_buffer_is_noticed)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr device[SIZE / PAGE];
    CUcontext current;
    int i, in_place = 0;

    ck_assert_ptr_ne(memory, MAP_FAILED);
    for (i = 0; i < SIZE; i += PAGE) {
        ck_assert_int_eq(type_of(memory + i), UCS_MEMORY_TYPE_HOST);
    }
    munmap(memory, SIZE);

    ck_cuda(cuInit(0));
    ck_cuda(cuCtxCreate_v2(&current, 0, 0));
    for (i = 0; i < SIZE / PAGE; ++i) {
        ck_cuda(cuMemAlloc_v2(&device[i], PAGE));
        in_place += (device[i] >= (uintptr_t)memory) &&
                    (device[i] < (uintptr_t)memory + SIZE);
        ck_assert_int_eq(type_of((void *)(uintptr_t)device[i]),
                         UCS_MEMORY_TYPE_CUDA);
    }
    /* if no device memory was at an address of the former host buffer, nothing
     * was tested */
    ck_assert_int_gt(in_place, 0);
    for (i = 0; i < SIZE / PAGE; ++i) {
        ck_cuda(cuMemFree_v2(device[i]));
    }
    ck_cuda(cuCtxDestroy_v2(current));
}
END_TEST

START_TEST(what_is_listed_is_noticed_at_once)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_int_eq(type_of(memory), UCS_MEMORY_TYPE_HOST);
    ucs_memtype_cache_update(memory, SIZE, UCS_MEMORY_TYPE_CUDA_MANAGED,
                             UCS_SYS_DEVICE_ID_UNKNOWN, 0);
    ck_assert_int_eq(type_of(memory), UCS_MEMORY_TYPE_CUDA_MANAGED);
    ucs_memtype_cache_remove(memory, SIZE);
    ck_assert_int_eq(type_of(memory), UCS_MEMORY_TYPE_HOST);
    munmap(memory, SIZE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda detection");
    TCase *tcase = tcase_create("cuda detection");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_driver_is_asked_once_about_a_host_buffer);
    tcase_add_test(
        tcase, the_driver_is_not_asked_again_while_other_memory_is_unmapped);
    tcase_add_test(tcase, the_driver_is_asked_again_about_unmapped_pages);
    tcase_add_test(tcase,
                   device_memory_in_the_place_of_a_host_buffer_is_noticed);
    tcase_add_test(tcase, what_is_listed_is_noticed_at_once);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
