/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start, end and checks of the MPI programs; see client.h.
 */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int client_rank, client_size, client_long;

void client_fail(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    fprintf(stderr, "FAILED in rank %d, %s:%d: %s\n", client_rank, file, line,
            text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

int client_rounds(int few, int many)
{
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);

    if (client_size <= processors) {
        return client_long ? many : few;
    }
    few = few * processors / client_size;
    return (few > 0) ? few : 1;
}

void *client_alloc(size_t size)
{
    void *memory = malloc((size > 0) ? size : 1);

    if (memory == NULL) {
        FAIL("no memory for %zu bytes", size);
    }
    return memory;
}

static uint8_t byte_at(size_t i, unsigned seed)
{
    return (uint8_t)(i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + seed * 31 + 5);
}

void client_fill(void *buffer, size_t size, unsigned seed)
{
    uint8_t *bytes = buffer;
    size_t i;

    for (i = 0; i < size; ++i) {
        bytes[i] = byte_at(i, seed);
    }
}

void client_check(const void *buffer, size_t size, unsigned seed)
{
    const uint8_t *bytes = buffer;
    size_t i;

    for (i = 0; i < size; ++i) {
        if (bytes[i] != byte_at(i, seed)) {
            FAIL("byte %zu of %zu is %#x, expected %#x (seed %u)", i, size,
                 bytes[i], byte_at(i, seed), seed);
        }
    }
}

void client_check_untouched(const void *buffer, size_t size, uint8_t value)
{
    const uint8_t *bytes = buffer;
    size_t i;

    for (i = 0; i < size; ++i) {
        if (bytes[i] != value) {
            FAIL("byte %zu behind the message was written", i);
        }
    }
}

uint32_t client_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Checks that the libucp which /proc/self/maps shows is the one that
 * CLIENT_LIBRARY names. */
static void check_library(void)
{
    const char *wanted = getenv("CLIENT_LIBRARY");
    int core = 0, any = 0;
    char line[1024];
    FILE *maps;

    if (wanted == NULL) {
        return;
    }
    maps = fopen("/proc/self/maps", "r");
    while ((maps != NULL) && (fgets(line, sizeof(line), maps) != NULL)) {
        core |= (strstr(line, "/libucp-core.so") != NULL);
        any |= (strstr(line, "/libucp.so.0") != NULL);
    }
    if (maps != NULL) {
        fclose(maps);
    }
    if (!any || (core != (strcmp(wanted, "core") == 0))) {
        FAIL("wrong library: CLIENT_LIBRARY=%s, but libucp.so.0 is %s and"
             " libucp-core is %s",
             wanted, any ? "loaded" : "not loaded",
             core ? "loaded" : "not loaded");
    }
}

void client_start(int *argc, char ***argv, int threads)
{
    int granted, i;

    MPI_Init_thread(argc, argv, threads, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &client_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &client_size);
    if (granted < threads) {
        FAIL("this MPI grants threads at level %d, not %d", granted, threads);
    }
    for (i = 1; i < *argc; ++i) {
        if (strcmp((*argv)[i], "--long") == 0) {
            client_long = 1;
        }
    }
    check_library();
}

int client_end(const char *what)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (client_rank == 0) {
        printf("passed: %s, %d ranks\n", what, client_size);
    }
    return 0;
}
