/* SPDX-License-Identifier: BSD-3-Clause */
/* <ucx/copy.h>: each copy writes exactly the bytes that it is asked to, for
 * every length and alignment. */
#include "common.h"

#include <ucx/copy.h>

/* The largest length: several lines above the sizes at which a copy changes its
 * way. Lengths above EACH are taken at a distance, so that the test is fast. */
enum { LARGEST = 2304, EACH = 320, STEP = 61, GUARD = 128, FILLER = 0xee };

static uint8_t source[LARGEST + GUARD];
static uint8_t target[LARGEST + 2 * GUARD];
static uint8_t expected[LARGEST + 2 * GUARD];

typedef void (*copy_t)(void *dest, const void *src, size_t length);

/* Compares the target and what surrounds it with the same written by byte. */
static void check_one(copy_t copy, size_t to, size_t from, size_t length)
{
    size_t at = GUARD / 2 + to;
    size_t i;

    memset(target, FILLER, sizeof(target));
    memset(expected, FILLER, sizeof(expected));
    for (i = 0; i < length; ++i) {
        expected[at + i] = source[from + i];
    }
    copy(target + at, source + from, length);
    if (memcmp(target, expected, sizeof(target)) != 0) {
        ck_abort_msg("%zu bytes to +%zu from +%zu", length, to, from);
    }
}

/* Lengths from `least` to `most`, at alignments that include the first and the
 * last of a line and of a vector. */
static void check_all(copy_t copy, size_t least, size_t most)
{
    static const size_t offsets[] = {0, 1, 8, 15, 16, 40, 63};
    size_t length, i, j;

    for (i = 0; i < sizeof(source); ++i) {
        source[i] = (uint8_t)(i * 7 + i / 256);
    }
    for (length = least; length <= most; length += (length < EACH) ? 1 : STEP) {
        for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); ++i) {
            for (j = 0; j < sizeof(offsets) / sizeof(offsets[0]); ++j) {
                check_one(copy, offsets[i], offsets[j], length);
            }
        }
    }
}

static void copy_small(void *dest, const void *src, size_t length)
{
    ucx_copy_small(dest, src, length);
}

START_TEST(small_copies_write_their_bytes)
{
    check_all(copy_small, 0, 64);
}
END_TEST

START_TEST(loops_write_their_bytes)
{
    check_all(ucx_copy_lines, 0, LARGEST);
}
END_TEST

START_TEST(copies_write_their_bytes)
{
    check_all(ucx_copy, 0, LARGEST);
}
END_TEST

START_TEST(streams_write_their_bytes)
{
    check_all(ucx_copy_stream, 0, LARGEST);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copy");
    TCase *tcase = tcase_create("copy");

    tcase_add_test(tcase, small_copies_write_their_bytes);
    tcase_add_test(tcase, loops_write_their_bytes);
    tcase_add_test(tcase, copies_write_their_bytes);
    tcase_add_test(tcase, streams_write_their_bytes);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
