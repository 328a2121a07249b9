/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous contexts for use inside the library. A context runs the handlers
 * of descriptors and timers that belong to it. While a thread blocks a context,
 * the handlers of the context do not run. A handler that becomes due meanwhile
 * is recorded as missed, and runs when the last block is removed. In poll mode
 * nothing is recorded: the next poll finds the event again.
 */
#ifndef UCS_ASYNC_H
#define UCS_ASYNC_H

#include <pthread.h>
#include <ucs/async/async_fwd.h>
#include "ucs/datastruct/list.h"
#include <ucs/type/spinlock.h>

BEGIN_C_DECLS

/* The smallest identifier of a timer. Handlers of descriptors have the
 * descriptor as identifier, which is smaller. */
#define UCS_ASYNC_TIMER_ID_MIN 1000000

struct ucs_async_context {
    ucs_async_mode_t mode;
    unsigned missed; /* atomic; nonzero: missed_list or signal_missed may
                      * contain handlers */
    unsigned depth;  /* number of nested blocks; 0: not blocked. Accessed by
                      * the owner only */
    pthread_t owner; /* atomic: the thread that holds `lock`, because it blocks
                      * the context or runs its handlers;
                      * UCS_ASYNC_PTHREAD_ID_NULL: none */
    union {
        ucs_spinlock_t spin;
        pthread_mutex_t mutex;
    } lock;                      /* held by the owner; the mutex is used in
                                  * UCS_ASYNC_MODE_THREAD_MUTEX only */
    pid_t tid;                   /* kernel id of the thread that created the
                                  * context: the only one that may use it in
                                  * UCS_ASYNC_MODE_SIGNAL */
    unsigned num_handlers;       /* handlers of this context. This and the
                                  * members below are changed under the global
                                  * lock (async_lock() in internal.h) */
    unsigned pollers;            /* threads that are using this context without
                                  * the global lock; cleanup waits until it
                                  * is 0 */
    struct async_loop *loop;     /* poll mode: waits for the events of this
                                  * context; NULL until first needed */
    ucs_list_link_t missed_list; /* missed handlers, except in signal mode */
    struct async_handler *signal_missed; /* stack of missed handlers in signal
                                          * mode; atomic, changed without the
                                          * global lock */
    ucs_list_link_t list;                /* link in the list of all contexts of
                                          * the process */
};

/** Initializes a context that is a member of another structure. */
ucs_status_t ucs_async_context_init(ucs_async_context_t *async,
                                    ucs_async_mode_t mode);
void ucs_async_context_cleanup(ucs_async_context_t *async);

/* Take and release the context's lock, when the first block is set and when the
 * last one is removed. Called only by ucs_async_block() and
 * ucs_async_unblock(). */
void ucs_async_lock_slow(ucs_async_context_t *async);
void ucs_async_unlock_slow(ucs_async_context_t *async);

/** Runs missed handlers. Does nothing while the context is blocked, because
 *  the last unblock runs them. */
void ucs_async_run_missed(ucs_async_context_t *async);

static inline int ucs_async_is_mine(const ucs_async_context_t *async)
{
    return pthread_equal(__atomic_load_n(&async->owner, __ATOMIC_RELAXED),
                         pthread_self());
}

/** Prevents the context's handlers from running until ucs_async_unblock(). If
 *  another thread blocks the context or runs one of its handlers, waits until
 *  that has ended. Calls may be nested. */
static inline void ucs_async_block(ucs_async_context_t *async)
{
    if (ucs_async_is_mine(async)) {
        ++async->depth;
        return;
    }

    ucs_async_lock_slow(async);
}

/** Removes one block. When no block is left, runs the missed handlers in this
 *  thread, unless another thread has blocked the context since. */
static inline void ucs_async_unblock(ucs_async_context_t *async)
{
    if (--async->depth > 0) {
        return;
    }

    ucs_async_unlock_slow(async);
}

/** Returns a descriptor that is readable when ucs_async_poll() has handlers to
 *  run. The context owns the descriptor. UCS_ERR_UNSUPPORTED unless the mode is
 *  UCS_ASYNC_MODE_POLL. */
ucs_status_t ucs_async_event_fd(ucs_async_context_t *async, int *fd_p);

/** Removes every handler of a context and waits until none of them runs in
 *  another thread. */
void ucs_async_remove_all(ucs_async_context_t *async);

/** Returns whether the library's service thread, which waits for the events of
 *  all handlers except those in poll mode, is running. For tests and
 *  diagnostics. */
int ucs_async_thread_is_running(void);

END_C_DECLS

#endif
