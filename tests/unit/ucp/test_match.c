/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tag matching: order, masks, growth. No transport takes part.
 */
#include "suite.h"

#include "ucp/tag/match.h"

static ucp_tag_match_t tm;

static void setup(void)
{
    ck_assert_int_eq(ucp_tag_match_init(&tm), UCS_OK);
}

static ucp_request_t *post(ucp_tag_t tag, ucp_tag_t mask)
{
    ucp_request_t *req = calloc(1, sizeof(*req));

    req->recv.tag      = tag;
    req->recv.tag_mask = mask;
    ucp_tag_expected_add(&tm, req);
    return req;
}

static void expect_match(ucp_tag_t tag, ucp_request_t *req)
{
    ck_assert_ptr_eq(ucp_tag_expected_match(&tm, tag), req);
    ck_assert(!(req->flags & UCP_REQUEST_FLAG_EXPECTED));
    free(req);
}

static ucp_recv_desc_t *arrive(ucp_tag_t tag, const char *text)
{
    return ucp_tag_unexpected_add(&tm, UCP_RECV_DESC_EAGER, tag, strlen(text),
                                  text, strlen(text), 0);
}

START_TEST(receives_of_one_tag_match_in_posting_order)
{
    ucp_request_t *a, *b;

    setup();
    a = post(7, UCP_TAG_MASK_FULL);
    b = post(7, UCP_TAG_MASK_FULL);
    expect_match(7, a);
    expect_match(7, b);
    ck_assert_ptr_null(ucp_tag_expected_match(&tm, 7));
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(an_older_wildcard_wins_over_a_younger_exact_receive)
{
    ucp_request_t *wild, *exact;

    setup();
    wild  = post(0x10, 0xf0);
    exact = post(0x17, UCP_TAG_MASK_FULL);
    expect_match(0x17, wild);
    expect_match(0x17, exact);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(an_older_exact_receive_wins_over_a_younger_wildcard)
{
    ucp_request_t *wild, *exact;

    setup();
    exact = post(0x17, UCP_TAG_MASK_FULL);
    wild  = post(0, 0);
    expect_match(0x17, exact);
    expect_match(0x99, wild);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(a_wildcard_that_does_not_fit_is_passed_over)
{
    ucp_request_t *other, *fits;

    setup();
    other = post(0x20, 0xf0);
    fits  = post(0x10, 0xf0);
    expect_match(0x13, fits);
    ck_assert_ptr_null(ucp_tag_expected_match(&tm, 0x33));
    expect_match(0x2f, other);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(order_survives_growth_of_the_table)
{
    enum { NUM = 5000, TAGS = 500 };
    static ucp_request_t *reqs[NUM];
    int i;

    setup();
    for (i = 0; i < NUM; ++i) {
        reqs[i] = post((ucp_tag_t)(i % TAGS), UCP_TAG_MASK_FULL);
    }
    for (i = 0; i < NUM; ++i) {
        expect_match((ucp_tag_t)(i % TAGS), reqs[i]);
    }
    ck_assert_ptr_null(ucp_tag_expected_any(&tm));
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(a_removed_receive_matches_nothing)
{
    ucp_request_t *exact, *wild;

    setup();
    exact = post(1, UCP_TAG_MASK_FULL);
    wild  = post(1, 0xff);
    ucp_tag_expected_remove(&tm, exact);
    ucp_tag_expected_remove(&tm, wild);
    ck_assert_ptr_null(ucp_tag_expected_match(&tm, 1));
    ck_assert_ptr_null(ucp_tag_expected_any(&tm));
    free(exact);
    free(wild);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(early_messages_are_found_in_arrival_order)
{
    ucp_recv_desc_t *a, *b, *c;

    setup();
    a = arrive(5, "a");
    b = arrive(6, "b");
    c = arrive(5, "c");
    ck_assert_ptr_eq(ucp_tag_unexpected_find(&tm, 5, UCP_TAG_MASK_FULL), a);
    ck_assert_ptr_eq(ucp_tag_unexpected_find(&tm, 0, 0), a);
    ucp_tag_unexpected_remove(&tm, a);
    ucp_tag_unexpected_free(a);
    ck_assert_ptr_eq(ucp_tag_unexpected_find(&tm, 0, 0), b);
    ck_assert_ptr_eq(ucp_tag_unexpected_find(&tm, 5, UCP_TAG_MASK_FULL), c);
    ck_assert_ptr_eq(ucp_tag_unexpected_find(&tm, 4, ~(ucp_tag_t)3), b);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(early_messages_keep_their_bytes_small_and_large)
{
    static char large[100000];
    ucp_recv_desc_t *desc;

    setup();
    memset(large, 'x', sizeof(large));
    desc = ucp_tag_unexpected_add(&tm, UCP_RECV_DESC_EAGER, 1, 3, "abc", 3, 0);
    ck_assert_mem_eq(desc + 1, "abc", 3);
    desc = ucp_tag_unexpected_add(&tm, UCP_RECV_DESC_RNDV, 2, sizeof(large),
                                  large, sizeof(large), 0);
    ck_assert_mem_eq(desc + 1, large, sizeof(large));
    ucp_tag_match_cleanup(&tm);
}
END_TEST

START_TEST(many_early_messages_are_all_found)
{
    enum { NUM = 20000 };
    ucp_recv_desc_t *desc;
    int i;

    setup();
    for (i = 0; i < NUM; ++i) {
        arrive((ucp_tag_t)i << 32, "m");
    }
    for (i = NUM - 1; i >= 0; --i) {
        desc = ucp_tag_unexpected_find(&tm, (ucp_tag_t)i << 32,
                                       UCP_TAG_MASK_FULL);
        ck_assert_ptr_nonnull(desc);
        ucp_tag_unexpected_remove(&tm, desc);
        ucp_tag_unexpected_free(desc);
    }
    ck_assert_uint_eq(tm.unexpected.count, 0);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

SUITE_MAIN("tag matching",
           receives_of_one_tag_match_in_posting_order,
           an_older_wildcard_wins_over_a_younger_exact_receive,
           an_older_exact_receive_wins_over_a_younger_wildcard,
           a_wildcard_that_does_not_fit_is_passed_over,
           order_survives_growth_of_the_table,
           a_removed_receive_matches_nothing,
           early_messages_are_found_in_arrival_order,
           early_messages_keep_their_bytes_small_and_large,
           many_early_messages_are_all_found)
