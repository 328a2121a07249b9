/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -M: bandwidth of memory copies by one processor, by size: an upper
 * limit for protocols that copy.
 */
#include "info.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/time/time.h"

/* Time for each size: long enough to average out interrupts. */
#define MEASURE_SECONDS 5e-3

enum { SMALLEST = 4 << 10, LARGEST = 64 << 20 };

/* Returns the bandwidth in bytes per second. */
static double measure(char *to, const char *from, size_t size)
{
    double seconds;
    size_t count = 0;
    ucs_time_t start;

    memcpy(to, from, size); /* fill page tables and caches */
    start = ucs_get_time();
    do {
        memcpy(to, from, size);
        /* keeps the compiler from removing the copy */
        __asm__ volatile("" : : "r"(to) : "memory");
        ++count;
        seconds = ucs_time_to_sec(ucs_get_time() - start);
    } while (seconds < MEASURE_SECONDS);
    return (double)count * (double)size / seconds;
}

int info_copy_ask(info_t *info, json_t **answer_p)
{
    json_t *rows = json_array();
    char *from = NULL, *to = NULL;
    size_t largest, size;

    /* with little memory, fewer sizes are measured */
    for (largest = LARGEST; largest >= SMALLEST; largest /= 2) {
        from = malloc(largest);
        to   = malloc(largest);
        if ((from != NULL) && (to != NULL)) {
            break;
        }
        free(from);
        free(to);
        from = to = NULL;
    }
    if (from == NULL) {
        json_decref(rows);
        info_complain("out of memory");
        return INFO_BAD;
    }

    memset(from, 1, largest);
    for (size = SMALLEST; size <= largest; size *= 2) {
        json_array_append_new(rows,
                              json_pack("{s:I, s:f}", "bytes", (json_int_t)size,
                                        "bytes_per_second",
                                        measure(to, from, size)));
    }
    free(from);
    free(to);
    *answer_p = rows;
    return INFO_OK;
}

void info_copy_print(const info_t *info, const json_t *answer)
{
    json_t *row;
    size_t i;

    printf("# Memcpy bandwidth:\n");
    json_array_foreach(answer, i, row) {
        printf("#     %10" JSON_INTEGER_FORMAT " bytes: %.3f MB/s\n",
               info_int(row, "bytes"),
               info_real(row, "bytes_per_second") * 1e-6);
    }
}
