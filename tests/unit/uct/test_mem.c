/* SPDX-License-Identifier: BSD-3-Clause */
/* Each method of allocation returns usable memory or is skipped. Also the list
 * of memory types by address. */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ucs/memory/memtype_cache.h>

#include "uct/base/memtype.h"

static uct_mem_alloc_params_t host_params(void)
{
    return (uct_mem_alloc_params_t){0};
}

static ucs_status_t alloc_by(uct_alloc_method_t method, size_t length,
                             const uct_mem_alloc_params_t *params,
                             uct_allocated_memory_t *mem)
{
    return uct_mem_alloc(length, &method, 1, params, mem);
}

/* Writes every byte, and reads the last one. */
static void use(const uct_allocated_memory_t *mem, size_t at_least)
{
    ck_assert_uint_ge(mem->length, at_least);
    ck_assert_int_eq(mem->mem_type, UCS_MEMORY_TYPE_HOST);
    memset(mem->address, 0x5a, mem->length);
    ck_assert_int_eq(((char *)mem->address)[mem->length - 1], 0x5a);
}

START_TEST(heap_and_mmap_give_memory)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_HEAP,
        UCT_ALLOC_METHOD_MMAP,
        UCT_ALLOC_METHOD_DEFAULT,
    };
    const uct_mem_alloc_params_t params = host_params();
    uct_allocated_memory_t mem;
    unsigned i;

    for (i = 0; i < ucs_static_array_size(methods); ++i) {
        ck_ok(alloc_by(methods[i], 10000, &params, &mem));
        use(&mem, 10000);
        ck_assert((methods[i] == UCT_ALLOC_METHOD_DEFAULT) ||
                  (mem.method == methods[i]));
        ck_ok(uct_mem_free(&mem));
    }
}
END_TEST

START_TEST(huge_pages_come_or_the_next_method)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_HUGE,
        UCT_ALLOC_METHOD_THP,
        UCT_ALLOC_METHOD_MMAP,
    };
    const uct_mem_alloc_params_t params = host_params();
    uct_allocated_memory_t mem;

    ck_ok(uct_mem_alloc(5 << 20, methods, 3, &params, &mem));
    use(&mem, 5 << 20);
    ck_ok(uct_mem_free(&mem));

    /* too small for a transparent huge page: the next method is used */
    ck_ok(uct_mem_alloc(100, methods + 1, 2, &params, &mem));
    ck_assert_int_eq(mem.method, UCT_ALLOC_METHOD_MMAP);
    ck_ok(uct_mem_free(&mem));
}
END_TEST

START_TEST(transparent_huge_pages_are_whole)
{
    const uct_mem_alloc_params_t params = host_params();
    uct_allocated_memory_t mem;
    ucs_status_t status;

    status = alloc_by(UCT_ALLOC_METHOD_THP, 3 << 20, &params, &mem);
    if (status == UCS_OK) {
        use(&mem, 3 << 20);
        ck_assert_uint_gt(mem.length, 3 << 20);
        ck_assert_uint_eq((uintptr_t)mem.address % (1 << 20), 0);
        ck_ok(uct_mem_free(&mem));
    } else {
        /* transparent huge pages are disabled, or larger than 3 MiB */
        ck_status(status, UCS_ERR_NO_MEMORY);
    }
}
END_TEST

START_TEST(fixed_address_is_kept_or_fails)
{
    const size_t length           = 4 * (size_t)sysconf(_SC_PAGESIZE);
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS |
                      UCT_MEM_ALLOC_PARAM_FIELD_FLAGS,
        .flags = UCT_MD_MEM_FLAG_FIXED,
    };
    uct_allocated_memory_t mem, second;
    void *place;

    place = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(place, MAP_FAILED);
    params.address = place;
    ck_status(alloc_by(UCT_ALLOC_METHOD_MMAP, length, &params, &mem),
              UCS_ERR_NO_MEMORY); /* the range is in use */
    munmap(place, length);

    ck_ok(alloc_by(UCT_ALLOC_METHOD_MMAP, length, &params, &mem));
    ck_assert_ptr_eq(mem.address, place);
    use(&mem, length);
    ck_status(alloc_by(UCT_ALLOC_METHOD_MMAP, length, &params, &second),
              UCS_ERR_NO_MEMORY);
    /* a failed allocation did not change the memory */
    ck_assert_int_eq(*(char *)mem.address, 0x5a);
    ck_status(alloc_by(UCT_ALLOC_METHOD_HEAP, length, &params, &second),
              UCS_ERR_NO_MEMORY);
    ck_ok(uct_mem_free(&mem));

    params.address = (char *)place + 1;
    ck_status(alloc_by(UCT_ALLOC_METHOD_MMAP, length, &params, &mem),
              UCS_ERR_INVALID_PARAM);
    params.address = NULL;
    ck_status(alloc_by(UCT_ALLOC_METHOD_MMAP, length, &params, &mem),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(address_without_fixed_is_a_hint)
{
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS,
        /* a range that is in use */
        .address    = (void *)(uintptr_t)host_params,
    };
    uct_allocated_memory_t mem;

    ck_ok(alloc_by(UCT_ALLOC_METHOD_MMAP, 100, &params, &mem));
    use(&mem, 100);
    ck_ok(uct_mem_free(&mem));
}
END_TEST

START_TEST(device_memory_comes_from_domains_only)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_MD,
        UCT_ALLOC_METHOD_HEAP,
        UCT_ALLOC_METHOD_MMAP,
        UCT_ALLOC_METHOD_THP,
    };
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE,
        .mem_type   = UCS_MEMORY_TYPE_CUDA,
    };
    uct_allocated_memory_t mem;

    ck_status(uct_mem_alloc(5 << 20, methods, 4, &params, &mem),
              UCS_ERR_NO_MEMORY);
}
END_TEST

START_TEST(domain_that_cannot_allocate_is_skipped)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_MD,
        UCT_ALLOC_METHOD_HEAP,
    };
    uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MDS,
        .mds        = {.count = 1},
    };
    uct_allocated_memory_t mem;
    loopback_t lo;

    loopback_open(&lo, NULL);
    params.mds.mds = &lo.md;
    ck_status(uct_mem_alloc(64, methods, 1, &params, &mem), UCS_ERR_NO_MEMORY);
    ck_ok(uct_mem_alloc(64, methods, 2, &params, &mem));
    ck_assert_int_eq(mem.method, UCT_ALLOC_METHOD_HEAP);
    ck_ok(uct_mem_free(&mem));
    loopback_close(&lo);
}
END_TEST

START_TEST(parameters_are_checked)
{
    const uct_alloc_method_t heap = UCT_ALLOC_METHOD_HEAP;
    const uct_alloc_method_t none = (uct_alloc_method_t)77;
    uct_mem_alloc_params_t params = host_params();
    uct_allocated_memory_t mem;

    ck_status(uct_mem_alloc(0, &heap, 1, &params, &mem), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_alloc(8, NULL, 1, &params, &mem), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_alloc(8, &heap, 0, &params, &mem), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_alloc(8, &heap, 1, NULL, &mem), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_alloc(8, &heap, 1, &params, NULL), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_alloc(8, &none, 1, &params, &mem), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MDS;
    params.mds.count  = 1;
    ck_status(uct_mem_alloc(8, &heap, 1, &params, &mem), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE;
    params.mem_type   = UCS_MEMORY_TYPE_LAST;
    ck_status(uct_mem_alloc(8, &heap, 1, &params, &mem), UCS_ERR_INVALID_PARAM);
    ck_status(uct_mem_free(NULL), UCS_ERR_INVALID_PARAM);
    mem.method = none;
    ck_status(uct_mem_free(&mem), UCS_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(impossible_sizes_fail_cleanly)
{
    const uct_alloc_method_t methods[] = {
        UCT_ALLOC_METHOD_HEAP,
        UCT_ALLOC_METHOD_THP,
        UCT_ALLOC_METHOD_MMAP,
        UCT_ALLOC_METHOD_HUGE,
    };
    const uct_mem_alloc_params_t params = {
        .field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS,
        .flags      = UCT_MD_MEM_FLAG_HIDE_ERRORS,
    };
    uct_allocated_memory_t mem;

    ck_status(uct_mem_alloc(SIZE_MAX, methods, 4, &params, &mem),
              UCS_ERR_NO_MEMORY);
    /* Skips the method that uses malloc(), because sanitizers end the program
     * when it is called with such a size. */
    ck_status(uct_mem_alloc(PTRDIFF_MAX, methods + 2, 2, &params, &mem),
              UCS_ERR_NO_MEMORY);
}
END_TEST

/* --- Types of memory ------------------------------------------------------ */

static void expect_type(uintptr_t address, ucs_memory_type_t type)
{
    ucx_mem_info_t info = {.size = sizeof(info)};

    ck_ok(uct_mem_detect((void *)address, 1, &info));
    ck_assert_msg(info.type == type, "%lx has type %d, not %d",
                  (unsigned long)address, info.type, type);
}

START_TEST(announced_ranges_are_cut_and_replaced)
{
    const uintptr_t base = 0x7000000000;
    ucx_mem_info_t info  = {.size = sizeof(info)};

    uct_memtype_add((void *)base, 0x3000, UCS_MEMORY_TYPE_CUDA, 1);
    uct_memtype_add((void *)(base + 0x5000), 0x1000, UCS_MEMORY_TYPE_ROCM, 2);
    expect_type(base - 1, UCS_MEMORY_TYPE_HOST);
    expect_type(base, UCS_MEMORY_TYPE_CUDA);
    expect_type(base + 0x2fff, UCS_MEMORY_TYPE_CUDA);
    expect_type(base + 0x3000, UCS_MEMORY_TYPE_HOST);
    expect_type(base + 0x5000, UCS_MEMORY_TYPE_ROCM);

    /* removing a range from the middle of another one leaves two ranges */
    uct_memtype_remove((void *)(base + 0x1000), 0x1000);
    expect_type(base + 0xfff, UCS_MEMORY_TYPE_CUDA);
    expect_type(base + 0x1000, UCS_MEMORY_TYPE_HOST);
    expect_type(base + 0x2000, UCS_MEMORY_TYPE_CUDA);
    ck_ok(uct_mem_detect((void *)(base + 0x2800), 8, &info));
    ck_assert_ptr_eq(info.base, (void *)(base + 0x2000));
    ck_assert_uint_eq(info.length, 0x1000);
    ck_assert_int_eq(info.sys_dev, 1);

    /* a new range replaces the parts of older ranges that it overlaps */
    uct_memtype_add((void *)(base + 0x800), 0x5000, UCS_MEMORY_TYPE_ZE_DEVICE,
                    3);
    expect_type(base + 0x7ff, UCS_MEMORY_TYPE_CUDA);
    expect_type(base + 0x800, UCS_MEMORY_TYPE_ZE_DEVICE);
    expect_type(base + 0x57ff, UCS_MEMORY_TYPE_ZE_DEVICE);
    expect_type(base + 0x5800, UCS_MEMORY_TYPE_ROCM);

    uct_memtype_add((void *)base, 0x1000, UCS_MEMORY_TYPE_HOST, 0);
    expect_type(base + 0x400, UCS_MEMORY_TYPE_HOST);
    uct_memtype_remove((void *)base, 0x10000);
    expect_type(base + 0x5800, UCS_MEMORY_TYPE_HOST);
    /* invalid ranges and types are ignored */
    uct_memtype_add((void *)base, 0, UCS_MEMORY_TYPE_CUDA, 0);
    uct_memtype_add((void *)base, SIZE_MAX, UCS_MEMORY_TYPE_CUDA, 0);
    uct_memtype_add((void *)base, 1, UCS_MEMORY_TYPE_UNKNOWN, 0);
    expect_type(base, UCS_MEMORY_TYPE_HOST);
    ck_status(uct_mem_detect((void *)base, 1, NULL), UCS_ERR_INVALID_PARAM);
}
END_TEST

/* The functions for programs and those for plugins use one list of memory
 * types. */
START_TEST(types_told_by_programs_count)
{
    char *const base = (char *)0x7100000000;
    ucs_memory_info_t info;

    uct_memtype_add(base, 0x2000, UCS_MEMORY_TYPE_CUDA, 1);
    ck_ok(ucs_memtype_cache_lookup(base + 0x1000, 0x1000, &info));
    ck_assert_int_eq(info.type, UCS_MEMORY_TYPE_CUDA);
    ck_assert_int_eq(info.sys_dev, 1);
    ck_assert_ptr_eq(info.base_address, base);
    ck_assert_uint_eq(info.alloc_length, 0x2000);

    ucs_memtype_cache_update(base, 0x1000, UCS_MEMORY_TYPE_ROCM, 2, 7);
    expect_type((uintptr_t)base, UCS_MEMORY_TYPE_ROCM);
    expect_type((uintptr_t)base + 0x1000, UCS_MEMORY_TYPE_CUDA);
    /* a lookup of memory that covers ranges of two types */
    ck_ok(ucs_memtype_cache_lookup(base, 0x1001, &info));
    ck_assert_int_eq(info.type, UCS_MEMORY_TYPE_UNKNOWN);
    ck_assert_int_eq(info.flags, 7);

    /* The program sets this range to UNKNOWN: its type is detected at each
     * lookup. Nothing detects it here: uct_mem_detect() returns HOST, and
     * ucs_memtype_cache_lookup() returns UNKNOWN. */
    ucs_memtype_cache_update(base, 0x1000, UCS_MEMORY_TYPE_UNKNOWN, 0, 0);
    expect_type((uintptr_t)base, UCS_MEMORY_TYPE_HOST);
    ck_ok(ucs_memtype_cache_lookup(base, 1, &info));
    ck_assert_int_eq(info.type, UCS_MEMORY_TYPE_UNKNOWN);

    ucs_memtype_cache_remove(base, 0x1800);
    expect_type((uintptr_t)base + 0x17ff, UCS_MEMORY_TYPE_HOST);
    expect_type((uintptr_t)base + 0x1800, UCS_MEMORY_TYPE_CUDA);
    uct_memtype_remove(base, 0x2000);
    ck_status(ucs_memtype_cache_lookup(base + 0x1800, 1, &info),
              UCS_ERR_NO_ELEM);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mem");
    TCase *tc    = tcase_create("all");

    tcase_add_test(tc, heap_and_mmap_give_memory);
    tcase_add_test(tc, huge_pages_come_or_the_next_method);
    tcase_add_test(tc, transparent_huge_pages_are_whole);
    tcase_add_test(tc, fixed_address_is_kept_or_fails);
    tcase_add_test(tc, address_without_fixed_is_a_hint);
    tcase_add_test(tc, device_memory_comes_from_domains_only);
    tcase_add_test(tc, domain_that_cannot_allocate_is_skipped);
    tcase_add_test(tc, parameters_are_checked);
    tcase_add_test(tc, impossible_sizes_fail_cleanly);
    tcase_add_test(tc, announced_ranges_are_cut_and_replaced);
    tcase_add_test(tc, types_told_by_programs_count);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
