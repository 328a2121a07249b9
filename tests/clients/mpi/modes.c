/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modes of sending: synchronous (complete only after the receive has started),
 * ready, buffered, persistent, to the own rank. Also MPI_Test(), MPI_Waitany()
 * and MPI_Testsome().
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 500000, MANY = 32 };

static char *out, *in;

static void synchronous(size_t size)
{
    MPI_Request request;
    int done, i;

    if (client_rank == 0) {
        client_fill(out, size, 1);
        MPI_Issend(out, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        for (i = 0; i < 200; ++i) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (done) {
                FAIL("a synchronous send of %zu bytes completed before its"
                     " receive",
                     size);
            }
        }
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ssend(out, (int)size, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else if (client_rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        client_check(in, size, 1);
        MPI_Recv(in, (int)size, MPI_BYTE, 0, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Persistent requests: created once and started repeatedly. */
static void persistent(size_t size, int rounds)
{
    int right = (client_rank + 1) % client_size;
    int left  = (client_rank + client_size - 1) % client_size;
    MPI_Request requests[4];
    int round;

    MPI_Recv_init(in, (int)size, MPI_BYTE, left, 4, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Recv_init(in + size, (int)size, MPI_BYTE, MPI_ANY_SOURCE, 5,
                  MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(out, (int)size, MPI_BYTE, right, 4, MPI_COMM_WORLD,
                  &requests[2]);
    MPI_Ssend_init(out + size, (int)size, MPI_BYTE, right, 5, MPI_COMM_WORLD,
                   &requests[3]);
    for (round = 0; round < rounds; ++round) {
        client_fill(out, 2 * size, round + client_rank);
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        client_check(in, 2 * size, round + left);
    }
    for (round = 0; round < 4; ++round) {
        MPI_Request_free(&requests[round]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void buffered_and_ready(size_t size)
{
    int space      = (int)size * 4 + 4 * MPI_BSEND_OVERHEAD;
    void *attached = client_alloc(space);
    MPI_Request request;

    if (client_rank == 0) {
        MPI_Buffer_attach(attached, space);
        client_fill(out, size, 6);
        MPI_Bsend(out, (int)size, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
        memset(out, 0, size);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        client_fill(out, size, 8);
        MPI_Rsend(out, (int)size, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
        MPI_Buffer_detach(&attached, &space);
    } else if (client_rank == 1) {
        MPI_Recv(in, (int)size, MPI_BYTE, 0, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        client_check(in, size, 6);
        MPI_Irecv(in, (int)size, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        client_check(in, size, 8);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(attached);
}

static void to_oneself(size_t size)
{
    MPI_Request request;

    client_fill(out, size, 10);
    MPI_Isend(out, (int)size, MPI_BYTE, client_rank, 10, MPI_COMM_WORLD,
              &request);
    MPI_Recv(in, (int)size, MPI_BYTE, client_rank, 10, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    client_check(in, size, 10);
}

/* Many messages are in flight, and their requests complete in any order. */
static void any_and_some(size_t size)
{
    MPI_Request requests[MANY];
    int indices[MANY], seen[MANY] = {0};
    int done = 0, count, i, index;

    if (client_rank == 0) {
        for (i = MANY - 1; i >= 0; --i) {
            client_fill(out + i * size, size, i);
            MPI_Isend(out + i * size, (int)size, MPI_BYTE, 1, 100 + i,
                      MPI_COMM_WORLD, &requests[i]);
        }
        for (i = 0; i < MANY; ++i) {
            MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE);
            CHECK(!seen[index]);
            seen[index] = 1;
        }
    } else if (client_rank == 1) {
        for (i = 0; i < MANY; ++i) {
            MPI_Irecv(in + i * size, (int)size, MPI_BYTE, 0, 100 + i,
                      MPI_COMM_WORLD, &requests[i]);
        }
        while (done < MANY) {
            MPI_Testsome(MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
            for (i = 0; i < count; ++i) {
                client_check(in + indices[i] * size, size, indices[i]);
            }
            done += (count == MPI_UNDEFINED) ? 0 : count;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {4, 1000, 30000, LARGE};
    size_t i;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    out = client_alloc(MANY * LARGE);
    in  = client_alloc(MANY * LARGE);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        synchronous(sizes[i]);
        persistent(sizes[i], client_rounds(30, 500));
        buffered_and_ready(sizes[i]);
        to_oneself(sizes[i]);
        any_and_some(sizes[i]);
    }
    free(out);
    free(in);
    return client_end("ways to send");
}
