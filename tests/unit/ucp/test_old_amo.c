/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated form of fetching atomics: every operation, both sizes. */
#include "api.h"

/* the deprecated functions are under test */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef struct {
    local_t local;
    uint64_t word;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
} lent_word_t;

static void lend_word(lent_word_t *lent)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = &lent->word,
        .length  = sizeof(lent->word),
    };
    size_t size;
    void *key;

    local_open_mode(&lent->local, UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
                    UCS_THREAD_MODE_SINGLE);
    ck_assert_int_eq(ucp_mem_map(lent->local.context, &params, &lent->memh),
                     UCS_OK);
    ck_assert_int_eq(ucp_rkey_pack(lent->local.context, lent->memh, &key,
                                   &size),
                     UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(lent->local.ep, key, &lent->rkey),
                     UCS_OK);
    ucp_rkey_buffer_release(key);
}

static void take_word_back(lent_word_t *lent)
{
    ucp_rkey_destroy(lent->rkey);
    ck_assert_int_eq(ucp_mem_unmap(lent->local.context, lent->memh), UCS_OK);
    local_close(&lent->local);
}

static unsigned calls;

static void on_end(void *request, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_OK);
    ++calls;
}

/* Performs a fetching atomic and returns the old value. The operation finds
 * `swap`, the new value of a swap, in the memory of its result. */
static uint64_t fetch(lent_word_t *lent, ucp_atomic_fetch_op_t op,
                      uint64_t value, uint64_t swap, size_t size)
{
    uint64_t result = swap;
    ucs_status_ptr_t request;

    calls   = 0;
    request = ucp_atomic_fetch_nb(lent->local.ep, op, value, &result, size,
                                  (uintptr_t)&lent->word, lent->rkey, on_end);
    ck_assert_int_eq(local_wait(&lent->local, request), UCS_OK);
    ck_assert_uint_eq(calls, UCS_PTR_IS_PTR(request) ? 1 : 0);
    return (size == 8) ? result : (uint32_t)result;
}

START_TEST(each_operation_returns_the_old_value_and_leaves_the_new_one)
{
    static const struct {
        ucp_atomic_fetch_op_t op;
        uint64_t value, swap, before, after;
    } rows[] = {
        {UCP_ATOMIC_FETCH_OP_FADD, 5, 0, 10, 15},
        {UCP_ATOMIC_FETCH_OP_SWAP, 5, 0, 10, 5},
        {UCP_ATOMIC_FETCH_OP_CSWAP, 10, 7, 10, 7},
        {UCP_ATOMIC_FETCH_OP_CSWAP, 11, 7, 10, 10},
        {UCP_ATOMIC_FETCH_OP_FAND, 0x0f, 0, 0x3c, 0x0c},
        {UCP_ATOMIC_FETCH_OP_FOR, 0x0f, 0, 0x3c, 0x3f},
        {UCP_ATOMIC_FETCH_OP_FXOR, 0x0f, 0, 0x3c, 0x33},
    };
    const uint64_t high = UINT64_C(0x1234567800000000);
    lent_word_t lent;
    size_t i;

    lend_word(&lent);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        lent.word = rows[i].before;
        ck_assert_uint_eq(fetch(&lent, rows[i].op, rows[i].value, rows[i].swap,
                                8),
                          rows[i].before);
        ck_assert_uint_eq(lent.word, rows[i].after);

        /* a 4-byte operation does not change the other bytes */
        lent.word = high | rows[i].before;
        ck_assert_uint_eq(fetch(&lent, rows[i].op, rows[i].value, rows[i].swap,
                                4),
                          rows[i].before);
        ck_assert_uint_eq(lent.word, high | rows[i].after);
    }
    take_word_back(&lent);
}
END_TEST

START_TEST(what_is_no_operation_is_refused)
{
    uint64_t result = 0;
    ucs_status_ptr_t request;
    lent_word_t lent;

    lend_word(&lent);
    lent.word = 1;
    request   = ucp_atomic_fetch_nb(lent.local.ep, UCP_ATOMIC_FETCH_OP_LAST, 1,
                                    &result, 8, (uintptr_t)&lent.word, lent.rkey,
                                    on_end);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    request = ucp_atomic_fetch_nb(lent.local.ep, UCP_ATOMIC_FETCH_OP_FADD, 1,
                                  NULL, 8, (uintptr_t)&lent.word, lent.rkey,
                                  on_end);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    request = ucp_atomic_fetch_nb(lent.local.ep, UCP_ATOMIC_FETCH_OP_FADD, 1,
                                  &result, 2, (uintptr_t)&lent.word, lent.rkey,
                                  on_end);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(lent.word, 1);
    take_word_back(&lent);
}
END_TEST

SUITE_MAIN("old atomics",
           each_operation_returns_the_old_value_and_leaves_the_new_one,
           what_is_no_operation_is_refused)
