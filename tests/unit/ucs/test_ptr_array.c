/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of pointers: the id of an element is small, does not change, and is
 * checked at each lookup. */
#include "suite.h"

#include "ucs/datastruct/ptr_array.h"

START_TEST(ids_are_stable_and_reused)
{
    static int values[100];
    ucs_ptr_array_t array;
    unsigned ids[100], i, count = 0;
    void *value;

    ucs_ptr_array_init(&array);
    ck_assert(!ucs_ptr_array_lookup(&array, 0, &value));
    for (i = 0; i < 100; ++i) {
        ck_ok(ucs_ptr_array_insert(&array, &values[i], &ids[i]));
        ck_assert_uint_lt(ids[i], 128);
    }
    for (i = 0; i < 100; i += 2) {
        ucs_ptr_array_remove(&array, ids[i]);
    }
    for (i = 0; i < 100; ++i) {
        ck_assert_int_eq(ucs_ptr_array_lookup(&array, ids[i], &value), i % 2);
        if (i % 2) {
            ck_assert_ptr_eq(value, &values[i]);
        }
    }
    ck_assert(!ucs_ptr_array_lookup(&array, UINT32_MAX, &value));
    ck_ok(ucs_ptr_array_insert(&array, NULL, &i));
    ck_assert_uint_lt(i, 128);
    ck_assert(ucs_ptr_array_lookup(&array, i, &value));
    ck_assert_ptr_null(value);
    ucs_ptr_array_remove(&array, i);
    ucs_ptr_array_for_each(value, i, &array) {
        ++count;
    }
    ck_assert_uint_eq(count, 50);
    ck_assert_uint_eq(ucs_ptr_array_count(&array), 50);
    ucs_ptr_array_cleanup(&array);
}
END_TEST

START_TEST(odd_addresses_are_rejected)
{
    ucs_ptr_array_t array;
    unsigned index;
    void *value;
    int a;

    ucs_ptr_array_init(&array);
    ck_assert_int_eq(ucs_ptr_array_insert(&array, (char *)&a + 1, &index),
                     UCS_ERR_INVALID_PARAM);
    ck_assert(!ucs_ptr_array_lookup(&array, 0, &value));
    ck_ok(ucs_ptr_array_insert(&array, &a, &index));
    ck_assert_uint_eq(index, 0);
    ck_assert(ucs_ptr_array_lookup(&array, 0, &value));
    ucs_ptr_array_cleanup(&array);
}
END_TEST

SUITE_MAIN("ptr_array", ids_are_stable_and_reused, odd_addresses_are_rejected)
