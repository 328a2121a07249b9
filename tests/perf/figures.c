/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of figures. The script `compare` selects the target of each figure
 * by its name. struct figure in bench.h describes the columns. */
#include "bench.h"

enum {
    KIB = 1024,
    MIB = 1024 * 1024,
    TAG = UCP_FEATURE_TAG,
    AM  = UCP_FEATURE_AM,
    RMA = UCP_FEATURE_RMA,
};

/* The figures of memory come first. After other figures, the library could
 * reuse memory that those have freed, and the cost would not be measured. */
const struct figure bench_figures[] = {
    {"worker_memory", "KiB", TAG, worker_memory_take, 16, 0},
    {"ep_memory", "B", TAG, ep_memory_take, 1000, 0},
    {"ep_memory_peer", "B", TAG, ep_memory_take, 1000, 1},
    {"lat_8", "us", TAG, latency_take, 8, 0},
    {"lat_64", "us", TAG, latency_take, 64, 0},
    {"lat_256", "us", TAG, latency_take, 256, 0},
    {"lat_1k", "us", TAG, latency_take, 1 * KIB, 0},
    {"lat_4k", "us", TAG, latency_take, 4 * KIB, 0},
    {"lat_64k", "us", TAG, latency_take, 64 * KIB, 0},
    {"lat_1m", "us", TAG, latency_take, 1 * MIB, 0},
    {"rate_8", "M/s", TAG, rate_take, 8, 64},
    {"rate_8_unexpected", "M/s", TAG, rate_unexpected_take, 8, 64},
    {"bw_64k", "GB/s", TAG, bandwidth_take, 64 * KIB, 16},
    {"bw_64k_w64", "GB/s", TAG, bandwidth_take, 64 * KIB, 64},
    {"bw_1m", "GB/s", TAG, bandwidth_take, 1 * MIB, 4},
    {"bw_1m_w16", "GB/s", TAG, bandwidth_take, 1 * MIB, 16},
    {"bw_16m", "GB/s", TAG, bandwidth_take, 16 * MIB, 4},
    {"both_64k", "GB/s", TAG, both_take, 64 * KIB, 16},
    {"both_1m", "GB/s", TAG, both_take, 1 * MIB, 16},
    {"init_first", "us", TAG, init_first_take, 0, 0},
    {"init", "us", TAG, init_take, 0, 0},
    {"worker_create", "us", TAG, worker_create_take, 0, 0},
    {"ep_create", "us", TAG, ep_create_take, 1000, 0},
    {"ep_first", "us", TAG, ep_first_take, 1000, 0},
    {"ep_create_distinct", "us", TAG, ep_distinct_take, 48, 0},
    {"am_lat_8", "us", AM, am_latency_take, 8, 0},
    {"am_rate_8", "M/s", AM, am_rate_take, 8, 64},
    {"get_8", "us", RMA, get_take, 8, BENCH_PLAIN},
    {"put_8", "us", RMA, put_take, 8, BENCH_PLAIN},
    {"get_1m", "us", RMA, get_take, 1 * MIB, BENCH_PLAIN},
    {"put_1m", "us", RMA, put_take, 1 * MIB, BENCH_PLAIN},
    {"get_8_alloc", "us", RMA, get_take, 8, BENCH_ALLOCATED},
    {"put_8_alloc", "us", RMA, put_take, 8, BENCH_ALLOCATED},
    {"get_1m_alloc", "us", RMA, get_take, 1 * MIB, BENCH_ALLOCATED},
    {"put_1m_alloc", "us", RMA, put_take, 1 * MIB, BENCH_ALLOCATED},
    {"alltoall", "us", 0, crowd_take, 0, true},
    {"alltoall_spin", "us", 0, crowd_take, 0, false},
    {"memcpy_64k", "GB/s", 0, copy_take, 64 * KIB, 0},
    {"memcpy_1m", "GB/s", 0, copy_take, 1 * MIB, 0},
    {"memcpy_16m", "GB/s", 0, copy_take, 16 * MIB, 0},
};

const unsigned bench_figure_count = sizeof(bench_figures) /
                                    sizeof(bench_figures[0]);
