/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table: lookups, two ways to store a value, and the same contents as a
 * plain array after random changes. */
#include "suite.h"

#include "ucs/datastruct/hash.h"

#define NUM_KEYS 3000

START_TEST(an_empty_table_finds_nothing)
{
    ucs_hash_t hash;
    uint32_t iter = 0;

    ucs_hash_init(&hash);
    ck_assert_ptr_null(ucs_hash_get(&hash, 0));
    ck_assert_ptr_null(ucs_hash_del(&hash, 0));
    ck_assert_ptr_null(ucs_hash_next(&hash, &iter, NULL));
    ck_assert_int_eq(ucs_hash_put(&hash, 1, NULL), UCS_ERR_INVALID_PARAM);
    ucs_hash_cleanup(&hash);
}
END_TEST

START_TEST(put_keeps_and_set_replaces)
{
    ucs_hash_t hash;
    int a, b;

    ucs_hash_init(&hash);
    ck_ok(ucs_hash_put(&hash, 0, &a));
    ck_assert_int_eq(ucs_hash_put(&hash, 0, &b), UCS_ERR_ALREADY_EXISTS);
    ck_assert_ptr_eq(ucs_hash_get(&hash, 0), &a);
    ck_ok(ucs_hash_set(&hash, 0, &b));
    ck_assert_ptr_eq(ucs_hash_get(&hash, 0), &b);
    ck_assert_uint_eq(ucs_hash_count(&hash), 1);
    ucs_hash_cleanup(&hash);
}
END_TEST

START_TEST(random_changes_agree_with_an_array)
{
    static char present[NUM_KEYS];
    static int values[NUM_KEYS];
    unsigned seed = 7, i, count = 0;
    ucs_hash_t hash;
    uint64_t key;
    int *value;

    ucs_hash_init(&hash);
    for (i = 0; i < 60000; ++i) {
        unsigned k = (unsigned)rand_r(&seed) % NUM_KEYS;

        /* these keys differ in the bits from 40 to 51 only */
        key = (uint64_t)k << 40;
        if (rand_r(&seed) % 2) {
            ck_assert_int_eq(ucs_hash_put(&hash, key, &values[k]),
                             present[k] ? UCS_ERR_ALREADY_EXISTS : UCS_OK);
            present[k] = 1;
        } else {
            ck_assert_ptr_eq(ucs_hash_del(&hash, key),
                             present[k] ? &values[k] : NULL);
            present[k] = 0;
        }
    }

    for (i = 0; i < NUM_KEYS; ++i) {
        ck_assert_ptr_eq(ucs_hash_get(&hash, (uint64_t)i << 40),
                         present[i] ? &values[i] : NULL);
        count += (unsigned)present[i];
    }
    ck_assert_uint_eq(ucs_hash_count(&hash), count);
    ucs_hash_for_each(value, &hash) {
        ck_assert_int_eq(present[value - values], 1);
        --count;
    }
    ck_assert_uint_eq(count, 0);
    ucs_hash_cleanup(&hash);
}
END_TEST

SUITE_MAIN("hash", an_empty_table_finds_nothing, put_keeps_and_set_replaces,
           random_changes_agree_with_an_array)
