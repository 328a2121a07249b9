/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of a running test, and what its parts implement. A layer (UCP or
 * UCT) opens and closes the objects that a test needs; a test runs the measured
 * operations. A side is one of the two processes of a test. A pass runs a
 * number of operations in all threads, to warm up or to measure. */
#ifndef PERFTEST_PERF_H
#define PERFTEST_PERF_H

#include "channel.h"
#include "meter.h"
#include "params.h"

#include <ucs/type/status.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define perf_likely(_x)   __builtin_expect(!!(_x), 1)
#define perf_unlikely(_x) __builtin_expect(!!(_x), 0)
#define PERF_INLINE       static inline __attribute__((always_inline))

enum {
    PERF_ERROR_MAX     = 400,
    PERF_SHOWN_WRONG   = 3,        /* number of messages with wrong contents
                                    * that are reported in detail, for each
                                    * thread */
    PERF_CHECK_MEMORY  = 64 << 20, /* maximum bytes of the buffers of a thread,
                                    * if contents are checked and each message
                                    * in flight has its own buffer */
    PERF_DEVICE_MEMORY = 1 << 20,  /* maximum bytes of device memory for
                                    * messages in flight that each have their
                                    * own buffer */
};

enum perf_role {
    ROLE_CLIENT   = 1,
    ROLE_SERVER   = 2,
    ROLE_LOOPBACK = ROLE_CLIENT | ROLE_SERVER, /* a process that is client and
                                                * server of itself */
};

enum perf_kind {
    TEST_PING_PONG, /* ping-pong: the time is half of a round trip */
    TEST_STREAM,    /* the client sends messages, and the server receives
                     * them */
    TEST_REQUEST,   /* client only (the server at most makes progress); measures
                     * the whole time of operations */
    TEST_POST,      /* client only; measures the rate at which operations are
                     * posted */
};

struct perf_run;
struct perf_thread;

struct perf_test {
    const char *name;
    const char *description;
    const struct perf_api *api;
    enum perf_kind kind;
    unsigned features; /* what the test requires: bits UCP_FEATURE_* for UCP,
                        * one value PERF_UCT_* for UCT */
    /*
     * Runs `count` operations, numbered from thread->first. Except on the
     * server, counts the operations by the meter. Returns UCS_OK, or an error,
     * which perf_error() may have described.
     */
    ucs_status_t (*run)(struct perf_thread *thread, uint64_t count);
};

/* A layer. The main thread calls all functions. On a server that takes no part
 * in the operations, each thread calls progress() during a pass. */
struct perf_api {
    const char *name;
    const char *layer;
    /* Checks the parameters. Returns true if they are valid; otherwise `error`
     * receives the reason. */
    bool (*check)(const struct perf_test *test, const struct params *params,
                  char error[PARAMS_ERROR_MAX]);
    /* Opens everything that needs no peer. close() undoes it, also after a
     * failure. */
    ucs_status_t (*open)(struct perf_run *run);
    /* Returns what the peer's thread with the same index needs to connect:
     * addresses and keys. The caller frees it. NULL if memory is exhausted. */
    char *(*describe)(struct perf_thread *thread, size_t *length_p);
    /* Connects to the peer's thread, whose describe() returned `data`. */
    ucs_status_t (*connect)(struct perf_thread *thread, const char *data,
                            size_t length);
    void (*progress)(struct perf_thread *thread);
    /* Runs on the server after a pass: checks the received data of tests whose
     * messages cannot be checked one by one. The operations to check are the
     * last `count` before the number thread->first. May be NULL. */
    void (*verify)(struct perf_thread *thread, uint64_t count);
    /* UCP: closes the endpoint. UCT: waits until its operations are complete;
     * close() closes it. The peer must make progress until this returns. */
    void (*disconnect)(struct perf_thread *thread);
    void (*close)(struct perf_run *run);
    /* For -I: writes the transports that carry the messages. */
    void (*inform)(struct perf_thread *thread, char *text, size_t length);
};

struct perf_thread {
    struct perf_run *run;
    void *side;     /* state of the layer for this thread */
    uint64_t first; /* number of the first operation of this pass; it counts the
                     * operations of earlier passes */
    uint64_t count; /* number of operations of this pass */
    unsigned index;
    ucs_status_t status;
    uint64_t wrong;   /* messages with wrong contents, in all passes */
    uint64_t seen;    /* number of completed operations when perf_check_peer()
                       * last found progress */
    uint64_t seen_at; /* time in ticks at which `seen` changed */
    pthread_t id;
    struct meter meter;
    struct histogram *histogram;
};

struct perf_run {
    const struct perf_test *test;
    struct params params;
    enum perf_role role;
    unsigned outstanding;    /* maximum number of concurrent operations, never
                              * 0 */
    struct channel *channel; /* NULL in loopback */
    struct perf_thread *threads;
    void *shared;                /* state of the layer for all threads */
    const struct output *output; /* NULL: this side prints no results */
    bool quiet;                  /* server of --self-fork: does not print
                                  * errors, because the client prints them */
    bool from_peer;              /* `error` contains an error that the peer
                                  * reported */
    /* Lets all threads begin a pass at the same time */
    pthread_barrier_t start;
    pthread_mutex_t lock; /* protects `error`, and is held while a thread prints
                           * a line */
    char error[PERF_ERROR_MAX];
};

/* run.c */

/* Describes an error. Only the first error of a run is kept. Returns
 * `status`. */
ucs_status_t perf_error(struct perf_run *run, ucs_status_t status,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Called from time to time in loops that wait. Fails if the peer has exited.
 * With -o, the server makes no progress: then the client also fails if no
 * operation completes for several seconds. */
ucs_status_t perf_check_peer(struct perf_thread *thread);

/* Records that the contents of message `number`, which has `size` bytes, are
 * wrong from byte `offset` on. `found` and `wanted` are the actual and the
 * expected value of that byte. */
void perf_wrong(struct perf_thread *thread, uint64_t number, size_t offset,
                size_t size, unsigned found, unsigned wanted);

/* Checks the contents of a contiguous message. */
void perf_check_bytes(struct perf_thread *thread, const void *memory,
                      size_t length, uint64_t number);

/* Returns the number of buffers of `extent` bytes, which messages use in turn:
 * one, unless contents are checked. */
unsigned perf_slots(const struct perf_run *run, size_t extent);

PERF_INLINE bool perf_checks(const struct perf_thread *thread)
{
    return perf_unlikely(thread->run->params.flags & PARAMS_CHECK);
}

/* Open and close the layer and the memory of all threads. run_close() may be
 * called after run_open() has failed. */
ucs_status_t run_open(struct perf_run *run);
void run_close(struct perf_run *run);
/* Returns what the peer's run_connect() needs, to be freed; NULL if memory is
 * exhausted. */
char *run_describe(struct perf_run *run, size_t *length_p);
ucs_status_t run_connect(struct perf_run *run, const char *data, size_t length);
void run_disconnect(struct perf_run *run);
void run_progress(void *run);

/* Runs `count` operations in each thread. If `measured`, prints a line about
 * every second. run_wrong() returns the number of messages with wrong contents
 * in all passes. */
ucs_status_t run_pass(struct perf_run *run, uint64_t count, bool measured);
uint64_t run_wrong(const struct perf_run *run);

/* tests.c */
extern const struct perf_test perf_tests[];
extern const unsigned perf_test_count;

/* Returns the test that the parameters name. If there is no such test, or it
 * does not support the parameters, returns NULL and writes the reason to
 * `error`. */
const struct perf_test *tests_check(const struct params *params,
                                    char error[PARAMS_ERROR_MAX]);
/* Returns the number of operations that each thread has in flight. */
unsigned tests_outstanding(const struct perf_test *test,
                           const struct params *params);
/* Returns whether only the client runs the operations. */
bool tests_one_sided(const struct perf_test *test);
/* Returns the number of messages in an iteration: 2 for the round trip of a
 * ping-pong. */
unsigned tests_messages(const struct perf_test *test,
                        const struct params *params);

/* ucp_side.c, uct_side.c */
extern const struct perf_api perf_ucp;
extern const struct perf_api perf_uct;

#endif
