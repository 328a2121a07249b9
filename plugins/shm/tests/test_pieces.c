/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a message (pieces.h): both ways to copy them give the same bytes,
 * for any division into pieces, and write no further than they may.
 */
#include "pieces.h"
#include "seg_suite.h"

#include <string.h>

enum { MAX_LENGTH = 5500, NUM_IOV = 6, GUARD = 0x5a };

/* The source of all pieces, and two destinations with space behind them */
static uint8_t source[2 * MAX_LENGTH];
static _Alignas(SHM_CACHE_LINE) uint8_t copied[MAX_LENGTH + 128];
static _Alignas(SHM_CACHE_LINE) uint8_t streamed[MAX_LENGTH + 128];

static unsigned next_number(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

/* Appends the bytes of `pieces` to `expected`, one at a time. */
static size_t expect(const shm_pieces_t *pieces, uint8_t *expected)
{
    size_t length = 0;
    size_t i, k;
    unsigned j;

    for (k = 0; k < pieces->header_length; ++k) {
        expected[length++] = ((const uint8_t *)pieces->header)[k];
    }
    for (i = 0; i < pieces->iovcnt; ++i) {
        for (j = 0; j < (pieces->is_short ? 1 : pieces->iov[i].count); ++j) {
            for (k = 0; k < pieces->iov[i].length; ++k) {
                expected[length++] =
                    ((uint8_t *)pieces->iov[i]
                         .buffer)[j * pieces->iov[i].stride + k];
            }
        }
    }
    return length;
}

static void compare(const shm_pieces_t *pieces)
{
    uint8_t expected[MAX_LENGTH];
    size_t length = expect(pieces, expected);
    size_t lines  = (length + SHM_CACHE_LINE - 1) & -(size_t)SHM_CACHE_LINE;
    size_t i;

    memset(copied, GUARD, sizeof(copied));
    memset(streamed, GUARD, sizeof(streamed));
    EXPECT_EQ(shm_pieces_length(pieces), length);
    shm_pieces_copy(copied, pieces, length);
    shm_pieces_stream(streamed, pieces);
    EXPECT_EQ(memcmp(copied, expected, length), 0);
    EXPECT_EQ(memcmp(streamed, expected, length), 0);
    EXPECT_EQ(copied[length], GUARD);
    for (i = lines; i < sizeof(streamed); ++i) {
        EXPECT_EQ(streamed[i], GUARD);
    }
}

START_TEST(any_division_gives_the_same_bytes)
{
    uct_iov_t iov[NUM_IOV];
    shm_pieces_t pieces = {source, 0, iov, 0, 0};
    unsigned state      = 1;
    unsigned round, i;

    for (i = 0; i < sizeof(source); ++i) {
        source[i] = (uint8_t)(i * 7 + i / 256);
    }
    for (round = 0; round < 20000; ++round) {
        pieces.header_length = next_number(&state) % 70;
        pieces.iovcnt        = next_number(&state) % (NUM_IOV + 1);
        pieces.is_short      = (int)(next_number(&state) % 2);
        memset(iov, 0, sizeof(iov));
        for (i = 0; i < pieces.iovcnt; ++i) {
            iov[i].buffer = source + next_number(&state) % 1000;
            iov[i].length = next_number(&state) %
                            ((round % 4 == 0) ? 900 : 100);
            if (iov[i].length == 0) {
                iov[i].buffer = NULL;
            } else if (!pieces.is_short) {
                iov[i].length = iov[i].length / 2 + 1;
                iov[i].count  = next_number(&state) % 3;
                iov[i].stride = iov[i].length + next_number(&state) % 100;
            }
        }
        compare(&pieces);
    }
}
END_TEST

START_TEST(every_length_up_to_some_lines)
{
    uct_iov_t iov       = {.buffer = source + 3};
    uint64_t header     = 0x0123456789abcdef;
    shm_pieces_t pieces = {&header, sizeof(header), &iov, 1, 1};

    for (iov.length = 0; iov.length <= MAX_LENGTH - sizeof(header);
         ++iov.length) {
        compare(&pieces);
    }
}
END_TEST

SEG_SUITE_RUN("pieces", any_division_gives_the_same_bytes,
              every_length_up_to_some_lines)
