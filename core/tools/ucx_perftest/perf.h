/* SPDX-License-Identifier: BSD-3-Clause */
/* A test that is being carried out: what it is made of, and what the layers
 * below (UCP, UCT) and the tests themselves have to offer. */
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
    PERF_ERROR_MAX    = 400,
    PERF_SHOWN_WRONG  = 3,       /* wrong messages that are described */
    PERF_CHECK_MEMORY = 64 << 20 /* for messages that are checked, at most */
};

enum perf_role {
    ROLE_CLIENT   = 1,
    ROLE_SERVER   = 2,
    ROLE_LOOPBACK = ROLE_CLIENT | ROLE_SERVER /* a process with itself */
};

enum perf_kind {
    TEST_PING_PONG, /* both take turns: the time is half of a round */
    TEST_STREAM,    /* the client sends, the server takes */
    TEST_REQUEST,   /* the client alone; its operations' whole time counts */
    TEST_POST       /* the client alone; how many it gets off counts */
};

struct perf_run;
struct perf_thread;

struct perf_test {
    const char *name;
    const char *description;
    const struct perf_api *api;
    enum perf_kind kind;
    unsigned features;    /* what the layer has to offer for it */
    /*
     * `count` operations, numbered from thread->first. Calls the meter unless
     * it is the server's side. UCS_OK, or an error that perf_error() may have
     * described.
     */
    ucs_status_t (*run)(struct perf_thread *thread, uint64_t count);
};

/* A layer. Everything is called from one thread except a test's run(). */
struct perf_api {
    const char *name;
    const char *layer;
    /* Whether the parameters make sense: no message if so. */
    bool (*check)(const struct perf_test *test, const struct params *params,
                  char error[PARAMS_ERROR_MAX]);
    /* All that needs no peer; close() undoes it, also if it failed. */
    ucs_status_t (*open)(struct perf_run *run);
    /* What the peer's thread must know, to be freed; NULL: no memory. */
    char *(*describe)(struct perf_thread *thread, size_t *length_p);
    ucs_status_t (*connect)(struct perf_thread *thread, const char *data,
                            size_t length);
    void (*progress)(struct perf_thread *thread);
    /* The server's look at what came, where nobody could look at each message;
     * `count` operations ended just before thread->first. May be NULL. */
    void (*verify)(struct perf_thread *thread, uint64_t count);
    /* Endpoints go, with the peer's progress. */
    void (*disconnect)(struct perf_thread *thread);
    void (*close)(struct perf_run *run);
    /* For -I: by what the messages go. */
    void (*inform)(struct perf_thread *thread, char *text, size_t length);
};

struct perf_thread {
    struct perf_run *run;
    void *side;       /* of the layer */
    uint64_t first;   /* the number of the pass's first message */
    uint64_t count;   /* of this pass */
    unsigned index;
    ucs_status_t status;
    uint64_t wrong;   /* messages whose contents were not right */
    uint64_t seen;    /* operations done when it was looked at last, ... */
    uint64_t seen_at; /* ... and when they began to be so many */
    pthread_t id;
    struct meter meter;
    struct histogram *histogram;
};

struct perf_run {
    const struct perf_test *test;
    struct params params;
    enum perf_role role;
    unsigned outstanding;      /* operations at once, never 0 */
    struct channel *channel;   /* NULL in loopback */
    struct perf_thread *threads;
    void *shared;              /* of the layer */
    const struct output *output; /* NULL: nobody looks at figures here */
    bool quiet;                /* the other side prints its own reasons */
    bool told;                 /* the error is the other side's reason */
    pthread_barrier_t start;
    pthread_mutex_t lock;      /* of what follows */
    char error[PERF_ERROR_MAX];
};

/* run.c */

/* Describes an error; the first one of a run counts. Returns `status`. */
ucs_status_t perf_error(struct perf_run *run, ucs_status_t status,
                        const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* For loops that wait: now and then they must look whether the peer lives, and
 * where it may not answer (-o), whether it would have to. */
ucs_status_t perf_look(struct perf_thread *thread);

/* Notes that message `number` was not right from byte `offset` on. */
void perf_wrong(struct perf_thread *thread, uint64_t number, size_t offset,
                size_t size, unsigned found, unsigned wanted);

/* Checks a message that lies in one piece. */
void perf_check_bytes(struct perf_thread *thread, const void *memory,
                      size_t length, uint64_t number);

/* How many messages lie in memory of their own: one, unless contents are
 * checked. */
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

/* One pass of all threads. With `measured` there are lines of progress. */
ucs_status_t run_pass(struct perf_run *run, uint64_t count, bool measured);
uint64_t run_wrong(const struct perf_run *run);

/* tests.c */
extern const struct perf_test perf_tests[];
extern const unsigned perf_test_count;

/* The test of the parameters if they suit it, else NULL and why not. */
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
