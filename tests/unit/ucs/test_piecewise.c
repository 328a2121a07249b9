/* SPDX-License-Identifier: BSD-3-Clause */
/* Piecewise linear functions. Their lower envelope is compared with a linear
 * search for the minimum. */
#include "suite.h"

#include <limits.h>

#include "ucs/datastruct/piecewise_func.h"

START_TEST(ranges_add_up)
{
    ucs_piecewise_func_t f;

    ck_ok(ucs_piecewise_func_init(&f));
    ck_ok(ucs_piecewise_func_add_range(&f, 0, 99, ucs_linear_func_make(1, 0)));
    ck_ok(ucs_piecewise_func_add_range(&f, 50, SIZE_MAX,
                                       ucs_linear_func_make(0, 1)));
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 0), 1);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 49), 1);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 50), 51);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 99), 100);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 100), 100);
    ck_ok(ucs_piecewise_func_add_range(&f, 10, 20, ucs_linear_func_make(5, 0)));
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 9), 1);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 20), 6);
    ck_assert_double_eq(ucs_piecewise_func_apply(&f, 21), 1);
    ck_assert_int_eq(ucs_piecewise_func_add_range(&f, 2, 1,
                                                  ucs_linear_func_make(0, 0)),
                     UCS_ERR_INVALID_PARAM);
    ucs_piecewise_func_cleanup(&f);
}
END_TEST

#define NUM_FUNCS 5
#define MAX_SIZE  2000

static unsigned entry_at(const ucs_envelope_entry_t *entries, size_t x)
{
    while (entries->end < x) {
        ++entries;
    }

    return entries->index;
}

START_TEST(envelope_is_the_cheapest_everywhere)
{
    const ucs_piecewise_func_t *ptrs[NUM_FUNCS];
    ucs_piecewise_func_t funcs[NUM_FUNCS];
    size_t ranges[NUM_FUNCS][2], x;
    ucs_envelope_entry_t *entries;
    unsigned count, i, seed, index;
    double best, cost;

    for (seed = 1; seed < 60; ++seed) {
        unsigned state = seed;

        for (i = 0; i < NUM_FUNCS; ++i) {
            ck_ok(ucs_piecewise_func_init(&funcs[i]));
            ck_ok(ucs_piecewise_func_add_range(
                &funcs[i], 0, SIZE_MAX,
                ucs_linear_func_make(rand_r(&state) % 1000,
                                     rand_r(&state) % 7 * 0.25)));
            ck_ok(ucs_piecewise_func_add_range(
                &funcs[i], (size_t)rand_r(&state) % 500, 1200,
                ucs_linear_func_make(rand_r(&state) % 300, 0.125)));
            ptrs[i]      = (rand_r(&state) % 8) ? &funcs[i] : NULL;
            ranges[i][0] = (size_t)rand_r(&state) % 100;
            ranges[i][1] = 100 + (size_t)rand_r(&state) % (MAX_SIZE + 100);
        }

        ck_ok(
            ucs_piecewise_envelope(ptrs, ranges, NUM_FUNCS, &entries, &count));
        ck_assert_uint_eq(entries[count - 1].end, SIZE_MAX);
        for (x = 0; x < MAX_SIZE + 300; ++x) {
            best = -1;
            for (i = 0; i < NUM_FUNCS; ++i) {
                if ((ptrs[i] == NULL) || (x < ranges[i][0]) ||
                    (x > ranges[i][1])) {
                    continue;
                }
                cost = ucs_piecewise_func_apply(ptrs[i], x);
                best = ((best < 0) || (cost < best)) ? cost : best;
            }

            index = entry_at(entries, x);
            if (best < 0) {
                ck_assert_uint_eq(index, UINT_MAX);
                continue;
            }
            ck_assert_uint_lt(index, NUM_FUNCS);
            ck_assert(x >= ranges[index][0] && x <= ranges[index][1]);
            ck_assert_double_eq_tol(ucs_piecewise_func_apply(ptrs[index], x),
                                    best, 1e-6);
        }

        free(entries);
        for (i = 0; i < NUM_FUNCS; ++i) {
            ucs_piecewise_func_cleanup(&funcs[i]);
        }
    }
}
END_TEST

START_TEST(envelope_of_no_function_is_empty)
{
    ucs_envelope_entry_t *entries;
    unsigned count;

    ck_ok(ucs_piecewise_envelope(NULL, NULL, 0, &entries, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(entries[0].index, UINT_MAX);
    free(entries);
}
END_TEST

SUITE_MAIN("piecewise", ranges_add_up, envelope_is_the_cheapest_everywhere,
           envelope_of_no_function_is_empty)
