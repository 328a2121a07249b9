/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of receives: wildcards, order, MPI_Probe and MPI_Mprobe, truncation,
 * cancelled receives.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 300000 };

static char *buffer;

/* Rank 0 receives from any source with any tag. The messages of each sender
 * must arrive in order. */
static void wildcards(int messages)
{
    int *next = calloc(client_size, sizeof(*next));
    MPI_Status status;
    int i, value;

    CHECK(next != NULL);
    if (client_rank != 0) {
        for (i = 0; i < messages; ++i) {
            MPI_Send(&i, 1, MPI_INT, 0, i % 5, MPI_COMM_WORLD);
        }
    } else {
        for (i = 0; i < messages * (client_size - 1); ++i) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
            CHECK_EQ(value, next[status.MPI_SOURCE]);
            CHECK_EQ(status.MPI_TAG, value % 5);
            ++next[status.MPI_SOURCE];
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(next);
}

/* Receives four tags in the reverse order of sending. `posted`: the receives
 * are posted before the messages are sent, otherwise independently of that. */
static void by_tag(size_t size, int posted)
{
    MPI_Request requests[4];
    int i;

    if (client_rank == 0) {
        if (posted) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        for (i = 0; i < 4; ++i) {
            client_fill(buffer + i * size, size, i);
            MPI_Isend(buffer + i * size, (int)size, MPI_BYTE, 1, 10 + i,
                      MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (client_rank == 1) {
        for (i = 3; i >= 0; --i) {
            MPI_Irecv(buffer + i * size, (int)size, MPI_BYTE, 0, 10 + i,
                      MPI_COMM_WORLD, &requests[i]);
        }
        if (posted) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (i = 0; i < 4; ++i) {
            client_check(buffer + i * size, size, i);
        }
    } else if (posted) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void truncation(size_t size, int posted)
{
    MPI_Request request;
    MPI_Status status;
    int error, class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (client_rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        client_fill(buffer, size, 3);
        error = MPI_Send(buffer, (int)size, MPI_BYTE, 1, 20, MPI_COMM_WORLD);
        CHECK_EQ(error, MPI_SUCCESS);
        MPI_Send(buffer, 8, MPI_BYTE, 1, 21, MPI_COMM_WORLD);
    } else {
        memset(buffer, 0x55, size);
        if ((client_rank == 1) && posted) {
            MPI_Irecv(buffer, (int)(size / 2), MPI_BYTE, 0, 20, MPI_COMM_WORLD,
                      &request);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (client_rank == 1) {
            if (posted) {
                error = MPI_Wait(&request, &status);
            } else {
                error = MPI_Recv(buffer, (int)(size / 2), MPI_BYTE, 0, 20,
                                 MPI_COMM_WORLD, &status);
            }
            MPI_Error_class(error, &class);
            CHECK_EQ(class, MPI_ERR_TRUNCATE);
            client_check_untouched(buffer + size / 2, size - size / 2, 0x55);
            /* later messages can be received */
            error = MPI_Recv(buffer, 8, MPI_BYTE, 0, 21, MPI_COMM_WORLD,
                             &status);
            CHECK_EQ(error, MPI_SUCCESS);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void probes(size_t size)
{
    MPI_Request requests[4];
    MPI_Message message;
    MPI_Status status;
    int count, found = 0, value = 7;

    if (client_rank == 0) {
        client_fill(buffer, size, 9);
        MPI_Isend(buffer, (int)size, MPI_BYTE, 1, 30, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(buffer, (int)size, MPI_BYTE, 1, 31, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Isend(&value, 1, MPI_INT, 1, 31, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&value, 1, MPI_INT, 1, 32, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (client_rank == 1) {
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_EQ(status.MPI_TAG, 30);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQ(count, size);
        MPI_Recv(buffer, (int)size, MPI_BYTE, 0, 30, MPI_COMM_WORLD, &status);
        client_check(buffer, size, 9);

        /* MPI_Mprobe() removes the first message of tag 31: a receive gets the
         * second one. */
        memset(buffer, 0, size);
        MPI_Mprobe(MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &message, &status);
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, 31, MPI_COMM_WORLD, &status);
        CHECK_EQ(value, 7);
        MPI_Mrecv(buffer, (int)size, MPI_BYTE, &message, &status);
        CHECK(message == MPI_MESSAGE_NULL);
        client_check(buffer, size, 9);

        while (!found) {
            MPI_Improbe(0, 32, MPI_COMM_WORLD, &found, &message, &status);
        }
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
                   &status);
        CHECK(!found);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cancelled_receives(void)
{
    MPI_Request request, kept;
    MPI_Status status;
    int cancelled, value = 0, other = 0;

    if (client_rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD,
                  &request);
        MPI_Irecv(&other, 1, MPI_INT, 0, 41, MPI_COMM_WORLD, &kept);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&kept, &status);
        CHECK_EQ(other, 41);
        MPI_Recv(&other, 1, MPI_INT, 0, 40, MPI_COMM_WORLD, &status);
        CHECK_EQ(other, 40);
        CHECK_EQ(value, 0);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (client_rank == 0) {
            value = 41;
            MPI_Send(&value, 1, MPI_INT, 1, 41, MPI_COMM_WORLD);
            value = 40;
            MPI_Send(&value, 1, MPI_INT, 1, 40, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 2000, 20000, LARGE};
    size_t i;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    buffer = client_alloc(4 * LARGE);
    wildcards(client_rounds(2000, 20000));
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        by_tag(sizes[i], 0);
        by_tag(sizes[i], 1);
        truncation(sizes[i], 0);
        truncation(sizes[i], 1);
        probes(sizes[i]);
    }
    cancelled_receives();
    free(buffer);
    return client_end("matching");
}
