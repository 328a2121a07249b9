/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder share.
 *
 *   set_event_handler / add_timer        (public.c)
 *        |  puts a handler into
 *        v
 *   loop: epoll set + timer descriptor   (loop.c)  one for the thread, one for
 *        |  reports                                each polled context
 *        v
 *   dispatch: run | missed | by signal   (async.c, signal.c)
 *
 * Locks, in the order in which they may be taken: a context's lock, then the
 * global lock. Dispatch, which holds the global lock, only tries a context's.
 * No callback runs under the global lock.
 */
#ifndef UCS_ASYNC_INTERNAL_H
#define UCS_ASYNC_INTERNAL_H

#include "ucs/async/async.h"
#include "ucs/datastruct/hash.h"

/* What epoll tells beside handlers. Handlers have higher numbers. */
enum {
    ASYNC_SEQ_TIMER = 1, /* the loop's timer descriptor */
    ASYNC_SEQ_WAKE,      /* somebody wants the thread's attention */
    ASYNC_SEQ_DONE,      /* handlers that a signal has run */
    ASYNC_SEQ_FIRST
};

typedef struct async_loop {
    ucs_sys_event_set_t *set;
    int timer_fd; /* -1 until there is a timer */
    ucs_list_link_t timers;
    unsigned num_handlers; /* those in flight by signal included */

    /* of the thread's loop only */
    pthread_t thread;
    int wake_fd;
    int done_fds[2];   /* -1 until there is a handler in signal mode */
    int stop;          /* atomic: the thread is to end */
    int is_running;    /* the thread is inside a callback */
    int is_finished;   /* the thread has nothing left to do but to end */
    ucs_list_link_t ended; /* in async_global.ended, to be joined */
} async_loop_t;

typedef struct async_handler {
    int id;       /* descriptor, or timer */
    uint64_t seq; /* never used twice: an event of the past finds nobody */
    ucs_async_mode_t mode;
    ucs_event_set_types_t events;
    ucs_async_event_cb_t cb;
    void *arg;
    ucs_async_context_t *async; /* may be NULL */
    async_loop_t *loop;

    unsigned refs;
    int is_removed; /* atomic */
    int is_armed;   /* in the event set */
    int is_running;
    pthread_t runner;
    ucs_event_set_types_t pending; /* edges that came while it was running */
    int has_pending;

    int is_missed; /* in the context's list */
    ucs_event_set_types_t missed_events;
    ucs_list_link_t missed_list;

    ucs_time_t interval; /* timers only */
    ucs_time_t expires;
    ucs_list_link_t timer_list;

    /* signal mode: on its way to the target thread, or in its hands */
    pid_t target_tid;
    struct async_inbox *inbox;
    int in_flight;
    unsigned signal_events;  /* atomic */
    int signal_running;      /* atomic */
    struct async_handler *signal_next;
} async_handler_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t done;       /* a callback or a poll has ended */
    ucs_hash_t by_id;
    ucs_hash_t by_seq;
    uint64_t next_seq;
    int next_timer_id;
    async_loop_t *thread_loop; /* NULL: no thread */
    async_loop_t *poll_loop;   /* poll mode without a context */
    ucs_list_link_t contexts;
    ucs_list_link_t ended;     /* loops whose thread is to be joined */
} async_global_t;

extern async_global_t async_global;

/* ---- all below want the global lock held, unless said otherwise ---- */

/* loop.c */
ucs_status_t async_loop_create(async_loop_t **loop_p);
void async_loop_destroy(async_loop_t *loop);
ucs_status_t async_loop_add_fd(async_loop_t *loop, int fd,
                               ucs_event_set_types_t events, uint64_t seq);
ucs_status_t async_loop_add_timer(async_loop_t *loop, async_handler_t *handler);
void async_loop_set_timer(async_loop_t *loop);

/* Waits (-1: without end, 0: not at all) and dispatches. Not under the lock. */
void async_loop_process(async_loop_t *loop, int timeout_ms);

/* The thread's loop, started if need be. */
ucs_status_t async_thread_get(async_loop_t **loop_p);

/* Ends the thread if it has no handlers left. Tells which loop the caller is to
 * join after it has dropped the lock, by async_thread_join. */
async_loop_t *async_thread_put(void);
void async_thread_join(async_loop_t *loop);

/* async.c */
void async_handler_arm(async_handler_t *handler);
void async_handler_disarm(async_handler_t *handler);
void async_handler_put(async_handler_t *handler);

/* Brings an event to the handler, now or later. The caller has a reference. */
void async_handler_dispatch(async_handler_t *handler,
                            ucs_event_set_types_t events);

/* Runs the callback, without the lock, unless the handler was removed. */
void async_handler_run(async_handler_t *handler, ucs_event_set_types_t events);

/* Try to take a context that nobody blocks, the caller included; give it back
 * without looking for missed events. Not under the lock, or under it. */
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

/* fork.c: once in the life of a process */
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
