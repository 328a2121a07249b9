/* SPDX-License-Identifier: BSD-3-Clause */
/* Computations of ucx_perftest: percentiles, patterns of message contents,
 * parameters as text, and the figures of a measurement. */
#include "histogram.h"
#include "meter.h"
#include "params.h"
#include "pattern.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT = 20000,
};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Fills `values` with reproducible numbers of many magnitudes. */
static void numbers(uint64_t *values)
{
    uint64_t state = 88172645463325252ull;
    int i;

    for (i = 0; i < COUNT; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = state >> (25 + (state % 38));
    }
}

START_TEST(percentiles_are_those_of_a_sorted_list)
{
    static const double ranks[] = {1, 10, 50, 90, 99, 99.9, 100};
    static struct histogram histogram;
    static uint64_t values[COUNT];
    double exact, found;
    unsigned i;

    numbers(values);
    histogram_reset(&histogram);
    for (i = 0; i < COUNT; ++i) {
        histogram_add(&histogram, values[i], 1);
    }
    qsort(values, COUNT, sizeof(values[0]), compare);
    for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); ++i) {
        exact = values[(int)(ranks[i] / 100 * COUNT + 0.5) - 1];
        found = histogram_percentile(&histogram, ranks[i]);
        ck_assert_double_le(found, exact * 1.01 + 1);
        ck_assert_double_ge(found, exact * 0.99 - 1);
    }
    ck_assert_uint_eq(histogram.min, values[0]);
    ck_assert_uint_eq(histogram.max, values[COUNT - 1]);
    ck_assert_uint_eq(histogram.total, COUNT);
}
END_TEST

START_TEST(buckets_hold_what_they_say)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     127,
                                     128,
                                     129,
                                     255,
                                     256,
                                     257,
                                     1000,
                                     65535,
                                     65536,
                                     1ull << 30,
                                     (1ull << 39) + 12345};
    unsigned i, bucket;

    for (i = 0; i < sizeof(edges) / sizeof(edges[0]); ++i) {
        bucket = histogram_bucket(edges[i]);
        ck_assert_uint_lt(bucket, HISTOGRAM_BUCKETS);
        ck_assert_uint_le(histogram_lower(bucket), edges[i]);
        ck_assert_uint_gt(histogram_lower(bucket + 1), edges[i]);
    }
    ck_assert_uint_eq(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}
END_TEST

START_TEST(an_empty_histogram_has_percentile_zero)
{
    static struct histogram histogram;

    histogram_reset(&histogram);
    ck_assert_double_eq(histogram_percentile(&histogram, 50), 0);
}
END_TEST

START_TEST(merged_histograms_count_both)
{
    static struct histogram one, two;

    histogram_reset(&one);
    histogram_reset(&two);
    histogram_add(&one, 10, 3);
    histogram_add(&two, 1000, 2);
    histogram_merge(&one, &two);
    ck_assert_uint_eq(one.total, 5);
    ck_assert_uint_eq(one.min, 10);
    ck_assert_uint_eq(one.max, 1000);
    ck_assert_double_eq(histogram_percentile(&one, 60), 10);
}
END_TEST

START_TEST(a_pattern_shows_each_wrong_byte)
{
    enum { LENGTH = 100 };
    uint8_t memory[LENGTH];
    size_t i, start;

    for (start = 0; start < 9; ++start) {
        pattern_fill(memory, LENGTH, 7, start);
        ck_assert_uint_eq(pattern_check(memory, LENGTH, 7, start), LENGTH);
        for (i = 0; i < LENGTH; ++i) {
            ck_assert_uint_eq(memory[i], pattern_byte(7, start + i));
            memory[i] ^= 0x10;
            ck_assert_uint_eq(pattern_check(memory, LENGTH, 7, start), i);
            memory[i] ^= 0x10;
        }
        ck_assert_uint_lt(pattern_check(memory, LENGTH, 8, start), LENGTH);
        ck_assert_uint_lt(pattern_check(memory, LENGTH, 7, start + 8), LENGTH);
    }
}
END_TEST

START_TEST(pieces_of_a_pattern_are_the_whole)
{
    uint8_t whole[64], pieces[64];

    pattern_fill(whole, 64, 3, 0);
    pattern_fill(pieces, 5, 3, 0);
    pattern_fill(pieces + 5, 30, 3, 5);
    pattern_fill(pieces + 35, 29, 3, 35);
    ck_assert_int_eq(memcmp(whole, pieces, 64), 0);
}
END_TEST

static void set(struct params *params, const char *key, const char *value)
{
    char error[PARAMS_ERROR_MAX] = "";

    ck_assert_msg(params_set(params, key, value, error), "%s %s: %s", key,
                  value, error);
}

START_TEST(parameters_survive_the_way_to_the_server)
{
    static const char *const words[][2] = {
        {"t", "ucp_am_bw"}, {"x", "posix"},   {"d", "memory"},
        {"s", "16,4k,1m"},  {"i", "2m"},      {"n", "12345"},
        {"w", "0"},         {"time", "500"},  {"O", "17"},
        {"T", "4"},         {"M", "multi"},   {"A", "signal"},
        {"H", "24"},        {"W", "3"},       {"m", "host,cuda"},
        {"D", "zcopy"},     {"D", "iov,iov"}, {"r", "recv_data"},
        {"E", "sleep"},     {"l", NULL},      {"o", NULL},
        {"B", NULL},        {"C", NULL},      {"U", NULL},
        {"I", NULL},        {"e", NULL},      {"z", NULL},
        {"check", NULL},
    };
    char text[PARAMS_TEXT_MAX], again[PARAMS_TEXT_MAX];
    char error[PARAMS_ERROR_MAX] = "";
    struct params params, copy;
    size_t length, i;

    params_init(&params);
    for (i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        set(&params, words[i][0], words[i][1]);
    }
    length = params_write(&params, text, sizeof(text));
    ck_assert_uint_gt(length, 100);
    ck_assert_msg(params_read(&copy, text, length, error), "%s", error);
    ck_assert_uint_eq(params_write(&copy, again, sizeof(again)), length);
    ck_assert_mem_eq(text, again, length);
    ck_assert_uint_eq(copy.flags, params.flags);
    ck_assert_uint_eq(params_size(&copy), 16 + 4096 + 1048576);
    ck_assert_uint_eq(params_extent(&copy, true), (2 * 2097152) + 1048576);
    ck_assert_int_eq(copy.header, 24);
    ck_assert_uint_eq(copy.outstanding, 17);
}
END_TEST

START_TEST(cut_or_foreign_text_is_refused)
{
    char text[PARAMS_TEXT_MAX], error[PARAMS_ERROR_MAX];
    struct params params, copy;
    size_t length, i;

    params_init(&params);
    set(&params, "t", "tag_lat");
    length = params_write(&params, text, sizeof(text));
    for (i = 1; i < length; ++i) {
        if (text[i - 1] != '\n') {
            ck_assert(!params_read(&copy, text, i, error));
        }
    }
    text[length - 2] = '\0';
    ck_assert(!params_read(&copy, text, length, error));
}
END_TEST

START_TEST(numbers_have_units_and_bounds)
{
    uint64_t number;

    ck_assert(params_number("8", 100, &number) && (number == 8));
    ck_assert(params_number("4k", 1 << 20, &number) && (number == 4096));
    ck_assert(params_number("2M", 1 << 30, &number) && (number == 2097152));
    ck_assert(!params_number("4k", 4095, &number));
    ck_assert(!params_number("", 100, &number));
    ck_assert(!params_number("-1", 100, &number));
    ck_assert(!params_number("1x", 100, &number));
    ck_assert(!params_number("1kk", 1 << 30, &number));
    ck_assert(!params_number("99999999999999999999", UINT64_MAX, &number));
    ck_assert(!params_number("17179869184g", UINT64_MAX, &number));
}
END_TEST

START_TEST(a_meter_counts_every_operation_and_its_time)
{
    static struct histogram histogram;
    struct figures figures;
    struct meter meter;
    uint64_t until;
    int i;

    clock_calibrate();
    meter_init(&meter, &histogram, NULL, NULL);
    meter_start(&meter);
    for (i = 0; i < 50; ++i) {
        until = clock_nanoseconds() + 100000;
        while (clock_nanoseconds() < until) {
        }
        meter_each(&meter);
    }
    meter_stop(&meter, 50);
    meter_figures(&meter, 50, 2, &figures);
    ck_assert_uint_eq(figures.iterations, 50);
    ck_assert_uint_eq(histogram.total, 50);
    /* an iteration takes at least 100 us and counts as two messages */
    ck_assert_double_ge(figures.overall_time, 49);
    ck_assert_double_ge(figures.percentile, 49);
    ck_assert_double_eq_tol(figures.overall_rate * figures.overall_time, 1e6,
                            1);
}
END_TEST

START_TEST(groups_of_operations_are_all_counted)
{
    static struct histogram histogram;
    struct meter meter;
    int i;

    clock_calibrate();
    meter_init(&meter, &histogram, NULL, NULL);
    meter_start(&meter);
    for (i = 0; i < 100000; ++i) {
        meter_some(&meter);
    }
    ck_assert_uint_eq(meter.done, histogram.total);
    ck_assert_uint_le(meter.done, 100000);
    ck_assert_uint_gt(meter.done, 100000 - (1 << METER_MAX_GROUP));
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("ucx_perftest");
    TCase *tcase    = tcase_create("arithmetic");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, percentiles_are_those_of_a_sorted_list);
    tcase_add_test(tcase, buckets_hold_what_they_say);
    tcase_add_test(tcase, an_empty_histogram_has_percentile_zero);
    tcase_add_test(tcase, merged_histograms_count_both);
    tcase_add_test(tcase, a_pattern_shows_each_wrong_byte);
    tcase_add_test(tcase, pieces_of_a_pattern_are_the_whole);
    tcase_add_test(tcase, parameters_survive_the_way_to_the_server);
    tcase_add_test(tcase, cut_or_foreign_text_is_refused);
    tcase_add_test(tcase, numbers_have_units_and_bounds);
    tcase_add_test(tcase, a_meter_counts_every_operation_and_its_time);
    tcase_add_test(tcase, groups_of_operations_are_all_counted);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
