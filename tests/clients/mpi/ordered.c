/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates from one origin to one target must take effect on each element in
 * the order of the calls, whatever their sizes: MPI guarantees this. If a small
 * one overtook an earlier large one, the large one would overwrite its result.
 */
#include "client.h"

#include <stdlib.h>

enum {
    LARGEST = 1 << 19, /* Number of elements: 4 MiB */
    ORIGIN  = 0,
};

static int is_target(void)
{
    return client_rank == client_size - 1;
}

static void accumulate(const uint64_t *values, int count, int at, MPI_Op op,
                       MPI_Win win)
{
    MPI_Accumulate(values, count, MPI_UINT64_T, client_size - 1, at, count,
                   MPI_UINT64_T, op, win);
}

/* Returns the value that element i of `count` must have after replace(). */
static uint64_t expected(int i, int count)
{
    if (i == 0) {
        return 105;
    }
    if ((i == 1) || (i == 2)) {
        return 7;
    }
    return (i == count - 1) ? 11 : 3;
}

/* The origin replaces all elements by one large accumulate, then the first
 * three and the last one by small accumulates, and adds to the first. */
static void replace(int count, uint64_t *window, MPI_Win win)
{
    uint64_t *large    = client_alloc(count * sizeof(*large));
    const uint64_t one = 5, two[] = {7, 7}, last = 11, more = 100;
    int i;

    for (i = 0; i < count; ++i) {
        large[i]  = 3;
        window[i] = 1;
    }

    MPI_Win_fence(0, win);
    if (client_rank == ORIGIN) {
        accumulate(large, count, 0, MPI_REPLACE, win);
        accumulate(&one, 1, 0, MPI_REPLACE, win);
        accumulate(two, 2, 1, MPI_REPLACE, win);
        accumulate(&last, 1, count - 1, MPI_REPLACE, win);
        accumulate(&more, 1, 0, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);

    for (i = 0; is_target() && (i < count); ++i) {
        if (window[i] != expected(i, count)) {
            FAIL("element %d of %d is %llu, expected %llu", i, count,
                 (unsigned long long)window[i],
                 (unsigned long long)expected(i, count));
        }
    }
    free(large);
}

/* The reverse of replace(): a large MPI_Get_accumulate() must return what
 * earlier small accumulates have written. */
static void fetch(int count, uint64_t *window, MPI_Win win)
{
    uint64_t *add        = client_alloc(count * sizeof(*add));
    uint64_t *old        = client_alloc(count * sizeof(*old));
    const uint64_t first = 40, last = 41;
    int i;

    for (i = 0; i < count; ++i) {
        add[i]    = 1;
        window[i] = (uint64_t)i;
    }

    MPI_Win_fence(0, win);
    if (client_rank == ORIGIN) {
        accumulate(&first, 1, 0, MPI_REPLACE, win);
        accumulate(&last, 1, count - 1, MPI_REPLACE, win);
        MPI_Get_accumulate(add, count, MPI_UINT64_T, old, count, MPI_UINT64_T,
                           client_size - 1, 0, count, MPI_UINT64_T, MPI_SUM,
                           win);
        accumulate(&first, 1, 0, MPI_REPLACE, win);
    }
    MPI_Win_fence(0, win);

    if (client_rank == ORIGIN) {
        CHECK_EQ(old[0], first);
        CHECK_EQ(old[count - 1], last);
        CHECK_EQ(old[count / 2], count / 2);
    }
    if (is_target()) {
        CHECK_EQ(window[0], first);
        CHECK_EQ(window[count - 1], last + 1);
        CHECK_EQ(window[count / 2], count / 2 + 1);
    }
    free(old);
    free(add);
}

int main(int argc, char **argv)
{
    static const int counts[] = {8,    900,  1100,  2500,
                                 4100, 8192, 50000, LARGEST};
    uint64_t *window;
    int i, round;
    MPI_Win win;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    window = client_alloc(LARGEST * sizeof(*window));
    MPI_Win_create(window, LARGEST * sizeof(*window), sizeof(*window),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (round = 0; round < client_rounds(5, 100); ++round) {
        for (i = 0; i < (int)(sizeof(counts) / sizeof(counts[0])); ++i) {
            replace(counts[i], window, win);
            fetch(counts[i], window, win);
        }
    }
    MPI_Win_free(&win);
    free(window);
    return client_end("ordered");
}
