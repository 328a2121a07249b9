/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport `self`: put, get and atomics write the expected bytes and
 * return the expected values. */
#include "common.h"

#include <string.h>

static loopback_t lo;
static uct_mem_h memh;
static uct_rkey_bundle_t rkey;

static union {
    char bytes[4096];
    uint32_t word32;
    uint64_t word64;
} target;

static void setup(void)
{
    char packed[64];
    uct_md_attr_t attr;

    loopback_open(&lo, NULL);
    memset(&target, 0, sizeof(target));
    ck_ok(uct_md_mem_reg(lo.md, &target, sizeof(target), UCT_MD_MEM_ACCESS_ALL,
                         &memh));
    ck_ok(uct_md_query(lo.md, &attr));
    ck_assert_uint_le(attr.rkey_packed_size, sizeof(packed));
    ck_ok(uct_md_mkey_pack(lo.md, memh, packed));
    ck_ok(uct_rkey_unpack(lo.component, packed, &rkey));
}

static void teardown(void)
{
    ck_ok(uct_rkey_release(lo.component, &rkey));
    ck_ok(uct_md_mem_dereg(lo.md, memh));
    loopback_close(&lo);
}

static uint64_t address(void)
{
    return (uintptr_t)&target;
}

static size_t pack_text(void *dest, void *arg)
{
    strcpy(dest, arg);
    return strlen(arg);
}

START_TEST(put_of_every_kind_is_there_at_once)
{
    uct_iov_t iov[2] = {
        {.buffer = "a.b.c.", .length = 1, .stride = 2, .count = 3},
        {.buffer = "def", .length = 3, .count = 1},
    };

    ck_ok(uct_ep_put_short(lo.ep, "short", 6, address(), rkey.rkey));
    ck_assert_str_eq(target.bytes, "short");
    ck_assert_int_eq(uct_ep_put_bcopy(lo.ep, pack_text, "bcopy!", address(),
                                      rkey.rkey),
                     6);
    ck_assert_str_eq(target.bytes, "bcopy!");
    ck_ok(uct_ep_put_zcopy(lo.ep, iov, 2, address(), rkey.rkey, NULL));
    ck_assert_mem_eq(target.bytes, "abcdef", 6);
    ck_ok(uct_ep_put_short(lo.ep, NULL, 0, address(), rkey.rkey));
}
END_TEST

static void unpack(void *arg, const void *data, size_t length)
{
    memcpy(arg, data, length);
}

START_TEST(get_of_every_kind_reads_the_target)
{
    char out[16]     = "";
    char part[8]     = "....";
    uct_iov_t iov[2] = {
        {.buffer = part, .length = 1, .stride = 2, .count = 2},
        {.buffer = out, .length = 4, .count = 1},
    };

    strcpy(target.bytes, "xyremote");
    ck_ok(uct_ep_get_short(lo.ep, out, 9, address(), rkey.rkey));
    ck_assert_str_eq(out, "xyremote");
    memset(out, 0, sizeof(out));
    ck_ok(uct_ep_get_bcopy(lo.ep, unpack, out, 9, address(), rkey.rkey, NULL));
    ck_assert_str_eq(out, "xyremote");
    ck_ok(uct_ep_get_zcopy(lo.ep, iov, 2, address(), rkey.rkey, NULL));
    ck_assert_mem_eq(part, "x.y.", 4);
    ck_assert_mem_eq(out, "remo", 4);
}
END_TEST

START_TEST(sums_that_overflow_are_refused)
{
    uct_iov_t iov = {.buffer = &target, .length = SIZE_MAX, .count = 2};

    ck_status(uct_ep_put_zcopy(lo.ep, &iov, 1, address(), rkey.rkey, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_get_zcopy(lo.ep, &iov, 1, address(), rkey.rkey, NULL),
              UCS_ERR_INVALID_PARAM);
    ck_status(uct_ep_get_bcopy(lo.ep, NULL, NULL, 1, address(), rkey.rkey,
                               NULL),
              UCS_ERR_INVALID_PARAM);
}
END_TEST

typedef struct atomic_case {
    uct_atomic_op_t op;
    uint64_t before, value, after;
} atomic_case_t;

/* With the operands of a case, the other operations have other results, both in
 * 64 bits and in the lower 32 bits. */
static const atomic_case_t atomic_cases[] = {
    {UCT_ATOMIC_OP_ADD, 0xfffffff0fffffff0, 0x20, 0xfffffff100000010},
    {UCT_ATOMIC_OP_AND, 0xff00ff00f0f0f0f0, 0x0ff00ff03c3c3c3c,
     0x0f000f0030303030},
    {UCT_ATOMIC_OP_OR, 0xff00ff00f0f0f0f0, 0x0ff00ff03c3c3c3c,
     0xfff0fff0fcfcfcfc},
    {UCT_ATOMIC_OP_XOR, 0xff00ff00f0f0f0f0, 0x0ff00ff03c3c3c3c,
     0xf0f0f0f0cccccccc},
    {UCT_ATOMIC_OP_SWAP, 1, 0x123456789abcdef0, 0x123456789abcdef0},
};

START_TEST(fetch_tells_the_old_value_and_stores_the_new)
{
    const atomic_case_t *c = &atomic_cases[_i];
    uint64_t old64         = 0;
    uint32_t old32         = 0;

    target.word64 = c->before;
    ck_ok(uct_ep_atomic64_fetch(lo.ep, c->op, c->value, &old64, address(),
                                rkey.rkey, NULL));
    ck_assert_uint_eq(old64, c->before);
    ck_assert_uint_eq(target.word64, c->after);

    target.word64 = c->before;
    ck_ok(uct_ep_atomic32_fetch(lo.ep, c->op, (uint32_t)c->value, &old32,
                                address(), rkey.rkey, NULL));
    ck_assert_uint_eq(old32, (uint32_t)c->before);
    ck_assert_uint_eq(target.word32, (uint32_t)c->after);
    /* a 32-bit operation does not change the bytes that follow */
    ck_assert_uint_eq(target.word64 >> 32, c->before >> 32);
}
END_TEST

START_TEST(post_stores_the_new_value)
{
    const atomic_case_t *c = &atomic_cases[_i];
    ucs_status_t expected  = (c->op == UCT_ATOMIC_OP_SWAP) ?
                                 UCS_ERR_UNSUPPORTED :
                                 UCS_OK;

    target.word64 = c->before;
    ck_status(uct_ep_atomic64_post(lo.ep, c->op, c->value, address(),
                                   rkey.rkey),
              expected);
    ck_assert_uint_eq(target.word64,
                      (expected == UCS_OK) ? c->after : c->before);
    target.word64 = c->before;
    ck_status(uct_ep_atomic32_post(lo.ep, c->op, (uint32_t)c->value, address(),
                                   rkey.rkey),
              expected);
    ck_assert_uint_eq(target.word32,
                      (uint32_t)((expected == UCS_OK) ? c->after : c->before));
}
END_TEST

START_TEST(cswap_swaps_only_what_it_expects)
{
    uint64_t old64;
    uint32_t old32;

    target.word64 = 10;
    ck_ok(uct_ep_atomic_cswap64(lo.ep, 10, 20, address(), rkey.rkey, &old64,
                                NULL));
    ck_assert_uint_eq(old64, 10);
    ck_assert_uint_eq(target.word64, 20);
    ck_ok(uct_ep_atomic_cswap64(lo.ep, 10, 30, address(), rkey.rkey, &old64,
                                NULL));
    ck_assert_uint_eq(old64, 20);
    ck_assert_uint_eq(target.word64, 20);

    ck_ok(uct_ep_atomic_cswap32(lo.ep, 20, 40, address(), rkey.rkey, &old32,
                                NULL));
    ck_assert_uint_eq(old32, 20);
    ck_assert_uint_eq(target.word32, 40);
    ck_ok(uct_ep_atomic_cswap32(lo.ep, 20, 50, address(), rkey.rkey, &old32,
                                NULL));
    ck_assert_uint_eq(old32, 40);
    ck_assert_uint_eq(target.word32, 40);
}
END_TEST

START_TEST(atomic_on_no_word_is_refused)
{
    uint64_t old64;
    uint32_t old32;

    ck_status(uct_ep_atomic64_fetch(lo.ep, UCT_ATOMIC_OP_ADD, 1, &old64,
                                    address() + 4, rkey.rkey, NULL),
              UCS_ERR_INVALID_ADDR);
    ck_status(uct_ep_atomic32_post(lo.ep, UCT_ATOMIC_OP_ADD, 1, address() + 2,
                                   rkey.rkey),
              UCS_ERR_INVALID_ADDR);
    ck_status(uct_ep_atomic_cswap32(lo.ep, 0, 1, address() + 1, rkey.rkey,
                                    &old32, NULL),
              UCS_ERR_INVALID_ADDR);
    ck_status(uct_ep_atomic32_post(lo.ep, UCT_ATOMIC_OP_LAST, 1, address(),
                                   rkey.rkey),
              UCS_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(flush_and_fence_have_nothing_to_wait_for)
{
    uct_completion_t comp = {.count = 1};

    ck_ok(uct_ep_put_short(lo.ep, "x", 1, address(), rkey.rkey));
    ck_ok(uct_ep_fence(lo.ep, 0));
    ck_ok(uct_iface_fence(lo.iface, 0));
    ck_ok(uct_ep_flush(lo.ep, UCT_FLUSH_FLAG_LOCAL, &comp));
    ck_ok(uct_ep_flush(lo.ep, UCT_FLUSH_FLAG_REMOTE, &comp));
    ck_ok(uct_iface_flush(lo.iface, UCT_FLUSH_FLAG_LOCAL, &comp));
    ck_assert_int_eq(comp.count, 1);
}
END_TEST

START_TEST(rkey_ptr_is_the_address_itself)
{
    void *pointer;

    ck_ok(uct_rkey_ptr(lo.component, &rkey, address(), &pointer));
    ck_assert_ptr_eq(pointer, &target);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("self remote memory");
    TCase *tc    = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, put_of_every_kind_is_there_at_once);
    tcase_add_test(tc, get_of_every_kind_reads_the_target);
    tcase_add_test(tc, sums_that_overflow_are_refused);
    tcase_add_loop_test(tc, fetch_tells_the_old_value_and_stores_the_new, 0, 5);
    tcase_add_loop_test(tc, post_stores_the_new_value, 0, 5);
    tcase_add_test(tc, cswap_swaps_only_what_it_expects);
    tcase_add_test(tc, atomic_on_no_word_is_refused);
    tcase_add_test(tc, flush_and_fence_have_nothing_to_wait_for);
    tcase_add_test(tc, rkey_ptr_is_the_address_itself);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
