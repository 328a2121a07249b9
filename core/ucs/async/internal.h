/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this folder: the handlers of descriptors and timers,
 * and the loops that wait for their events.
 *
 *   set_event_handler / add_timer (public.c)
 *         |  adds a handler to
 *         v
 *   loop: epoll set + timer descriptor (loop.c)    one for the thread, one for
 *         |  reports                               each polled context
 *         v
 *   dispatch: run | missed | by signal (async.c, signal.c)
 *
 * Lock order: a context's lock, then the global lock. Dispatch holds the global
 * lock, so it only tries to lock a context. No callback runs under the global
 * lock.
 */
#ifndef UCS_ASYNC_INTERNAL_H
#define UCS_ASYNC_INTERNAL_H

#include "ucs/async/async.h"
#include "ucs/datastruct/hash.h"

/* Values of epoll_data that do not stand for a handler. Those of handlers
 * (async_handler_t::seq) are larger. */
enum {
    ASYNC_SEQ_TIMER = 1, /* the loop's timer descriptor */
    ASYNC_SEQ_WAKE,      /* wakes the thread */
    ASYNC_SEQ_DONE,      /* handlers that a signal handler has run */
    ASYNC_SEQ_FIRST,
};

typedef struct async_loop {
    ucs_sys_event_set_t *set;
    int timer_fd; /* -1 until there is a timer */
    ucs_list_link_t timers;
    unsigned num_handlers; /* Number of handlers. A handler that is in flight to
                            * its target thread counts twice, so that the
                            * service thread is kept until the handler has
                            * returned */

    /* only for the loop of the service thread */
    pthread_t thread;
    int wake_fd;
    int done_fds[2];       /* -1 until the first handler in signal mode */
    int stop;              /* atomic: the thread must end */
    int is_running;        /* the thread is inside a callback */
    int is_finished;       /* the thread has ended its work */
    ucs_list_link_t ended; /* in async_global.ended, until joined */
} async_loop_t;

typedef struct async_handler {
    int id;       /* descriptor, or timer */
    uint64_t seq; /* never reused: a late event finds no handler */
    ucs_async_mode_t mode;
    ucs_event_set_types_t events;
    ucs_async_event_cb_t cb;
    void *arg;
    ucs_async_context_t *async; /* may be NULL */
    async_loop_t *loop;

    unsigned refs;
    int is_removed; /* atomic */
    int is_armed;   /* The descriptor is in the loop's event set */
    int is_running;
    pthread_t runner;
    ucs_event_set_types_t pending; /* edge-triggered events that arrived while
                                    * the callback was running */
    int has_pending;

    int is_missed; /* in the context's list of missed handlers */
    ucs_event_set_types_t missed_events;
    ucs_list_link_t missed_list;

    ucs_time_t interval; /* timers only */
    ucs_time_t expires;
    ucs_list_link_t timer_list;

    /* signal mode: the handler is in flight to its target thread (see
     * signal.c) */
    pid_t target_tid;
    struct async_inbox *inbox;
    int in_flight;
    unsigned signal_events; /* atomic */
    int signal_running;     /* atomic */
    struct async_handler *signal_next;
} async_handler_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t done; /* signalled when a callback or a poll ends */
    ucs_hash_t by_id;
    ucs_hash_t by_seq;
    uint64_t next_seq;
    int next_timer_id;
    async_loop_t *thread_loop; /* NULL if there is no thread */
    async_loop_t *poll_loop;   /* for polling without a context */
    ucs_list_link_t contexts;
    ucs_list_link_t ended; /* loops whose threads must be joined */
} async_global_t;

extern async_global_t async_global;

/* ---- the caller holds the global lock, unless stated otherwise ---- */

/* loop.c */
ucs_status_t async_loop_create(async_loop_t **loop_p);
void async_loop_destroy(async_loop_t *loop);
ucs_status_t async_loop_add_fd(async_loop_t *loop, int fd,
                               ucs_event_set_types_t events, uint64_t seq);
ucs_status_t async_loop_add_timer(async_loop_t *loop, async_handler_t *handler);
void async_loop_set_timer(async_loop_t *loop);

/* Waits up to `timeout_ms` milliseconds (-1: without a limit) and dispatches
 * events. The caller must not hold the global lock. */
void async_loop_process(async_loop_t *loop, int timeout_ms);

/* Returns the loop of the service thread, which it starts if necessary. */
ucs_status_t async_thread_get(async_loop_t **loop_p);

/* Ends the thread if it has no handlers left. Returns the loop that the caller
 * must join by async_thread_join after it has dropped the lock. */
async_loop_t *async_thread_put(void);
void async_thread_join(async_loop_t *loop);

/* async.c */
void async_handler_arm(async_handler_t *handler);
void async_handler_disarm(async_handler_t *handler);
void async_handler_put(async_handler_t *handler);

/* Delivers an event to the handler: runs the callback, records it as missed if
 * the context is blocked, or sends a signal to the context's thread. The
 * caller holds a reference to the handler. */
void async_handler_dispatch(async_handler_t *handler,
                            ucs_event_set_types_t events);

/* Runs the callback without the lock, unless the handler was removed. */
void async_handler_run(async_handler_t *handler, ucs_event_set_types_t events);

/* Tries to lock a context that no thread blocks, including the caller. The
 * unlock does not run missed handlers. The caller may hold the global lock. */
int async_context_trylock(ucs_async_context_t *async);
void async_context_unlock(ucs_async_context_t *async);

/* signal.c */
ucs_status_t async_signal_prepare(async_loop_t *loop);
void async_signal_dispatch(async_handler_t *handler,
                           ucs_event_set_types_t events);
void async_signal_set_target(async_handler_t *handler);
void async_signal_done(async_loop_t *loop);
void async_signal_after_fork(void);
void async_signal_run_missed(ucs_async_context_t *async);

/* fork.c: once per process */
void async_fork_prepare_once(void);

static inline void async_lock(void)
{
    pthread_mutex_lock(&async_global.lock);
}

static inline void async_unlock(void)
{
    pthread_mutex_unlock(&async_global.lock);
}

#endif
