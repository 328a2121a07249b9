/* SPDX-License-Identifier: BSD-3-Clause */
/* A running test: its parts, and the interface of the layers (UCP, UCT) and of
 * the tests. */
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
                                    * that are reported in detail */
    PERF_CHECK_MEMORY  = 64 << 20, /* maximum memory for messages that are
                                   * checked */
    PERF_DEVICE_MEMORY = 1 << 20,  /* maximum memory of a device for messages
                                   * that have their own buffers */
};

enum perf_role {
    ROLE_CLIENT   = 1,
    ROLE_SERVER   = 2,
    ROLE_LOOPBACK = ROLE_CLIENT | ROLE_SERVER, /* a process with itself */
};

enum perf_kind {
    TEST_PING_PONG, /* ping-pong: the time is half of a round trip */
    TEST_STREAM,    /* the client sends, the server receives */
    TEST_REQUEST,   /* client only; measures the whole time of operations */
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
    unsigned features; /* features of the layer that the test requires */
    /*
     * Runs `count` operations, numbered from thread->first. Except on the
     * server, counts the operations by the meter. Returns UCS_OK, or an error,
     * which perf_error() may have described.
     */
    ucs_status_t (*run)(struct perf_thread *thread, uint64_t count);
};

/* A layer. One thread calls everything except a test's run(). */
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
    /* Returns data for the peer's thread, to be freed; NULL if memory is
     * exhausted. */
    char *(*describe)(struct perf_thread *thread, size_t *length_p);
    ucs_status_t (*connect)(struct perf_thread *thread, const char *data,
                            size_t length);
    void (*progress)(struct perf_thread *thread);
    /* Runs on the server: checks the received data of tests in which single
     * messages cannot be checked. The last `count` operations are those before
     * number thread->first. May be NULL. */
    void (*verify)(struct perf_thread *thread, uint64_t count);
    /* Closes endpoints. The peer must make progress until this returns. */
    void (*disconnect)(struct perf_thread *thread);
    void (*close)(struct perf_run *run);
    /* For -I: describes how messages are sent. */
    void (*inform)(struct perf_thread *thread, char *text, size_t length);
};

struct perf_thread {
    struct perf_run *run;
    void *side;     /* private to the layer */
    uint64_t first; /* number of the pass's first message */
    uint64_t count; /* operations of this pass */
    unsigned index;
    ucs_status_t status;
    uint64_t wrong;   /* messages with wrong contents */
    uint64_t seen;    /* number of completed operations at the last check for
                       * progress */
    uint64_t seen_at; /* time at which `seen` changed */
    pthread_t id;
    struct meter meter;
    struct histogram *histogram;
};

struct perf_run {
    const struct perf_test *test;
    struct params params;
    enum perf_role role;
    unsigned outstanding;    /* concurrent operations, never 0 */
    struct channel *channel; /* NULL in loopback */
    struct perf_thread *threads;
    void *shared;                /* private to the layer, for all threads */
    const struct output *output; /* NULL: this side prints no results */
    bool quiet;                  /* the peer process prints its own errors */
    bool from_peer;              /* the error text is from the peer */
    pthread_barrier_t start;
    pthread_mutex_t lock; /* protects the members below */
    char error[PERF_ERROR_MAX];
};

/* run.c */

/* Describes an error. Only the first error of a run is kept. Returns
 * `status`. */
ucs_status_t perf_error(struct perf_run *run, ucs_status_t status,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Called in loops that wait. Checks from time to time whether the peer has
 * exited. With -o, the peer makes no progress: then also fails if no operation
 * completes for a long time. */
ucs_status_t perf_check_peer(struct perf_thread *thread);

/* Records that the contents of message `number` are wrong from byte `offset`
 * on. `found` and `wanted` are the actual and the expected value of that
 * byte. */
void perf_wrong(struct perf_thread *thread, uint64_t number, size_t offset,
                size_t size, unsigned found, unsigned wanted);

/* Checks the contents of a contiguous message. */
void perf_check_bytes(struct perf_thread *thread, const void *memory,
                      size_t length, uint64_t number);

/* Returns the number of messages that have a buffer of their own: one, unless
 * contents are checked. */
unsigned perf_slots(const struct perf_run *run, size_t extent);

PERF_INLINE bool perf_checks(const struct perf_thread *thread)
{
    return perf_unlikely(thread->run->params.flags & PARAMS_CHECK);
}

ucs_status_t run_open(struct perf_run *run);
void run_close(struct perf_run *run);
char *run_describe(struct perf_run *run, size_t *length_p);
ucs_status_t run_connect(struct perf_run *run, const char *data, size_t length);
void run_disconnect(struct perf_run *run);
void run_progress(void *run);

/* Runs one pass of all threads. If `measured`, lines of progress are
 * printed. */
ucs_status_t run_pass(struct perf_run *run, uint64_t count, bool measured);
uint64_t run_wrong(const struct perf_run *run);

/* tests.c */
extern const struct perf_test perf_tests[];
extern const unsigned perf_test_count;

/* Returns the test if the parameters fit it, otherwise NULL and the reason. */
const struct perf_test *tests_check(const struct params *params,
                                    char error[PARAMS_ERROR_MAX]);
unsigned tests_outstanding(const struct perf_test *test,
                           const struct params *params);
bool tests_one_sided(const struct perf_test *test);
unsigned tests_messages(const struct perf_test *test,
                        const struct params *params);

/* ucp_side.c, uct_side.c */
extern const struct perf_api perf_ucp;
extern const struct perf_api perf_uct;

#endif
