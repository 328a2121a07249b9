/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast: latency one way, bandwidth and message rate between ranks 0 and 1.
 * Rank 0 prints a line a figure: NAME BYTES VALUE UNIT. No test.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 };

static char *buffer;

static double latency(int size, int rounds)
{
    double start = 0;
    int i;

    for (i = -rounds / 10; i < rounds; ++i) {
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        if (client_rank == 0) {
            MPI_Send(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else if (client_rank == 1) {
            MPI_Recv(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

/* Seconds a message, with a window of them under way. */
static double stream(int size, int windows)
{
    MPI_Request requests[WINDOW];
    double start = 0;
    int i, j;

    for (i = -windows / 10 - 1; i < windows; ++i) {
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        if (client_rank > 1) {
            continue;
        }
        for (j = 0; j < WINDOW; ++j) {
            if (client_rank == 0) {
                MPI_Isend(buffer, size, MPI_BYTE, 1, 2, MPI_COMM_WORLD,
                          &requests[j]);
            } else {
                MPI_Irecv(buffer, size, MPI_BYTE, 0, 2, MPI_COMM_WORLD,
                          &requests[j]);
            }
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (client_rank == 0) {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / windows / WINDOW;
}

int main(int argc, char **argv)
{
    double lat, bw, rate;
    int scale;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    scale  = client_long ? 10 : 1;
    buffer = client_alloc(1 << 20);
    memset(buffer, 1, 1 << 20);
    lat  = latency(8, 20000 * scale);
    bw   = stream(1 << 20, 4 * scale);
    rate = stream(8, 1000 * scale);
    MPI_Barrier(MPI_COMM_WORLD);
    if (client_rank == 0) {
        printf("latency 8 %.3f us\n", lat * 1e6);
        printf("bandwidth %d %.1f MB/s\n", 1 << 20, (1 << 20) / bw / 1e6);
        printf("rate 8 %.3f million/s\n", 1e-6 / rate);
    }
    free(buffer);
    return client_end("speed");
}
