/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of a test: threads, passes, and errors. session.c implements the
 * protocol between the sides. */
#include "perf.h"

#include "pattern.h"
#include "report.h"

#include <endian.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SILENCE_SECONDS = 5,
};

ucs_status_t perf_error(struct perf_run *run, ucs_status_t status,
                        const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&run->lock);
    if (run->error[0] == '\0') {
        va_start(arguments, format);
        vsnprintf(run->error, sizeof(run->error), format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* Fails if no operation has completed for SILENCE_SECONDS: the operations
 * probably need progress of the peer, which makes none with -o. */
static ucs_status_t check_silence(struct perf_thread *thread)
{
    struct meter *meter = &thread->meter;
    uint64_t now        = clock_ticks();

    if ((thread->seen != meter->done) || (thread->seen_at < meter->start)) {
        thread->seen    = meter->done;
        thread->seen_at = now;
    }
    if (clock_seconds(now - thread->seen_at) < SILENCE_SECONDS) {
        return UCS_OK;
    }
    return perf_error(thread->run, UCS_ERR_TIMED_OUT,
                      "nothing has completed "
                      "for %d seconds: over these transports the peer "
                      "has to make progress (leave -o out)",
                      SILENCE_SECONDS);
}

ucs_status_t perf_check_peer(struct perf_thread *thread)
{
    struct perf_run *run = thread->run;

    if ((run->channel == NULL) || !channel_gone(run->channel)) {
        return ((run->params.flags & PARAMS_NO_RESPONDER_PROGRESS) &&
                (run->role == ROLE_CLIENT)) ?
                   check_silence(thread) :
                   UCS_OK;
    }
    return perf_error(run, UCS_ERR_CONNECTION_RESET,
                      "%s closed the connection during the test",
                      run->channel->peer);
}

void perf_wrong(struct perf_thread *thread, uint64_t number, size_t offset,
                size_t size, unsigned found, unsigned wanted)
{
    if (++thread->wrong > PERF_SHOWN_WRONG) {
        return;
    }
    pthread_mutex_lock(&thread->run->lock);
    fflush(stdout);
    fprintf(stderr,
            "ucx_perftest: %s, thread %u: message %llu is wrong from "
            "byte %zu of %zu on: 0x%02x, not 0x%02x%s\n",
            thread->run->test->name, thread->index, (unsigned long long)number,
            offset, size, found, wanted,
            (thread->wrong == PERF_SHOWN_WRONG) ?
                "; more of these are counted, not shown" :
                "");
    pthread_mutex_unlock(&thread->run->lock);
}

void perf_check_bytes(struct perf_thread *thread, const void *memory,
                      size_t length, uint64_t number)
{
    size_t good = pattern_check(memory, length, number, 0);

    if (good < length) {
        perf_wrong(thread, number, good, length,
                   ((const uint8_t *)memory)[good], pattern_byte(number, good));
    }
}

/* Returns the number of buffers. It depends on parameters that both sides
 * share, so that both sides use the same buffer for a message. */
unsigned perf_slots(const struct perf_run *run, size_t extent)
{
    size_t fit = PERF_CHECK_MEMORY / ((extent > 0) ? extent : 1);

    if (!(run->params.flags & PARAMS_CHECK)) {
        return 1;
    }
    fit = (fit > 0) ? fit : 1;
    return (fit < run->outstanding) ? fit : run->outstanding;
}

ucs_status_t run_open(struct perf_run *run)
{
    unsigned i;

    run->outstanding = tests_outstanding(run->test, &run->params);
    run->threads     = calloc(run->params.threads, sizeof(*run->threads));
    if (run->threads == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&run->lock, NULL);
    pthread_barrier_init(&run->start, NULL, run->params.threads);
    for (i = 0; i < run->params.threads; ++i) {
        run->threads[i].run       = run;
        run->threads[i].index     = i;
        run->threads[i].histogram = malloc(sizeof(struct histogram));
        if (run->threads[i].histogram == NULL) {
            return UCS_ERR_NO_MEMORY;
        }
    }
    return run->test->api->open(run);
}

void run_close(struct perf_run *run)
{
    unsigned i;

    if (run->threads == NULL) {
        return;
    }
    run->test->api->close(run);
    for (i = 0; i < run->params.threads; ++i) {
        free(run->threads[i].histogram);
    }
    pthread_barrier_destroy(&run->start);
    pthread_mutex_destroy(&run->lock);
    free(run->threads);
    run->threads = NULL;
}

/* Concatenates the descriptions of all threads, each preceded by its length in
 * 4 bytes, little-endian. */
char *run_describe(struct perf_run *run, size_t *length_p)
{
    char *all   = NULL, *one, *grown;
    size_t used = 0, length;
    uint32_t word;
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        one   = run->test->api->describe(&run->threads[i], &length);
        grown = (one == NULL) ? NULL :
                                realloc(all, used + sizeof(word) + length);
        if (grown == NULL) {
            free(one);
            free(all);
            return NULL;
        }
        all  = grown;
        word = htole32(length);
        memcpy(all + used, &word, sizeof(word));
        memcpy(all + used + sizeof(word), one, length);
        used += sizeof(word) + length;
        free(one);
    }
    *length_p = used;
    return all;
}

ucs_status_t run_connect(struct perf_run *run, const char *data, size_t length)
{
    ucs_status_t status;
    uint32_t word;
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        word = 0;
        if (length >= sizeof(word)) {
            memcpy(&word, data, sizeof(word));
            data += sizeof(word);
            length -= sizeof(word);
            word = le32toh(word);
        }
        if ((word == 0) || (word > length)) {
            return perf_error(run, UCS_ERR_INVALID_PARAM,
                              "the addresses of "
                              "the peer are "
                              "truncated");
        }
        status = run->test->api->connect(&run->threads[i], data, word);
        if (status != UCS_OK) {
            return status;
        }
        data += word;
        length -= word;
    }
    return UCS_OK;
}

void run_disconnect(struct perf_run *run)
{
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        run->test->api->disconnect(&run->threads[i]);
    }
}

void run_progress(void *arg)
{
    struct perf_run *run = arg;
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        run->test->api->progress(&run->threads[i]);
    }
}

uint64_t run_wrong(const struct perf_run *run)
{
    uint64_t wrong = 0;
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        wrong += run->threads[i].wrong;
    }
    return wrong;
}

/* The server's part of a test that only the client runs: makes progress, or
 * sleeps (-o), until the client sends a frame over the channel. The loop checks
 * the channel rarely, because each check is a system call. */
static ucs_status_t serve_one_sided(struct perf_thread *thread)
{
    enum { LOOK_EVERY = 4096 };
    struct perf_run *run = thread->run;
    struct pollfd poller = {
        .fd     = run->channel->fd,
        .events = POLLIN | POLLRDHUP,
    };
    unsigned steps = 0;

    if (run->params.flags & PARAMS_NO_RESPONDER_PROGRESS) {
        poll(&poller, 1, -1);
        return perf_check_peer(thread);
    }
    do {
        run->test->api->progress(thread);
    } while ((++steps % LOOK_EVERY != 0) || !channel_readable(run->channel));
    return perf_check_peer(thread);
}

static void *thread_main(void *arg)
{
    struct perf_thread *thread = arg;
    struct perf_run *run       = thread->run;

    pthread_barrier_wait(&run->start);
    if (run->role != ROLE_SERVER) {
        meter_start(&thread->meter);
    } else if (tests_one_sided(run->test)) {
        thread->status = serve_one_sided(thread);
        return NULL;
    }
    thread->status = run->test->run(thread, thread->count);
    if (run->role != ROLE_SERVER) {
        meter_stop(&thread->meter, thread->count);
    }
    return NULL;
}

static void on_second(struct meter *meter)
{
    const struct perf_thread *thread = meter->arg;
    struct perf_run *run             = thread->run;

    pthread_mutex_lock(&run->lock);
    report_progress(run->output, run, thread);
    pthread_mutex_unlock(&run->lock);
}

/* Starts all threads except thread 0, which is the caller. If a thread cannot
 * be created, exits, because the threads that exist wait for it at the
 * barrier. */
static void start_threads(struct perf_run *run)
{
    unsigned i;

    for (i = 1; i < run->params.threads; ++i) {
        if (pthread_create(&run->threads[i].id, NULL, thread_main,
                           &run->threads[i]) != 0) {
            fprintf(stderr,
                    "ucx_perftest: cannot start thread %u of %u (-T); "
                    "ulimit -u?\n",
                    i, run->params.threads);
            exit(1);
        }
    }
}

ucs_status_t run_pass(struct perf_run *run, uint64_t count, bool measured)
{
    bool lines          = measured && (run->output != NULL);
    ucs_status_t status = UCS_OK;
    struct perf_thread *thread;
    unsigned i;

    for (i = 0; i < run->params.threads; ++i) {
        thread         = &run->threads[i];
        thread->count  = count;
        thread->status = UCS_OK;
        meter_init(&thread->meter, thread->histogram, lines ? on_second : NULL,
                   thread);
    }
    start_threads(run);
    thread_main(&run->threads[0]);
    for (i = 0; i < run->params.threads; ++i) {
        thread = &run->threads[i];
        if (i > 0) {
            pthread_join(thread->id, NULL);
        }
        thread->first += count;
        if ((run->params.flags & PARAMS_CHECK) && (run->role & ROLE_SERVER) &&
            (thread->status == UCS_OK) && (run->test->api->verify != NULL)) {
            run->test->api->verify(thread, count);
        }
        status = (status == UCS_OK) ? thread->status : status;
    }
    if (status != UCS_OK) {
        perf_error(run, status, "%s: %s", run->test->name,
                   ucs_status_string(status));
    }
    return status;
}
