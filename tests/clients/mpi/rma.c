/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations on created, allocated and dynamic windows and in all
 * kinds of epochs: put, get, accumulate, get-accumulate, fetch-and-op, and
 * operations that return a request.
 */
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { CREATED, ALLOCATED, DYNAMIC, KINDS };

static size_t window_size = 1 << 20;

typedef struct {
    int kind;
    MPI_Win win;
    char *base;
    MPI_Aint *at; /* By rank: displacement of the rank's memory in the window */
} window_t;

static void open_window(window_t *w, int kind)
{
    MPI_Aint mine = 0;

    w->kind = kind;
    w->at   = client_alloc(client_size * sizeof(*w->at));
    switch (kind) {
    case CREATED:
        w->base = client_alloc(window_size);
        MPI_Win_create(w->base, window_size, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &w->win);
        break;
    case ALLOCATED:
        MPI_Win_allocate(window_size, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &w->base, &w->win);
        break;
    default:
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
        w->base = client_alloc(window_size);
        MPI_Win_attach(w->win, w->base, window_size);
        MPI_Get_address(w->base, &mine);
    }
    memset(w->base, 0, window_size);
    MPI_Allgather(&mine, 1, MPI_AINT, w->at, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(window_t *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->kind == DYNAMIC) {
        MPI_Win_detach(w->win, w->base);
    }
    MPI_Win_free(&w->win);
    if (w->kind != ALLOCATED) {
        free(w->base);
    }
    free(w->at);
}

/* Puts to the next rank in one epoch, and gets the data back in a later one.
 * Fences separate the epochs. */
static void fences(window_t *w, size_t size)
{
    int right = (client_rank + 1) % client_size;
    int left  = (client_rank + client_size - 1) % client_size;
    char *out = client_alloc(size), *in = client_alloc(size);

    client_fill(out, size, client_rank + (unsigned)size);
    MPI_Win_fence(0, w->win);
    MPI_Put(out, (int)size, MPI_BYTE, right, w->at[right], (int)size, MPI_BYTE,
            w->win);
    MPI_Win_fence(0, w->win);
    client_check(w->base, size, left + (unsigned)size);
    MPI_Win_fence(0, w->win);
    MPI_Get(in, (int)size, MPI_BYTE, right, w->at[right], (int)size, MPI_BYTE,
            w->win);
    MPI_Win_fence(0, w->win);
    client_check(in, size, client_rank + (unsigned)size);
    free(out);
    free(in);
}

static void post_start(window_t *w, size_t size)
{
    int right = (client_rank + 1) % client_size;
    int left  = (client_rank + client_size - 1) % client_size;
    MPI_Group all, to, from;
    char *out = client_alloc(size);

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &right, &to);
    MPI_Group_incl(all, 1, &left, &from);
    client_fill(out, size, client_rank + 3);
    MPI_Win_post(from, 0, w->win);
    MPI_Win_start(to, 0, w->win);
    MPI_Put(out, (int)size, MPI_BYTE, right, w->at[right], (int)size, MPI_BYTE,
            w->win);
    MPI_Win_complete(w->win);
    MPI_Win_wait(w->win);
    client_check(w->base, size, left + 3);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&all);
    free(out);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Put and get in epochs of MPI_Win_lock(). Each rank uses a part of its own in
 * every rank's memory. */
static void locks(window_t *w, size_t size)
{
    char *out = client_alloc(size), *in = client_alloc(size);
    MPI_Request request;
    int target;

    if (size * client_size > window_size) {
        size = window_size / client_size;
    }
    client_fill(out, size, client_rank + 11);
    for (target = 0; target < client_size; ++target) {
        MPI_Aint place = w->at[target] + (MPI_Aint)(client_rank * size);

        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
        MPI_Put(out, (int)size, MPI_BYTE, target, place, (int)size, MPI_BYTE,
                w->win);
        MPI_Win_flush(target, w->win);
        memset(in, 0, size);
        MPI_Get(in, (int)size, MPI_BYTE, target, place, (int)size, MPI_BYTE,
                w->win);
        MPI_Win_flush_local(target, w->win);
        client_check(in, size, client_rank + 11);
        MPI_Win_unlock(target, w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, w->win);
    /* Dynamic windows are left out: for them Open MPI 4.1 reads the
     * completion flag of the request from the attached memory, with any
     * network library. */
    for (target = 0; (w->kind != DYNAMIC) && (target < client_size); ++target) {
        MPI_Aint place = w->at[target] + (MPI_Aint)(client_rank * size);

        memset(in, 0, size);
        MPI_Rget(in, (int)size, MPI_BYTE, target, place, (int)size, MPI_BYTE,
                 w->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        client_check(in, size, client_rank + 11);
        MPI_Rput(out, (int)size, MPI_BYTE, target, place, (int)size, MPI_BYTE,
                 w->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_flush_all(w->win);
    MPI_Win_sync(w->win);
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (target = 0; target < client_size; ++target) {
        client_check(w->base + target * size, size, target + 11);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

/* A put with datatypes that have gaps at the origin and at the target, and a
 * get from such a target into contiguous memory. */
static void strided(window_t *w)
{
    int right = (client_rank + 1) % client_size, i;
    int out[200], in[100];
    MPI_Datatype holes;

    memset(w->base, 0, 4096);
    MPI_Type_vector(100, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (i = 0; i < 200; ++i) {
        out[i] = i;
    }
    MPI_Win_fence(0, w->win);
    MPI_Put(out, 1, holes, right, w->at[right], 1, holes, w->win);
    MPI_Win_fence(0, w->win);
    for (i = 0; i < 199; ++i) {
        CHECK_EQ(((int *)w->base)[i], (i % 2) ? 0 : i);
    }
    MPI_Win_fence(0, w->win);
    MPI_Get(in, 100, MPI_INT, right, w->at[right], 1, holes, w->win);
    MPI_Win_fence(0, w->win);
    for (i = 0; i < 100; ++i) {
        CHECK_EQ(in[i], 2 * i);
    }
    MPI_Type_free(&holes);
}

/* All ranks add to the words of rank 0, whose sums are known. */
static void accumulates(window_t *w, int rounds)
{
    int64_t *sums = (int64_t *)w->base;
    int64_t add[64], old[64];
    int i, round;

    memset(w->base, 0, 4096);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 64; ++i) {
        add[i] = client_rank + i;
    }
    MPI_Win_lock_all(0, w->win);
    for (round = 0; round < rounds; ++round) {
        MPI_Accumulate(add, 64, MPI_INT64_T, 0, w->at[0], 64, MPI_INT64_T,
                       MPI_SUM, w->win);
        MPI_Get_accumulate(add, 64, MPI_INT64_T, old, 64, MPI_INT64_T, 0,
                           w->at[0] + 512, 64, MPI_INT64_T, MPI_SUM, w->win);
        MPI_Win_flush(0, w->win);
        CHECK(old[0] >= (int64_t)client_rank * round);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; (client_rank == 0) && (i < 128); ++i) {
        CHECK_EQ(sums[i],
                 (int64_t)rounds * (client_size * (i % 64) +
                                    client_size * (client_size - 1) / 2));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Logical operations that fetch the old value; one rank after the other. */
static void bitwise(window_t *w)
{
    uint64_t *word = (uint64_t *)w->base, mask, old = 0;
    int turn;

    MPI_Win_lock_all(0, w->win);
    if (client_rank == 0) {
        *word = 0xff00ff00ff00ff00ull;
        MPI_Win_sync(w->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (turn = 0; turn < client_size; ++turn) {
        if (turn == client_rank) {
            mask = 0x0ffffff0f0ull;
            MPI_Fetch_and_op(&mask, &old, MPI_UINT64_T, 0, w->at[0], MPI_BAND,
                             w->win);
            MPI_Win_flush(0, w->win);
            CHECK(old == 0xff00ff00ff00ff00ull);
            mask = 0x1ull;
            MPI_Fetch_and_op(&mask, &old, MPI_UINT64_T, 0, w->at[0], MPI_BOR,
                             w->win);
            MPI_Win_flush(0, w->win);
            CHECK(old == (0xff00ff00ff00ff00ull & 0x0ffffff0f0ull));
            mask = ~0ull;
            MPI_Fetch_and_op(&mask, &old, MPI_UINT64_T, 0, w->at[0], MPI_BXOR,
                             w->win);
            MPI_Win_flush(0, w->win);
            CHECK(old == ((0xff00ff00ff00ff00ull & 0x0ffffff0f0ull) | 1));
            mask = 0xff00ff00ff00ff00ull;
            MPI_Fetch_and_op(&mask, &old, MPI_UINT64_T, 0, w->at[0],
                             MPI_REPLACE, w->win);
            MPI_Win_flush(0, w->win);
            CHECK(old == ~((0xff00ff00ff00ff00ull & 0x0ffffff0f0ull) | 1));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 8, 500, 9000, 200000, 1 << 20};
    window_t w;
    size_t i;
    int kind, round;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    for (round = 0; round < client_rounds(1, 10); ++round) {
        for (kind = 0; kind < KINDS; ++kind) {
            open_window(&w, kind);
            for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
                fences(&w, sizes[i]);
                post_start(&w, sizes[i]);
                locks(&w, sizes[i]);
            }
            strided(&w);
            accumulates(&w, client_rounds(20, 500));
            bitwise(&w);
            close_window(&w);
        }
    }
    return client_end("one-sided operations");
}
