/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams, events, and the engines: threads of the emulation that execute the
 * operations of all streams. The operations of one stream are executed in
 * order, each not before its time `due`.
 */
#include "emu.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../emulated.h"

enum { NUM_ENGINES = 2, MAX_DELAY = 10 * 1000 * 1000 };

/* Signalled when an operation was added, has ended, or may start. */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t threads[NUM_ENGINES];
static unsigned num_threads;
static int is_stopping;
static int is_held;         /* emulated_hold() is in effect */
static uint64_t delay;      /* Nanoseconds from the issue of a copy or fill to
                             * its start */
static uint64_t last_order; /* emu_op_t.order of the last operation */

emu_context_t *emu_contexts;

static int lost[EMU_MAX_DEVICES]; /* Error of a lost device; 0: not lost */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000ul + (uint64_t)time.tv_nsec;
}

static void prepare(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
    delay = emu_variable("EMULATED_DELAY", 0, MAX_DELAY) * 1000;
}

/* ------------------------------------------------------------ operations -- */

emu_op_t *emu_op_new(emu_op_kind_t kind, size_t extra)
{
    emu_op_t *op = calloc(1, sizeof(*op) + extra);

    if (op != NULL) {
        op->kind = kind;
    }
    return op;
}

void emu_event_drop(emu_event_t *event)
{
    if ((event != NULL) && (--event->refs == 0)) {
        free(event);
    }
}

void emu_op_free(emu_op_t *op)
{
    emu_pages_drop(op->to.pages);
    emu_pages_drop(op->from.pages);
    emu_event_drop(op->event);
    free(op);
}

static uint64_t read_word(const void *at, unsigned size)
{
    return (size == 4) ?
               __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE) :
               __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

/* Returns whether the condition of an operation WAIT is true. */
static int is_met(const emu_op_t *op)
{
    uint64_t value = read_word(op->to.at, op->size);

    if (op->is_equal) {
        return value == op->value;
    }
    return (op->size == 4) ?
               (int32_t)((uint32_t)value - (uint32_t)op->value) >= 0 :
               (int64_t)(value - op->value) >= 0;
}

/* Executes a COPY, FILL or WRITE; operations of other kinds need no execution.
 * Called without the lock, because a copy may take long. */
static void carry_out(emu_op_t *op)
{
    switch (op->kind) {
    case EMU_OP_COPY:
        memmove(op->to.at, op->from.at, op->length);
        break;
    case EMU_OP_FILL:
        memset(op->to.at, (int)op->value, op->length);
        break;
    case EMU_OP_WRITE:
        if (op->size == 4) {
            __atomic_store_n((uint32_t *)op->to.at, (uint32_t)op->value,
                             __ATOMIC_RELEASE);
        } else {
            __atomic_store_n((uint64_t *)op->to.at, op->value,
                             __ATOMIC_RELEASE);
        }
        break;
    default:
        break;
    }
}

/* Removes the operations of a stream without executing them. */
static void drop_all(emu_stream_t *stream)
{
    emu_op_t *op;

    /* Keep the first operation if an engine executes it: end() removes it */
    while ((op = stream->is_running ? stream->head->next : stream->head) !=
           NULL) {
        if (stream->is_running) {
            stream->head->next = op->next;
        } else {
            stream->head = op->next;
        }
        if (op->kind == EMU_OP_FREE) {
            emu_range_remove(op->range, 1);
        }
        emu_op_free(op);
    }
    stream->tail = stream->is_running ? &stream->head->next : &stream->head;
}

void emu_context_fail(emu_context_t *context, int error)
{
    emu_stream_t *stream;

    context->error = error;
    drop_all(&context->dflt);
    for (stream = context->streams; stream != NULL; stream = stream->next) {
        drop_all(stream);
    }
    pthread_cond_broadcast(&changed);
}

int emu_lost(int device)
{
    return lost[device];
}

EMU_API void emulated_lose(int device, int code)
{
    emu_context_t *context;

    pthread_mutex_lock(&emu_lock);
    lost[device] = code;
    for (context = emu_contexts; context != NULL; context = context->next) {
        if ((code != 0) && (context->device == device)) {
            emu_context_fail(context, code);
        }
    }
    pthread_mutex_unlock(&emu_lock);
}

/* Removes the first operation, which was executed. `fault`: error with which
 * its context fails; 0: none. */
static void end(emu_stream_t *stream, int fault)
{
    emu_op_t *op = stream->head;

    stream->head       = op->next;
    stream->is_running = 0;
    if (stream->head == NULL) {
        stream->tail = &stream->head;
    }
    if (op->kind == EMU_OP_RECORD) {
        op->event->reached = op->value;
    } else if (op->kind == EMU_OP_FREE) {
        emu_range_remove(op->range, 1);
    }
    emu_op_free(op);
    if (fault != 0) {
        emu_context_fail(stream->context, fault);
    }
    pthread_cond_broadcast(&changed);
}

/* --------------------------------------------------------------- engines -- */

/* Returns whether the first operation of a stream must wait for another stream:
 * as in CUDA, the default stream and the blocking streams of a context wait for
 * earlier operations of each other. */
static int is_behind_default(const emu_stream_t *stream)
{
    const emu_context_t *context = stream->context;
    uint64_t order               = stream->head->order;
    const emu_stream_t *other;

    if (stream != &context->dflt) {
        return stream->is_blocking && (context->dflt.head != NULL) &&
               (context->dflt.head->order < order);
    }
    for (other = context->streams; other != NULL; other = other->next) {
        if (other->is_blocking && (other->head != NULL) &&
            (other->head->order < order)) {
            return 1;
        }
    }
    return 0;
}

/* Returns whether the first operation of a stream can be executed at `time`. If
 * not, and if the time of the next attempt is known, reduces *next to it. */
static int is_ready(const emu_stream_t *stream, uint64_t time, uint64_t *next)
{
    const emu_op_t *op = stream->head;

    if ((op == NULL) || stream->is_running || is_behind_default(stream)) {
        return 0;
    }
    if (op->due > time) {
        *next = (op->due < *next) ? op->due : *next;
        return 0;
    }
    if (op->kind == EMU_OP_FOLLOW) {
        return op->event->reached >= op->value;
    }
    if ((op->kind == EMU_OP_WAIT) && !is_met(op)) {
        /* Try again after 20 us: the processor may write the value without a
         * call that wakes the engine */
        *next = (time + 20000 < *next) ? time + 20000 : *next;
        return 0;
    }
    return 1;
}

static emu_stream_t *find_ready(uint64_t *next)
{
    uint64_t time = now();
    emu_context_t *context;
    emu_stream_t *stream;

    *next = UINT64_MAX;
    if (is_held) {
        return NULL;
    }
    for (context = emu_contexts; context != NULL; context = context->next) {
        if (is_ready(&context->dflt, time, next)) {
            return &context->dflt;
        }
        for (stream = context->streams; stream != NULL; stream = stream->next) {
            if (is_ready(stream, time, next)) {
                return stream;
            }
        }
    }
    return NULL;
}

static void sleep_until(uint64_t time)
{
    struct timespec until = {
        .tv_sec  = (time_t)(time / 1000000000ul),
        .tv_nsec = (long)(time % 1000000000ul),
    };

    if (time == UINT64_MAX) {
        pthread_cond_wait(&changed, &emu_lock);
    } else {
        pthread_cond_timedwait(&changed, &emu_lock, &until);
    }
}

static void *engine(void *arg)
{
    emu_stream_t *stream;
    uint64_t next;
    int fault;

    (void)arg;
    pthread_mutex_lock(&emu_lock);
    while (!is_stopping) {
        stream = find_ready(&next);
        if (stream == NULL) {
            sleep_until(next);
            continue;
        }
        stream->is_running = 1;
        fault = (stream->head->kind == EMU_OP_COPY) ? emu_engine_fault() : 0;
        pthread_mutex_unlock(&emu_lock);
        if (fault == 0) {
            carry_out(stream->head);
        }
        pthread_mutex_lock(&emu_lock);
        end(stream, fault);
    }
    pthread_mutex_unlock(&emu_lock);
    return NULL;
}

/* Starts the engines with all signals blocked, so that the program's own
 * threads handle signals. */
static void start_engines(void)
{
    sigset_t all, old;

    pthread_once(&once, prepare);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (num_threads < NUM_ENGINES) {
        if (pthread_create(&threads[num_threads], NULL, engine, NULL) != 0) {
            abort();
        }
        ++num_threads;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void emu_engine_stop(void)
{
    unsigned i;

    pthread_once(&once, prepare);
    pthread_mutex_lock(&emu_lock);
    is_stopping = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&emu_lock);
    for (i = 0; i < num_threads; ++i) {
        pthread_join(threads[i], NULL);
    }
    num_threads = 0;
}

void emu_op_start(emu_stream_t *stream, emu_op_t *op)
{
    start_engines();
    op->order     = ++last_order;
    op->due       = ((op->kind == EMU_OP_COPY) || (op->kind == EMU_OP_FILL)) ?
                        now() + delay :
                        0;
    op->next      = NULL;
    *stream->tail = op;
    stream->tail  = &op->next;
    pthread_cond_broadcast(&changed);
}

/* -------------------------------------------------- streams and contexts -- */

static void stream_init(emu_stream_t *stream, emu_context_t *context)
{
    stream->context = context;
    stream->tail    = &stream->head;
}

void emu_context_init(emu_context_t *context, int device)
{
    static uint64_t last_id;

    pthread_once(&once, prepare);
    memset(context, 0, sizeof(*context));
    context->device = device;
    context->id     = ++last_id;
    stream_init(&context->dflt, context);
    context->dflt.is_blocking = 1;
    context->next             = emu_contexts;
    emu_contexts              = context;
}

void emu_context_clear(emu_context_t *context)
{
    emu_context_t **link;

    emu_stream_wait(&context->dflt);
    while (context->streams != NULL) {
        emu_stream_free(context->streams);
    }
    for (link = &emu_contexts; *link != context; link = &(*link)->next) {
    }
    *link = context->next;
}

emu_stream_t *emu_stream_new(emu_context_t *context, int is_blocking)
{
    emu_stream_t *stream = calloc(1, sizeof(*stream));

    if (stream == NULL) {
        return NULL;
    }
    stream_init(stream, context);
    stream->is_blocking = is_blocking;
    stream->next        = context->streams;
    context->streams    = stream;
    return stream;
}

int emu_stream_is_busy(const emu_stream_t *stream)
{
    return stream->head != NULL;
}

void emu_stream_wait(emu_stream_t *stream)
{
    while (stream->head != NULL) {
        pthread_cond_wait(&changed, &emu_lock);
    }
}

void emu_stream_free(emu_stream_t *stream)
{
    emu_stream_t **link;

    emu_stream_wait(stream);
    for (link = &stream->context->streams; *link != stream;
         link = &(*link)->next) {
    }
    *link = stream->next;
    free(stream);
}

static int is_context_busy(const emu_context_t *context)
{
    const emu_stream_t *stream = context->streams;

    while ((stream != NULL) && (stream->head == NULL)) {
        stream = stream->next;
    }
    return (stream != NULL) || (context->dflt.head != NULL);
}

void emu_device_wait(int device)
{
    emu_context_t *context = emu_contexts;

    while (context != NULL) {
        if ((context->device == device) && is_context_busy(context)) {
            pthread_cond_wait(&changed, &emu_lock);
            /* Start again: the list may have changed during the wait */
            context = emu_contexts;
        } else {
            context = context->next;
        }
    }
}

void emu_wait_event(emu_event_t *event)
{
    while ((event->reached < event->recorded) && (event->context->error == 0)) {
        pthread_cond_wait(&changed, &emu_lock);
    }
}

/* ---------------------------------------------------------- test control -- */

EMU_API void emulated_set_delay(unsigned microseconds)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&emu_lock);
    delay = (uint64_t)microseconds * 1000;
    pthread_mutex_unlock(&emu_lock);
}

EMU_API void emulated_hold(void)
{
    pthread_mutex_lock(&emu_lock);
    is_held = 1;
    pthread_mutex_unlock(&emu_lock);
}

EMU_API void emulated_release(void)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&emu_lock);
    is_held = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&emu_lock);
}
