/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance: one-way latency, bandwidth and message rate between two ranks.
 * Each figure is between two floors, the latency of a cache line between the
 * cores. Prints JSON like ucp_bench; `run --speed` compares. Not a test.
 */
#include "client.h"

#include "../../perf/lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 64, LARGE = 1 << 20 };

typedef struct {
    const char *name, *unit;
    int size;
    double (*take)(int size, int count); /* seconds a message */
    int trial;                           /* number of messages of a trial */
    int a_step;                          /* messages */
    double one_is; /* unit: a microsecond, or a message per second */
} figure_t;

static char *buffer;
static struct lines *lines;

static void to_and_fro(int size, int count)
{
    int i;

    for (i = 0; i < count; ++i) {
        if (client_rank == 0) {
            MPI_Send(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

static double latency(int size, int count)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = lines_now();
    to_and_fro(size, count);
    return (lines_now() - start) / count / 2;
}

/* A window of messages, and a confirmation. */
static void window_of(int size)
{
    MPI_Request requests[WINDOW];
    int i;

    for (i = 0; i < WINDOW; ++i) {
        if (client_rank == 0) {
            MPI_Isend(buffer, size, MPI_BYTE, 1, 2, MPI_COMM_WORLD,
                      &requests[i]);
        } else {
            MPI_Irecv(buffer, size, MPI_BYTE, 0, 2, MPI_COMM_WORLD,
                      &requests[i]);
        }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (client_rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
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
    return (lines_now() - start) / count / WINDOW;
}

/* Memory shared by both ranks, without a file that could be left behind. */
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
    } else {
        lines_answer(lines, LINES_FEW);
    }
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
    value  = (figure->take == latency) ? value * 1e6 : 1 / value;
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
        {"bw_1m", "GB/s", LARGE, stream, 1, WINDOW, LARGE * 1e-9},
        {"rate_8", "M/s", 8, stream, 200, WINDOW, 1e-6},
    };
    size_t i, count = sizeof(figures) / sizeof(figures[0]);
    double seconds = (argc > 1) ? atof(argv[1]) : 0.2;

    client_start(&argc, &argv, MPI_THREAD_SINGLE);
    CHECK_EQ(client_size, 2);
    buffer = client_alloc(LARGE);
    memset(buffer, 1, LARGE);
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
    munmap(lines, sizeof(*lines));
    free(buffer);
    MPI_Finalize();
    return 0;
}
