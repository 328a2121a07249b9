/* SPDX-License-Identifier: BSD-3-Clause */
/* The floors of ucp_bench: limits of the hardware (lines.h), measured by the
 * driver and its partner. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

void floor_answer(struct bench *bench, const struct bench_command *command)
{
    lines_answer(&bench->shared->lines, command->count);
}

double floor_take(struct bench *bench)
{
    uint64_t count = bench->sweeps ? LINES_FEW : LINES_USUAL;

    lines_reset(&bench->shared->lines);
    bench_tell(bench,
               (struct bench_command){.kind = BENCH_FLOOR, .count = count});
    return lines_measure(&bench->shared->lines, count);
}

/* Returns the GB/s of memcpy() in the driver. */
double copy_take(struct bench *bench, uint64_t size, uint32_t window)
{
    void *copy = aligned_alloc(4096, size);
    double result;

    (void)window;
    if (copy == NULL) {
        bench_fail("no memory for a copy", "too large");
    }
    memset(copy, 0, size);
    result = copy_measure(copy, bench->buffer, size, bench->seconds / 2);
    free(copy);
    return result;
}
