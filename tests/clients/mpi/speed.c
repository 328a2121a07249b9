/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance of an even number of ranks: one-way latency, bandwidth and
 * message rate of pairs, a ring, and all-to-all. A pair is an even rank and the
 * next one. All pairs run at once, and their rates and bandwidths are added.
 * Before and after each figure the program measures a "floor": the latency of a
 * cache line between the cores of the first pair. Prints JSON like ucp_bench;
 * `run --speed` compares results. Not a test.
 */
#include "client.h"

#include "../../perf/lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 64, MEDIUM = 1 << 16, LARGE = 1 << 20 };

typedef struct {
    const char *name, *unit;
    int size;
    /* Returns the seconds of one message, or of one call of all_to_all() */
    double (*take)(int size, int count);
    /* Steps of a trial run, which sets the number of steps of the
     * measurement */
    int trial;
    int a_step; /* Messages of a step: 2 for a round trip, WINDOW or 1 */
    /* The value of 1 microsecond, or of 1 message per second, in `unit` */
    double one_is;
} figure_t;

static char *buffer;
static char *received; /* A block of bytes for each rank */
static struct lines *lines;

static int is_sender(void)
{
    return client_rank % 2 == 0;
}

static int partner(void)
{
    return client_rank ^ 1;
}

/* Returns the seconds from `start` until all ranks have reached this call. */
static double since(double start)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return lines_now() - start;
}

static void to_and_fro(int size, int count)
{
    int i;

    for (i = 0; i < count; ++i) {
        if (is_sender()) {
            MPI_Send(buffer, size, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, partner(), 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_BYTE, partner(), 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, partner(), 1, MPI_COMM_WORLD);
        }
    }
}

static double latency(int size, int count)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = lines_now();
    to_and_fro(size, count);
    return since(start) / count / 2;
}

/* Sends WINDOW messages of `size` bytes at once, then waits for a reply. */
static void window_of(int size)
{
    MPI_Request requests[WINDOW];
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (is_sender()) {
            MPI_Isend(buffer, size, MPI_BYTE, partner(), 2, MPI_COMM_WORLD,
                      &requests[i]);
        } else {
            MPI_Irecv(buffer, size, MPI_BYTE, partner(), 2, MPI_COMM_WORLD,
                      &requests[i]);
        }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (is_sender()) {
        MPI_Recv(NULL, 0, MPI_BYTE, partner(), 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, partner(), 3, MPI_COMM_WORLD);
    }
}

static double stream(int size, int count)
{
    double start;
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    start = lines_now();
    for (i = 0; i < count; ++i) {
        window_of(size);
    }
    return since(start) / count / WINDOW / (client_size / 2);
}

/* Each rank sends to the next one and receives from the previous one. Returns
 * seconds per message. */
static double ring(int size, int count)
{
    int next     = (client_rank + 1) % client_size;
    int previous = (client_rank + client_size - 1) % client_size;
    double start;
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    start = lines_now();
    for (i = 0; i < count; ++i) {
        MPI_Sendrecv(buffer, size, MPI_BYTE, next, 4, received, size, MPI_BYTE,
                     previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return since(start) / count / client_size;
}

static double all_to_all(int size, int count)
{
    double start;
    int i;

    MPI_Barrier(MPI_COMM_WORLD);
    start = lines_now();
    for (i = 0; i < count; ++i) {
        MPI_Alltoall(buffer, size, MPI_BYTE, received, size, MPI_BYTE,
                     MPI_COMM_WORLD);
    }
    return since(start) / count;
}

static int is_time(const figure_t *figure)
{
    return (figure->take == latency) || (figure->take == all_to_all);
}

/* Returns memory that the first two ranks share, without a file that could be
 * left behind; NULL on the other ranks. */
static struct lines *common_lines(void)
{
    int handle[2] = {-1, (int)getpid()};
    void *memory;
    char path[64];

    if (client_rank == 0) {
        handle[0] = memfd_create("lines", MFD_CLOEXEC);
        CHECK_EQ(ftruncate(handle[0], sizeof(struct lines)), 0);
    }
    MPI_Bcast(handle, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (client_rank > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        return NULL;
    }
    if (client_rank == 1) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle[1], handle[0]);
        handle[0] = open(path, O_RDWR | O_CLOEXEC);
    }
    memory = mmap(NULL, sizeof(struct lines), PROT_READ | PROT_WRITE,
                  MAP_SHARED, handle[0], 0);
    CHECK(memory != MAP_FAILED);
    MPI_Barrier(MPI_COMM_WORLD);
    close(handle[0]);
    return memory;
}

static double floor_now(void)
{
    double floor = 0;

    if (client_rank == 0) {
        lines_reset(lines);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (client_rank == 0) {
        floor = lines_measure(lines, LINES_FEW);
    } else if (client_rank == 1) {
        lines_answer(lines, LINES_FEW);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return floor;
}

static void take(const figure_t *figure, double seconds, int last)
{
    double before, after, value;
    int count = 0;

    figure->take(figure->size, figure->trial); /* warm-up */
    value = figure->take(figure->size, figure->trial) * figure->a_step;
    if (client_rank == 0) {
        count = (int)(seconds / value) + 1;
    }
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    before = floor_now();
    value  = figure->take(figure->size, count);
    after  = floor_now();
    value  = is_time(figure) ? value * 1e6 : 1 / value;
    if (client_rank == 0) {
        printf("{\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.4f,"
               " \"floors\": [%.4f, %.4f]}%s\n",
               figure->name, figure->unit, value * figure->one_is, before,
               after, last ? "" : ",");
    }
}

int main(int argc, char **argv)
{
    static const figure_t figures[] = {
        {"lat_8", "us", 8, latency, 2000, 2, 1},
        {"bw_64k", "GB/s", MEDIUM, stream, 4, WINDOW, MEDIUM * 1e-9},
        {"bw_1m", "GB/s", LARGE, stream, 1, WINDOW, LARGE * 1e-9},
        {"rate_8", "M/s", 8, stream, 200, WINDOW, 1e-6},
        {"rate_1k", "M/s", 1024, stream, 50, WINDOW, 1e-6},
        {"ring_1m", "GB/s", LARGE, ring, 16, 1, LARGE * 1e-9},
        {"all_16k", "us", 16 * 1024, all_to_all, 200, 1, 1},
        {"all_128k", "us", 128 * 1024, all_to_all, 50, 1, 1},
    };
    size_t i, count = sizeof(figures) / sizeof(figures[0]);
    double seconds = (argc > 1) ? atof(argv[1]) : 0.2;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    CHECK_EQ(client_size % 2, 0);
    buffer   = client_alloc((size_t)LARGE * client_size);
    received = client_alloc((size_t)LARGE * client_size);
    memset(buffer, 1, (size_t)LARGE * client_size);
    memset(received, 1, (size_t)LARGE * client_size);
    lines = common_lines();
    if (client_rank == 0) {
        printf("{\"figures\": [\n");
    }
    for (i = 0; i < count; ++i) {
        take(&figures[i], seconds, i + 1 == count);
    }
    if (client_rank == 0) {
        printf("]}\n");
    }
    if (lines != NULL) {
        munmap(lines, sizeof(*lines));
    }
    free(received);
    free(buffer);
    MPI_Finalize();
    return 0;
}
