/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows in which all ranks or every second one have a part of size 0: they
 * are created, the memory of other ranks is used, and they are freed.
 */
#include "client.h"

#include <stdlib.h>

enum { CREATED, ALLOCATED, DYNAMIC, KINDS };

/* Returns the bytes of a rank's part: 0 for every `step`-th rank. */
static MPI_Aint size_of(int rank, int step)
{
    return (rank % step == 0) ? 0 : 4096;
}

static char *open_window(int kind, MPI_Aint size, MPI_Win *win)
{
    char *base = NULL;

    if (kind == ALLOCATED) {
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
    } else {
        base = (size > 0) ? client_alloc((size_t)size) : NULL;
        if (kind == CREATED) {
            MPI_Win_create(base, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
        } else {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
            if (size > 0) {
                MPI_Win_attach(*win, base, size);
            }
        }
    }
    return base;
}

/* Every rank writes a word of its own to each part that has memory. */
static void use(MPI_Win win, int kind, int step, char *base)
{
    MPI_Aint *at   = client_alloc((size_t)client_size * sizeof(*at));
    uint32_t value = (uint32_t)client_rank + 1;
    MPI_Aint mine  = 0;
    int rank;

    if (kind == DYNAMIC) {
        MPI_Get_address(base, &mine);
    }
    MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    for (rank = 0; rank < client_size; ++rank) {
        if (size_of(rank, step) > 0) {
            MPI_Put(&value, 4, MPI_BYTE, rank, at[rank] + 4 * client_rank, 4,
                    MPI_BYTE, win);
        }
    }
    MPI_Win_fence(0, win);
    for (rank = 0; (size_of(client_rank, step) > 0) && (rank < client_size);
         ++rank) {
        CHECK_EQ(((uint32_t *)base)[rank], rank + 1);
    }
    free(at);
}

int main(int argc, char **argv)
{
    int kind, step, round;
    MPI_Aint size;
    MPI_Win win;
    char *base;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    for (round = 0; round < client_rounds(2, 50); ++round) {
        for (kind = 0; kind < KINDS; ++kind) {
            for (step = 1; step <= 2; ++step) {
                size = size_of(client_rank, step);
                base = open_window(kind, size, &win);
                use(win, kind, step, base);
                if ((kind == DYNAMIC) && (size > 0)) {
                    MPI_Win_detach(win, base);
                }
                MPI_Win_free(&win);
                if (kind != ALLOCATED) {
                    free(base);
                }
            }
        }
    }
    return client_end("windows of size 0");
}
