/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of ids by which peers refer to objects (ucp/base/ids.h): stale and
 * forged ids find no object. */
#include "suite.h"

#include "ucp/base/ids.h"

START_TEST(a_number_finds_its_object_until_it_is_given_back)
{
    ucp_id_table_t *table = ucp_id_table_create();
    int object;
    uint32_t id;

    ck_assert_int_eq(ucp_id_add(table, &object, &id), UCS_OK);
    ck_assert_uint_ne(id, 0);
    ck_assert_ptr_eq(ucp_id_get(table, id), &object);
    ucp_id_del(table, id);
    ck_assert_ptr_null(ucp_id_get(table, id));
    ucp_id_table_destroy(table);
}
END_TEST

START_TEST(a_slot_used_again_has_another_number)
{
    ucp_id_table_t *table = ucp_id_table_create();
    uint32_t first, again;
    int object, i;

    ck_assert_int_eq(ucp_id_add(table, &object, &first), UCS_OK);
    ucp_id_del(table, first);
    for (i = 0; i < 1000; ++i) {
        ck_assert_int_eq(ucp_id_add(table, &object, &again), UCS_OK);
        ck_assert_uint_ne(first, again);
        ck_assert_ptr_null(ucp_id_get(table, first));
        ucp_id_del(table, again);
    }
    ucp_id_table_destroy(table);
}
END_TEST

START_TEST(invented_numbers_find_nothing)
{
    static const uint64_t invented[] = {
        0,
        2,
        31,
        32,
        33,
        1u << 20,
        (1u << 20) | 1,
        UINT32_MAX,
        1ull << 32,
        (1ull << 32) | 1,
        UINT64_MAX,
    };
    ucp_id_table_t *table = ucp_id_table_create();
    uint32_t id;
    size_t i;

    ck_assert_ptr_null(ucp_id_get(table, 1));
    ck_assert_int_eq(ucp_id_add(table, table, &id), UCS_OK);
    for (i = 0; i < sizeof(invented) / sizeof(invented[0]); ++i) {
        ck_assert_ptr_null(ucp_id_get(table, invented[i]));
    }
    ucp_id_table_destroy(table);
}
END_TEST

START_TEST(a_full_table_says_so_and_goes_on)
{
    ucp_id_table_t *table = ucp_id_table_create();
    ucs_status_t status;
    uint32_t id, first = 0;
    unsigned count = 0;

    while ((status = ucp_id_add(table, &count, &id)) == UCS_OK) {
        first = (first == 0) ? id : first;
        ++count;
    }
    ck_assert_int_eq(status, UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_gt(count, 1000000);
    ucp_id_del(table, first);
    ck_assert_int_eq(ucp_id_add(table, &count, &id), UCS_OK);
    ucp_id_table_destroy(table);
}
END_TEST

SUITE_MAIN("identifiers", a_number_finds_its_object_until_it_is_given_back,
           a_slot_used_again_has_another_number, invented_numbers_find_nothing,
           a_full_table_says_so_and_goes_on)
