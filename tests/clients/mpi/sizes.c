/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 0 bytes to 32 MiB, with every byte verified: by blocking and
 * nonblocking calls, in both directions at once, and around a ring.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, WINDOW = 8 };

static size_t largest = 4 << 20;
static char *out, *in;

/* Rank 0 sends one message to rank 1 and overwrites its buffer at once. */
static void one_way(size_t size, unsigned seed)
{
    MPI_Status status;
    int count;

    if (client_rank == 0) {
        client_fill(out, size, seed);
        MPI_Send(out, (int)size, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        /* MPI_Send() has returned: the buffer may be changed */
        memset(out, 0xee, size);
        MPI_Recv(in, 0, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (client_rank == 1) {
        memset(in, 0xaa, size + GUARD);
        MPI_Recv(in, (int)size + GUARD, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
                 &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, size);
        CHECK_EQ(status.MPI_SOURCE, 0);
        CHECK_EQ(status.MPI_TAG, 5);
        client_check(in, size, seed);
        client_check_untouched(in + size, GUARD, 0xaa);
        MPI_Send(out, 0, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
    }
}

/* Each rank sends WINDOW messages to the next rank and receives as many from
 * the previous one, all at once. */
static void ring(size_t size, unsigned seed)
{
    int right = (client_rank + 1) % client_size;
    int left  = (client_rank + client_size - 1) % client_size;
    MPI_Request requests[2 * WINDOW];
    int i;

    for (i = 0; i < WINDOW; ++i) {
        client_fill(out + i * size, size, seed + client_rank * 17 + i);
    }
    for (i = 0; i < WINDOW; ++i) {
        MPI_Irecv(in + i * size, (int)size, MPI_BYTE, left, i, MPI_COMM_WORLD,
                  &requests[i]);
        MPI_Isend(out + i * size, (int)size, MPI_BYTE, right, i, MPI_COMM_WORLD,
                  &requests[WINDOW + i]);
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < WINDOW; ++i) {
        client_check(in + i * size, size, seed + left * 17 + i);
    }
}

static void all_ways(size_t size)
{
    unsigned seed = (unsigned)size;

    one_way(size, seed);
    one_way(size, seed + 1);
    if (size * WINDOW <= largest) {
        ring(size, seed + 2);
    }
}

int main(int argc, char **argv)
{
    size_t size;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    if (client_long) {
        largest = 32 << 20;
    }
    out = client_alloc(largest + GUARD);
    in  = client_alloc(largest + GUARD);

    all_ways(0);
    for (size = 1; size <= largest; size *= 2) {
        all_ways(size);
        if (size > 2) {
            all_ways(size - 1);
        }
        if (size < largest) {
            all_ways(size + 1);
        }
    }
    MPI_Sendrecv_replace(out, (int)largest, MPI_BYTE,
                         (client_rank + 1) % client_size, 1,
                         (client_rank + client_size - 1) % client_size, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    return client_end("messages of every size");
}
