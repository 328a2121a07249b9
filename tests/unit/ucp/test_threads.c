/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads that use one worker in multi-threaded mode, or each its own
 * worker.
 */
#include "local.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, MESSAGES = 500, SIZE = 300 };

typedef struct {
    local_t *local;
    unsigned index;
    unsigned bad;
} worker_thread_t;

static size_t size_of(unsigned message)
{
    return (message % 16 == 0) ? 200000 : message % SIZE;
}

/* Thread function: sends messages with its own tag to the worker itself and
 * receives them. The receive is posted before the message is sent or after, in
 * turn. self->bad counts errors and wrong bytes. */
static void *converse(void *arg)
{
    worker_thread_t *self = arg;
    char *out             = malloc(200000);
    char *in              = malloc(200000);
    ucs_status_ptr_t send, recv;
    unsigned i;

    for (i = 0; i < MESSAGES; ++i) {
        size_t size = size_of(i);

        memset(out, (int)(i + self->index), size);
        memset(in, 0, size);
        if (i & 1) {
            recv = local_recv(self->local, in, 200000, self->index);
            send = local_send(self->local, out, size, self->index);
        } else {
            send = local_send(self->local, out, size, self->index);
            recv = local_recv(self->local, in, 200000, self->index);
        }
        self->bad += (local_wait(self->local, recv) != UCS_OK);
        self->bad += (local_wait(self->local, send) != UCS_OK);
        self->bad += (memcmp(in, out, size) != 0);
        sched_yield();
    }
    free(in);
    free(out);
    return NULL;
}

static void run_threads(local_t *locals, unsigned stride)
{
    worker_thread_t threads[THREADS];
    pthread_t ids[THREADS];
    unsigned i;

    for (i = 0; i < THREADS; ++i) {
        threads[i] = (worker_thread_t){&locals[i * stride], i, 0};
        ck_assert_int_eq(pthread_create(&ids[i], NULL, converse, &threads[i]),
                         0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        ck_assert_uint_eq(threads[i].bad, 0);
    }
}

START_TEST(threads_share_one_worker)
{
    local_t local;

    local_open_mode(&local, UCP_FEATURE_TAG, UCS_THREAD_MODE_MULTI);
    run_threads(&local, 0);
    local_close(&local);
}
END_TEST

START_TEST(threads_have_a_worker_each)
{
    local_t locals[THREADS];
    unsigned i;

    for (i = 0; i < THREADS; ++i) {
        local_open(&locals[i]);
    }
    run_threads(locals, 1);
    for (i = 0; i < THREADS; ++i) {
        local_close(&locals[i]);
    }
}
END_TEST

SUITE_MAIN("threads", threads_share_one_worker, threads_have_a_worker_each)
