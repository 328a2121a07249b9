/* SPDX-License-Identifier: BSD-3-Clause */
/* Tag matching (ucp/tag/match.h): order, masks, growth of the tables, the
 * number of comparisons, and the results of a plain search. No transport is
 * used. */
#include "suite.h"

#include "ucp/tag/match.h"

static ucp_tag_match_t tm;

static void setup_with(ucp_tag_t sender_mask)
{
    ck_assert_int_eq(ucp_tag_match_init(&tm, sender_mask), UCS_OK);
}

static void setup(void)
{
    setup_with(0);
}

static ucp_request_t *post(ucp_tag_t tag, ucp_tag_t mask)
{
    ucp_request_t *req = calloc(1, sizeof(*req));

    ucp_recv_tag(req)->tag      = tag;
    ucp_recv_tag(req)->tag_mask = mask;
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

/* Posts `req` as a receive: an element of an array that the caller frees as a
 * whole. */
static ucp_request_t *post_from(ucp_request_t *req, ucp_tag_t tag,
                                ucp_tag_t mask)
{
    req->flags                  = 0;
    ucp_recv_tag(req)->tag      = tag;
    ucp_recv_tag(req)->tag_mask = mask;
    ucp_tag_expected_add(&tm, req);
    return req;
}

/* Returns the tag of receive or message i. `pattern` selects one of several
 * ways in which applications form tags. */
static ucp_tag_t pattern_tag(unsigned pattern, uint64_t i)
{
    switch (pattern) {
    case 0:
        return i; /* a counter */
    case 1:
        /* a counter in the upper half */
        return i << 32;
    case 2:
        /* a counter in the highest bits */
        return (i << 40) | 77;
    case 3:
        return ((i % 300) << 44) | (5ul << 20) | (i / 300); /* rank and tag */
    case 4:
        return i * 4096; /* addresses */
    default:
        return UINT64_MAX - i;
    }
}

enum { PATTERNS = 6, MANY = 100000, MOST_COMPARED = 8 };

/* Returns how many of MANY receives or unexpected messages a match compares on
 * average, if all are matched in the worst order. Those in a bucket of the
 * table are compared one after the other; `sum_of_squares`: of the lengths of
 * all buckets. */
static double compared(size_t sum_of_squares)
{
    return ((double)sum_of_squares / MANY + 1) / 2;
}

static size_t expected_squares(unsigned key)
{
    const ucp_tag_receives_t *receives = &tm.expected.by_key[key];
    size_t count                       = (size_t)1 << (64 - receives->shift);
    size_t i, length, sum = 0;

    for (i = 0; i < count; ++i) {
        length = ucs_queue_length(&receives->buckets[i]);
        sum += length * length;
    }
    return sum;
}

static size_t unexpected_squares(unsigned key)
{
    size_t count = (size_t)1 << (64 - tm.unexpected.shift);
    size_t i, length, sum = 0;

    for (i = 0; i < count; ++i) {
        length = ucs_list_length(&tm.unexpected.buckets[key * count + i]);
        sum += length * length;
    }
    return sum;
}

START_TEST(a_match_among_100000_receives_looks_at_few)
{
    ucp_request_t *reqs = calloc(MANY, sizeof(*reqs));
    unsigned pattern, wrong = 0;
    int i;

    for (pattern = 0; pattern < PATTERNS; ++pattern) {
        setup();
        for (i = 0; i < MANY; ++i) {
            post_from(&reqs[i], pattern_tag(pattern, i), UCP_TAG_MASK_FULL);
        }
        ck_assert_uint_eq(tm.expected.by_key[0].count, MANY);
        ck_assert_double_le(compared(expected_squares(0)), MOST_COMPARED);
        for (i = MANY - 1; i >= 0; --i) {
            wrong += (ucp_tag_expected_match(&tm, pattern_tag(pattern, i)) !=
                      &reqs[i]);
        }
        ck_assert_uint_eq(wrong, 0);
        ck_assert_ptr_null(ucp_tag_expected_any(&tm));
        ucp_tag_match_cleanup(&tm);
    }
    free(reqs);
}
END_TEST

START_TEST(a_search_among_100000_messages_looks_at_few)
{
    unsigned pattern, missing = 0;
    ucp_recv_desc_t *desc;
    int i;

    for (pattern = 0; pattern < PATTERNS; ++pattern) {
        setup();
        for (i = 0; i < MANY; ++i) {
            arrive(pattern_tag(pattern, i), "m");
        }
        ck_assert_uint_eq(tm.unexpected.count, MANY);
        ck_assert_double_le(compared(unexpected_squares(0)), MOST_COMPARED);
        for (i = MANY - 1; i >= 0; --i) {
            desc = ucp_tag_unexpected_find(&tm, pattern_tag(pattern, i),
                                           UCP_TAG_MASK_FULL);
            if (desc != NULL) {
                ucp_tag_unexpected_remove(&tm, desc);
                ucp_tag_unexpected_free(desc);
            } else {
                ++missing;
            }
        }
        ck_assert_uint_eq(missing, 0);
        ucp_tag_match_cleanup(&tm);
    }
}
END_TEST

START_TEST(taking_out_100000_receives_goes_through_the_table_once)
{
    ucp_request_t *reqs = calloc(MANY + 1, sizeof(*reqs));
    size_t buckets, last = 0, steps = 0;
    ucp_request_t *req;
    int i;

    setup();
    for (i = 0; i < MANY; ++i) {
        post_from(&reqs[i], pattern_tag(3, i), UCP_TAG_MASK_FULL);
    }
    buckets = (size_t)1 << (64 - tm.expected.by_key[0].shift);
    for (i = 0; (req = ucp_tag_expected_any(&tm)) != NULL; ++i) {
        steps += (tm.expected.by_key[0].scanned - last) & (buckets - 1);
        last = tm.expected.by_key[0].scanned;
        ucp_tag_expected_remove(&tm, req);
        if (i == 1000) {
            /* the callback of a cancelled receive may post a receive */
            post_from(&reqs[MANY], pattern_tag(3, 5), UCP_TAG_MASK_FULL);
        }
    }
    ck_assert_int_eq(i, MANY + 1);
    ck_assert_uint_le(steps, 2 * buckets);
    ucp_tag_match_cleanup(&tm);
    free(reqs);
}
END_TEST

/* Tags in the format of an MPI library: tag, sender, communicator. SENDER is
 * the mask of the sender's bits. */
static const ucp_tag_t SENDER = 0x000000fffff00000ull;

static ucp_tag_t mpi_tag(uint64_t tag, uint64_t sender)
{
    return (tag << 40) | (sender << 20) | 3;
}

/* Returns the tag of a receive with wildcards: any tag from sender i (key 1),
 * or tag i from any sender (key 2). */
static ucp_tag_t wild_tag(unsigned key, uint64_t i)
{
    return (key == 1) ? mpi_tag(0, i) : mpi_tag(i, 0);
}

static ucp_tag_t fitting_tag(unsigned key, uint64_t i)
{
    return (key == 1) ? mpi_tag(i % 7, i) : mpi_tag(i, i % 7);
}

START_TEST(a_match_among_100000_wildcards_looks_at_few)
{
    ucp_request_t *reqs = calloc(MANY, sizeof(*reqs));
    unsigned key, wrong = 0;
    int i;

    for (key = 1; key <= 2; ++key) {
        setup_with(SENDER);
        for (i = 0; i < MANY; ++i) {
            post_from(&reqs[i], wild_tag(key, i),
                      (key == 1) ? SENDER : ~SENDER);
        }
        ck_assert_uint_eq(tm.expected.by_key[key].count, MANY);
        ck_assert_double_le(compared(expected_squares(key)), MOST_COMPARED);
        ck_assert_ptr_null(ucp_tag_expected_match(&tm, fitting_tag(key, MANY)));
        for (i = MANY - 1; i >= 0; --i) {
            wrong += (ucp_tag_expected_match(&tm, fitting_tag(key, i)) !=
                      &reqs[i]);
        }
        ck_assert_uint_eq(wrong, 0);
        ck_assert_uint_eq(tm.expected.num_wild, 0);
        ck_assert_ptr_null(ucp_tag_expected_any(&tm));
        ucp_tag_match_cleanup(&tm);
    }
    free(reqs);
}
END_TEST

START_TEST(a_wildcard_search_among_100000_messages_looks_at_few)
{
    unsigned key, missing = 0;
    ucp_recv_desc_t *desc;
    int i;

    for (key = 1; key <= 2; ++key) {
        setup_with(SENDER);
        for (i = 0; i < MANY; ++i) {
            arrive(fitting_tag(key, i), "m");
        }
        ck_assert_double_le(compared(unexpected_squares(key)), MOST_COMPARED);
        for (i = MANY - 1; i >= 0; --i) {
            desc = ucp_tag_unexpected_find(&tm, wild_tag(key, i),
                                           (key == 1) ? SENDER : ~SENDER);
            if ((desc != NULL) && (desc->tag == fitting_tag(key, i))) {
                ucp_tag_unexpected_remove(&tm, desc);
                ucp_tag_unexpected_free(desc);
            } else {
                ++missing;
            }
        }
        ck_assert_uint_eq(missing, 0);
        ck_assert_uint_eq(tm.unexpected.count, 0);
        ucp_tag_match_cleanup(&tm);
    }
}
END_TEST

START_TEST(a_mask_that_tells_no_senders_apart_makes_no_keys)
{
    setup_with(0);
    ck_assert_uint_eq(tm.num_keys, 1);
    ucp_tag_match_cleanup(&tm);
    setup_with(UCP_TAG_MASK_FULL);
    ck_assert_uint_eq(tm.num_keys, 1);
    ucp_tag_match_cleanup(&tm);
}
END_TEST

/* ------------------------------------------------------------- the model -- */

/* A reference implementation of matching: lists in order of arrival, searched
 * linearly. The library must give the same results. */
enum { MODEL_STEPS = 30000, MODEL_MOST = 300 };

typedef struct {
    void *of[MODEL_MOST]; /* Receives that are posted, or unexpected messages */
    ucp_tag_t tags[MODEL_MOST];
    ucp_tag_t masks[MODEL_MOST];
    unsigned num;
} model_t;

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252ull;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void model_add(model_t *model, void *of, ucp_tag_t tag, ucp_tag_t mask)
{
    model->of[model->num]      = of;
    model->tags[model->num]    = tag;
    model->masks[model->num++] = mask;
}

static void *model_take(model_t *model, unsigned i)
{
    void *of = model->of[i];

    --model->num;
    for (; i < model->num; ++i) {
        model->of[i]    = model->of[i + 1];
        model->tags[i]  = model->tags[i + 1];
        model->masks[i] = model->masks[i + 1];
    }
    return of;
}

/* Removes and returns the oldest entry that matches; NULL: there is none. */
static void *model_match(model_t *model, ucp_tag_t tag, ucp_tag_t mask)
{
    unsigned i;

    for (i = 0; i < model->num; ++i) {
        if (((tag ^ model->tags[i]) & mask & model->masks[i]) == 0) {
            return model_take(model, i);
        }
    }
    return NULL;
}

static void receive_one(model_t *posted, model_t *early, ucp_tag_t tag,
                        ucp_tag_t mask)
{
    ucp_recv_desc_t *desc = ucp_tag_unexpected_find(&tm, tag, mask);

    ck_assert_ptr_eq(desc, model_match(early, tag, mask));
    if (desc != NULL) {
        ucp_tag_unexpected_remove(&tm, desc);
        ucp_tag_unexpected_free(desc);
    } else if (posted->num < MODEL_MOST) {
        model_add(posted, post(tag, mask), tag, mask);
    }
}

static void arrive_one(model_t *posted, model_t *early, ucp_tag_t tag)
{
    ucp_request_t *req = ucp_tag_expected_match(&tm, tag);

    ck_assert_ptr_eq(req, model_match(posted, tag, UCP_TAG_MASK_FULL));
    if (req != NULL) {
        free(req);
    } else if (early->num < MODEL_MOST) {
        model_add(early, arrive(tag, "m"), tag, UCP_TAG_MASK_FULL);
    }
}

static void cancel_one(model_t *posted)
{
    ucp_request_t *req;

    if (posted->num > 0) {
        req = model_take(posted, next_random() % posted->num);
        ucp_tag_expected_remove(&tm, req);
        free(req);
    }
}

static void follow_model(ucp_tag_t sender_mask)
{
    const ucp_tag_t masks[] = {UCP_TAG_MASK_FULL,
                               UCP_TAG_MASK_FULL,
                               sender_mask,
                               ~sender_mask,
                               sender_mask | mpi_tag(1, 0),
                               ~sender_mask | mpi_tag(0, 1),
                               mpi_tag(3, 3),
                               0};
    model_t posted = {.num = 0}, early = {.num = 0};
    unsigned step, kind;
    ucp_tag_t tag;

    setup_with(sender_mask);
    for (step = 0; step < MODEL_STEPS; ++step) {
        tag  = mpi_tag(next_random() % 5, next_random() % 5);
        /* in turn, 1024 steps with mostly messages, which also cancel
         * receives, and 1024 with mostly receives */
        kind = next_random() % 16 + 4 * ((step >> 10) & 1);
        if (kind == 0) {
            cancel_one(&posted);
        } else if (kind < 10) {
            arrive_one(&posted, &early, tag);
        } else {
            /* the eighth mask is 0 and matches every message: it is used
             * rarely */
            receive_one(&posted, &early, tag,
                        masks[next_random() % ((kind == 10) ? 8 : 7)]);
        }
    }
    ck_assert_uint_eq(tm.unexpected.count, early.num);
    while (posted.num > 0) {
        ck_assert_ptr_nonnull(ucp_tag_expected_any(&tm));
        cancel_one(&posted);
    }
    ck_assert_ptr_null(ucp_tag_expected_any(&tm));
    ck_assert_uint_eq(tm.expected.num_wild, 0);
    ucp_tag_match_cleanup(&tm);
}

START_TEST(matches_are_those_of_a_plain_search_whatever_the_mask)
{
    follow_model(0);
    follow_model(SENDER);
    follow_model(~SENDER);
    follow_model(SENDER | 0xfffff);
    follow_model(mpi_tag(1, 1));
    follow_model(UCP_TAG_MASK_FULL);
}
END_TEST

SUITE_MAIN("tag matching", receives_of_one_tag_match_in_posting_order,
           an_older_wildcard_wins_over_a_younger_exact_receive,
           an_older_exact_receive_wins_over_a_younger_wildcard,
           a_wildcard_that_does_not_fit_is_passed_over,
           order_survives_growth_of_the_table,
           a_removed_receive_matches_nothing,
           early_messages_are_found_in_arrival_order,
           early_messages_keep_their_bytes_small_and_large,
           many_early_messages_are_all_found,
           a_match_among_100000_receives_looks_at_few,
           a_search_among_100000_messages_looks_at_few,
           taking_out_100000_receives_goes_through_the_table_once,
           a_match_among_100000_wildcards_looks_at_few,
           a_wildcard_search_among_100000_messages_looks_at_few,
           a_mask_that_tells_no_senders_apart_makes_no_keys,
           matches_are_those_of_a_plain_search_whatever_the_mask)
