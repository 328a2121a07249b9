/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_bench: measures a UCP library. It uses only the public API, so that the
 * same source measures any implementation. A figure is one measured value, for
 * example the latency of messages of 8 bytes.
 *
 * There are four processes on two cores. The driver (rank 0) has one core and
 * measures; the partner (rank 1) has the other core and serves the driver's
 * requests. The other two (ranks 2 and 3) sleep until the figure of the
 * all-to-all, in which all four processes exchange messages. */
#ifndef UCP_BENCH_H
#define UCP_BENCH_H

#include "lines.h"

#include <ucp/api/ucp.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <sys/types.h>

/* Requests of the driver to the other processes, over socket pairs. In the
 * comments, `size`, `count` and `window` are members of struct bench_command. A
 * process that receives one of the requests for messages does the other half of
 * the measurement. */
enum bench_kind {
    BENCH_QUIT,       /* Exit */
    BENCH_FLOOR,      /* Call lines_answer() (lines.h) with `count` */
    BENCH_OPEN,       /* Open a context with the features `size`; both processes
                       * send the resulting status */
    BENCH_CLOSE,      /* Close the context */
    BENCH_LATENCY,    /* Return `count` tagged messages of `size` bytes */
    BENCH_STREAM,     /* Receive `count` tagged messages; up to `window`
                       * receives are posted ahead */
    BENCH_UNEXPECTED, /* Receive `count` tagged messages that a probe finds */
    BENCH_BOTH,       /* Send and receive `count` tagged messages at once */
    BENCH_AM_LATENCY, /* Return `count` active messages of `size` bytes */
    BENCH_AM_STREAM,  /* Receive `count` active messages */
    BENCH_RMA,        /* Offer `size` bytes of memory for put and get; `window`
                       * is a bench_memory */
    BENCH_WORKERS,    /* Open `count` more workers and send their addresses */
    BENCH_CLOSE_WORKERS, /* Close these workers */
    BENCH_CROWD,         /* Take part in the all-to-all; `window`: 1: yield the
                          * core when idle, 0: do not */
};

struct bench_command {
    enum bench_kind kind;
    /* Messages in flight, bytes of a message, and number of messages, unless
     * the comment at the kind has another meaning */
    uint32_t window;
    uint64_t size;
    uint64_t count;
};

/* Memory that the partner offers for put and get. */
enum bench_memory {
    BENCH_PLAIN,     /* From malloc(); then mapped by ucp_mem_map() */
    BENCH_ALLOCATED, /* Allocated by ucp_mem_map() */
};

enum {
    BENCH_USUAL_SIZE  = 16 * 1024 * 1024, /* Largest size in bytes, unless the
                                           * command line selects sizes */
    BENCH_MAX_SIZE    = 64 * 1024 * 1024, /* Largest size of the command line */
    BENCH_MAX_WORKERS = 64,               /* Additional workers of the
                                           * partner */
    BENCH_MAX_EPS     = 1000,      /* Endpoints for one bench_close_eps() */
    BENCH_MAX_BLOB    = 64 * 1024, /* Bytes of an address or a key */
    BENCH_CROWD_SIZE  = 4,         /* Processes, with driver and partner */
};

/* Memory that all processes share, for communication without the library. */
struct bench_shared {
    struct lines lines;
    /* Set to 1 by the driver when it has ended its puts or gets */
    alignas(128) _Atomic uint32_t rma_done;
    /* How often processes have entered a barrier of the all-to-all */
    alignas(128) _Atomic uint32_t crowd_arrived;
    /* Cycles of the next run of the all-to-all, set by the driver; 0: end */
    alignas(128) _Atomic uint64_t crowd_cycles;
};

/* State of a process. */
struct bench {
    uint32_t rank; /* 0 is the driver, 1 the partner */
    int socket;    /* Driver: to the partner, or in the all-to-all to a process
                    * that talk_to() selects; others: to the driver */
    int crowd_sockets[BENCH_CROWD_SIZE]; /* Driver only: to the process with
                                          * this rank, from 1 */
    pid_t pids[BENCH_CROWD_SIZE];        /* Driver only: by rank, from 1 */
    struct bench_shared *shared;
    ucp_context_h context; /* NULL: not open */
    ucp_worker_h worker;   /* NULL: not open */
    ucp_ep_h ep;           /* Between driver and partner */
    ucp_worker_h more_workers[BENCH_MAX_WORKERS]; /* Partner only; BENCH_WORKERS
                                                   * opens them */
    uint32_t more_count; /* Open workers in more_workers */
    void *peer_address;  /* Worker address of the other end of `ep` */
    size_t room;         /* Bytes of `buffer` and of `fetched` */
    char *buffer;        /* Sent and received messages */
    char *fetched;       /* Received active messages that are a rendezvous; NULL
                          * before the first figure of active messages */
    uint64_t am_arrived; /* Active messages that have arrived */
    uint64_t am_taken;   /* Number of these messages for which figures have
                          * waited */
    double seconds;      /* Duration of one figure; --time */
    /* ep_memory and ep_memory_peer are valid: bytes of one endpoint in the
     * driver and in the partner */
    bool eps_weighed;
    double ep_memory;
    double ep_memory_peer;
    double first_init; /* Microseconds of the process's first ucp_init(); 0: not
                        * yet called */
    bool sweeps;       /* --sweep: many sizes of one kind of figure */
    bool peer_errors;  /* --err-mode peer: endpoints report a lost peer */
};

/* Tags of messages: the data of a figure, the confirmation that all data has
 * arrived, and the first message of a new endpoint. */
enum {
    BENCH_TAG_DATA = 1,
    BENCH_TAG_ACK  = 2,
    BENCH_TAG_HI   = 3,
};

/* A figure. Figures with the same features are adjacent in a list and share a
 * context. */
struct figure {
    const char *name;
    const char *unit;
    uint64_t features; /* Of UCP (UCP_FEATURE_*); 0: needs no context */
    /* Measures; returns the value in `unit`, or a value < 0 if the figure
     * cannot be measured. The driver calls it with the next two members. */
    double (*take)(struct bench *bench, uint64_t size, uint32_t window);
    uint64_t size;   /* Bytes of a message, or number of objects (cost.c) */
    uint32_t window; /* Messages in flight, or a variant of the figure */
};

extern const struct figure bench_figures[];
extern const unsigned bench_figure_count;

/* The figures of one run of the program: bench_figures, or with --sweep one
 * kind of figure for many sizes. */
struct figure_list {
    const struct figure *figures;
    unsigned count;
};

/* sweep.c: makes the list of --sweep. `kind`: name of the kind of figure.
 * `sizes`: numbers of bytes with commas between, or NULL: every power of two up
 * to BENCH_USUAL_SIZE. Returns false after it has printed an error to stderr.
 * The list is valid until the program exits. */
bool sweep_make(const char *kind, const char *sizes, struct figure_list *list);

/* Result of one figure. */
struct result {
    double value; /* In the figure's unit; < 0: the figure was not measured */
    /* Latency of a cache line before and after the measurement, in us; see
     * lines.h; 0: the figure was not selected */
    double floor_before;
    double floor_after;
};

/* report.c: print the results. `foreign`: share of the two cores' time that
 * other processes of the machine have used, between 0 and 1. */
void report_table(const struct figure_list *list, const struct result *results,
                  double foreign);
void report_json(const struct figure_list *list, const struct result *results,
                 double foreign);

/* pair.c: opens UCP, exchanges data over the socket, and waits */
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

/* In the rest of this file, NAME_take() measures a figure in the driver, and
 * NAME_answer() is what another process does meanwhile.
 *
 * floor.c: one-way latency of a cache line between the two cores, in us; speed
 * of memcpy(), in GB/s */
double floor_take(struct bench *bench);
void floor_answer(struct bench *bench, const struct bench_command *command);
double copy_take(struct bench *bench, uint64_t size, uint32_t window);

/* tag.c: tagged messages: one-way latency in us, millions of messages per
 * second, and GB/s */
double latency_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_take(struct bench *bench, uint64_t size, uint32_t window);
double rate_unexpected_take(struct bench *bench, uint64_t size,
                            uint32_t window);
double bandwidth_take(struct bench *bench, uint64_t size, uint32_t window);
void bench_send_ack(struct bench *bench);
void bench_recv_ack(struct bench *bench);
void latency_answer(struct bench *bench, const struct bench_command *command);
void stream_answer(struct bench *bench, const struct bench_command *command);

/* both.c: tagged messages in both directions at once: GB/s of both directions
 * together */
double both_take(struct bench *bench, uint64_t size, uint32_t window);
void both_answer(struct bench *bench, const struct bench_command *command);

/* am.c: active messages: one-way latency in us, millions of messages per
 * second. am_prepare() sets the handler and prepares the buffers. */
ucs_status_t am_prepare(struct bench *bench);
double am_latency_take(struct bench *bench, uint64_t size, uint32_t window);
double am_rate_take(struct bench *bench, uint64_t size, uint32_t window);
void am_latency_answer(struct bench *bench,
                       const struct bench_command *command);
void am_stream_answer(struct bench *bench, const struct bench_command *command);

/* pages.c: makes pages that were just written for the first time like others.
 * The kernel keeps them in a list of the core, for a few dozen pages, until new
 * pages have filled it. Until then, process_vm_readv() is slower with them: by
 * 15 % with 64 KiB. A program uses its buffers for longer than that. */
void bench_age_pages(void);

/* rma.c: put and get: us for one operation; `window` is a bench_memory */
double get_take(struct bench *bench, uint64_t size, uint32_t window);
double put_take(struct bench *bench, uint64_t size, uint32_t window);
void rma_answer(struct bench *bench, const struct bench_command *command);

/* cost.c: time to create contexts, workers and endpoints in us, and their
 * memory; `count` is the number of objects */
double init_first_take(struct bench *bench, uint64_t size, uint32_t window);
double init_take(struct bench *bench, uint64_t size, uint32_t window);
double worker_create_take(struct bench *bench, uint64_t size, uint32_t window);
double worker_memory_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_create_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_first_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_distinct_take(struct bench *bench, uint64_t count, uint32_t window);
double ep_memory_take(struct bench *bench, uint64_t count, uint32_t window);
void workers_answer(struct bench *bench, uint64_t count);

/* crowd.c: the all-to-all: us for one cycle of messages between all processes;
 * `window`: 1: processes yield the core when idle, 0: they do not */
double crowd_take(struct bench *bench, uint64_t size, uint32_t window);
void crowd_answer(struct bench *bench, const struct bench_command *command);

#endif
