/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank kills itself during traffic, or with --forever the traffic continues
 * until another process kills a rank. The job must end; the program that starts
 * it checks for leftovers.
 */
#include "client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t size = 200000;
    char *out, *in, *base;
    MPI_Request request;
    MPI_Win win;
    int round, peer, forever;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    forever = (argc > 1) && (strcmp(argv[1], "--forever") == 0);
    out     = client_alloc(size);
    in      = client_alloc(size);
    peer    = client_rank ^ 1;
    memset(out, 1, size);
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (round = 0;; ++round) {
        if (!forever && (round == 50) && (client_rank == client_size - 1)) {
            kill(getpid(), SIGKILL);
        }
        if (peer < client_size) {
            MPI_Isend(out, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                      &request);
            MPI_Recv(in, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}
