/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth of gets and puts over cma in four cases: the initiator copies
 * alone; the target helps; the target helps with WINDOW operations at once; the
 * target could help but does not poll. The cases are measured in turns. Not a
 * test: figures depend on the machine, and only their ratios are meaningful.
 */
#include "child.h"
#include "cma_side.h"

#include <sched.h>
#include <string.h>

enum { TURNS = 7, WINDOW = 8 };

static const size_t sizes[] = {4096,    16384,   32768,   49152,
                               65536,   131072,  262144,  524288,
                               1048576, 4194304, 16777216};

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* The target. Obeys the bytes that tell() sends: progresses after 'l' (look),
 * blocks after 'a' (away), ends after 'q' (quit). Confirms 'l' and 'a'. */
static void target(void *arg, int fd)
{
    cma_side_t side;
    cma_link_t link;
    char order;

    pin(1);
    cma_side_open(&side, 16777216, NULL);
    memset(side.memory, 1, side.length);
    cma_side_meet(&side, fd, &link);
    order = 'a';
    while (order != 'q') {
        if (order == 'l') {
            cma_side_write(fd, &order, 1);
            cma_side_serve(&side, fd, &order, 1);
        } else {
            cma_side_write(fd, &order, 1);
            cma_side_read(fd, &order, 1);
        }
    }
    cma_side_part(&link);
    cma_side_close(&side);
}

static void tell(int fd, char order)
{
    cma_side_write(fd, &order, 1);
    if (order != 'q') {
        cma_side_read(fd, &order, 1);
    }
}

static double measure(cma_link_t *link, int is_put, void *buffer, size_t size,
                      unsigned window)
{
    unsigned count = (unsigned)(64000000 / size);
    ucs_status_t status[WINDOW];
    cma_wait_t waits[WINDOW];
    double start;

    count = (count > 3000) ? 3000 : (count < 8) ? 8 : count;
    start = cma_side_now();
    for (unsigned i = 0; i < count + window; ++i) {
        if (i >= window) {
            EXPECT_EQ(cma_side_finish(link->side, status[i % window],
                                      &waits[i % window]),
                      UCS_OK);
        }
        if (i < count) {
            status[i % window] = cma_side_start(link, is_put, buffer, 0, size,
                                                1, &waits[i % window]);
        } else {
            status[i % window] = UCS_OK;
            cma_wait_init(&waits[i % window]);
        }
    }
    return (double)size * count / (cma_side_now() - start) / 1e9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) ? -1 : (x > y);
}

static double median(double *values)
{
    qsort(values, TURNS, sizeof(*values), by_value);
    return values[TURNS / 2];
}

int main(int argc, char **argv)
{
    double alone[TURNS], shared[TURNS], many[TURNS], away[TURNS];
    cma_side_t one, both;
    cma_link_t to_one, to_both;
    cma_card_t card;
    void *buffer;
    pid_t pid;
    char byte;
    int fd;

    pid = child_start(target, NULL, &fd);
    pin(0);
    cma_side_open(&one, 4096, "SHARE=n");
    cma_side_open(&both, 16777216, NULL);
    buffer = both.memory;
    memset(buffer, 2, both.length);
    cma_side_read(fd, &card, sizeof(card));
    cma_side_write(fd, &both.card, sizeof(both.card));
    cma_side_connect(&one, &card, &to_one);
    cma_side_connect(&both, &card, &to_both);
    cma_side_read(fd, &byte, 1);

    printf("GB/s         alone   both  both, %d at once   away\n", WINDOW);
    for (int is_put = 0; is_put < 2; ++is_put) {
        for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
            for (unsigned turn = 0; turn < TURNS; ++turn) {
                /* Exchange a byte with the target before each measurement, so
                 * that it polls, or has stopped polling, when the measurement
                 * begins */
                tell(fd, 'l');
                alone[turn] = measure(&to_one, is_put, buffer, sizes[i], 1);
                tell(fd, 'l');
                shared[turn] = measure(&to_both, is_put, buffer, sizes[i], 1);
                tell(fd, 'l');
                many[turn] = measure(&to_both, is_put, buffer, sizes[i],
                                     WINDOW);
                tell(fd, 'a');
                away[turn] = measure(&to_both, is_put, buffer, sizes[i], 1);
            }
            printf("%s %6zuK  %6.1f %6.1f %17.1f %6.1f\n",
                   is_put ? "put" : "get", sizes[i] >> 10, median(alone),
                   median(shared), median(many), median(away));
            fflush(stdout);
        }
    }

    tell(fd, 'q');
    cma_side_part(&to_one);
    cma_side_part(&to_both);
    cma_side_close(&one);
    cma_side_close(&both);
    return cma_side_join(pid) ? 0 : 1;
}
