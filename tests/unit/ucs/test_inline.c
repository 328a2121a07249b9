/* SPDX-License-Identifier: BSD-3-Clause */
/* Inline functions and macros of public headers of UCS: ternary values, linear
 * functions, memory types, and sets of CPUs. */
#include "suite.h"

#include <ucs/config/types.h>
#include <ucs/datastruct/linear_func.h>
#include <ucs/memory/memory_type.h>
#include <ucs/type/cpu_set.h>

START_TEST(a_ternary_value_says_yes_no_or_neither)
{
    static const struct {
        ucs_ternary_auto_value_t value;
        int yes_or_try, yes_or_no;
    } rows[] = {
        {UCS_NO, 0, 1},
        {UCS_YES, 1, 1},
        {UCS_TRY, 1, 0},
        {UCS_AUTO, 0, 0},
    };
    size_t i;

    ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), UCS_TERNARY_LAST);
    for (i = 0; i < UCS_TERNARY_LAST; ++i) {
        ck_assert_int_eq(ucs_ternary_auto_value_is_yes_or_try(rows[i].value),
                         rows[i].yes_or_try);
        ck_assert_int_eq(ucs_ternary_auto_value_is_yes_or_no(rows[i].value),
                         rows[i].yes_or_no);
    }
}
END_TEST

START_TEST(lines_are_added_composed_and_cut)
{
    ucs_linear_func_t f = ucs_linear_func_make(3, 2);
    ucs_linear_func_t g = ucs_linear_func_make(-1, 5);
    ucs_linear_func_t h;
    double x, at;

    for (x = -2; x <= 2; x += 0.5) {
        ck_assert_double_eq(ucs_linear_func_apply(f, x), 3 + 2 * x);
        h = ucs_linear_func_add(f, g);
        ck_assert_double_eq(ucs_linear_func_apply(h, x), 2 + 7 * x);
        h = ucs_linear_func_sub(f, g);
        ck_assert_double_eq(ucs_linear_func_apply(h, x), 4 - 3 * x);
        h = ucs_linear_func_compose(f, g);
        ck_assert_double_eq(ucs_linear_func_apply(h, x), 3 + 2 * (-1 + 5 * x));
        h = UCS_LINEAR_FUNC_ZERO;
        ucs_linear_func_add_inplace(&h, f);
        ucs_linear_func_add_inplace(&h, g);
        ck_assert_double_eq(h.c, 2);
        ck_assert_double_eq(h.m, 7);
    }
    ck_assert_int_eq(ucs_linear_func_intersect(f, g, &at), 0);
    ck_assert_double_eq(ucs_linear_func_apply(f, at),
                        ucs_linear_func_apply(g, at));
    ck_assert_int_eq(ucs_linear_func_intersect(f, f, &at), -1);
}
END_TEST

START_TEST(the_processor_may_touch_some_memory_only)
{
    ck_assert(UCS_MEM_IS_HOST(UCS_MEMORY_TYPE_HOST));
    ck_assert(UCS_MEM_IS_ACCESSIBLE_FROM_CPU(UCS_MEMORY_TYPE_HOST));
    ck_assert(UCS_MEM_IS_ACCESSIBLE_FROM_CPU(UCS_MEMORY_TYPE_ZE_HOST));
    ck_assert(UCS_MEM_IS_ACCESSIBLE_FROM_CPU(UCS_MEMORY_TYPE_ZE_MANAGED));
    ck_assert(!UCS_MEM_IS_HOST(UCS_MEMORY_TYPE_ZE_HOST));
    ck_assert(!UCS_MEM_IS_ACCESSIBLE_FROM_CPU(UCS_MEMORY_TYPE_CUDA));
    ck_assert(!UCS_MEM_IS_ACCESSIBLE_FROM_CPU(UCS_MEMORY_TYPE_RDMA));
}
END_TEST

START_TEST(a_set_of_processors_is_an_array_of_words)
{
    unsigned cpu = UCS_NCPUBITS + 3;
    ucs_cpu_set_t cpus;

    UCS_CPU_ZERO(&cpus);
    UCS_CPU_SET(cpu, &cpus);
    ck_assert(UCS_CPU_ISSET(cpu, &cpus));
    ck_assert_uint_eq(UCS_CPUELT(cpu), 1);
    ck_assert_uint_eq(cpus.ucs_bits[UCS_CPUELT(cpu)], UCS_CPUMASK(cpu));
    ck_assert_uint_eq(cpus.ucs_bits[0], 0);
}
END_TEST

SUITE_MAIN("inline", a_ternary_value_says_yes_no_or_neither,
           lines_are_added_composed_and_cut,
           the_processor_may_touch_some_memory_only,
           a_set_of_processors_is_an_array_of_words)
