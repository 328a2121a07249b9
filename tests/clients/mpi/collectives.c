/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations with verified results, many barriers, several
 * nonblocking operations at once, and derived communicators.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm comm;

static void all_to_all(int count)
{
    int *out = client_alloc(sizeof(int) * count * size);
    int *in  = client_alloc(sizeof(int) * count * size);
    int i, j;

    for (i = 0; i < size; ++i) {
        for (j = 0; j < count; ++j) {
            out[i * count + j] = rank * 1000003 + i * 1009 + j;
        }
    }
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    for (i = 0; i < size; ++i) {
        for (j = 0; j < count; ++j) {
            CHECK_EQ(in[i * count + j], i * 1000003 + rank * 1009 + j);
        }
    }
    free(out);
    free(in);
}

/* Rank i sends 1 + 3 * i + unit * j integers to rank j. */
static void all_to_all_v(int unit)
{
    int *counts     = client_alloc(4 * size * sizeof(int));
    int *out_counts = counts, *out_places = counts + size;
    int *in_counts = counts + 2 * size, *in_places = counts + 3 * size;
    int out_sum = 0, in_sum = 0, i, j;
    int *out, *in;

    for (i = 0; i < size; ++i) {
        out_counts[i] = 1 + rank * 3 + i * unit;
        in_counts[i]  = 1 + i * 3 + rank * unit;
        out_places[i] = out_sum;
        in_places[i]  = in_sum;
        out_sum += out_counts[i];
        in_sum += in_counts[i];
    }
    out = client_alloc(out_sum * sizeof(int));
    in  = client_alloc(in_sum * sizeof(int));
    for (i = 0; i < size; ++i) {
        for (j = 0; j < out_counts[i]; ++j) {
            out[out_places[i] + j] = rank * 7919 + i * 31 + j;
        }
    }
    MPI_Alltoallv(out, out_counts, out_places, MPI_INT, in, in_counts,
                  in_places, MPI_INT, comm);
    for (i = 0; i < size; ++i) {
        for (j = 0; j < in_counts[i]; ++j) {
            CHECK_EQ(in[in_places[i] + j], i * 7919 + rank * 31 + j);
        }
    }
    free(out);
    free(in);
    free(counts);
}

static void reductions(int count)
{
    long *out  = client_alloc(count * sizeof(long));
    long *in   = client_alloc(count * sizeof(long));
    long ranks = (long)size * (size - 1) / 2;
    int i, root = count % size;

    for (i = 0; i < count; ++i) {
        out[i] = rank + i;
    }
    MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, comm);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(in[i], ranks + (long)size * i);
    }
    MPI_Allreduce(out, in, count, MPI_LONG, MPI_MAX, comm);
    CHECK_EQ(in[count - 1], size - 1 + count - 1);
    MPI_Reduce(out, in, count, MPI_LONG, MPI_MIN, root, comm);
    if (rank == root) {
        CHECK_EQ(in[count - 1], count - 1);
    }
    MPI_Scan(out, in, count, MPI_LONG, MPI_SUM, comm);
    CHECK_EQ(in[0], (long)rank * (rank + 1) / 2);
    MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_LONG, MPI_BXOR, comm);
    free(out);
    free(in);
}

static void from_and_to_one(int bytes, int root)
{
    char *all = client_alloc((size_t)bytes * size);
    char *one = client_alloc(bytes);
    int i;

    if (rank == root) {
        client_fill(one, bytes, root);
    }
    MPI_Bcast(one, bytes, MPI_BYTE, root, comm);
    client_check(one, bytes, root);

    client_fill(one, bytes, rank);
    MPI_Gather(one, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, comm);
    for (i = 0; (rank == root) && (i < size); ++i) {
        client_check(all + (size_t)i * bytes, bytes, i);
    }
    memset(one, 0, bytes);
    MPI_Scatter(all, bytes, MPI_BYTE, one, bytes, MPI_BYTE, root, comm);
    client_check(one, bytes, rank);
    MPI_Allgather(one, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    for (i = 0; i < size; ++i) {
        client_check(all + (size_t)i * bytes, bytes, i);
    }
    free(all);
    free(one);
}

/* Several nonblocking collective operations and messages are outstanding at
 * once. */
static void overlapping(int rounds)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[5];
    int round, sum, sent, got, one = 1, token;

    for (round = 0; round < rounds; ++round) {
        token = (rank == round % size) ? round : -1;
        sent  = rank * 100 + round;
        MPI_Ibarrier(comm, &requests[0]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
        MPI_Ibcast(&token, 1, MPI_INT, round % size, comm, &requests[2]);
        MPI_Irecv(&got, 1, MPI_INT, left, 3, comm, &requests[3]);
        MPI_Isend(&sent, 1, MPI_INT, right, 3, comm, &requests[4]);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        CHECK_EQ(sum, size);
        CHECK_EQ(token, round);
        CHECK_EQ(got, left * 100 + round);
    }
}

/* Runs the collective operations of this file over a communicator. `heavy`:
 * with larger data. */
static void all_over(MPI_Comm where, int heavy)
{
    static const int bytes[] = {1, 1000, 30000, 500000};
    int i;

    comm = where;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (i = 0; i < (heavy ? 4 : 2); ++i) {
        all_to_all(bytes[i] / 8 + 1);
        all_to_all_v(bytes[i] / 16);
        reductions(bytes[i]);
        from_and_to_one(bytes[i], i % size);
    }
    overlapping(heavy ? 30 : 5);
}

static void communicators(int many)
{
    MPI_Comm *dups = client_alloc(many * sizeof(*dups));
    MPI_Comm part, dup;
    int i, value, peer = client_rank ^ 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    all_over(dup, 0);
    MPI_Comm_split(dup, client_rank % 2, -client_rank, &part);
    all_over(part, 0);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);

    /* The same tag is used in many communicators, whose messages must not
     * mix. */
    for (i = 0; i < many; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dups[i]);
    }
    if (peer < client_size) {
        for (i = 0; i < many; ++i) {
            MPI_Send(&i, 1, MPI_INT, peer, 0, dups[i]);
        }
        for (i = many - 1; i >= 0; --i) {
            MPI_Recv(&value, 1, MPI_INT, peer, 0, dups[i], MPI_STATUS_IGNORE);
            CHECK_EQ(value, i);
        }
    }
    for (i = 0; i < many; ++i) {
        MPI_Comm_free(&dups[i]);
    }
    free(dups);
}

int main(int argc, char **argv)
{
    int i, barriers;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    all_over(MPI_COMM_WORLD, 1);
    communicators(client_rounds(30, 200));
    barriers = client_rounds((client_size > 2) ? 200 : 2000, 100000);
    for (i = 0; i < barriers; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return client_end("collective operations");
}
