/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_bench: measures a UCP library by its public API only, so that the same
 * source measures any implementation. A figure is one measured value. Two
 * processes, each on its own core: the driver measures, the partner serves its
 * requests. Two more sleep until the all-to-all, which oversubscribes the
 * cores. */
#ifndef UCP_BENCH_H
#define UCP_BENCH_H

#include "lines.h"

#include <ucp/api/ucp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

/* Requests of the driver to the others, through socket pairs. */
enum bench_kind {
    BENCH_QUIT,
    BENCH_FLOOR,
    BENCH_OPEN, /* open a context with the features `size`; returns a status */
    BENCH_CLOSE,
    BENCH_LATENCY,
    BENCH_STREAM,     /* receives posted ahead */
    BENCH_UNEXPECTED, /* messages found by probing */
    BENCH_BOTH,       /* both processes send and receive */
    BENCH_AM_LATENCY,
    BENCH_AM_STREAM,
    BENCH_RMA,     /* offer `size` bytes; `window` is a bench_memory */
    BENCH_WORKERS, /* open `count` more workers and send their addresses */
    BENCH_CLOSE_WORKERS,
    BENCH_CROWD, /* `window`: yield the core when idle */
};

struct bench_command {
    enum bench_kind kind;
    uint32_t window;
    uint64_t size;
    uint64_t count;
};

/* Memory that the partner offers for put and get. */
enum bench_memory {
    BENCH_PLAIN,     /* malloc()ed, then mapped */
    BENCH_ALLOCATED, /* allocated by the library */
};

enum {
    BENCH_USUAL_SIZE  = 16 * 1024 * 1024, /* the largest, if none is given */
    BENCH_MAX_SIZE    = 64 * 1024 * 1024,
    BENCH_MAX_WORKERS = 64,
    BENCH_MAX_EPS     = 1000,      /* for one bench_close_eps() */
    BENCH_MAX_BLOB    = 64 * 1024, /* an address or a key */
    BENCH_CROWD_SIZE  = 4,         /* number of processes, with driver and
                                    * partner */
};

/* Memory shared by all processes, for measurements without the library. */
struct bench_shared {
    struct lines lines;
    alignas(128) _Atomic uint32_t rma_done;
    alignas(128) _Atomic uint32_t crowd_arrived;
    alignas(128) _Atomic uint64_t crowd_cycles; /* 0: end */
};

struct bench {
    uint32_t rank; /* 0 is the driver, 1 the partner */
    int socket;    /* to the partner; in other processes to the driver */
    int crowd_sockets[BENCH_CROWD_SIZE]; /* used by the driver, by rank */
    pid_t pids[BENCH_CROWD_SIZE];        /* used by the driver, by rank */
    struct bench_shared *shared;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_worker_h more_workers[BENCH_MAX_WORKERS]; /* used by the partner */
    uint32_t more_count;
    void *peer_address;
    size_t room; /* bytes of the next two */
    char *buffer;
    char *fetched;       /* destination of announced active messages, or NULL */
    uint64_t am_arrived; /* received active messages, ... */
    uint64_t am_taken;   /* ... and the number that was awaited */
    double seconds;      /* duration of one figure */
    bool eps_weighed;    /* the next two are valid: bytes for one endpoint */
    double ep_memory;
    double ep_memory_peer;
    double first_init; /* us of the process's first ucp_init() */
    bool sweeps;       /* many sizes of one kind of figure */
    bool peer_errors;  /* endpoints report lost peers */
};

/* Each kind of message has its own tag, so that they are not confused. */
enum {
    BENCH_TAG_DATA = 1,
    BENCH_TAG_ACK  = 2,
    BENCH_TAG_HI   = 3,
};

/* A figure: take() returns a value < 0 if it cannot be measured. Figures with
 * the same features are adjacent and share a context. */
struct figure {
    const char *name;
    const char *unit;
    uint64_t features; /* 0: needs no context */
    double (*take)(struct bench *bench, uint64_t size, uint32_t window);
    uint64_t size;
    uint32_t window;
};

extern const struct figure bench_figures[];
extern const unsigned bench_figure_count;

/* The figures of one run: all of the list, or one kind over many sizes. */
struct figure_list {
    const struct figure *figures;
    unsigned count;
};

/* sweep.c: false: an error was printed to stderr. The result is valid until
 * exit. */
bool sweep_make(const char *kind, const char *sizes, struct figure_list *list);

/* Result of one figure; a floor of 0 means that the figure was not selected. */
struct result {
    double value;
    double floor_before;
    double floor_after;
};

/* report.c */
void report_table(const struct figure_list *list, const struct result *results,
                  double foreign);
void report_json(const struct figure_list *list, const struct result *results,
                 double foreign);

/* pair.c */
ucs_status_t bench_open(struct bench *bench, uint64_t features);
void bench_close(struct bench *bench);
ucs_status_t bench_open_worker(struct bench *bench, uint64_t features);
void bench_close_worker(struct bench *bench);
ucp_ep_h bench_create_ep(struct bench *bench, const void *address);
void bench_close_eps(struct bench *bench, ucp_ep_h *eps, uint64_t count);
void bench_progress(struct bench *bench);
void bench_tell(struct bench *bench, struct bench_command command);
struct bench_command bench_hear(struct bench *bench);
void bench_put(struct bench *bench, const void *data, size_t length);
void bench_get(struct bench *bench, void *data, size_t length);
void bench_put_blob(struct bench *bench, const void *data, uint64_t length);
void *bench_get_blob(struct bench *bench, uint64_t *length_p);
void bench_put_address(struct bench *bench, ucp_worker_h worker);
void bench_wait(struct bench *bench, ucs_status_ptr_t request);
void bench_check(ucs_status_t status, const char *what);
noreturn void bench_fail(const char *what, const char *why);
double bench_now(void);
uint64_t bench_count_for(double seconds, double trial, uint64_t trial_count);
uint64_t bench_trial_count(uint64_t size, uint64_t usual);

/* floor.c: one-way latency of a cache line between the two cores, in us;
 * memcpy */
double floor_take(struct bench *bench);
void floor_answer(struct bench *bench, const struct bench_command *command);
double copy_take(struct bench *bench, uint64_t size, uint32_t window);

/* tag.c */
double latency_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_unexpected_take(struct bench *bench, uint64_t size,
                            uint32_t window);
double bandwidth_take(struct bench *bench, uint64_t size, uint32_t window);
void bench_send_ack(struct bench *bench);
void bench_recv_ack(struct bench *bench);
void latency_answer(struct bench *bench, const struct bench_command *command);
void stream_answer(struct bench *bench, const struct bench_command *command);

/* both.c: GB/s of both directions together */
double both_take(struct bench *bench, uint64_t size, uint32_t window);
void both_answer(struct bench *bench, const struct bench_command *command);

/* am.c */
ucs_status_t am_prepare(struct bench *bench);
double am_latency_take(struct bench *bench, uint64_t size, uint32_t window);
double am_rate_take(struct bench *bench, uint64_t size, uint32_t window);
void am_latency_answer(struct bench *bench,
                       const struct bench_command *command);
void am_stream_answer(struct bench *bench, const struct bench_command *command);

/* rma.c: us for a whole operation; window is a bench_memory */
double get_take(struct bench *bench, uint64_t size, uint32_t window);
double put_take(struct bench *bench, uint64_t size, uint32_t window);
void rma_answer(struct bench *bench, const struct bench_command *command);

/* cost.c */
double init_first_take(struct bench *bench, uint64_t size, uint32_t window);
double init_take(struct bench *bench, uint64_t size, uint32_t window);
double worker_create_take(struct bench *bench, uint64_t size, uint32_t window);
double worker_memory_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_create_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_first_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_distinct_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_memory_take(struct bench *bench, uint64_t count, uint32_t window);
void workers_answer(struct bench *bench, uint64_t count);

/* crowd.c: us for one exchange of all with all */
double crowd_take(struct bench *bench, uint64_t size, uint32_t window);
void crowd_answer(struct bench *bench, const struct bench_command *command);

#endif
