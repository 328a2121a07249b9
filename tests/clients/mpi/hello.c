/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest job that communicates; tests start many of it. It creates a
 * window, because the shared memory of a window is what a job most likely
 * leaves behind.
 */
#include "client.h"

int main(int argc, char **argv)
{
    int sum, *base;
    MPI_Win win;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Allreduce(&client_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, client_size * (client_size - 1) / 2);
    MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    MPI_Win_fence(0, win);
    MPI_Put(&sum, 1, MPI_INT, (client_rank + 1) % client_size, 0, 1, MPI_INT,
            win);
    MPI_Win_fence(0, win);
    CHECK_EQ(*base, sum);
    MPI_Win_free(&win);
    return client_end("hello");
}
