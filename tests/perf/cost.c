/* SPDX-License-Identifier: BSD-3-Clause */
/* What objects cost: the time to create a worker or an endpoint, and the memory
 * that an endpoint holds once it has been used. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WORKER_ROUNDS = 25,
    EP_MAX        = 512
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

static const ucp_worker_params_t single_thread = {
    .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
    .thread_mode = UCS_THREAD_MODE_SINGLE
};

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Median time of creating one worker more, in us. */
double worker_create_take(struct bench *bench, uint64_t size, uint32_t window)
{
    double times[WORKER_ROUNDS];
    ucp_worker_h worker;
    double start;
    int i;

    (void)size;
    (void)window;
    for (i = 0; i < WORKER_ROUNDS; ++i) {
        start = bench_now();
        bench_check(ucp_worker_create(bench->context, &single_thread, &worker),
                    "ucp_worker_create");
        times[i] = (bench_now() - start) * 1e6;
        ucp_worker_destroy(worker);
    }
    qsort(times, WORKER_ROUNDS, sizeof(times[0]), by_value);
    return times[WORKER_ROUNDS / 2];
}

static ucp_ep_h create_ep(struct bench *bench, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = address
    };
    ucp_ep_h ep;

    bench_check(ucp_ep_create(bench->worker, &params, &ep), "ucp_ep_create");
    return ep;
}

/* The partner: `count` workers more, each of which gets one message. They live,
 * and progress, until the driver has closed its endpoints. */
void workers_answer(struct bench *bench, uint64_t count)
{
    ucs_status_ptr_t requests[BENCH_MAX_WORKERS];
    uint64_t words[BENCH_MAX_WORKERS];
    ucp_worker_h worker;
    char done = 0;
    uint64_t i;

    for (i = 0; i < count; ++i) {
        bench_check(ucp_worker_create(bench->context, &single_thread, &worker),
                    "ucp_worker_create");
        bench_put_address(bench, worker);
        bench->more_workers[bench->more_count++] = worker;
        requests[i] = ucp_tag_recv_nbx(worker, &words[i], sizeof(words[i]),
                                       BENCH_TAG_HI, ~(ucp_tag_t)0, &no_param);
    }
    for (i = 0; i < count; ++i) {
        bench_wait(bench, requests[i]);
    }
    bench_put(bench, &done, sizeof(done));
    if (bench_hear(bench).kind != BENCH_CLOSE_WORKERS) {
        bench_fail("the two processes disagree", "close expected");
    }
    while (bench->more_count > 0) {
        ucp_worker_destroy(bench->more_workers[--bench->more_count]);
    }
    bench_put(bench, &done, sizeof(done));
}

static void greet(struct bench *bench, ucp_ep_h ep, ucp_tag_t tag)
{
    uint64_t word = 1;

    bench_wait(bench, ucp_tag_send_nbx(ep, &word, sizeof(word), tag,
                                       &no_param));
}

/* Closes all at once: one at a time would measure the closing handshake. */
static void close_eps(struct bench *bench, ucp_ep_h *eps, uint64_t count)
{
    ucs_status_ptr_t requests[EP_MAX];
    uint64_t i;

    for (i = 0; i < count; ++i) {
        requests[i] = ucp_ep_close_nbx(eps[i], &no_param);
    }
    for (i = 0; i < count; ++i) {
        bench_wait(bench, requests[i]);
    }
}

static void flush(struct bench *bench)
{
    bench_wait(bench, ucp_worker_flush_nbx(bench->worker, &no_param));
}

/* Waits for the partner's byte while our side of the traffic goes on. */
static void wait_partner(struct bench *bench)
{
    char done;

    flush(bench);
    bench_get(bench, &done, sizeof(done));
}

/* One endpoint to each of `count` workers of the partner; us for one. */
double ep_distinct_take(struct bench *bench, uint64_t count, uint32_t window)
{
    void *addresses[BENCH_MAX_WORKERS];
    ucp_ep_h eps[BENCH_MAX_WORKERS];
    double start, time;
    uint64_t i;

    (void)window;
    bench_tell(bench, (struct bench_command){.kind  = BENCH_WORKERS,
                                             .count = count});
    for (i = 0; i < count; ++i) {
        addresses[i] = bench_get_address(bench);
    }
    start = bench_now();
    for (i = 0; i < count; ++i) {
        eps[i] = create_ep(bench, addresses[i]);
    }
    time = bench_now() - start;
    for (i = 0; i < count; ++i) {
        greet(bench, eps[i], BENCH_TAG_HI);
        free(addresses[i]);
    }
    wait_partner(bench);
    close_eps(bench, eps, count);
    bench_tell(bench, (struct bench_command){.kind = BENCH_CLOSE_WORKERS});
    wait_partner(bench);
    return time * 1e6 / count;
}

/* `count` endpoints to the partner's one worker; us for one. */
double ep_create_take(struct bench *bench, uint64_t count, uint32_t window)
{
    ucp_ep_h eps[EP_MAX];
    double start, time;
    uint64_t i;

    (void)window;
    start = bench_now();
    for (i = 0; i < count; ++i) {
        eps[i] = create_ep(bench, bench->peer_address);
    }
    time = bench_now() - start;
    flush(bench);
    close_eps(bench, eps, count);
    return time * 1e6 / count;
}

static uint64_t resident_bytes(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if ((file == NULL) || (fscanf(file, "%lu %lu", &total, &resident) != 2)) {
        bench_fail("/proc/self/statm", "cannot read it");
    }
    fclose(file);
    return (uint64_t)resident * sysconf(_SC_PAGESIZE);
}

/* Resident bytes for each of `count` endpoints to one worker, after a message
 * on each. */
double ep_memory_take(struct bench *bench, uint64_t count, uint32_t window)
{
    ucp_ep_h eps[EP_MAX];
    uint64_t before, after, i;

    (void)window;
    bench_tell(bench, (struct bench_command){.kind   = BENCH_STREAM,
                                             .size   = sizeof(uint64_t),
                                             .window = 1,
                                             .count  = count});
    before = resident_bytes();
    for (i = 0; i < count; ++i) {
        eps[i] = create_ep(bench, bench->peer_address);
        greet(bench, eps[i], BENCH_TAG_DATA);
    }
    bench_recv_ack(bench);
    after = resident_bytes();
    close_eps(bench, eps, count);
    return (after > before) ? (double)(after - before) / count : 0;
}
