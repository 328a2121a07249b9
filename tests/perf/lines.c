/* SPDX-License-Identifier: BSD-3-Clause */
/* See lines.h. In a virtual machine, a change of the measured latency can mean
 * that the distance between the two cores has changed. */
#include "lines.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE_BATCHES = 5 }; /* Batches of round trips in one measurement */

double lines_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + (time.tv_nsec * 1e-9);
}

void *lines_map(size_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return (memory == MAP_FAILED) ? NULL : memory;
}

void lines_reset(struct lines *lines)
{
    atomic_store(&lines->to_partner, 0);
    atomic_store(&lines->to_driver, 0);
}

void lines_answer(struct lines *lines, uint64_t round_trips)
{
    uint64_t i;

    for (i = 1; i <= LINE_BATCHES * round_trips; ++i) {
        while (atomic_load_explicit(&lines->to_partner, memory_order_acquire) !=
               i) {
        }
        atomic_store_explicit(&lines->to_driver, i, memory_order_release);
    }
}

/* Makes the round trips with the numbers `from` to `to`. In each, the driver
 * writes the number to its line, and waits until the partner has written the
 * same number to its own line. */
static void bounce(struct lines *lines, uint64_t from, uint64_t to)
{
    uint64_t i;

    for (i = from; i <= to; ++i) {
        atomic_store_explicit(&lines->to_partner, i, memory_order_release);
        while (atomic_load_explicit(&lines->to_driver, memory_order_acquire) !=
               i) {
        }
    }
}

/* Returns the lowest value of all batches, because an interrupt during a batch
 * makes it slower. */
double lines_measure(struct lines *lines, uint64_t round_trips)
{
    double best = 0, start, time;
    uint64_t batch;

    for (batch = 0; batch < LINE_BATCHES; ++batch) {
        start = lines_now();
        bounce(lines, (batch * round_trips) + 1, (batch + 1) * round_trips);
        time = (lines_now() - start) * 1e6 / round_trips / 2;
        best = ((batch == 0) || (time < best)) ? time : best;
    }
    return best;
}

double copy_measure(void *to, const void *from, size_t size, double seconds)
{
    uint64_t copies = 0;
    double start    = lines_now(), time;

    do {
        memcpy(to, from, size);
        /* nothing reads the copy: without this statement the compiler could
         * omit memcpy() */
        __asm__ volatile("" : : "r"(to) : "memory");
        ++copies;
        time = lines_now() - start;
    } while (time < seconds);
    return size * copies / time * 1e-9;
}
