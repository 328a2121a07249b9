/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations: each has the specified result, with and without a fetched
 * value, for both operand sizes, over a lane that supports atomics and by
 * messages, and with the deprecated calls. Invalid operations are rejected.
 */
#include "rma.h"

#include <ucp/api/ucp_compat.h>

static ucs_status_t operate(lent_t *lent, ucp_atomic_op_t op, size_t size,
                            uint64_t operand, size_t offset, void *result)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(size),
    };
    uint32_t small = (uint32_t)operand;

    if (result != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = result;
    }
    return local_wait(&lent->local,
                      ucp_atomic_op_nbx(lent->local.ep, op,
                                        (size == 4) ? (void *)&small :
                                                      (void *)&operand,
                                        1, lent_at(lent, offset), lent->rkey,
                                        &param));
}

static uint64_t expected(ucp_atomic_op_t op, uint64_t old, uint64_t operand)
{
    switch (op) {
    case UCP_ATOMIC_OP_ADD:
        return old + operand;
    case UCP_ATOMIC_OP_AND:
        return old & operand;
    case UCP_ATOMIC_OP_OR:
        return old | operand;
    case UCP_ATOMIC_OP_XOR:
        return old ^ operand;
    default:
        return operand;
    }
}

static uint64_t load(const lent_t *lent, size_t offset, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, lent->memory + offset, size); /* little-endian hosts only */
    return value;
}

static void every_op(way_t way, size_t size)
{
    const uint64_t mask  = (size == 4) ? UINT32_MAX : UINT64_MAX;
    const uint64_t start = 0xf0f1e2d3c4b5a697 & mask;
    const uint64_t value = 0x123456789abcdef1 & mask;
    uint64_t result;
    lent_t lent;
    int op;

    lend(&lent, way, 64);
    memset(lent.memory, 'x', 64);
    for (op = 0; op < UCP_ATOMIC_OP_LAST; ++op) {
        if (op == UCP_ATOMIC_OP_CSWAP) {
            continue;
        }
        memcpy(lent.memory + 16, &start, size);
        result = 0;
        ck_assert_int_eq(operate(&lent, op, size, value, 16, &result), UCS_OK);
        ck_assert_uint_eq(result & mask, start);
        ck_assert_uint_eq(load(&lent, 16, size),
                          expected(op, start, value) & mask);
        if (op == UCP_ATOMIC_OP_SWAP) {
            continue;
        }
        memcpy(lent.memory + 16, &start, size);
        ck_assert_int_eq(operate(&lent, op, size, value, 16, NULL), UCS_OK);
        ck_assert_int_eq(lent_flush(&lent), UCS_OK);
        ck_assert_uint_eq(load(&lent, 16, size),
                          expected(op, start, value) & mask);
    }

    memcpy(lent.memory + 16, &start, size);
    result = value; /* the new value of the swap is passed in `result` */
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_CSWAP, size, start + 1, 16,
                             &result),
                     UCS_OK);
    ck_assert_uint_eq(result & mask, start);
    ck_assert_uint_eq(load(&lent, 16, size), start);
    result = value;
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_CSWAP, size, start, 16,
                             &result),
                     UCS_OK);
    ck_assert_uint_eq(result & mask, start);
    ck_assert_uint_eq(load(&lent, 16, size), value);
    ck_assert_int_eq(lent.memory[15], 'x');
    ck_assert_int_eq(lent.memory[16 + size], 'x');
    take_back(&lent);
}

START_TEST(every_operation_does_what_it_says)
{
    every_op(BY_LANE, 4);
    every_op(BY_LANE, 8);
    every_op(BY_MESSAGES, 4);
    every_op(BY_MESSAGES, 8);
}
END_TEST

static void misuse(way_t way)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t value = 1, result = 0;
    lent_t lent;

    lend(&lent, way, 64);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_ADD, 8, 1, 4, NULL),
                     ((uintptr_t)lent.memory % 8 == 4) ? UCS_OK :
                                                         UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_ADD, 8, 1, 64, NULL),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_SWAP, 8, 1, 0, NULL),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_LAST, 8, 1, 0, &result),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_ADD, 2, 1, 0, NULL),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_atomic_op_nbx(lent.local.ep, UCP_ATOMIC_OP_ADD,
                                           &value, 1, lent_at(&lent, 0),
                                           lent.rkey, &param)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(load(&lent, 0, 8), 0);
    take_back(&lent);
}

START_TEST(misuse_is_refused)
{
    misuse(BY_LANE);
    misuse(BY_MESSAGES);
}
END_TEST

/* The initiator uses a key whose id the owner does not know: the owner rejects
 * the operation. */
START_TEST(the_owner_checks_for_itself)
{
    uint64_t result = 7;
    lent_t lent;

    lend(&lent, BY_MESSAGES, 64);
    lent.rkey->id ^= 1;
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_ADD, 8, 1, 0, &result),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(result, 7);
    ck_assert_int_eq(operate(&lent, UCP_ATOMIC_OP_ADD, 8, 1, 0, NULL), UCS_OK);
    ck_assert_int_eq(lent_flush(&lent), UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(load(&lent, 0, 8), 0);
    lent.rkey->id ^= 1;
    take_back(&lent);
}
END_TEST

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static unsigned calls;

static void on_end(void *request, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_OK);
    ++calls;
}

static void old_forms(way_t way)
{
    ucs_status_ptr_t request;
    ucs_status_t status;
    uint64_t *words, result64;
    uint32_t result32;
    uint64_t address;
    ucp_ep_h ep;
    lent_t lent;
    void *key;
    size_t size;

    lend(&lent, way, 64);
    words   = (uint64_t *)lent.memory;
    address = lent_at(&lent, 0);
    ep      = lent.local.ep;

    ck_assert_int_eq(ucp_rkey_pack(lent.local.context, lent.memh, &key, &size),
                     UCS_OK);
    ck_assert_uint_gt(size, 0);
    ucp_rkey_buffer_release(key);

    ck_assert_int_eq(ucp_put(ep, "12345678", 8, address, lent.rkey), UCS_OK);
    ck_assert_int_ge(ucp_put_nbi(ep, "abcdefgh", 8, address + 8, lent.rkey),
                     UCS_OK);
    ck_assert_int_eq(ucp_ep_flush(ep), UCS_OK);
    ck_assert_int_eq(memcmp(lent.memory, "12345678abcdefgh", 16), 0);
    ck_assert_int_eq(ucp_get(ep, &result64, 8, address, lent.rkey), UCS_OK);
    ck_assert_int_eq(memcmp(&result64, "12345678", 8), 0);
    ck_assert_int_ge(ucp_get_nbi(ep, &result64, 8, address + 8, lent.rkey),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_flush(lent.local.worker), UCS_OK);
    ck_assert_int_eq(memcmp(&result64, "abcdefgh", 8), 0);

    calls   = 0;
    request = ucp_get_nb(ep, &result64, 8, address, lent.rkey, on_end);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    ck_assert_uint_eq(calls, (request == NULL) ? 0 : 1);
    request = ucp_put_nb(ep, &result64, 8, address, lent.rkey, on_end);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    request = ucp_ep_flush_nb(ep, 0, on_end);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    request = ucp_worker_flush_nb(lent.local.worker, 0, on_end);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);

    words[0] = 10;
    ck_assert_int_eq(ucp_atomic_add64(ep, 5, address, lent.rkey), UCS_OK);
    ck_assert_int_eq(ucp_atomic_add32(ep, 5, address, lent.rkey), UCS_OK);
    ck_assert_int_eq(ucp_atomic_fadd64(ep, 1, address, lent.rkey, &result64),
                     UCS_OK);
    ck_assert_uint_eq(result64, 20);
    ck_assert_int_eq(ucp_atomic_fadd32(ep, 1, address, lent.rkey, &result32),
                     UCS_OK);
    ck_assert_uint_eq(result32, 21);
    ck_assert_int_eq(ucp_atomic_swap64(ep, 7, address, lent.rkey, &result64),
                     UCS_OK);
    ck_assert_uint_eq(result64, 22);
    ck_assert_int_eq(ucp_atomic_swap32(ep, 8, address, lent.rkey, &result32),
                     UCS_OK);
    ck_assert_uint_eq(result32, 7);
    ck_assert_int_eq(ucp_atomic_cswap64(ep, 8, 9, address, lent.rkey,
                                        &result64),
                     UCS_OK);
    ck_assert_uint_eq(result64, 8);
    ck_assert_int_eq(ucp_atomic_cswap32(ep, 1, 2, address, lent.rkey,
                                        &result32),
                     UCS_OK);
    ck_assert_uint_eq(result32, 9);
    ck_assert_uint_eq(words[0], 9);

    ck_assert_int_ge(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_XOR, 1, 8, address,
                                     lent.rkey),
                     UCS_OK);
    ck_assert_int_ge(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_OR, 6, 4, address,
                                     lent.rkey),
                     UCS_OK);
    ck_assert_int_ge(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_AND, 12, 8, address,
                                     lent.rkey),
                     UCS_OK);
    request = ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_FADD, 100, &result64,
                                  8, address, lent.rkey, on_end);
    ck_assert_int_eq(local_wait(&lent.local, request), UCS_OK);
    ck_assert_uint_eq(result64, 12);
    ck_assert_uint_eq(words[0], 112);
    status = ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_LAST, 1, 8, address,
                             lent.rkey);
    ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
    status = ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_ADD, 1, 3, address,
                             lent.rkey);
    ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
    take_back(&lent);
}

START_TEST(old_forms_do_the_same)
{
    old_forms(BY_LANE);
    old_forms(BY_MESSAGES);
}
END_TEST

SUITE_MAIN("ucp amo", every_operation_does_what_it_says, misuse_is_refused,
           the_owner_checks_for_itself, old_forms_do_the_same)
