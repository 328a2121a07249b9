/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of objects: the time to create a context, a worker or an endpoint, and
 * the memory that a worker and an endpoint use after their first message. */
#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    INIT_ROUNDS   = 7,  /* Contexts that are created for one figure */
    WORKER_ROUNDS = 25, /* Workers that are created for one figure */
    EP_WINDOW     = 64, /* Receives that the partner posts ahead */
};

static const ucp_request_param_t no_param = {.op_attr_mask = 0};

static const ucp_worker_params_t single_thread = {
    .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
    .thread_mode = UCS_THREAD_MODE_SINGLE,
};

/* Order of numbers for qsort(): the smallest first. */
static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Returns the number of bytes of a process that are in physical memory. */
static double resident_bytes_of(pid_t pid)
{
    unsigned long kib = 0;
    char line[256];
    FILE *file;

    /* /proc/PID/statm is cheaper to read, but its numbers are wrong by up to
     * some pages for each core */
    snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", (int)pid);
    file = fopen(line, "r");
    while ((file != NULL) && (kib == 0) &&
           (fgets(line, sizeof(line), file) != NULL)) {
        (void)sscanf(line, "Rss: %lu kB", &kib);
    }
    if (kib == 0) {
        bench_fail("/proc/PID/smaps_rollup", "cannot read it");
    }
    fclose(file);
    return kib * 1024.0;
}

/* Returns the number of bytes of this process that are in physical memory.
 * First returns free memory to the system: otherwise a later allocation could
 * reuse memory that an earlier figure has freed, and would seem to cost
 * nothing. */
static double resident_bytes(void)
{
    malloc_trim(0);
    return resident_bytes_of(getpid());
}

/* Returns the time of the first ucp_init() of the driver in us. It includes the
 * loading of libraries and plugins. */
double init_first_take(struct bench *bench, uint64_t size, uint32_t window)
{
    (void)size;
    (void)window;
    return bench->first_init;
}

/* Returns the median time of a later ucp_init() in us. */
double init_take(struct bench *bench, uint64_t size, uint32_t window)
{
    const ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES,
        .features   = UCP_FEATURE_TAG,
    };
    double times[INIT_ROUNDS];
    ucp_context_h context;
    double start;
    int i;

    (void)bench;
    (void)size;
    (void)window;
    for (i = 0; i < INIT_ROUNDS; ++i) {
        start = bench_now();
        bench_check(ucp_init(&params, NULL, &context), "ucp_init");
        times[i] = (bench_now() - start) * 1e6;
        ucp_cleanup(context);
    }
    qsort(times, INIT_ROUNDS, sizeof(times[0]), by_value);
    return times[INIT_ROUNDS / 2];
}

/* Returns the median time in us to create one more worker. */
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

/* The partner's side of visit_workers(). Creates `count` more workers. Each of
 * them receives one message. Then sends the driver the number of bytes that all
 * of them use. Closes the workers after the driver has closed its endpoints to
 * them; until then bench_hear() progresses the workers. */
void workers_answer(struct bench *bench, uint64_t count)
{
    double memory = resident_bytes();
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
    memory = resident_bytes() - memory;
    bench_put(bench, &memory, sizeof(memory));
    if (bench_hear(bench).kind != BENCH_CLOSE_WORKERS) {
        bench_fail("the two processes disagree", "close expected");
    }
    while (bench->more_count > 0) {
        ucp_worker_destroy(bench->more_workers[--bench->more_count]);
    }
    bench_put(bench, &done, sizeof(done));
}

/* Sends the first message of an endpoint, and waits for the send. */
static void greet(struct bench *bench, ucp_ep_h ep, ucp_tag_t tag)
{
    uint64_t word = 1;

    bench_wait(bench,
               ucp_tag_send_nbx(ep, &word, sizeof(word), tag, &no_param));
}

static void flush(struct bench *bench)
{
    bench_wait(bench, ucp_worker_flush_nbx(bench->worker, &no_param));
}

struct distinct_cost {
    double create; /* Time in us to create one endpoint */
    double memory; /* Bytes that one worker of the partner uses after a
                    * message */
};
/* Lets the partner create `count` workers, and creates one endpoint to each of
 * them. Returns the average cost. */

static struct distinct_cost visit_workers(struct bench *bench, uint64_t count)
{
    struct distinct_cost cost = {0};
    void *addresses[BENCH_MAX_WORKERS];
    ucp_ep_h eps[BENCH_MAX_WORKERS];
    uint64_t length, i;
    char done;

    bench_tell(bench,
               (struct bench_command){.kind = BENCH_WORKERS, .count = count});
    for (i = 0; i < count; ++i) {
        addresses[i] = bench_get_blob(bench, &length);
    }
    cost.create = bench_now();
    for (i = 0; i < count; ++i) {
        eps[i] = bench_create_ep(bench, addresses[i]);
    }
    cost.create = (bench_now() - cost.create) * 1e6 / count;
    for (i = 0; i < count; ++i) {
        greet(bench, eps[i], BENCH_TAG_HI);
        free(addresses[i]);
    }
    flush(bench);
    bench_get(bench, &cost.memory, sizeof(cost.memory));
    cost.memory /= count;
    bench_close_eps(bench, eps, count);
    bench_tell(bench, (struct bench_command){.kind = BENCH_CLOSE_WORKERS});
    flush(bench);
    bench_get(bench, &done, sizeof(done));
    return cost;
}

double ep_distinct_take(struct bench *bench, uint64_t count, uint32_t window)
{
    (void)window;
    return visit_workers(bench, count).create;
}

/* Returns the KiB that a worker of the partner uses after one message. */
double worker_memory_take(struct bench *bench, uint64_t count, uint32_t window)
{
    (void)window;
    return visit_workers(bench, count).memory / 1024;
}

/* Requests the partner to receive `count` messages of 8 bytes and to confirm
 * them. */
static void expect_messages(struct bench *bench, uint64_t count)
{
    bench_tell(bench, (struct bench_command){.kind   = BENCH_STREAM,
                                             .size   = sizeof(uint64_t),
                                             .window = EP_WINDOW,
                                             .count  = count});
}

/* Creates `count` endpoints to the same worker of the partner. Returns the time
 * for one in us. */
double ep_create_take(struct bench *bench, uint64_t count, uint32_t window)
{
    ucp_ep_h eps[BENCH_MAX_EPS];
    double start, time;
    uint64_t i;

    (void)window;
    start = bench_now();
    for (i = 0; i < count; ++i) {
        eps[i] = bench_create_ep(bench, bench->peer_address);
    }
    time = bench_now() - start;
    flush(bench);
    bench_close_eps(bench, eps, count);
    return time * 1e6 / count;
}

/* Creates `count` endpoints to the same worker of the partner, then starts the
 * first message of each, and then waits until the partner has confirmed all
 * messages. Returns the time for one endpoint in us. It includes work that a
 * library does not in ucp_ep_create() but with the first message. */
double ep_first_take(struct bench *bench, uint64_t count, uint32_t window)
{
    ucs_status_ptr_t requests[BENCH_MAX_EPS];
    ucp_ep_h eps[BENCH_MAX_EPS];
    uint64_t word = 1;
    double start, time;
    uint64_t i;

    (void)window;
    expect_messages(bench, count);
    start = bench_now();
    for (i = 0; i < count; ++i) {
        eps[i] = bench_create_ep(bench, bench->peer_address);
    }
    for (i = 0; i < count; ++i) {
        requests[i] = ucp_tag_send_nbx(eps[i], &word, sizeof(word),
                                       BENCH_TAG_DATA, &no_param);
    }
    for (i = 0; i < count; ++i) {
        bench_wait(bench, requests[i]);
    }
    bench_recv_ack(bench);
    time = bench_now() - start;
    bench_close_eps(bench, eps, count);
    return time * 1e6 / count;
}

/* Measures the memory that endpoints to the same worker use in the driver and
 * in the partner, after each has sent a message. Both values are measured with
 * the same endpoints: a library may reuse the memory of closed endpoints, so
 * that a second measurement would see no new memory. */
static void weigh_eps(struct bench *bench, uint64_t count)
{
    ucp_ep_h eps[BENCH_MAX_EPS];
    double own, peer;
    uint64_t i;

    expect_messages(bench, count);
    peer = resident_bytes_of(bench->pids[1]);
    own  = resident_bytes();
    for (i = 0; i < count; ++i) {
        eps[i] = bench_create_ep(bench, bench->peer_address);
        greet(bench, eps[i], BENCH_TAG_DATA);
    }
    bench_recv_ack(bench);
    own  = resident_bytes() - own;
    peer = resident_bytes_of(bench->pids[1]) - peer;
    bench_close_eps(bench, eps, count);
    bench->ep_memory      = (own > 0) ? own / count : 0;
    bench->ep_memory_peer = (peer > 0) ? peer / count : 0;
    bench->eps_weighed    = true;
}

/* Returns the bytes that one of `count` endpoints uses. window: 0: in the
 * driver; 1: in the partner. */
double ep_memory_take(struct bench *bench, uint64_t count, uint32_t window)
{
    if (!bench->eps_weighed) {
        weigh_eps(bench, count);
    }
    return (window == 0) ? bench->ep_memory : bench->ep_memory_peer;
}
