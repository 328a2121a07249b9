/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor under every figure: how long a cache line takes from one core to
 * the other, without any library. It also tells whether the cores stayed where
 * they were between two measurements. */
#include "bench.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum {
    FLOOR_BATCHES = 5,
    FLOOR_ROUNDS  = 20000
};

struct bench_shared {
    alignas(128) _Atomic uint64_t to_partner;
    alignas(128) _Atomic uint64_t to_driver;
};

struct bench_shared *bench_shared_create(void)
{
    void *page = mmap(NULL, sizeof(struct bench_shared),
                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);

    return (page == MAP_FAILED) ? NULL : page;
}

void floor_answer(struct bench *bench, uint64_t rounds)
{
    struct bench_shared *shared = bench->shared;
    uint64_t i;

    for (i = 1; i <= rounds; ++i) {
        while (atomic_load_explicit(&shared->to_partner,
                                    memory_order_acquire) != i) {
        }
        atomic_store_explicit(&shared->to_driver, i, memory_order_release);
    }
}

static void bounce(struct bench_shared *shared, uint64_t from, uint64_t to)
{
    uint64_t i;

    for (i = from; i <= to; ++i) {
        atomic_store_explicit(&shared->to_partner, i, memory_order_release);
        while (atomic_load_explicit(&shared->to_driver,
                                    memory_order_acquire) != i) {
        }
    }
}

/* The best of a few batches: an interrupt must not pass for a far core. */
double floor_take(struct bench *bench)
{
    uint64_t rounds = (uint64_t)FLOOR_BATCHES * FLOOR_ROUNDS;
    double best     = 0, start, time;
    int batch;

    atomic_store(&bench->shared->to_partner, 0);
    atomic_store(&bench->shared->to_driver, 0);
    bench_tell(bench, (struct bench_command){.kind  = BENCH_FLOOR,
                                             .count = rounds});
    for (batch = 0; batch < FLOOR_BATCHES; ++batch) {
        start = bench_now();
        bounce(bench->shared, ((uint64_t)batch * FLOOR_ROUNDS) + 1,
               ((uint64_t)batch + 1) * FLOOR_ROUNDS);
        time = (bench_now() - start) * 1e6 / FLOOR_ROUNDS / 2;
        best = ((batch == 0) || (time < best)) ? time : best;
    }
    return best;
}
