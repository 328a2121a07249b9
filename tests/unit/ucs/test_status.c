/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes: every value has a text, ucs_status_ptr_t can represent every
 * status, and the macros for groups of errors. Also the macros for sets of
 * CPUs. */
#include "suite.h"

#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>

START_TEST(every_value_has_words)
{
    int value;

    for (value = -128; value <= 127; ++value) {
        ck_assert_ptr_nonnull(ucs_status_string((ucs_status_t)value));
        ck_assert_uint_gt(strlen(ucs_status_string((ucs_status_t)value)), 0);
    }

    ck_assert_str_eq(ucs_status_string(UCS_OK), "Success");
    ck_assert_str_ne(ucs_status_string(UCS_ERR_BUSY),
                     ucs_status_string(UCS_ERR_CANCELED));
    ck_assert_ptr_nonnull(strstr(ucs_status_string((ucs_status_t)-45), "Link"));
}
END_TEST

START_TEST(pointers_carry_statuses)
{
    int object, code;

    ck_assert(!UCS_PTR_IS_ERR(NULL));
    ck_assert(!UCS_PTR_IS_PTR(NULL));
    ck_assert_int_eq(UCS_PTR_STATUS(NULL), UCS_OK);
    ck_assert(!UCS_PTR_IS_ERR(&object));
    ck_assert(UCS_PTR_IS_PTR(&object));
    ck_assert_int_eq(UCS_PTR_STATUS(&object), UCS_INPROGRESS);

    for (code = UCS_ERR_LAST; code < 0; ++code) {
        void *ptr = UCS_STATUS_PTR(code);
        ck_assert(UCS_PTR_IS_ERR(ptr));
        ck_assert(!UCS_PTR_IS_PTR(ptr));
        ck_assert_int_eq(UCS_PTR_STATUS(ptr), code);
    }
}
END_TEST

START_TEST(failures_are_grouped)
{
    ck_assert(UCS_IS_LINK_ERROR(UCS_ERR_FIRST_LINK_FAILURE));
    ck_assert(UCS_IS_LINK_ERROR(UCS_ERR_LAST_LINK_FAILURE));
    ck_assert(!UCS_IS_LINK_ERROR(UCS_ERR_ENDPOINT_TIMEOUT));
    ck_assert(UCS_IS_ENDPOINT_ERROR(UCS_ERR_ENDPOINT_TIMEOUT));
    ck_assert(!UCS_IS_ENDPOINT_ERROR(UCS_ERR_REJECTED));
}
END_TEST

START_TEST(cpu_set_ignores_numbers_out_of_range)
{
    ucs_cpu_set_t cpus;

    UCS_CPU_ZERO(&cpus);
    UCS_CPU_SET(0, &cpus);
    UCS_CPU_SET(1023, &cpus);
    UCS_CPU_SET(1024, &cpus);
    ck_assert(ucs_cpu_is_set(0, &cpus) && ucs_cpu_is_set(1023, &cpus));
    ck_assert(!ucs_cpu_is_set(1, &cpus) && !ucs_cpu_is_set(-1, &cpus));
    ck_assert(!ucs_cpu_is_set(1024, &cpus));
    UCS_CPU_CLR(1023, &cpus);
    ck_assert(!ucs_cpu_is_set(1023, &cpus));
}
END_TEST

SUITE_MAIN("status", every_value_has_words, pointers_carry_statuses,
           failures_are_grouped, cpu_set_ignores_numbers_out_of_range)
