/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of this folder: the handlers of descriptors and timers,
 * and the loops that wait for their events.
 *
 *   set_event_handler / add_timer (public.c)
 *         |  adds a handler to
 *         v
 *   loop: epoll set + timer descriptor (loop.c)    one for the service thread,
 *         |  reports events to                     one for each polled context,
 *         v                                        one for polled handlers
 *                                                  without a context
 *   dispatch: run | missed | by signal (async.c, signal.c)
 *
 * The service thread is a thread of the library. It waits for the events of all
 * handlers except those in poll mode. "Missed": the context of the handler was
 * blocked, so that the handler runs when the context is unblocked.
 *
 * Lock order: a context's lock, then the global lock (async_global.lock).
 * Dispatch holds the global lock, so it only tries to lock a context. No
 * callback runs under the global lock.
 */
#ifndef UCS_ASYNC_INTERNAL_H
#define UCS_ASYNC_INTERNAL_H

#include "ucs/async/async.h"
#include "ucs/datastruct/hash.h"

/* Values of epoll_data for the loop's own descriptors. For the descriptor of a
 * handler the value is async_handler_t::seq, which is ASYNC_SEQ_FIRST or
 * larger. */
enum {
    ASYNC_SEQ_TIMER = 1, /* timer_fd */
    ASYNC_SEQ_WAKE,      /* wake_fd */
    ASYNC_SEQ_DONE,      /* done_fds[0] */
    ASYNC_SEQ_FIRST,
};

typedef struct async_loop {
    ucs_sys_event_set_t *set; /* epoll set of the descriptors */
    int timer_fd;             /* set to the first expiry of `timers`; -1 until
                               * the first timer is added */
    ucs_list_link_t timers;   /* handlers of timers, not sorted */
    unsigned num_handlers;    /* Number of handlers. A handler in flight (signal
                               * mode) counts twice, so that the service thread
                               * does not end before it gets the handler back */

    int is_left; /* in a forked child: the forking callback runs in this loop.
                  * async_loop_process() frees it when the callback returns */

    /* only for the loop of the service thread */
    pthread_t thread;
    int wake_fd;           /* eventfd that wakes the thread, so that it reads
                            * `stop` */
    int done_fds[2];       /* pipe: target threads (signal mode) write the
                            * addresses of handlers that they have run, the
                            * service thread reads them; -1 until the first
                            * handler in signal mode */
    int stop;              /* atomic: the thread must end */
    int is_running;        /* the thread is inside a callback */
    int is_finished;       /* the thread has left its loop, and can be joined */
    ucs_list_link_t ended; /* link in async_global.ended: the thread was told to
                            * stop, and is not joined yet */
} async_loop_t;

typedef struct async_handler {
    int id;       /* the descriptor; for a timer, a number from
                   * UCS_ASYNC_TIMER_ID_MIN */
    uint64_t seq; /* unique in the process, never reused: an event that arrives
                   * after the handler was removed finds no other handler */
    ucs_async_mode_t mode;
    ucs_event_set_types_t events; /* events to wait for; unused by timers */
    ucs_async_event_cb_t cb;
    void *arg;
    ucs_async_context_t *async; /* NULL: the handler belongs to no context */
    async_loop_t *loop;         /* waits for the events of this handler */

    unsigned refs;    /* the handler is freed when this becomes 0 */
    int is_removed;   /* atomic; 1: the callback must not be called again */
    int is_armed;     /* the descriptor is in the loop's event set */
    int is_running;   /* the callback runs in thread `runner`; not used in
                       * signal mode */
    pthread_t runner; /* valid while is_running */
    ucs_event_set_types_t pending; /* edge-triggered events that arrived while
                                    * the callback was running */
    int has_pending;               /* 1: run the callback again, with
                                    * `pending` */

    int is_missed; /* in the context's list of missed handlers */
    ucs_event_set_types_t missed_events; /* events for the callback, when it
                                          * runs as missed */
    ucs_list_link_t missed_list;         /* link in
                                          * ucs_async_context::missed_list */

    /* timers only; times in ns */
    ucs_time_t interval;        /* 0: not a timer */
    ucs_time_t expires;         /* time of the next expiry */
    ucs_list_link_t timer_list; /* link in the loop's list of timers */

    /* signal mode only (see signal.c) */
    pid_t target_tid;          /* thread that added the handler and runs it */
    struct async_inbox *inbox; /* of that thread */
    int in_flight;             /* passed to that thread, and not returned yet */
    unsigned signal_events;    /* atomic: events to pass to the callback */
    int signal_running;        /* atomic; 1 from before the callback until the
                                * service thread has got the handler back */
    struct async_handler *signal_next; /* next handler in a stack: of the inbox
                                        * or of the context's missed ones */
} async_handler_t;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t done; /* signalled when the callback of a removed handler
                          * ends, or `pollers` of a context decreases */
    ucs_hash_t by_id;    /* all handlers by their `id` */
    ucs_hash_t by_seq;   /* all handlers by their `seq` */
    uint64_t next_seq;   /* `seq` of the next handler */
    int next_timer_id;   /* `id` of the next timer, unless it is in use */
    async_loop_t *thread_loop; /* loop of the service thread; NULL: the thread
                                * does not run */
    async_loop_t *poll_loop;   /* for handlers in poll mode without a context;
                                * NULL until the first one is added */
    ucs_list_link_t contexts;  /* all contexts of the process */
    ucs_list_link_t ended;     /* loops whose threads must be joined */
} async_global_t;

extern async_global_t async_global;

/* ---- the caller holds the global lock, unless stated otherwise ---- */

/* loop.c */
ucs_status_t async_loop_create(async_loop_t **loop_p);
void async_loop_destroy(async_loop_t *loop);
/* For a forked child: forgets the timers, and closes the descriptors that the
 * parent still uses, except the event set. Without that, a callback that has
 * forked would change the parent's timers when it returns in the child. */
void async_loop_disown(async_loop_t *loop);
/* For a forked child: disowns and frees a loop that async_loop_process() of the
 * calling thread may be processing. */
void async_loop_leave(async_loop_t *loop);
ucs_status_t async_loop_add_fd(async_loop_t *loop, int fd,
                               ucs_event_set_types_t events, uint64_t seq);
ucs_status_t async_loop_add_timer(async_loop_t *loop, async_handler_t *handler);
/* Sets the timer descriptor of the loop to the first expiry of its timers. */
void async_loop_set_timer(async_loop_t *loop);

/* Waits up to `timeout_ms` milliseconds (-1: without a limit) and dispatches
 * events. The caller must not hold the global lock. */
void async_loop_process(async_loop_t *loop, int timeout_ms);

/* Returns the loop of the service thread, which it starts if necessary. */
ucs_status_t async_thread_get(async_loop_t **loop_p);

/* Tells the service thread to end if its loop has no handlers left. Returns the
 * loop, which the caller must pass to async_thread_join() after it has released
 * the lock; NULL: nothing to join. */
async_loop_t *async_thread_put(void);
void async_thread_join(async_loop_t *loop);

/* async.c */

/* Adds the descriptor to the loop's event set, or removes it. No effect for
 * timers. A handler that is missed, in flight or removed is not added. */
void async_handler_arm(async_handler_t *handler);
void async_handler_disarm(async_handler_t *handler);

/* Releases a reference to the handler; the last one frees it. */
void async_handler_put(async_handler_t *handler);

/* Delivers an event to the handler: runs the callback, records the handler as
 * missed if the context is blocked, or, in signal mode, passes the handler to
 * its target thread. The caller holds a reference to the handler. */
void async_handler_dispatch(async_handler_t *handler,
                            ucs_event_set_types_t events);

/* Runs the callback, unless the handler was removed or its callback is already
 * running. Releases the global lock during the callback. */
void async_handler_run(async_handler_t *handler, ucs_event_set_types_t events);

/* Tries to lock a context. Returns 0 if any thread, including the caller,
 * blocks the context or runs its handlers. async_context_unlock() does not run
 * missed handlers. The caller of either function may hold the global lock. */
int async_context_trylock(ucs_async_context_t *async);
void async_context_unlock(ucs_async_context_t *async);

/* signal.c */

/* Prepares the calling thread to add a handler in signal mode: creates its
 * inbox and the pipe of the loop, and installs the signal, unless they
 * exist. */
ucs_status_t async_signal_prepare(async_loop_t *loop);

/* Passes the handler to its target thread and sends a signal to that thread. */
void async_signal_dispatch(async_handler_t *handler,
                           ucs_event_set_types_t events);

/* Makes the calling thread the target thread of the handler. */
void async_signal_set_target(async_handler_t *handler);

/* Called by the service thread when done_fds[0] is readable: accepts one
 * handler that its target thread has run. */
void async_signal_done(async_loop_t *loop);
void async_signal_after_fork(void);

/* Runs the handlers in async->signal_missed. Called without the global lock. */
void async_signal_run_missed(ucs_async_context_t *async);

/* fork.c: registers the fork handlers at the first call in the process. */
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
