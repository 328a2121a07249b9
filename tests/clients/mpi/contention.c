/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks access the same words of rank 0: a counter by fetch-and-op, a lock
 * by compare-and-swap, and a word under the exclusive lock of a window.
 */
#include "client.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int rounds = 200;
static int64_t *words;
static MPI_Win win;

static void counter(void)
{
    char *taken = calloc(rounds * client_size, 1);
    int64_t one = 1, got;
    int i;

    CHECK(taken != NULL);
    MPI_Win_lock_all(0, win);
    for (i = 0; i < rounds; ++i) {
        MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK((got >= 0) && (got < (int64_t)rounds * client_size));
        CHECK(!taken[got]);
        taken[got] = 1;
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, taken, rounds * client_size, MPI_CHAR, MPI_SUM,
                  MPI_COMM_WORLD);
    for (i = 0; i < rounds * client_size; ++i) {
        CHECK_EQ(taken[i], 1); /* each number was fetched once */
    }
    free(taken);
}

/*
 * Word 1 of rank 0 is a lock: 0: free, otherwise 1 + the rank of its holder.
 * Only the holder reads and writes word 2.
 *
 * A rank that waits for the lock probes for messages, which makes progress.
 * Otherwise rank 0 could wait forever: Open MPI swaps a rank's own words
 * without progress for the other ranks, and the holder may need a reply of rank
 * 0 before it can release the lock.
 */
static void swap_lock(void)
{
    const int64_t nobody = 0, me = client_rank + 1;
    int64_t seen, value;
    int i, flag;

    MPI_Win_lock_all(0, win);
    for (i = 0; i < rounds; ++i) {
        do {
            MPI_Compare_and_swap(&me, &nobody, &seen, MPI_INT64_T, 0, 1, win);
            MPI_Win_flush(0, win);
            if (seen != nobody) {
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
                           MPI_STATUS_IGNORE);
                sched_yield();
            }
        } while (seen != nobody);

        MPI_Get(&value, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        ++value;
        MPI_Put(&value, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);

        MPI_Compare_and_swap(&nobody, &me, &seen, MPI_INT64_T, 0, 1, win);
        MPI_Win_flush(0, win);
        CHECK_EQ(seen, me);
    }
    MPI_Win_unlock_all(win);
}

static void exclusive(void)
{
    int64_t value;
    int i;

    for (i = 0; i < rounds; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT64_T, 0, 3, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        ++value;
        MPI_Put(&value, 1, MPI_INT64_T, 0, 3, 1, MPI_INT64_T, win);
        MPI_Win_unlock(0, win);
    }
}

int main(int argc, char **argv)
{
    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    rounds = client_rounds(rounds, 5000);
    MPI_Win_allocate(64, sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &words,
                     &win);
    memset(words, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    counter();
    swap_lock();
    exclusive();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (client_rank == 0) {
        CHECK_EQ(words[0], (int64_t)rounds * client_size);
        CHECK_EQ(words[1], 0);
        CHECK_EQ(words[2], (int64_t)rounds * client_size);
        CHECK_EQ(words[3], (int64_t)rounds * client_size);
    }
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return client_end("contention");
}
