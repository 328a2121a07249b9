/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory pools: alignment, limits, hooks, reuse of objects, huge pages, pools
 * without malloc(), and reports of leaks. */
#include "suite.h"

#include <malloc.h>

#include <ucs/datastruct/mpool.h>

static int num_inits, num_cleanups, num_chunks;

static ucs_status_t count_chunk_alloc(ucs_mpool_t *mp, size_t *size_p,
                                      void **chunk_p)
{
    /* the pool must use the additional bytes for objects, too */
    *size_p += 1000;
    *chunk_p = malloc(*size_p);
    ++num_chunks;
    return UCS_OK;
}

static void count_chunk_release(ucs_mpool_t *mp, void *chunk)
{
    --num_chunks;
    free(chunk);
}

static void count_init(ucs_mpool_t *mp, void *obj, void *chunk)
{
    ck_assert((char *)obj > (char *)chunk);
    *(int *)obj = 77;
    ++num_inits;
}

static void count_cleanup(ucs_mpool_t *mp, void *obj)
{
    ++num_cleanups;
}

static void describe(ucs_mpool_t *mp, void *obj, char *buf, size_t max)
{
    snprintf(buf, max, "object with %d", *(int *)obj);
}

static const ucs_mpool_ops_t count_ops = {count_chunk_alloc,
                                          count_chunk_release, count_init,
                                          count_cleanup, describe};

static void cleanup_without_leaks(ucs_mpool_t *mp)
{
    log_catch();
    ucs_mpool_cleanup(mp, 1);
    log_release();
    ck_assert_str_eq(log_text, "");
}

START_TEST(objects_are_aligned_and_apart)
{
    static const size_t sizes[]   = {1, 7, 64, 100, 4097};
    static const size_t offsets[] = {0, 1, 4, 8};
    ucs_mpool_params_t params;
    char *objs[300];
    ucs_mpool_t mp;
    size_t s, o, a;
    int i;

    for (s = 0; s < 5; ++s) {
        for (o = 0; o < 4; ++o) {
            for (a = 1; a <= 4096; a *= 16) {
                if (offsets[o] > sizes[s]) {
                    continue;
                }
                ucs_mpool_params_reset(&params);
                params.elem_size       = sizes[s];
                params.align_offset    = offsets[o];
                params.alignment       = a;
                params.elems_per_chunk = 5;
                params.name            = "aligned";
                ck_ok(ucs_mpool_init(&params, &mp));
                for (i = 0; i < 300; ++i) {
                    objs[i] = ucs_mpool_get_inline(&mp);
                    ck_assert_ptr_nonnull(objs[i]);
                    ck_assert_uint_eq(((uintptr_t)objs[i] + offsets[o]) % a, 0);
                    ck_assert_ptr_eq(ucs_mpool_obj_owner(objs[i]), &mp);
                    memset(objs[i], i, sizes[s]);
                }
                for (i = 0; i < 300; ++i) {
                    ck_assert_int_eq(objs[i][sizes[s] - 1], (char)i);
                    ucs_mpool_put_inline(objs[i]);
                }
                ck_assert_uint_eq(ucs_mpool_num_used(&mp), 0);
                cleanup_without_leaks(&mp);
            }
        }
    }
}
END_TEST

START_TEST(limit_is_kept_and_objects_come_back)
{
    ucs_mpool_params_t params;
    void *objs[10], *obj;
    ucs_mpool_t mp;
    int i;

    ucs_mpool_params_reset(&params);
    params.elem_size       = 32;
    params.elems_per_chunk = 4;
    params.max_elems       = 10;
    params.name            = "limited";
    ck_ok(ucs_mpool_init(&params, &mp));
    ck_assert_int_eq(ucs_mpool_reserve(&mp, 11), UCS_ERR_EXCEEDS_LIMIT);
    ck_ok(ucs_mpool_reserve(&mp, 7));
    ck_assert_uint_ge(ucs_mpool_num_elems(&mp), 7);
    for (i = 0; i < 10; ++i) {
        ck_assert_ptr_nonnull(objs[i] = ucs_mpool_get(&mp));
    }
    ck_assert_ptr_null(ucs_mpool_get(&mp));
    ck_assert(ucs_mpool_is_exhausted(&mp));
    ucs_mpool_put(objs[3]);
    obj = ucs_mpool_get(&mp);
    ck_assert_ptr_eq(obj, objs[3]);
    for (i = 0; i < 10; ++i) {
        ucs_mpool_put(objs[i]);
    }
    cleanup_without_leaks(&mp);
}
END_TEST

START_TEST(hooks_run_once_and_leaks_are_named)
{
    ucs_mpool_params_t params;
    ucs_mpool_t mp;
    int *a, *b;

    num_inits = num_cleanups = num_chunks = 0;
    ucs_mpool_params_reset(&params);
    params.elem_size       = sizeof(int);
    params.elems_per_chunk = 3;
    params.priv_size       = 8;
    params.ops             = &count_ops;
    params.name            = "leaky";
    ck_ok(ucs_mpool_init(&params, &mp));
    memset(ucs_mpool_priv(&mp), 1, 8);
    a = ucs_mpool_get(&mp);
    b = ucs_mpool_get(&mp);
    ck_assert_int_eq(*a, 77);
    *b = 5;
    ucs_mpool_put(a);

    log_catch();
    ucs_mpool_cleanup(&mp, 1);
    log_release();
    ck_logged("'leaky'");
    ck_logged("object with 5");
    /* chunk_alloc() returned a larger chunk than requested */
    ck_assert_int_gt(num_inits, 3);
    ck_assert_int_eq(num_inits, num_cleanups);
    ck_assert_int_eq(num_chunks, 0);
}
END_TEST

static const ucs_mpool_ops_t huge_ops = {ucs_mpool_hugetlb_malloc,
                                         ucs_mpool_hugetlb_free, NULL, NULL,
                                         NULL};

/* Huge pages may be unavailable: objects must be usable and chunks released in
 * either case. */
START_TEST(chunks_of_huge_pages)
{
    ucs_mpool_params_t params;
    ucs_mpool_t mp;
    void *objs[6];
    int i, safe;

    for (safe = 0; safe < 2; ++safe) {
        ucs_mpool_params_reset(&params);
        params.elem_size       = 1 << 20;
        params.elems_per_chunk = 2;
        params.max_chunk_size  = SIZE_MAX;
        params.grow_factor     = 1.0;
        params.malloc_safe     = safe;
        params.ops             = &huge_ops;
        params.name            = "huge";
        ck_ok(ucs_mpool_init(&params, &mp));
        ck_assert_ptr_eq(mp.data->ops, &huge_ops);
        for (i = 0; i < 6; ++i) {
            ck_assert_ptr_nonnull(objs[i] = ucs_mpool_get(&mp));
            memset(objs[i], i, params.elem_size);
        }
        for (i = 0; i < 6; ++i) {
            ck_assert_int_eq(((char *)objs[i])[params.elem_size - 1], i);
            ucs_mpool_put(objs[i]);
        }
        cleanup_without_leaks(&mp);
    }
}
END_TEST

/* A pool with malloc_safe does not call malloc(): the number of bytes that
 * malloc() has allocated does not change. */
START_TEST(malloc_safe_pools_do_not_call_malloc)
{
    ucs_mpool_params_t params;
    struct mallinfo2 before;
    ucs_mpool_t mp;
    void *objs[1000];
    int i;

    ucs_mpool_params_reset(&params);
    params.elem_size       = 1000;
    params.elems_per_chunk = 10;
    params.malloc_safe     = 1;
    params.name            = "safe";
    before                 = mallinfo2();
    ck_ok(ucs_mpool_init(&params, &mp));
    for (i = 0; i < 1000; ++i) {
        objs[i] = ucs_mpool_get(&mp);
    }
    ck_assert_uint_eq(mallinfo2().uordblks, before.uordblks);
    ck_assert_uint_eq(mallinfo2().hblkhd, before.hblkhd);
    for (i = 0; i < 1000; ++i) {
        ck_assert_ptr_nonnull(objs[i]);
        ucs_mpool_put(objs[i]);
    }
    cleanup_without_leaks(&mp);
}
END_TEST

START_TEST(senseless_parameters_are_refused)
{
    ucs_mpool_params_t params;
    ucs_mpool_t mp;

    log_catch();
    ucs_mpool_params_reset(&params);
    ck_assert_int_eq(ucs_mpool_init(&params, &mp), UCS_ERR_INVALID_PARAM);
    params.elem_size = 8;
    params.alignment = 3;
    ck_assert_int_eq(ucs_mpool_init(&params, &mp), UCS_ERR_INVALID_PARAM);
    params.alignment = 8;
    params.elem_size = SIZE_MAX - 4;
    ck_assert_int_eq(ucs_mpool_init(&params, &mp), UCS_ERR_INVALID_PARAM);
    log_release();
}
END_TEST

SUITE_MAIN("mpool", objects_are_aligned_and_apart,
           limit_is_kept_and_objects_come_back,
           hooks_run_once_and_leaks_are_named, chunks_of_huge_pages,
           malloc_safe_pools_do_not_call_malloc,
           senseless_parameters_are_refused)
