/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_bench: figures of a UCP library, taken through the public API only, so
 * that the same source measures any implementation. Two processes, each on its
 * own core: the driver takes the times, the partner answers. */
#ifndef UCP_BENCH_H
#define UCP_BENCH_H

#include <ucp/api/ucp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

/* What the driver asks of the partner, through a socket pair. */
enum bench_kind {
    BENCH_QUIT,
    BENCH_FLOOR,
    BENCH_LATENCY,
    BENCH_STREAM,     /* receives posted ahead */
    BENCH_UNEXPECTED, /* messages found by probing */
    BENCH_WORKERS,    /* open `count` more workers and send their addresses */
    BENCH_CLOSE_WORKERS
};

struct bench_command {
    enum bench_kind kind;
    uint32_t window;
    uint64_t size;
    uint64_t count;
};

enum {
    BENCH_MAX_SIZE    = 4 * 1024 * 1024,
    BENCH_MAX_WORKERS = 64,
    BENCH_MAX_ADDRESS = 64 * 1024
};

struct bench_shared; /* the cache lines of the floor */

struct bench {
    bool driver;
    pid_t partner;
    int socket;
    struct bench_shared *shared;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_worker_h more_workers[BENCH_MAX_WORKERS]; /* of the partner */
    uint32_t more_count;
    void *peer_address;
    char *buffer;   /* of BENCH_MAX_SIZE bytes */
    double seconds; /* to spend on one figure */
};

/* Each kind of message has its tag, so that none is taken for another. */
enum {
    BENCH_TAG_DATA = 1,
    BENCH_TAG_ACK  = 2,
    BENCH_TAG_HI   = 3
};

/* A figure: value < 0 means that it could not be taken. */
struct figure {
    const char *name;
    const char *unit;
    bool less_is_better;
    double (*take)(struct bench *bench, uint64_t size, uint32_t window);
    uint64_t size;
    uint32_t window;
};

/* pair.c */
void bench_open(struct bench *bench);
void bench_close(struct bench *bench);
void bench_tell(struct bench *bench, struct bench_command command);
struct bench_command bench_hear(struct bench *bench);
void bench_put(struct bench *bench, const void *data, size_t length);
void bench_get(struct bench *bench, void *data, size_t length);
void *bench_get_address(struct bench *bench);
void bench_put_address(struct bench *bench, ucp_worker_h worker);
void bench_wait(struct bench *bench, ucs_status_ptr_t request);
void bench_check(ucs_status_t status, const char *what);
noreturn void bench_fail(const char *what, const char *why);
double bench_now(void);

/* floor.c: one way of a cache line between the two cores, in us */
struct bench_shared *bench_shared_create(void);
double floor_take(struct bench *bench);
void floor_answer(struct bench *bench, uint64_t rounds);

/* tag.c */
double latency_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_unexpected_take(struct bench *bench, uint64_t size,
                            uint32_t window);
double bandwidth_take(struct bench *bench, uint64_t size, uint32_t window);
void bench_recv_ack(struct bench *bench);
void latency_answer(struct bench *bench, const struct bench_command *command);
void stream_answer(struct bench *bench, const struct bench_command *command);

/* cost.c */
double worker_create_take(struct bench *bench, uint64_t size, uint32_t window);
double ep_create_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_distinct_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_memory_take(struct bench *bench, uint64_t count, uint32_t window);
void workers_answer(struct bench *bench, uint64_t count);

#endif
