/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the speed of copies: see speed.h.
 */
#include "speed.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Bytes of the two copies that are timed. The overhead is equal, so the
 * difference of their times excludes it. The larger one exceeds the first-level
 * cache, as large messages do. TRIES: number of times that each copy is timed;
 * the shortest time counts. */
enum { SMALL = 4096, LARGE = 65536, TRIES = 6 };

/* NUM_LINES cache lines of LINE bytes are read from memory, LINE_TRIES times:
 * one in each part of PART bytes, a page. GROUP lines are timed together; the
 * fastest group counts. */
enum { LINE = 64, NUM_LINES = 16, PART = 4096, LINE_TRIES = 3, GROUP = 4 };

/* Times are rounded to one of these values: ROUND_LEAST seconds, and each
 * further value larger by the factor ROUND_STEP, 2^(1/8). ROUND_HALF, its
 * square root, is the factor at which rounding changes to the next value. */
#define ROUND_LEAST 25e-9
#define ROUND_STEP  1.090508
#define ROUND_HALF  1.044274

typedef int (*copy_t)(char *to, char *from, size_t length);

static pthread_once_t once       = PTHREAD_ONCE_INIT;
static pthread_once_t call_once  = PTHREAD_ONCE_INIT;
static pthread_once_t line_once  = PTHREAD_ONCE_INIT;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static shm_speed_t speed;
static double call_time, line_time;
static size_t private_cache;

static int copy_memory(char *to, char *from, size_t length)
{
    memcpy(to, from, length);
    /* The compiler must not remove a copy that is never read */
    __asm__ volatile("" : : "r"(to) : "memory");
    return 1;
}

static int copy_by_kernel(char *to, char *from, size_t length)
{
    struct iovec local  = {to, length};
    struct iovec remote = {from, length};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
           (ssize_t)length;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns memory with pages that are zero; NULL if there is none. */
static char *map_memory(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    return (memory == MAP_FAILED) ? NULL : memory;
}

static double least_of(double a, double b)
{
    return (a < b) ? a : b;
}

/* Returns the time in seconds of the fastest of some copies; 0 if a copy
 * failed. */
static double least_time(copy_t copy, char *memory, size_t length)
{
    double least = 0;
    double start, took;
    int i;

    for (i = 0; i < TRIES; ++i) {
        start = now();
        if (!copy(memory, memory + LARGE, length)) {
            return 0;
        }
        took = now() - start;
        if ((least == 0) || (took < least)) {
            least = took;
        }
    }
    return least;
}

static double bandwidth(copy_t copy, char *memory)
{
    double large = least_time(copy, memory, LARGE);
    double small = least_time(copy, memory, SMALL);

    return ((small > 0) && (large > small)) ?
               (LARGE - SMALL) / (large - small) :
               0;
}

/* ---------------------------------------------------------------- lines -- */

#if defined(__x86_64__)

/* Returns the offset of a line. Offset and order are pseudo-random, so that no
 * prefetcher loads a line before it is read. */
static size_t line_at(unsigned number)
{
    unsigned part = (number * 13) % NUM_LINES;
    unsigned hash = (part * 2654435761u) >> 16;

    return (size_t)part * PART + hash % (PART / LINE) * LINE;
}

static void flush_lines(char *memory)
{
    unsigned i;

    for (i = 0; i < NUM_LINES; ++i) {
        __builtin_ia32_clflush(memory + line_at(i));
    }
    __builtin_ia32_mfence();
}

/* Reads all lines one after the other: each address depends on the byte read
 * before. A byte is at most 255, so it does not change the address; the compiler
 * must not know this. Returns the seconds of the fastest group. */
static double fastest_group(const volatile uint8_t *memory)
{
    double least = 1;
    double begin = now();
    size_t at    = 0;
    double end;
    unsigned i;

    for (i = 0; i < NUM_LINES; ++i) {
        at = memory[(at >> 8) + line_at(i)];
        __asm__ volatile("" : "+r"(at));
        if ((i + 1) % GROUP == 0) {
            end   = now();
            least = least_of(least, end - begin);
            begin = end;
        }
    }
    return least;
}

static void measure_line(void)
{
    double least = 1;
    char *memory = map_memory(NUM_LINES * PART);
    int i;

    if (memory == NULL) {
        return;
    }
    for (i = 0; i < LINE_TRIES; ++i) {
        flush_lines(memory);
        least = least_of(least, fastest_group((uint8_t *)memory));
    }
    line_time = least / GROUP;
    munmap(memory, NUM_LINES * PART);
}

#else

/* Measures nothing: there is no code for this processor that removes a line
 * from all caches. */
static void measure_line(void)
{
}

#endif

/* -------------------------------------------------------------------------- */

static void measure(void)
{
    char *memory = map_memory(2 * LARGE);

    if (memory == NULL) {
        return;
    }
    memset(memory, 1, 2 * LARGE);
    speed.memory = bandwidth(copy_memory, memory);
    speed.kernel = bandwidth(copy_by_kernel, memory);
    munmap(memory, 2 * LARGE);
}

const shm_speed_t *shm_speed(void)
{
    pthread_once(&once, measure);
    return &speed;
}

static void measure_call(void)
{
    char memory[2 * sizeof(uint64_t)] = "";
    double least                      = 1;
    double start;
    int i;

    for (i = 0; i < TRIES; ++i) {
        start = now();
        if (!copy_by_kernel(memory, memory + sizeof(uint64_t),
                            sizeof(uint64_t))) {
            return;
        }
        least = least_of(least, now() - start);
    }
    call_time = least;
}

double shm_speed_call(void)
{
    pthread_once(&call_once, measure_call);
    return call_time;
}

double shm_speed_line(void)
{
    pthread_once(&line_once, measure_line);
    return line_time;
}

double shm_speed_rounded(double seconds)
{
    double rounded = ROUND_LEAST;

    while (rounded * ROUND_HALF < seconds) {
        rounded *= ROUND_STEP;
    }
    return rounded;
}

static void find_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    long size = sysconf(_SC_LEVEL2_CACHE_SIZE);

    private_cache = (size > 0) ? (size_t)size : 0;
#endif
}

size_t shm_private_cache(void)
{
    pthread_once(&cache_once, find_cache);
    return private_cache;
}
