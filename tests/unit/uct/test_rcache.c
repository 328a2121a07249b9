/* SPDX-License-Identifier: BSD-3-Clause */
/* The registration cache: hits, merging of regions, limits and invalidation,
 * also by several threads. */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "uct/base/rcache.h"

#define PAGE 4096ul

typedef struct my_region {
    ucx_rcache_region_t super;
    int canary;
} my_region_t;

static atomic_uint num_regs, num_deregs;
/* registrations that contain this address fail; 0: none */
static uintptr_t forbidden;
static ucx_rcache_t *rcache;

static ucs_status_t reg(void *arg, ucx_rcache_region_t *region, unsigned flags)
{
    uintptr_t start = (uintptr_t)region->address;

    if (forbidden && (start <= forbidden) &&
        (forbidden < start + region->length)) {
        return UCS_ERR_INVALID_ADDR;
    }

    ++num_regs;
    ((my_region_t *)region)->canary = 1234;
    return UCS_OK;
}

static void dereg(void *arg, ucx_rcache_region_t *region)
{
    ck_assert_int_eq(((my_region_t *)region)->canary, 1234);
    ++num_deregs;
}

static void open_with(size_t max_regions, size_t max_bytes)
{
    const ucx_rcache_params_t params = {
        .size        = sizeof(params),
        .name        = "test",
        .region_size = sizeof(my_region_t),
        .alignment   = PAGE,
        .max_regions = max_regions,
        .max_bytes   = max_bytes,
        .mem_reg     = reg,
        .mem_dereg   = dereg,
    };

    num_regs   = 0;
    num_deregs = 0;
    forbidden  = 0;
    ck_ok(uct_rcache_create(&params, &rcache));
}

static void setup(void)
{
    open_with(SIZE_MAX, SIZE_MAX);
}

static void teardown(void)
{
    uct_rcache_destroy(rcache);
    ck_assert_uint_eq(num_regs, num_deregs);
}

/* Returns the address of a page. The memory need not exist: reg() registers
 * nothing, and nothing accesses it. */
static void *page(unsigned number)
{
    return (void *)(0x10000000 + (number * PAGE));
}

static ucx_rcache_region_t *get(unsigned first, unsigned count, unsigned flags)
{
    ucx_rcache_region_t *region;

    ck_ok(uct_rcache_get(rcache, page(first), count * PAGE, flags, &region));
    ck_assert(region->address <= page(first));
    ck_assert((char *)region->address + region->length >=
              (char *)page(first + count));
    return region;
}

static void touch(unsigned first, unsigned count)
{
    uct_rcache_put(rcache, get(first, count, 1));
}

START_TEST(second_get_is_a_hit)
{
    ucx_rcache_region_t *a = get(0, 4, 1);
    ucx_rcache_region_t *b = get(1, 2, 1);

    ck_assert_ptr_eq(a, b);
    uct_rcache_put(rcache, a);
    uct_rcache_put(rcache, b);
    ck_assert_ptr_eq(get(0, 4, 1), a);
    uct_rcache_put(rcache, a);
    ck_assert_uint_eq(num_regs, 1);
    ck_assert_uint_eq(num_deregs, 0);
}
END_TEST

START_TEST(ranges_are_rounded_to_pages)
{
    ucx_rcache_region_t *region;

    ck_ok(uct_rcache_get(rcache, (char *)page(1) + 5, 1, 1, &region));
    ck_assert_ptr_eq(region->address, page(1));
    ck_assert_uint_eq(region->length, PAGE);
    uct_rcache_put(rcache, region);
    touch(1, 1);
    ck_assert_uint_eq(num_regs, 1);
}
END_TEST

START_TEST(overlaps_are_merged)
{
    ucx_rcache_region_t *region;

    touch(0, 2);
    touch(4, 2);
    touch(8, 2);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 3);
    /* overlaps the first two regions, and merges with them */
    region = get(1, 4, 1);
    ck_assert_ptr_eq(region->address, page(0));
    ck_assert_uint_eq(region->length, 6 * PAGE);
    ck_assert_uint_eq(num_deregs, 2);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 2);
    uct_rcache_put(rcache, region);
}
END_TEST

START_TEST(neighbours_stay_apart)
{
    touch(0, 2);
    touch(2, 2);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 2);
    ck_assert_uint_eq(num_deregs, 0);
}
END_TEST

START_TEST(replaced_region_lives_until_its_put)
{
    ucx_rcache_region_t *old = get(0, 2, 1);
    ucx_rcache_region_t *new = get(1, 2, 1);

    ck_assert_ptr_ne(old, new);
    ck_assert_uint_eq(num_deregs, 0);
    ck_assert_int_eq(((my_region_t *)old)->canary, 1234);
    uct_rcache_put(rcache, old);
    ck_assert_uint_eq(num_deregs, 1);
    uct_rcache_put(rcache, new);
    ck_assert_uint_eq(num_deregs, 1);
}
END_TEST

START_TEST(more_access_registers_again)
{
    touch(0, 1);
    uct_rcache_put(rcache, get(0, 1, 2));
    ck_assert_uint_eq(num_regs, 2);
    ck_assert_uint_eq(num_deregs, 1);
    /* the region has both access rights by now */
    uct_rcache_put(rcache, get(0, 1, 3));
    ck_assert_uint_eq(num_regs, 2);
}
END_TEST

START_TEST(longest_idle_goes_first)
{
    ucx_rcache_region_t *held;

    teardown();
    open_with(3, SIZE_MAX);
    touch(0, 1);
    touch(10, 1);
    touch(20, 1);
    touch(0, 1); /* used again: page 10 is now the least recently used one */
    touch(30, 1);
    ck_assert_uint_eq(num_deregs, 1);
    held = get(0, 1, 1);
    ck_assert_uint_eq(num_regs, 4); /* page 0 is still in the cache */
    uct_rcache_put(rcache, held);
    touch(10, 1);
    ck_assert_uint_eq(num_regs, 5);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 3);
}
END_TEST

START_TEST(bytes_are_limited_too)
{
    teardown();
    open_with(SIZE_MAX, 4 * PAGE);
    touch(0, 2);
    touch(10, 2);
    touch(20, 1);
    ck_assert_uint_eq(num_deregs, 1);
    touch(100, 5); /* longer than the limit: not cached */
    ck_assert_uint_eq(num_deregs, 2);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 2);
}
END_TEST

START_TEST(what_is_in_use_is_never_evicted)
{
    ucx_rcache_region_t *a, *b;

    teardown();
    open_with(1, SIZE_MAX);
    a = get(0, 1, 1);
    b = get(10, 1, 1);
    ck_assert_uint_eq(num_deregs, 0);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 1);
    uct_rcache_put(rcache, b); /* not cached: `a` uses up the limit of 1 */
    ck_assert_uint_eq(num_deregs, 1);
    uct_rcache_put(rcache, a);
    ck_assert_uint_eq(num_deregs, 1);
}
END_TEST

START_TEST(invalidated_memory_is_not_handed_out_again)
{
    ucx_rcache_region_t *held;

    touch(0, 4);
    held = get(10, 4, 1);
    uct_rcache_invalidate(rcache, (char *)page(3) + 100, 7 * PAGE);
    /* the region of pages 0 to 3, which was not in use */
    ck_assert_uint_eq(num_deregs, 1);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 0);
    touch(10, 1);
    ck_assert_uint_eq(num_regs, 3);
    uct_rcache_put(rcache, held);
    ck_assert_uint_eq(num_deregs, 2);
    uct_rcache_invalidate(rcache, page(50), PAGE);
    uct_rcache_invalidate(rcache, page(0), 0);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 1);
    uct_rcache_invalidate(rcache, NULL, SIZE_MAX);
    ck_assert_uint_eq(uct_rcache_num_regions(rcache), 0);
}
END_TEST

START_TEST(failed_merge_falls_back_to_what_was_asked)
{
    ucx_rcache_region_t *region;

    touch(0, 2);
    /* registration of page 0 fails from here on */
    forbidden = (uintptr_t)page(0);
    region    = get(1, 2, 1);
    ck_assert_ptr_eq(region->address, page(1));
    uct_rcache_put(rcache, region);
    ck_status(uct_rcache_get(rcache, page(0), PAGE, 1, &region),
              UCS_ERR_INVALID_ADDR);
}
END_TEST

START_TEST(impossible_ranges_are_refused)
{
    ucx_rcache_region_t *region;
    const ucx_rcache_params_t params = {.size = sizeof(params)};
    ucx_rcache_t *none;

    ck_status(uct_rcache_get(rcache, page(0), 0, 1, &region),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_rcache_get(rcache, page(0), SIZE_MAX, 1, &region),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_rcache_get(rcache, (void *)(UINTPTR_MAX - 10), 5, 1, &region),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_rcache_create(&params, &none), UCS_ERR_INVALID_PARAM);
}
END_TEST

static void *hammer(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    ucx_rcache_region_t *regions[4];
    unsigned i, j;

    for (i = 0; i < 2000; ++i) {
        for (j = 0; j < 4; ++j) {
            seed = (seed * 1103515245u) + 12345u;
            if (uct_rcache_get(rcache, page((seed >> 16) % 64),
                               (1 + ((seed >> 8) % 8)) * PAGE, 1,
                               &regions[j]) != UCS_OK) {
                return "get failed";
            }
        }
        for (j = 0; j < 4; ++j) {
            uct_rcache_put(rcache, regions[j]);
        }
        if ((i % 100) == 0) {
            uct_rcache_invalidate(rcache, page(i % 64), 16 * PAGE);
        }
    }
    return NULL;
}

START_TEST(threads_share_a_cache)
{
    pthread_t threads[4];
    void *result;
    unsigned i;

    teardown();
    open_with(8, SIZE_MAX);
    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer,
                                        (void *)(uintptr_t)(i + 1)),
                         0);
    }
    for (i = 0; i < 4; ++i) {
        pthread_join(threads[i], &result);
        ck_assert_ptr_null(result);
    }
    ck_assert_uint_le(uct_rcache_num_regions(rcache), 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rcache");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, second_get_is_a_hit);
    tcase_add_test(tc, ranges_are_rounded_to_pages);
    tcase_add_test(tc, overlaps_are_merged);
    tcase_add_test(tc, neighbours_stay_apart);
    tcase_add_test(tc, replaced_region_lives_until_its_put);
    tcase_add_test(tc, more_access_registers_again);
    tcase_add_test(tc, longest_idle_goes_first);
    tcase_add_test(tc, bytes_are_limited_too);
    tcase_add_test(tc, what_is_in_use_is_never_evicted);
    tcase_add_test(tc, invalidated_memory_is_not_handed_out_again);
    tcase_add_test(tc, failed_merge_falls_back_to_what_was_asked);
    tcase_add_test(tc, impossible_ranges_are_refused);
    tcase_add_test(tc, threads_share_a_cache);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
