/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: several threads of each rank communicate at once, each
 * with the same thread of other ranks, which its tags or its communicator
 * select. One of them also probes.
 */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };

static MPI_Comm comms[THREADS];
static int rounds = 300;

static void exchange(int me, MPI_Comm comm, int tag, size_t size, unsigned seed)
{
    int right = (client_rank + 1) % client_size;
    int left  = (client_rank + client_size - 1) % client_size;
    char *out = client_alloc(size), *in = client_alloc(size);
    MPI_Request request;
    MPI_Status status;

    client_fill(out, size, seed + me + client_rank * 64);
    MPI_Isend(out, (int)size, MPI_BYTE, right, tag, comm, &request);
    MPI_Recv(in, (int)size, MPI_BYTE, left, tag, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    client_check(in, size, seed + me + left * 64);
    free(out);
    free(in);
}

static void *talk(void *arg)
{
    int me         = (int)(intptr_t)arg;
    /* the same thread of every rank draws the same sizes */
    uint32_t state = 17 + me;
    int round, found, sum, one = 1;
    MPI_Status status;

    for (round = 0; round < rounds; ++round) {
        size_t size = client_random(&state) %
                      ((round % 50 == 49) ? 400000 : 3000);

        exchange(me, MPI_COMM_WORLD, 1000 + me, size, round);
        exchange(me, comms[me], 1, size / 2, round + 7);
        if (round % 20 == 0) {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
            CHECK_EQ(sum, client_size);
        }
        if (me == 0) {
            MPI_Iprobe(MPI_ANY_SOURCE, 4242, MPI_COMM_WORLD, &found, &status);
            CHECK(!found);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int i;

    client_start(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = client_rounds(rounds, 2000);
    for (i = 0; i < THREADS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK_EQ(pthread_create(&threads[i], NULL, talk, (void *)(intptr_t)i),
                 0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (i = 0; i < THREADS; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    return client_end("threads");
}
